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
# which builds can run. A program that goes to other machines takes a family, such as x86-64: the object then holds code
# for each of its targets, and chooses when a model is opened. So does a list with commas.
#
# Of a target whose kernels run on a GPU, programs link the API's library as well: burin::gpu_opencl or burin::gpu_cuda.
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

function(burin_add_model)
  cmake_parse_arguments(PARSE_ARGV 0 given "" "NAME;GRAPH;GENERATOR;GRAPH_ARGUMENT;IR;TARGET" "")
  _burin_check_arguments(burin_add_model NAME)
  set(name ${given_NAME})
  set(sources ${given_GRAPH} ${given_GENERATOR} ${given_IR})
  list(LENGTH sources count)
  if(NOT count EQUAL 1)
    message(FATAL_ERROR "burin_add_model: ${name} has ${count} of GRAPH, GENERATOR and IR, expected one")
  endif()
  if(NOT DEFINED given_TARGET)
    set(given_TARGET host)
  endif()

  if(DEFINED given_GRAPH)
    set(given_GENERATOR ${name}_generator)
    add_executable(${given_GENERATOR} ${given_GRAPH})
    target_link_libraries(${given_GENERATOR} PRIVATE burin::dsl burin::tool)
  endif()

  if(DEFINED given_IR)
    set(given_GENERATOR burin::burin)
    set(command $<TARGET_FILE:burin::burin> compile ${given_IR})
  else()
    set(command $<TARGET_FILE:${given_GENERATOR}> ${given_GRAPH_ARGUMENT} compile)
  endif()

  # A folder of its own, so that a program's include path shows it the models it links and no others.
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${name})
  add_custom_command(
    OUTPUT ${folder}/${name}.o ${folder}/${name}.h
    COMMAND ${command} -o ${folder} --target ${given_TARGET}
    DEPENDS $<TARGET_FILE:${given_GENERATOR}> ${given_IR}
    COMMENT "Compiling model ${name} for ${given_TARGET}"
    VERBATIM)
  set_source_files_properties(${folder}/${name}.o PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)

  add_library(${name} STATIC ${folder}/${name}.o ${folder}/${name}.h)
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
