# The FileCheck tests in ctest: one test per folder of .mlir files, `lit.passes`, `lit.errors` and `lit.tool`. Include this after
# find_package(MLIR) and after CMAKE_RUNTIME_OUTPUT_DIRECTORY is set.
#
# A folder and not a file is a ctest, because lit is quick at running many files and slow to start; a failing file is
# named in the output all the same.

find_program(BURIN_LIT lit HINTS ${CMAKE_SOURCE_DIR}/.venv/bin REQUIRED DOC "Runs the FileCheck tests")

configure_file(${CMAKE_CURRENT_LIST_DIR}/lit.site.cfg.py.in ${CMAKE_BINARY_DIR}/tests/lit.site.cfg.py @ONLY)

foreach(folder IN ITEMS passes errors tool)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/${folder}/*.mlir)
  if(files)
    add_test(NAME lit.${folder} COMMAND ${BURIN_LIT} -v ${CMAKE_BINARY_DIR}/tests/${folder})
  endif()
endforeach()
