/* SPDX-License-Identifier: MIT
 *
 * py_table_usable.c: the errors of a table that cannot be used.
 */
#include "py_table.h"

PyObject *gather_py_table_closed(void) { return gather_py_fail(GATHER_USAGE, "data", "the table is closed"); }

int gather_py_table_may_wait(const gather_py_table *table) {
  if (!gather_py_handle_is_handling(&table->handle)) return 0;
  gather_py_fail(GATHER_USAGE, "data", "a signal handler cannot use the table whose take it interrupts");
  return -1;
}
