# SPDX-License-Identifier: MIT
# Hardening, as distributions ask for it: what an error of ours could be turned into is less. On by default where code is optimised;
# docs/extend/releases.md has its cost. Sanitizers find more, and do not go with some of it.
option(GATHER_HARDENING "Build with stack protectors, checked library calls, control-flow protection and read-only relocations" ON)
if(NOT GATHER_HARDENING OR GATHER_SANITIZE OR NOT CMAKE_C_COMPILER_ID MATCHES "GNU|Clang")
  message(STATUS "hardening: OFF")
  return()
endif()
include(CheckCCompilerFlag)
include(CheckLinkerFlag)
include(CheckPIESupported)

# Executables can be loaded at any address; CMake passes -pie only where this was asked.
check_pie_supported(LANGUAGES C)

# gather_harden(NAME FLAG...): the flags, if the compiler has them for this machine.
function(gather_harden name)
  check_c_compiler_flag("-Werror ${ARGN}" GATHER_HAVE_${name})
  if(GATHER_HAVE_${name})
    target_compile_options(gather_flags INTERFACE ${ARGN})
  endif()
endfunction()
gather_harden(STACK_PROTECTOR -fstack-protector-strong)
if(NOT WIN32) # whose compilers touch every page of a large frame anyway, and gcc cannot describe both ways in a table of unwinding
  gather_harden(STACK_CLASH -fstack-clash-protection)
endif()
gather_harden(CONTROL_FLOW -fcf-protection=full)              # x86: indirect branch tracking, shadow stack
gather_harden(BRANCH_PROTECTION -mbranch-protection=standard) # 64-bit ARM: the same, and signed return addresses
# The C library's checked calls exist only in optimised code. A level that somebody chose in CFLAGS is kept.
if(NOT CMAKE_C_FLAGS MATCHES "_FORTIFY_SOURCE")
  set(optimised "$<CONFIG:Release,RelWithDebInfo,MinSizeRel>")
  target_compile_options(gather_flags INTERFACE "$<${optimised}:-U_FORTIFY_SOURCE>" "$<${optimised}:-D_FORTIFY_SOURCE=3>")
endif()

# gather_harden_link(NAME FLAG): likewise, of the linker.
function(gather_harden_link name flag)
  check_linker_flag(C ${flag} GATHER_HAVE_${name})
  if(GATHER_HAVE_${name})
    target_link_options(gather_flags INTERFACE ${flag})
  endif()
endfunction()
gather_harden_link(RELRO LINKER:-z,relro)
gather_harden_link(BIND_NOW LINKER:-z,now)
gather_harden_link(NO_EXECUTABLE_STACK LINKER:-z,noexecstack)
