/* SPDX-License-Identifier: MIT
 *
 * module.h: the types of the module, and the functions that stand in a file of their own.
 */
#ifndef GATHER_BENCH_MODULE_H
#define GATHER_BENCH_MODULE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "gather/gather.h"

extern PyTypeObject bench_buffer_type, bench_plan_type, bench_quantised_type, bench_table_type, bench_tree_type;
extern PyMethodDef bench_disk_functions[]; /* disk_module.c */

/* plan.c: the pool of so many threads, NULL for one; a tensor of (address, type, shape), 0 with an exception set where it is none; the
 * exception of an error. */
enum { BENCH_MAX_RANK = 8 };
const gather_executor *bench_executor(int threads);
int bench_read_tensor(PyObject *tuple, gather_tensor *tensor, int64_t *shape);
PyObject *bench_complain(const gather_error *error);

#endif
