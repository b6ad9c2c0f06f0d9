# SPDX-License-Identifier: MIT
# The Python that modules are built for, found once: the tests' (it is the one that loads them), where it is there already; the
# build of a wheel names its own with Python3_EXECUTABLE.
foreach(python "${GATHER_PYTHON}" "${PROJECT_SOURCE_DIR}/.venv/bin/python")
  if(NOT Python3_EXECUTABLE AND EXISTS "${python}")
    set(Python3_EXECUTABLE "${python}")
  endif()
endforeach()
find_package(Python3 REQUIRED COMPONENTS Interpreter Development.Module)

# gather_python_module(TARGET NAME SUFFIX FOLDER): TARGET sees Python's headers and becomes FOLDER/NAME.SUFFIX in the build tree.
function(gather_python_module target name suffix folder)
  target_include_directories(${target} SYSTEM PRIVATE ${Python3_INCLUDE_DIRS})
  set_target_properties(${target} PROPERTIES PREFIX "" OUTPUT_NAME ${name} SUFFIX ".${suffix}" LIBRARY_OUTPUT_DIRECTORY ${folder})
endfunction()
