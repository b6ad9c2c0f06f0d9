# SPDX-License-Identifier: MIT
# Every dependency of the C code, each with the reason it was chosen. docs/extend/dependencies.md tells more.

# nanopb: reads protobuf, the wire format of ONNX, in plain C without generated code.
find_path(NANOPB_INCLUDE pb_decode.h PATH_SUFFIXES nanopb)
find_library(NANOPB_LIBRARY NAMES protobuf-nanopb)
set(GATHER_HAVE_NANOPB OFF)
if(GATHER_ONNX)
  if(NOT NANOPB_INCLUDE OR NOT NANOPB_LIBRARY)
    message(FATAL_ERROR "nanopb, which reads ONNX files, was not found. Run script/bootstrap, which installs it (Debian's "
      "libnanopb-dev), or configure with -DGATHER_ONNX=OFF: then ONNX models and tensors are not read.")
  endif()
  set(GATHER_HAVE_NANOPB ON)
endif()
message(STATUS "nanopb: ${GATHER_HAVE_NANOPB}")

# expat: reads XML, the graph of OpenVINO models; it is fed piece by piece and calls back, so nothing is held twice.
find_path(EXPAT_INCLUDE expat.h)
find_library(EXPAT_LIBRARY expat)
set(GATHER_HAVE_EXPAT OFF)
if(GATHER_IR)
  if(NOT EXPAT_INCLUDE OR NOT EXPAT_LIBRARY)
    message(FATAL_ERROR "expat, which reads OpenVINO models, was not found. Run script/bootstrap, which installs it (Debian's "
      "libexpat1-dev), or configure with -DGATHER_IR=OFF: then OpenVINO models are not read.")
  endif()
  set(GATHER_HAVE_EXPAT ON)
endif()
message(STATUS "expat: ${GATHER_HAVE_EXPAT}")

# Jansson: reads JSON, the headers of safetensors files. It says where a text is wrong, refuses keys that stand twice, and keeps
# integers as integers.
find_path(JANSSON_INCLUDE jansson.h)
find_library(JANSSON_LIBRARY jansson)
set(GATHER_HAVE_JANSSON OFF)
if(GATHER_SAFETENSORS)
  if(NOT JANSSON_INCLUDE OR NOT JANSSON_LIBRARY)
    message(FATAL_ERROR "Jansson, which reads the headers of safetensors files, was not found. Run script/bootstrap, which installs "
      "it (Debian's libjansson-dev), or configure with -DGATHER_SAFETENSORS=OFF: then safetensors files are not read.")
  endif()
  set(GATHER_HAVE_JANSSON ON)
endif()
message(STATUS "Jansson: ${GATHER_HAVE_JANSSON}")

# liburing: io_uring's own library. Optional, and Linux only: without it tables are read by threads.
set(GATHER_HAVE_LIBURING OFF)
if(GATHER_URING AND CMAKE_SYSTEM_NAME STREQUAL "Linux")
  find_path(LIBURING_INCLUDE liburing.h)
  find_library(LIBURING_LIBRARY uring)
  if(LIBURING_INCLUDE AND LIBURING_LIBRARY)
    set(GATHER_HAVE_LIBURING ON)
  endif()
endif()
message(STATUS "liburing: ${GATHER_HAVE_LIBURING}")

# libcurl: HTTP and TLS, for tables on other machines. Its headers are needed here; the library is loaded when the first URL is opened
# (src/io/remote/http/curl_library.c), so that nothing else depends on it. GATHER_HTTP lists the schemes of URLs, or is OFF.
set(GATHER_HAVE_CURL OFF)
set(gather_http_schemes "")
if(GATHER_HTTP)
  string(REPLACE "," ";" gather_http_schemes "${GATHER_HTTP}")
  if(GATHER_HTTP STREQUAL "ON")
    set(gather_http_schemes https http s3 hf)
  endif()
  foreach(scheme IN LISTS gather_http_schemes)
    if(NOT scheme MATCHES "^(https|http|s3|hf)$")
      message(FATAL_ERROR "GATHER_HTTP is a list of schemes, \"https;http;s3;hf\" or fewer, or OFF; it has \"${scheme}\".")
    endif()
  endforeach()
  find_path(CURL_INCLUDE curl/curl.h)
  if(CURL_INCLUDE)
    set(GATHER_HAVE_CURL ON)
  endif()
endif()
list(JOIN gather_http_schemes "," gather_http_schemes)
if(GATHER_HAVE_CURL)
  message(STATUS "libcurl: URLs of ${gather_http_schemes}")
elseif(GATHER_HTTP)
  message(STATUS "libcurl: OFF (no curl/curl.h; Debian's libcurl4-openssl-dev has it): URLs are not read")
else()
  message(STATUS "libcurl: OFF (GATHER_HTTP): URLs are not read")
endif()

# libdeflate, libzstd and liblz4: decompress the chunks of HDF5, Zarr and Arrow. They are loaded when a chunk first needs one, without their
# headers (src/io/filter/filter_library.c); or, for wheels and archives, which bring along what a machine may lack, linked as static
# libraries (src/io/filter/filter_linked.c).
set(gather_filter_needs "")
if(NOT GATHER_FILTER_LIBRARIES MATCHES "^(load|link)$")
  message(FATAL_ERROR "GATHER_FILTER_LIBRARIES is ${GATHER_FILTER_LIBRARIES}; it must be load or link.")
elseif(GATHER_FILTER_LIBRARIES STREQUAL "link")
  foreach(filter LIBDEFLATE:libdeflate:libdeflate LIBZSTD:libzstd:zstd LIBLZ4:liblz4:lz4frame)
    string(REPLACE ":" ";" filter ${filter})
    list(GET filter 0 which)
    list(GET filter 1 library)
    list(GET filter 2 header)
    find_path(${which}_INCLUDE ${header}.h)
    find_library(${which}_LIBRARY ${library}.a)
    if(NOT ${which}_INCLUDE OR NOT ${which}_LIBRARY)
      message(FATAL_ERROR "The header or the static library of ${library} was not found. Install it (Debian's ${library}-dev), or configure "
        "with -DGATHER_FILTER_LIBRARIES=load: then it is loaded when a chunk first needs it.")
    endif()
    list(APPEND gather_filter_needs ${${which}_LIBRARY})
  endforeach()
endif()
message(STATUS "libdeflate, libzstd, liblz4: ${GATHER_FILTER_LIBRARIES}")
