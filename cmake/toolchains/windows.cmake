# SPDX-License-Identifier: MIT
# Windows on x86-64, with Debian's mingw-w64. Programs are run by Wine. GATHER_WINDOWS_ROOT holds the libraries that are linked
# (script/dependencies-from-source makes it).
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES GATHER_WINDOWS_ROOT)
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
# The variant with Windows' own threads: the other one brings a library of POSIX threads, which is not needed (src/core/system/windows).
set(CMAKE_C_COMPILER x86_64-w64-mingw32-gcc-win32)
set(CMAKE_RC_COMPILER x86_64-w64-mingw32-windres)
set(CMAKE_CROSSCOMPILING_EMULATOR ${CMAKE_CURRENT_LIST_DIR}/../../script/wine)
set(CMAKE_FIND_ROOT_PATH /usr/x86_64-w64-mingw32 ${GATHER_WINDOWS_ROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
