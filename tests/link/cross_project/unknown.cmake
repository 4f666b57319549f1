# A processor for which no installation has a runtime.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR z80)
set(CMAKE_C_COMPILER_WORKS 1)
