# Models in a CMake project: a program that declares a graph becomes a library that runs it.
#
#     burin_add_model(NAME policy GRAPH policy.cpp)
#     target_link_libraries(my_program PRIVATE policy)        # C99 or C++:  #include "policy.h"
#
# NAME is the graph's own name, the one in `Graph g("policy")`. The library holds the compiled object, brings the folder
# of the generated header, and links the runtime; it needs neither MLIR nor Halide. Which way it comes about:
#
#     policy.cpp ── policy_generator ── policy.o, policy.h ── libpolicy.a
#     the graph     a program, run         by its command       what other targets link
#                   while building         `compile`
#
# GRAPH's main() is `return burin::burin_main(argc, argv, build);`, so `policy_generator inspect` and the other commands
# of `burin` work as well. The model is compiled again whenever its generator changes.
#
#     burin_add_model(NAME policy GRAPH policy.cpp TARGET x86-64-avx2)
#
# TARGET is what to generate code for, one of what `burin targets` lists; without it `host`, the best that the machine
# which builds can run, or in a project that is compiled for another processor that processor's. The program that declares
# the graph runs while building all the same: there it is compiled by BURIN_HOST_CXX. A program that goes to other machines
# takes a family, such as x86-64: the object then holds code for each of its targets, and chooses when a model is opened.
# So does a list with commas. Of a target whose kernels run on a GPU, programs link the API's library as well:
# burin::gpu_opencl or burin::gpu_cuda.
#
#     burin_add_model(NAME policy GRAPH policy.cpp TARGET x86-64-avx2 WEIGHTS policy.safetensors)
#
# WEIGHTS puts the file's weights, packed, into the library, so that it alone is the model: `policy_weights.h` declares
# `policy_weights()`, options to open them with. They are used where the program's loader has mapped them, and are for one
# target.
#
#     add_executable(graphs graphs.cpp)
#     target_link_libraries(graphs PRIVATE burin_dsl burin_tool)
#     burin_add_model(NAME small GENERATOR graphs GRAPH_ARGUMENT small)
#     burin_add_model(NAME large GENERATOR graphs GRAPH_ARGUMENT large)
#
# Several models from one program: its main() picks a graph by argv[1] and gives the rest to burin_main, arguments that
# start with two dashes untouched (the tool starts its own program again to compile kernels).
#
#     burin_add_model(NAME minilm IR minilm.mlir)
#
# IR is a file of textual IR, such as `burin import` writes; NAME is its module's name.
#
#     burin_add_initial_weights(MODEL policy SEED 1 OUTPUT policy.safetensors)
#
# A weights file in the model's binary folder, from a seed: what a model runs on before it is trained. It is part of the
# default build.

include_guard(GLOBAL)

if(NOT DEFINED BURIN_DEFAULT_TARGET)
  set(BURIN_DEFAULT_TARGET host)
endif()

# In the library: the packed weights, by the assembler of a C compiler as GCC and Clang are; and options that open them.
set(_burin_weights_source [[
/* Generated: the packed weights of model `@name@`. */
#ifdef __wasm__ /* whose objects know no sections of bytes without symbols, each with its size */
#define SECTION ".section .rodata.@name@_packed,\"\",@\n"
#define SYMBOL(name, size) ".type " name ",@object\n.globl " name "\n.size " name ", " size "\n" name ":\n"
#define BACK ""
#else
#define SECTION ".section .rodata\n"
#define SYMBOL(name, size) ".globl " name "\n" name ":\n"
#define BACK ".text\n"
#endif
__asm__(SECTION ".balign 64\n" SYMBOL("@name@_packed", "@name@_packed_end - @name@_packed")
        ".incbin \"@packed@\"\n" SYMBOL("@name@_packed_end", "1") ".byte 0\n" BACK);
]])
set(_burin_weights_header [[
/* The weights of model `@name@`, which are part of the program. Generated: do not edit. */
#ifndef BURIN_WEIGHTS_@name@
#define BURIN_WEIGHTS_@name@

#include "@name@.h"
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif
extern const unsigned char @name@_packed[], @name@_packed_end[];
#ifdef __cplusplus
}
#endif

/* Options that open them where they lie; everything else is zero, and may be set. */
static inline burin_open_options @name@_weights(void) {
  burin_open_options options;
  memset(&options, 0, sizeof options);
  options.weights = @name@_packed;
  options.weights_bytes = (size_t)(@name@_packed_end - @name@_packed);
  options.weights_stay = 1;
  return options;
}

#endif
]])

# Stops CMake where an argument is unknown or one of `required` is missing.
macro(_burin_check_arguments function required)
  if(given_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "${function}: unknown arguments: ${given_UNPARSED_ARGUMENTS}")
  endif()
  foreach(name IN ITEMS ${required})
    if(NOT DEFINED given_${name})
      message(FATAL_ERROR "${function}: ${name} is missing")
    endif()
  endforeach()
endmacro()

# A program that declares a graph, for the machine that builds, where the project is for another.
function(_burin_add_host_generator generator graph)
  find_program(BURIN_HOST_CXX NAMES c++ g++ clang++ REQUIRED DOC "C++ compiler of the machine that builds" NO_CMAKE_FIND_ROOT_PATH)
  set(folder ${BURIN_HOST_PREFIX}/lib)
  set(library ${folder}/libburin.so)
  cmake_path(ABSOLUTE_PATH graph)
  set(program ${CMAKE_CURRENT_BINARY_DIR}/${generator}.host) # named otherwise than the target: CMake would take the one for the other
  add_custom_command(
    OUTPUT ${program}
    COMMAND ${BURIN_HOST_CXX} -std=c++20 -O1 -MD -MF ${program}.d -MT ${program} -I${BURIN_HOST_PREFIX}/include/burin -o ${program} ${graph}
            ${library} -Wl,-rpath,${folder} -Wl,--allow-shlib-undefined
    DEPENDS ${graph} ${library}
    DEPFILE ${program}.d
    COMMENT "Building ${generator} for this machine"
    VERBATIM)
  add_custom_target(${generator}_program DEPENDS ${program})
  add_executable(${generator} IMPORTED GLOBAL)
  set_target_properties(${generator} PROPERTIES IMPORTED_LOCATION ${program})
  add_dependencies(${generator} ${generator}_program)
endfunction()

function(burin_add_model)
  cmake_parse_arguments(PARSE_ARGV 0 given "" "NAME;GRAPH;GENERATOR;GRAPH_ARGUMENT;IR;TARGET;WEIGHTS" "")
  _burin_check_arguments(burin_add_model NAME)
  set(name ${given_NAME})
  set(sources ${given_GRAPH} ${given_GENERATOR} ${given_IR})
  list(LENGTH sources count)
  if(NOT count EQUAL 1)
    message(FATAL_ERROR "burin_add_model: ${name} has ${count} of GRAPH, GENERATOR and IR, expected one")
  endif()
  if(NOT DEFINED given_TARGET)
    set(given_TARGET ${BURIN_DEFAULT_TARGET})
  endif()

  if(DEFINED given_GRAPH)
    set(given_GENERATOR ${name}_generator)
    if(CMAKE_CROSSCOMPILING)
      _burin_add_host_generator(${given_GENERATOR} ${given_GRAPH})
    else()
      add_executable(${given_GENERATOR} ${given_GRAPH})
      target_link_libraries(${given_GENERATOR} PRIVATE burin::dsl burin::tool)
    endif()
  endif()

  if(CMAKE_CROSSCOMPILING AND NOT DEFINED given_IR)
    get_target_property(runs_here ${given_GENERATOR} IMPORTED)
    if(NOT runs_here)
      message(FATAL_ERROR "burin_add_model: ${given_GENERATOR} is a program for another processor, expected GRAPH, IR or an imported one")
    endif()
  endif()

  if(DEFINED given_IR)
    set(given_GENERATOR burin::burin)
    set(compile $<TARGET_FILE:burin::burin> compile ${given_IR})
    set(pack $<TARGET_FILE:burin::burin> pack ${given_IR})
  else()
    set(compile $<TARGET_FILE:${given_GENERATOR}> ${given_GRAPH_ARGUMENT} compile)
    set(pack $<TARGET_FILE:${given_GENERATOR}> ${given_GRAPH_ARGUMENT} pack)
  endif()

  # A folder of its own, so that a program's include path shows it the models it links and no others.
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${name})
  add_custom_command(
    OUTPUT ${folder}/${name}.o ${folder}/${name}.h
    COMMAND ${compile} -o ${folder} --target ${given_TARGET}
    DEPENDS $<TARGET_FILE:${given_GENERATOR}> ${given_IR}
    COMMENT "Compiling model ${name} for ${given_TARGET}"
    VERBATIM)
  set_source_files_properties(${folder}/${name}.o PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)

  set(embedded)
  if(DEFINED given_WEIGHTS)
    cmake_path(ABSOLUTE_PATH given_WEIGHTS)
    set(packed ${folder}/${name}.packed)
    add_custom_command(
      OUTPUT ${packed}
      COMMAND ${CMAKE_COMMAND} -E make_directory ${folder}
      COMMAND ${pack} --weights ${given_WEIGHTS} -o ${packed} --target ${given_TARGET}
      DEPENDS $<TARGET_FILE:${given_GENERATOR}> ${given_IR} ${given_WEIGHTS}
      COMMENT "Packing the weights of ${name}"
      VERBATIM)
    set(embedded ${folder}/${name}_weights.c)
    string(CONFIGURE "${_burin_weights_source}" source @ONLY)
    string(CONFIGURE "${_burin_weights_header}" header @ONLY)
    file(CONFIGURE OUTPUT ${embedded} CONTENT "${source}" @ONLY)
    file(CONFIGURE OUTPUT ${folder}/${name}_weights.h CONTENT "${header}" @ONLY)
    set_source_files_properties(${embedded} PROPERTIES OBJECT_DEPENDS ${packed})
  endif()
  add_library(${name} STATIC ${folder}/${name}.o ${folder}/${name}.h ${embedded})
  set_target_properties(${name} PROPERTIES
    LINKER_LANGUAGE C
    BURIN_GENERATOR "${given_GENERATOR}"
    BURIN_GRAPH_ARGUMENT "${given_GRAPH_ARGUMENT}")
  target_include_directories(${name} INTERFACE ${folder})
  target_link_libraries(${name} INTERFACE burin::runtime)
endfunction()

function(burin_add_initial_weights)
  cmake_parse_arguments(PARSE_ARGV 0 given "" "MODEL;SEED;OUTPUT" "")
  _burin_check_arguments(burin_add_initial_weights "MODEL;SEED;OUTPUT")
  get_target_property(generator ${given_MODEL} BURIN_GENERATOR)
  get_target_property(graph_argument ${given_MODEL} BURIN_GRAPH_ARGUMENT)
  cmake_path(ABSOLUTE_PATH given_OUTPUT BASE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
  add_custom_command(
    OUTPUT ${given_OUTPUT}
    COMMAND $<TARGET_FILE:${generator}> ${graph_argument} init -o ${given_OUTPUT} --seed ${given_SEED}
    DEPENDS $<TARGET_FILE:${generator}>
    COMMENT "Initial weights for ${given_MODEL}"
    VERBATIM)
  add_custom_target(${given_MODEL}_initial_weights ALL DEPENDS ${given_OUTPUT})
endfunction()
