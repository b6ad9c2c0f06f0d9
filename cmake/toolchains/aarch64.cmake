# SPDX-License-Identifier: MIT
# aarch64: 64-bit, little-endian, with Debian's gcc-aarch64-linux-gnu and qemu-user.
set(gather_triple aarch64-linux-gnu)
set(gather_qemu qemu-aarch64)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
include(${CMAKE_CURRENT_LIST_DIR}/debian-cross.cmake)
