# SPDX-License-Identifier: MIT
# Every dependency of the C code, each with the reason it was chosen. docs/dependencies.md tells more.

# pthreadpool: the thread pool of XNNPACK, made for short parallel loops. Optional: without it the pool has one thread.
find_path(PTHREADPOOL_INCLUDE pthreadpool.h)
find_library(PTHREADPOOL_LIBRARY pthreadpool)
if(GATHER_PTHREADPOOL AND PTHREADPOOL_INCLUDE AND PTHREADPOOL_LIBRARY)
  set(GATHER_HAVE_PTHREADPOOL ON)
else()
  set(GATHER_HAVE_PTHREADPOOL OFF)
endif()
message(STATUS "pthreadpool: ${GATHER_HAVE_PTHREADPOOL}")

# cmocka: the C tests' runner.
if(GATHER_TESTS)
  find_path(CMOCKA_INCLUDE cmocka.h)
  find_library(CMOCKA_LIBRARY cmocka)
endif()
