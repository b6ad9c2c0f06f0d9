/* SPDX-License-Identifier: MIT
 *
 * counted_exit.c: in builds with gcc's counters of lines and branches, _exit and raise write them first, as exit does. Else what the
 * children of tests run, which end by _exit or by a signal, would count for nothing. The linker's --wrap puts them before the system's.
 */
#include <signal.h>
#include <stdlib.h>

void __gcov_dump(void);
void __gcov_reset(void); /* else what is counted later is not written */
int __real_raise(int number);
int __wrap_raise(int number);
void __real__exit(int status) __attribute__((noreturn));
void __wrap__exit(int status) __attribute__((noreturn));

void __wrap__exit(int status) {
  __gcov_dump();
  __real__exit(status);
}

int __wrap_raise(int number) {
  __gcov_dump();
  __gcov_reset();
  return __real_raise(number);
}
