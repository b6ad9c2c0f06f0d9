# SPDX-License-Identifier: MIT
# What script/bench and script/measure-threads measure with. It is linked with the shared library, as users' programs are.
include(${CMAKE_CURRENT_LIST_DIR}/python.cmake)
find_package(Threads REQUIRED)
set(folder bench/native)
add_library(gather_bench_native MODULE ${folder}/calls.c ${folder}/calls_write.c ${folder}/disk.c ${folder}/limits.c ${folder}/memory.c
  ${folder}/module.c ${folder}/naive.c ${folder}/naive_write.c)
target_link_libraries(gather_bench_native PRIVATE gather_shared gather_flags Threads::Threads)
# The disk's own limit is measured by io_uring.
if(GATHER_HAVE_LIBURING)
  target_compile_definitions(gather_bench_native PRIVATE GATHER_HAVE_LIBURING)
  target_include_directories(gather_bench_native SYSTEM PRIVATE ${LIBURING_INCLUDE})
  target_link_libraries(gather_bench_native PRIVATE ${LIBURING_LIBRARY})
endif()
gather_python_module(gather_bench_native gather_bench_native so ${PROJECT_BINARY_DIR}/bench)
# The programs of script/measure-threads and of bench/threads_model.py.
foreach(program threads handover)
  add_executable(gather_bench_${program} bench/${program}.c)
  target_link_libraries(gather_bench_${program} PRIVATE gather_shared gather_flags Threads::Threads)
  set_target_properties(gather_bench_${program} PROPERTIES OUTPUT_NAME ${program} RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
endforeach()
# What was measured: the compiler and the flags go into the results.
string(TOUPPER "${CMAKE_BUILD_TYPE}" build_type)
file(WRITE ${PROJECT_BINARY_DIR}/bench/build.json
  "{\"compiler\": \"${CMAKE_C_COMPILER_ID} ${CMAKE_C_COMPILER_VERSION}\", \"build_type\": \"${CMAKE_BUILD_TYPE}\", "
  "\"flags\": \"${CMAKE_C_FLAGS} ${CMAKE_C_FLAGS_${build_type}}\"}\n")
