# The runtime for targets of other architectures, and the program in which their models run here:
# lib/<target>/libburin_runtime.a and lib/<target>/model_server.o.
#
# A command for each compiler. Rejected: an ExternalProject with a toolchain file, which is a second configured build,
# with its own caches, for a folder of C files that depend on nothing.
add_custom_target(burin_foreign_runtimes ALL)

function(burin_add_foreign_runtime target compiler)
  find_program(BURIN_COMPILER_${target} ${compiler})
  if(NOT BURIN_COMPILER_${target})
    message(STATUS "${compiler} is not installed: models for ${target} are compiled, but not run here")
    return()
  endif()
  get_target_property(sources burin_runtime SOURCES)
  get_target_property(folder burin_runtime SOURCE_DIR)
  list(TRANSFORM sources PREPEND ${folder}/)
  file(GLOB headers CONFIGURE_DEPENDS ${folder}/*.h)
  set(server ${PROJECT_SOURCE_DIR}/compiler/machine/model_server.c)
  set(output ${CMAKE_ARCHIVE_OUTPUT_DIRECTORY}/${target})
  file(MAKE_DIRECTORY ${output}/objects)
  set(compile ${BURIN_COMPILER_${target}} -std=c99 -O2 -fPIC -Wall -Wextra -Wpedantic -Wconversion -Werror ${ARGN}
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
endfunction()

include(${PROJECT_SOURCE_DIR}/schedules/foreign_targets.cmake)
