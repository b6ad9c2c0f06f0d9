/* SPDX-License-Identifier: MIT
 *
 * counted_exit.c: in builds with gcc's counters of lines and branches, _exit writes them first, as exit does. Else what the children of
 * tests run, which end by _exit, would count for nothing. The linker's --wrap puts it before the system's.
 */
#include <stdlib.h>

void __gcov_dump(void);
void __real__exit(int status) __attribute__((noreturn));
void __wrap__exit(int status) __attribute__((noreturn));

void __wrap__exit(int status) {
  __gcov_dump();
  __real__exit(status);
}
