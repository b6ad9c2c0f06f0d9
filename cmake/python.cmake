# SPDX-License-Identifier: MIT
# The Python that modules are built for, found once: the tests' (it is the one that loads them), where it is there already; the
# build of a wheel names its own with Python3_EXECUTABLE.
foreach(python "${GATHER_PYTHON}" "${PROJECT_SOURCE_DIR}/.venv/bin/python")
  if(NOT Python3_EXECUTABLE AND EXISTS "${python}")
    set(Python3_EXECUTABLE "${python}")
  endif()
endforeach()
# For another system than this one (script/wheels --platform) the headers are given, NumPy's too, and how the module's file ends; the
# interpreter is this machine's, which only runs scripts.
set(GATHER_PYTHON_HEADERS "" CACHE STRING "Folders of Python's headers and of NumPy's, where they are not those of the interpreter")
set(GATHER_PYTHON_SUFFIX "" CACHE STRING "How the module's file ends with them, e.g. abi3.so or cp313t-win_amd64.pyd")
set(GATHER_PYTHON_LIBRARY "" CACHE FILEPATH "The import library of Python's DLL (Windows)")
if(GATHER_PYTHON_HEADERS)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  set(Python3_INCLUDE_DIRS ${GATHER_PYTHON_HEADERS})
else()
  find_package(Python3 REQUIRED COMPONENTS Interpreter Development.Module)
endif()

# gather_python_module(TARGET NAME SUFFIX FOLDER): TARGET sees Python's headers and becomes FOLDER/NAME.SUFFIX in the build tree.
function(gather_python_module target name suffix folder)
  target_include_directories(${target} SYSTEM PRIVATE ${Python3_INCLUDE_DIRS})
  set_target_properties(${target} PROPERTIES PREFIX "" OUTPUT_NAME ${name} SUFFIX ".${suffix}" LIBRARY_OUTPUT_DIRECTORY ${folder})
endfunction()
