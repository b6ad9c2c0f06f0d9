# SPDX-License-Identifier: MIT
# What `cmake --install` gives: libgather with everything and libgather-core, shared and static, the headers, and for each of the two a
# pkg-config file and a component of the CMake package (cli/ adds the command and its man pages). With GATHER_COMPONENTS=core the second
# alone. Nothing of it holds a path of the machine that built it, so that the tree may be moved.
include(CMakePackageConfigHelpers)
set(gather_package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/gather)

install(TARGETS gather_core_shared gather_core_static EXPORT gatherCoreTargets)
install(EXPORT gatherCoreTargets NAMESPACE gather:: DESTINATION ${gather_package_folder})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
if(GATHER_COMPONENTS STREQUAL "all")
  install(TARGETS gather_shared gather_static EXPORT gatherTargets)
  install(EXPORT gatherTargets NAMESPACE gather:: DESTINATION ${gather_package_folder})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/gather DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
    FILES_MATCHING PATTERN "*.h" PATTERN "*.def")
else()
  list(TRANSFORM gather_core_headers REPLACE "(.+)" "${PROJECT_SOURCE_DIR}/include/gather/\\1.h" OUTPUT_VARIABLE headers)
  file(GLOB tables CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/gather/*.def)
  if(NOT GATHER_CODECS)
    list(FILTER tables EXCLUDE REGEX "/codec\\.def$")
  endif()
  install(FILES ${headers} ${tables} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/gather)
endif()

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
if(gather_filter_needs)
  list(APPEND gather_static_needs deflate zstd lz4)
endif()

# The CMake package.
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/gatherConfig.cmake.in ${PROJECT_BINARY_DIR}/gatherConfig.cmake
  INSTALL_DESTINATION ${gather_package_folder} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/gatherConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/gatherConfig.cmake ${PROJECT_BINARY_DIR}/gatherConfigVersion.cmake
  DESTINATION ${gather_package_folder})

# The pkg-config files.
include(${CMAKE_CURRENT_LIST_DIR}/pkgconfig_folders.cmake)
# Libraries are loaded by dlopen, which older C libraries have in a library of its own.
list(APPEND gather_static_needs ${CMAKE_DL_LIBS})
# gather_install_pkgconfig(NAME DESCRIPTION LIBRARY...): NAME.pc for lib<NAME>, whose static one needs these libraries, and threads.
function(gather_install_pkgconfig name description)
  set(gather_pc_name ${name})
  set(gather_pc_description ${description})
  list(TRANSFORM ARGN PREPEND "-l" OUTPUT_VARIABLE gather_pc_private)
  if(GATHER_THREADS)
    list(APPEND gather_pc_private -lpthread)
  endif()
  list(JOIN gather_pc_private " " gather_pc_private)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/gather.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()
gather_install_pkgconfig(gather-core "${PROJECT_DESCRIPTION}: the core, without files")
if(GATHER_COMPONENTS STREQUAL "all")
  gather_install_pkgconfig(gather "${PROJECT_DESCRIPTION}" ${gather_static_needs})
endif()
