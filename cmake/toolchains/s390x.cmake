# SPDX-License-Identifier: MIT
# s390x: 64-bit, big-endian, with Debian's gcc-s390x-linux-gnu and qemu-user.
set(gather_triple s390x-linux-gnu)
set(gather_qemu qemu-s390x)
set(CMAKE_SYSTEM_PROCESSOR s390x)
include(${CMAKE_CURRENT_LIST_DIR}/debian-cross.cmake)
