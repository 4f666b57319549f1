# The runtime for targets of other architectures, and the program in which their models run here:
# lib/<target>/libburin_runtime.a and lib/<target>/model_server.o.
#
# A command for each compiler. Rejected: an ExternalProject with a toolchain file, which is a second configured build,
# with its own caches, for a folder of C files that depend on nothing.
add_custom_target(burin_foreign_runtimes ALL)

# burin_add_foreign_runtime(target compiler [SYSTEM wasi] flag…): SYSTEM chooses other sources than those for POSIX.
function(burin_add_foreign_runtime target compiler)
  cmake_parse_arguments(PARSE_ARGV 2 foreign "" SYSTEM "")
  set(flags ${foreign_UNPARSED_ARGUMENTS})
  find_program(BURIN_COMPILER_${target} ${compiler})
  if(NOT BURIN_COMPILER_${target})
    message(STATUS "${compiler} is not installed: models for ${target} are compiled, but not run here")
    return()
  endif()
  set(probe ${CMAKE_BINARY_DIR}/CMakeFiles/c_library_of_${target})
  file(WRITE ${probe}.c "#include <stdlib.h>\n#include <sys/stat.h>\nint main(void) { return 0; }\n")
  execute_process(COMMAND ${BURIN_COMPILER_${target}} ${flags} -o ${probe} ${probe}.c RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
  if(failed)
    message(STATUS "${compiler} has no C library for ${target}: its models are compiled, but not run here")
    return()
  endif()
  if(foreign_SYSTEM STREQUAL "wasi")
    get_target_property(sources burin_runtime BURIN_WASI_SOURCES)
  else()
    get_target_property(sources burin_runtime SOURCES)
  endif()
  get_target_property(folder burin_runtime SOURCE_DIR)
  list(TRANSFORM sources PREPEND ${folder}/)
  file(GLOB headers CONFIGURE_DEPENDS ${folder}/*.h)
  set(server ${PROJECT_SOURCE_DIR}/compiler/machine/model_server.c)
  set(output ${CMAKE_ARCHIVE_OUTPUT_DIRECTORY}/${target})
  file(MAKE_DIRECTORY ${output}/objects)
  set(compile ${BURIN_COMPILER_${target}} -std=c99 -O2 -fPIC -Wall -Wextra -Wpedantic -Wconversion -Werror ${flags}
              -I${folder} -c)
  add_custom_command(
    OUTPUT ${output}/libburin_runtime.a ${output}/model_server.o
    COMMAND ${compile} ${sources} ${server}
    COMMAND ${CMAKE_COMMAND} -E rename model_server.o ${output}/model_server.o
    COMMAND ${CMAKE_COMMAND} -E rm -f ${output}/libburin_runtime.a
    COMMAND sh -c "${LLVM_TOOLS_BINARY_DIR}/llvm-ar rcsD ${output}/libburin_runtime.a *.o"
    DEPENDS ${sources} ${headers} ${server} ${PROJECT_SOURCE_DIR}/compiler/machine/model_protocol.h
    WORKING_DIRECTORY ${output}/objects
    COMMENT "Compiling the runtime for ${target}"
    VERBATIM)
  add_custom_target(burin_runtime_${target} DEPENDS ${output}/libburin_runtime.a ${output}/model_server.o)
  add_dependencies(burin_foreign_runtimes burin_runtime_${target})

  # Installed as well, for projects that are compiled for that processor (BurinConfig.cmake.in).
  string(REGEX MATCH "^[^-]+" processor ${compiler})
  if(foreign_SYSTEM STREQUAL "wasi")
    set(processor wasm32)
  endif()
  set_property(GLOBAL APPEND_STRING PROPERTY BURIN_FOREIGN_TARGETS "set(_burin_target_of_${processor} ${target})\n")
  install(FILES ${output}/libburin_runtime.a DESTINATION lib/${target})
endfunction()

# bin/<name>: runs a script of scripts/ with the project's own Python, where that has the module.
function(burin_add_python_runner name script module)
  set(python ${PROJECT_SOURCE_DIR}/.venv/bin/python)
  set(runner ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/${name})
  file(REMOVE ${runner})
  execute_process(COMMAND ${python} -c "import ${module}" RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
  if(failed)
    message(STATUS "${module} is not in .venv: there is no ${name}")
    return()
  endif()
  file(CONFIGURE OUTPUT ${runner} CONTENT "#!/bin/sh\nexec '${python}' '${PROJECT_SOURCE_DIR}/scripts/${script}' \"$@\"\n" @ONLY)
  file(CHMOD ${runner} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
endfunction()

include(${PROJECT_SOURCE_DIR}/schedules/foreign_targets.cmake)
