# SPDX-License-Identifier: MIT
# What a build of the core may leave out: instruction sets, quantised rows, threads. The macros are those of src/core/base/compiler.h, which
# the two-file form has too (docs/embed/two-files.md); here the files that they would leave empty are not even compiled.
#   gather_core_macros   the macros
#   gather_left_out      regular expressions of the files of src/core that are left out
#   gather_core_headers  the public headers
set(gather_core_macros "")
set(gather_left_out "")
set(gather_core_headers gather codec dlpack scatter tree)

# ---- instruction sets: rows of isa.def. What the target can have is what the compiler's macros say, not the name of a processor.
set(GATHER_ISA "" CACHE STRING "The instruction sets with kernels, e.g. portable;avx2 (portable is always there); empty: all of the target")
set(gather_isa_table ${PROJECT_SOURCE_DIR}/src/core/kernel/isa.def)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${gather_isa_table})
file(STRINGS ${gather_isa_table} gather_isas REGEX "^GATHER_ISA\\(")
list(TRANSFORM gather_isas REPLACE "^GATHER_ISA\\(([a-z0-9_]+),.*" "\\1")

# gather_isa_of_target(NAME RESULT): whether this compiler builds kernels of it.
function(gather_isa_of_target name result)
  string(TOUPPER ${name} NAME)
  set(CMAKE_REQUIRED_INCLUDES ${PROJECT_SOURCE_DIR}/src)
  set(CMAKE_REQUIRED_QUIET ON)
  set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
  check_c_source_compiles("#include \"core/base/compiler.h\"\n#if !GATHER_ISA_${NAME}\n#error\n#endif\nextern int compiled;\n" GATHER_TARGET_HAS_${NAME})
  set(${result} ${GATHER_TARGET_HAS_${NAME}} PARENT_SCOPE)
endfunction()

if(GATHER_ISA)
  include(CheckCSourceCompiles)
  set(gather_isas_of_target "")
  foreach(name IN LISTS gather_isas)
    gather_isa_of_target(${name} there)
    if(there)
      list(APPEND gather_isas_of_target ${name})
    endif()
  endforeach()
  foreach(name IN LISTS GATHER_ISA)
    if(NOT name IN_LIST gather_isas)
      message(FATAL_ERROR "GATHER_ISA: there is no instruction set ${name}; known are: ${gather_isas}. This target can have: ${gather_isas_of_target}")
    elseif(NOT name IN_LIST gather_isas_of_target)
      message(FATAL_ERROR "GATHER_ISA: this target cannot have ${name}, but these: ${gather_isas_of_target}")
    endif()
  endforeach()
  foreach(name IN LISTS gather_isas)
    if(NOT name IN_LIST GATHER_ISA AND NOT name STREQUAL "portable")
      string(TOUPPER ${name} NAME)
      list(APPEND gather_core_macros GATHER_ISA_${NAME}=0)
      list(APPEND gather_left_out "/kernel/(isa|decode|combine|bag)_${name}\\.c$")
    endif()
  endforeach()
endif()

# ---- quantised rows: codec.h, and the kernels that decode.
option(GATHER_CODECS "Gather and decode quantised rows (codec.h); OFF needs GATHER_COMPONENTS=core" ON)
if(NOT GATHER_CODECS)
  if(NOT GATHER_COMPONENTS STREQUAL "core")
    message(FATAL_ERROR "GATHER_CODECS=OFF needs GATHER_COMPONENTS=core: tables, models and the command decode quantised rows.")
  endif()
  list(APPEND gather_core_macros GATHER_NO_CODECS)
  list(REMOVE_ITEM gather_core_headers codec)
  list(APPEND gather_left_out "/codec/[a-z_]+\\.c$" "/kernel/decode_[a-z0-9_]+\\.c$")
endif()

# ---- threads: the built-in pool (src/core/thread), and what waits for them. Executors of the caller work without.
option(GATHER_THREADS "Give the built-in pool threads; OFF needs GATHER_COMPONENTS=core, and the pool then runs on the caller" ON)
if(NOT GATHER_THREADS)
  if(NOT GATHER_COMPONENTS STREQUAL "core")
    message(FATAL_ERROR "GATHER_THREADS=OFF needs GATHER_COMPONENTS=core: tables and files on servers are read by threads.")
  endif()
  list(APPEND gather_core_macros GATHER_NO_THREADS)
  list(APPEND gather_left_out "/system/(macos/)?condition(_macos)?\\.c$")
endif()
target_compile_definitions(gather_flags INTERFACE ${gather_core_macros})
