# SPDX-License-Identifier: MIT
# For a pkg-config file, which finds its prefix from its own place: gather_prefix_from_pc, gather_pc_LIBDIR, gather_pc_INCLUDEDIR.
# A folder that was set as an absolute path stays one.
file(RELATIVE_PATH gather_prefix_from_pc ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
foreach(folder LIBDIR INCLUDEDIR)
  if(IS_ABSOLUTE ${CMAKE_INSTALL_${folder}})
    set(gather_pc_${folder} ${CMAKE_INSTALL_${folder}})
  else()
    set(gather_pc_${folder} "\${prefix}/${CMAKE_INSTALL_${folder}}")
  endif()
endforeach()
