# SPDX-License-Identifier: MIT
# What `cmake --install` gives: both libraries, the headers, a pkg-config file and a CMake package (cli/ adds the command and its
# man pages). Nothing of it holds a path of the machine that built it, so that the tree may be moved.
include(CMakePackageConfigHelpers)

install(TARGETS gather_shared gather_static EXPORT gatherTargets)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/gather DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.h" PATTERN "*.def")
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

# What programs that link the static library need besides.
set(gather_static_needs "")
foreach(need NANOPB:protobuf-nanopb EXPAT:expat JANSSON:jansson LIBURING:uring)
  string(REPLACE ":" ";" need ${need})
  list(GET need 0 which)
  if(GATHER_HAVE_${which})
    list(GET need 1 library)
    list(APPEND gather_static_needs ${library})
  endif()
endforeach()

# The CMake package.
set(gather_package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/gather)
if(BUILD_SHARED_LIBS)
  set(gather_default shared)
else()
  set(gather_default static)
endif()
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/gatherConfig.cmake.in ${PROJECT_BINARY_DIR}/gatherConfig.cmake
  INSTALL_DESTINATION ${gather_package_folder} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/gatherConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/gatherConfig.cmake ${PROJECT_BINARY_DIR}/gatherConfigVersion.cmake
  DESTINATION ${gather_package_folder})
install(EXPORT gatherTargets NAMESPACE gather:: DESTINATION ${gather_package_folder})

# The pkg-config file.
include(${CMAKE_CURRENT_LIST_DIR}/pkgconfig_folders.cmake)
if(GATHER_HAVE_CURL) # libcurl is loaded by dlopen, which older C libraries have in a library of its own
  list(APPEND gather_static_needs ${CMAKE_DL_LIBS})
endif()
list(TRANSFORM gather_static_needs PREPEND "-l" OUTPUT_VARIABLE gather_pc_private)
list(JOIN gather_pc_private " " gather_pc_private)
string(APPEND gather_pc_private " -lpthread")
configure_file(${CMAKE_CURRENT_LIST_DIR}/gather.pc.in ${PROJECT_BINARY_DIR}/gather.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/gather.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
