# SPDX-License-Identifier: MIT
# The module that script/bench measures with. It is linked with the shared library, as users' programs are.
# The Python of the tests, where it is there already: it must be the one that loads the module.
foreach(python "${GATHER_PYTHON}" "${PROJECT_SOURCE_DIR}/.venv/bin/python")
  if(NOT Python3_EXECUTABLE AND EXISTS "${python}")
    set(Python3_EXECUTABLE "${python}")
  endif()
endforeach()
find_package(Python3 REQUIRED COMPONENTS Interpreter Development.Module)
find_package(Threads REQUIRED)
set(folder bench/native)
add_library(gather_bench_native MODULE ${folder}/buffer.c ${folder}/limits.c ${folder}/memory.c ${folder}/module.c
  ${folder}/naive.c ${folder}/plan.c ${folder}/timed.c ${folder}/touch.c)
target_include_directories(gather_bench_native SYSTEM PRIVATE ${Python3_INCLUDE_DIRS})
target_link_libraries(gather_bench_native PRIVATE gather_shared gather_flags Threads::Threads)
set_target_properties(gather_bench_native PROPERTIES PREFIX "" SUFFIX ".so"
  LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
# What was measured: the compiler and the flags go into the results.
string(TOUPPER "${CMAKE_BUILD_TYPE}" build_type)
file(WRITE ${PROJECT_BINARY_DIR}/bench/build.json
  "{\"compiler\": \"${CMAKE_C_COMPILER_ID} ${CMAKE_C_COMPILER_VERSION}\", \"build_type\": \"${CMAKE_BUILD_TYPE}\", "
  "\"flags\": \"${CMAKE_C_FLAGS} ${CMAKE_C_FLAGS_${build_type}}\"}\n")
