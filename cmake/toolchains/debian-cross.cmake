# SPDX-License-Identifier: MIT
# A Debian cross compiler: the caller sets gather_triple and gather_qemu. GATHER_CROSS_ROOT may hold unpacked packages of the
# other architecture (script/test-cross fetches cmocka there). Programs are run by qemu.
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES GATHER_CROSS_ROOT)
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_C_COMPILER ${gather_triple}-gcc)
set(CMAKE_C_LIBRARY_ARCHITECTURE ${gather_triple})
# What a program of the tests loads while it runs (libcurl) is among them.
set(CMAKE_CROSSCOMPILING_EMULATOR ${gather_qemu} -L /usr/${gather_triple}
  -E LD_LIBRARY_PATH=${GATHER_CROSS_ROOT}/usr/lib/${gather_triple}:${GATHER_CROSS_ROOT}/lib/${gather_triple})
set(CMAKE_FIND_ROOT_PATH /usr/${gather_triple} ${GATHER_CROSS_ROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
