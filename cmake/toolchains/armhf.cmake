# SPDX-License-Identifier: MIT
# armhf: 32-bit, little-endian, with Debian's gcc-arm-linux-gnueabihf and qemu-user.
set(gather_triple arm-linux-gnueabihf)
set(gather_qemu qemu-arm)
set(CMAKE_SYSTEM_PROCESSOR arm)
include(${CMAKE_CURRENT_LIST_DIR}/debian-cross.cmake)
