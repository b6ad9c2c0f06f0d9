# SPDX-License-Identifier: MIT
# Threads: the built-in pool, tables read by threads, and jobs that run beside the caller. With GATHER_THREADS=OFF (core_options.cmake) none
# are looked for.
if(NOT GATHER_THREADS)
  return()
elseif(WIN32) # by Windows' own (src/core/system/windows)
  add_library(Threads::Threads INTERFACE IMPORTED GLOBAL)
else()
  set(THREADS_PREFER_PTHREAD_FLAG ON)
  find_package(Threads REQUIRED)
endif()
