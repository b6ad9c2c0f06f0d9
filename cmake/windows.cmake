# SPDX-License-Identifier: MIT
# Windows: the functions of POSIX that the sources call are in src/core/system/windows, with headers of their own. Not as a system's folder:
# some compilers (ziglang's) look there last, and have headers of these names.
target_include_directories(gather_flags BEFORE INTERFACE ${PROJECT_SOURCE_DIR}/src/core/system/windows/posix)
# Windows 10 (clang of ziglang says so itself); nothing of the C library's own notion of POSIX; printf as C99 says.
target_compile_definitions(gather_flags INTERFACE $<$<C_COMPILER_ID:GNU>:_WIN32_WINNT=0x0A00> NO_OLDNAMES __USE_MINGW_ANSI_STDIO=1)
# One file to copy: the compiler's own libraries are linked into it.
target_link_options(gather_flags INTERFACE -static)
target_link_libraries(gather_flags INTERFACE ntdll)
# gcc believes that the stack of 64-bit Windows is aligned for vectors of 32 and 64 bytes, which it is not.
if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
  target_link_libraries(gather_flags INTERFACE ssp) # what stack protectors and checked library calls call
  target_compile_options(gather_flags INTERFACE -Wa,-muse-unaligned-vector-move)
endif()
