# What `cmake --install` puts where, so that a project elsewhere finds it: find_package(Burin), or pkg-config.
#
#   bin/burin                       the tool, what `burin bench --start-up` starts, and the editor's server
#   include/burin/                  burin.h, burin.hpp and what generated headers include; dsl/ for programs that declare graphs
#   share/burin/database/           parameters of schedules that were measured, a file for each CPU
#   lib/libburin_runtime.a          what every program links; libburin_runtime_bare.a where there is no operating system
#   lib/libburin_gpu_<api>.a        what a program with a model for a GPU links besides
#   lib/<target>/                   the runtime for each foreign target whose compiler was there
#   lib/libburin.so                 graph language, commands and compiler: what a program that declares a graph links
#   lib/libHalide.so                which that library and the tool need; MLIR and LLVM come from the system
#   lib/cmake/Burin, lib/pkgconfig  how other projects find all this
#
# The installation may be moved: nothing in it knows its path.
include(CMakePackageConfigHelpers)

# One library instead of three archives and their dependencies: a project that declares graphs needs no MLIR and no Halide
# of its own to configure, compile or link.
add_library(burin_shared SHARED $<TARGET_OBJECTS:burin_tool> $<TARGET_OBJECTS:burin_dsl> $<TARGET_OBJECTS:burin_compiler>
            $<TARGET_OBJECTS:burin_runtime>)
set_target_properties(burin_shared PROPERTIES OUTPUT_NAME burin LINKER_LANGUAGE CXX EXPORT_NAME dsl)
target_link_libraries(burin_shared PRIVATE MLIR LLVM Halide::Halide CLI11::CLI11 nlohmann_json::nlohmann_json
                      ${CMAKE_DL_LIBS})
target_compile_features(burin_shared INTERFACE cxx_std_20)
target_include_directories(burin_shared INTERFACE $<INSTALL_INTERFACE:include/burin>)
set_target_properties(burin_runtime PROPERTIES EXPORT_NAME runtime)
set_target_properties(burin_runtime_bare PROPERTIES EXPORT_NAME runtime_bare)

set_target_properties(burin burin-start-up-probe burin-lsp-server PROPERTIES INSTALL_RPATH "$ORIGIN/../lib;${LLVM_LIBRARY_DIR}")
set_target_properties(burin_shared PROPERTIES INSTALL_RPATH "$ORIGIN;${LLVM_LIBRARY_DIR}")

install(TARGETS burin burin_shared burin_runtime burin_runtime_bare burin_gpu_opencl burin_gpu_cuda EXPORT BurinTargets
        RUNTIME DESTINATION bin LIBRARY DESTINATION lib ARCHIVE DESTINATION lib)
install(TARGETS burin-start-up-probe burin-lsp-server RUNTIME DESTINATION bin)
install(FILES $<TARGET_FILE:Halide::Halide> DESTINATION lib)
install(FILES runtime/burin.h runtime/burin.hpp runtime/burin_plan.h DESTINATION include/burin)
install(FILES dsl/burin_main.h dsl/encoder.h dsl/layers.h DESTINATION include/burin/dsl)

install(DIRECTORY schedules/database/ DESTINATION share/burin/database FILES_MATCHING PATTERN "*.json")

set(package lib/cmake/Burin)
get_property(BURIN_FOREIGN_TARGETS GLOBAL PROPERTY BURIN_FOREIGN_TARGETS)
install(EXPORT BurinTargets NAMESPACE burin:: DESTINATION ${package})
configure_package_config_file(cmake/BurinConfig.cmake.in ${CMAKE_BINARY_DIR}/BurinConfig.cmake INSTALL_DESTINATION ${package})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/BurinConfigVersion.cmake COMPATIBILITY SameMinorVersion
                                 ARCH_INDEPENDENT) # BurinConfig.cmake chooses the runtime
install(FILES ${CMAKE_BINARY_DIR}/BurinConfig.cmake ${CMAKE_BINARY_DIR}/BurinConfigVersion.cmake
        cmake/burin_add_model.cmake DESTINATION ${package})

configure_file(cmake/burin.pc.in ${CMAKE_BINARY_DIR}/burin.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/burin.pc DESTINATION lib/pkgconfig)
