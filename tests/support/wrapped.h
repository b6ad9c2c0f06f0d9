/* SPDX-License-Identifier: MIT
 *
 * wrapped.h: functions that the linker's --wrap puts before those of the system or the library (gather_wrap in tests/CMakeLists.txt):
 *
 *     WRAPPED(int, fsync, (int fd)) { return fails("fsync") ? -1 : REAL(fsync)(fd); }
 */
#ifndef GATHER_TESTS_SUPPORT_WRAPPED_H
#define GATHER_TESTS_SUPPORT_WRAPPED_H

#include <limits.h> /* __GLIBC__, too */

#define REAL(name) __real_##name
#define WRAPPED_AS(result, real, wrap, declared) \
  result real declared;                          \
  result wrap declared;                          \
  result wrap declared
#define WRAPPED(result, name, declared) WRAPPED_AS(result, __real_##name, __wrap_##name, declared)

/* The same for those that know file offsets: glibc gives them another name where these have 64 bits. */
#if defined(__GLIBC__)
#define REAL64(name) __real_##name##64
#define WRAPPED64(result, name, declared) WRAPPED_AS(result, __real_##name##64, __wrap_##name##64, declared)
#else
#define REAL64(name) __real_##name
#define WRAPPED64(result, name, declared) WRAPPED(result, name, declared)
#endif

/* Calls that return -1, with errno, where `fails` of the file that includes this says so of their name. */
#define FAILING(result, name, declared, passed) \
  WRAPPED(result, name, declared) { return fails(#name) ? -1 : REAL(name) passed; }
#define FAILING64(result, name, declared, passed) \
  WRAPPED64(result, name, declared) { return fails(#name) ? -1 : REAL64(name) passed; }

#endif
