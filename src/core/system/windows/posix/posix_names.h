/* SPDX-License-Identifier: MIT
 *
 * posix_names.h: the functions of POSIX that this library calls, on Windows. Each has a symbol of its own, so that it does not
 * replace what the C library, or another library of the program, has under that name.
 */
#ifndef GATHER_POSIX_NAMES_H
#define GATHER_POSIX_NAMES_H

#define GATHER_POSIX(name) __asm__("gather_posix_" #name)

#endif
