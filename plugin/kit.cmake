# SPDX-License-Identifier: MIT
# What `python -m libgather.build` needs beside the sources of a plug-in: the public headers, a static library, and what it is linked with.
# A static library for tables of raw bytes, which needs nothing but liburing. What asks whether another library is there is compiled once
# more, without it (the libraries of filters are loaded then); what is empty then is left out; all others are the objects of the library.
set(gather_kit_asks filter/filter_library format/format_table format/onnx/onnx format/safetensors/quant_state format/safetensors/safetensors format/zarr/zarr remote/listing
  remote/origin remote/refusal remote/remote_missing)
set(gather_kit_lacks filter/filter_linked format/onnx/onnx_[a-z]+ format/safetensors/safetensors_json "format/zarr/zarr_[a-z]+" "format/ir/[a-z_]+" "remote/http/[a-z_]+")
list(JOIN gather_kit_asks "|" gather_kit_others)
list(JOIN gather_kit_lacks "|" gather_kit_without)
list(TRANSFORM gather_kit_asks REPLACE "(.+)" "${PROJECT_SOURCE_DIR}/src/io/\\1.c")
add_library(gather_kit STATIC ${gather_kit_asks}
  $<TARGET_OBJECTS:gather_core_objects> $<TARGET_OBJECTS:gather_table_objects> $<TARGET_OBJECTS:gather_model_objects>
  "$<FILTER:$<TARGET_OBJECTS:gather_io_objects>,EXCLUDE,/(${gather_kit_others}|${gather_kit_without})[.]c>")
set_target_properties(gather_kit PROPERTIES OUTPUT_NAME gather ARCHIVE_OUTPUT_DIRECTORY ${gather_plugin_folder}/lib)
target_include_directories(gather_kit PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
target_compile_definitions(gather_kit PRIVATE GATHER_BUILDING)
target_link_libraries(gather_kit PRIVATE gather_flags)
set(kit_text "libgather.a\n")
set(kit_files "")
if(GATHER_HAVE_LIBURING)
  string(REGEX REPLACE "\\.so[.0-9]*$" ".a" uring ${LIBURING_LIBRARY})
  if(EXISTS ${uring})  # it travels with a wheel
    string(APPEND kit_text "liburing.a\n")
    configure_file(${uring} ${gather_plugin_folder}/lib/liburing.a COPYONLY)
    list(APPEND kit_files ${gather_plugin_folder}/lib/liburing.a)
  else()
    string(APPEND kit_text "${LIBURING_LIBRARY}\n")
  endif()
endif()
file(WRITE ${gather_plugin_folder}/lib/link.txt "${kit_text}")
file(CREATE_LINK ${PROJECT_SOURCE_DIR}/include ${gather_plugin_folder}/include SYMBOLIC)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/gather DESTINATION libgather/plugins/include COMPONENT python EXCLUDE_FROM_ALL)
install(FILES $<TARGET_FILE:gather_kit> ${kit_files} ${gather_plugin_folder}/lib/link.txt DESTINATION libgather/plugins/lib
  COMPONENT python EXCLUDE_FROM_ALL)
add_dependencies(gather_plugins gather_kit)
