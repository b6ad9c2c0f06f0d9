# SPDX-License-Identifier: MIT
# The cross compiler of the Python package ziglang: clang, and the headers and C libraries of many systems. GATHER_TARGET says for which,
# e.g. aarch64-macos. script/bootstrap platforms installs it into .venv-zig, and script/dependencies-from-source TARGET builds what the
# library needs besides into build/deps/TARGET.
set(GATHER_TARGET "" CACHE STRING "What to compile for: processor-system, or processor-system-library")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES GATHER_TARGET)
get_filename_component(gather_root ${CMAKE_CURRENT_LIST_DIR}/../.. ABSOLUTE)
if(NOT GATHER_TARGET MATCHES "^(x86_64|aarch64)-(linux-gnu|linux-musl|macos|freebsd|windows-gnu)$")
  message(FATAL_ERROR "GATHER_TARGET is \"${GATHER_TARGET}\": one of x86_64 or aarch64 with -linux-gnu, -linux-musl, -macos, -freebsd or -windows-gnu")
endif()
set(CMAKE_SYSTEM_PROCESSOR ${CMAKE_MATCH_1})
set(gather_system ${CMAKE_MATCH_2})
# The oldest release that the result runs on, where the compiler asks for one.
set(gather_release "")
if(gather_system STREQUAL "macos")
  set(CMAKE_SYSTEM_NAME Darwin)
  set(gather_release .11.0)
elseif(gather_system STREQUAL "linux-gnu")
  set(CMAKE_SYSTEM_NAME Linux)
  set(gather_release .2.28)
elseif(gather_system STREQUAL "freebsd")
  set(CMAKE_SYSTEM_NAME FreeBSD)
elseif(gather_system STREQUAL "windows-gnu")
  set(CMAKE_SYSTEM_NAME Windows)
else()
  set(CMAKE_SYSTEM_NAME Linux)
endif()

file(GLOB gather_zig ${gather_root}/.venv-zig/lib/python3*/site-packages/ziglang/zig)
if(NOT gather_zig)
  message(FATAL_ERROR "The cross compiler is not there: script/bootstrap platforms installs it.")
endif()
# It is one program with many commands, but CMake and ccache want a compiler that is one file: a script each. What it compiles of its C
# libraries is kept in build/zig/cache.
set(gather_tools ${gather_root}/build/zig/${GATHER_TARGET})
foreach(tool "clang=cc -target ${GATHER_TARGET}${gather_release}" ar=ar ranlib=ranlib)
  string(REGEX MATCH "^([a-z]+)=(.*)$" tool "${tool}")
  set(text "#!/bin/sh
export ZIG_GLOBAL_CACHE_DIR='${gather_root}/build/zig/cache' ZIG_LOCAL_CACHE_DIR='${gather_root}/build/zig/cache'
exec '${gather_zig}' ${CMAKE_MATCH_2} \"$@\"
")
  set(file ${gather_tools}/${CMAKE_MATCH_1})
  set(existing "")
  if(EXISTS ${file})
    file(READ ${file} existing)
  endif()
  if(NOT existing STREQUAL text)
    file(WRITE ${file} "${text}")
    file(CHMOD ${file} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
  endif()
endforeach()
# Programs of another processor are run by qemu.
if(gather_system STREQUAL "linux-musl" AND NOT CMAKE_HOST_SYSTEM_PROCESSOR STREQUAL CMAKE_SYSTEM_PROCESSOR)
  set(CMAKE_CROSSCOMPILING_EMULATOR qemu-${CMAKE_SYSTEM_PROCESSOR})
endif()
set(CMAKE_C_COMPILER ${gather_tools}/clang)
# It switches off by name each feature that not every processor of the kind has. Functions compiled for AVX-512 switch that on again, but
# not its registers of 512 bits, which clang counts as a feature of their own.
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  set(CMAKE_C_FLAGS_INIT -mevex512)
endif()
set(CMAKE_AR ${gather_tools}/ar CACHE FILEPATH "")
set(CMAKE_RANLIB ${gather_tools}/ranlib CACHE FILEPATH "")

set(CMAKE_FIND_ROOT_PATH ${gather_root}/build/deps/${GATHER_TARGET})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
