# SPDX-License-Identifier: MIT
# The compiler flags every target of this project is built with.
add_library(gather_flags INTERFACE)
target_compile_features(gather_flags INTERFACE c_std_11)
# Files and folders on 64-bit file systems, on 32-bit machines too.
target_compile_definitions(gather_flags INTERFACE _FILE_OFFSET_BITS=64)
# Within another project (add_subdirectory, FetchContent) its build type counts, and is not changed. Where it sets none, CMake would
# compile without optimisation, and a gather would take several times as long: then the files of this project get -O2, unless the other
# project chose a level in its own flags.
get_directory_property(gather_parent_options COMPILE_OPTIONS)
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES AND CMAKE_C_COMPILER_ID MATCHES "GNU|Clang"
    AND NOT "${CMAKE_C_FLAGS};${gather_parent_options}" MATCHES "(^|[ ;])-O")
  message(STATUS "gather: CMAKE_BUILD_TYPE is not set: libgather is compiled with -O2")
  target_compile_options(gather_flags INTERFACE -O2)
endif()
if(CMAKE_C_COMPILER_ID MATCHES "GNU|Clang")
  target_compile_options(gather_flags INTERFACE
    -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wwrite-strings -Wdate-time
    "$<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes;-Wmissing-prototypes>")
  # Decoded values are float32 arithmetic, rounded step by step (src/core/kernel/float_bits.h). C11 says so; a GNU dialect would fuse.
  target_compile_options(gather_flags INTERFACE -ffp-contract=off)
  if(GATHER_WERROR)
    target_compile_options(gather_flags INTERFACE -Werror)
  endif()
  if(GATHER_SANITIZE)
    target_compile_definitions(gather_flags INTERFACE GATHER_MAP_GUARDED) # src/io/format/map_remote.c
    target_compile_options(gather_flags INTERFACE -fsanitize=${GATHER_SANITIZE} -fno-sanitize-recover=all
      -fno-omit-frame-pointer -g1)
    target_link_options(gather_flags INTERFACE -fsanitize=${GATHER_SANITIZE})
  endif()
endif()
include(${CMAKE_CURRENT_LIST_DIR}/hardening.cmake)
# The same sources give the same files, whatever folder they are built in (script/check-reproducible). Where lines are counted
# (script/coverage), gcov has to find the sources.
if(CMAKE_C_COMPILER_ID MATCHES "GNU|Clang" AND NOT CMAKE_C_FLAGS MATCHES "--coverage")
  target_compile_options(gather_flags INTERFACE "-ffile-prefix-map=${PROJECT_SOURCE_DIR}=." "-ffile-prefix-map=${PROJECT_BINARY_DIR}=build")
endif()
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

# gather_hide_libraries(TARGET): the module shows nothing of the static libraries in it. Where the linker cannot be asked, they hide
# themselves: script/dependencies-from-source compiles them so, and GATHER_HIDDEN this library.
option(GATHER_HIDDEN "Export nothing of the library, which is then only for modules and programs that contain it" OFF)
if(GATHER_HIDDEN)
  target_compile_definitions(gather_flags INTERFACE GATHER_HIDDEN)
endif()
include(CheckLinkerFlag)
check_linker_flag(C LINKER:--exclude-libs,ALL GATHER_HAVE_EXCLUDE_LIBS)
function(gather_hide_libraries target)
  if(GATHER_HAVE_EXCLUDE_LIBS)
    target_link_options(${target} PRIVATE LINKER:--exclude-libs,ALL)
  endif()
endfunction()
