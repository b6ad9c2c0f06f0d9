/* SPDX-License-Identifier: MIT
 *
 * module.h: what of the module stands in other files.
 */
#ifndef GATHER_BENCH_MODULE_H
#define GATHER_BENCH_MODULE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "gather/gather.h"

extern PyTypeObject bench_plan_type, bench_quantised_type, bench_table_type, bench_tree_type; /* calls.c */
extern PyTypeObject bench_scatter_type, bench_backward_type, bench_bag_type;                  /* calls_write.c */
extern PyMethodDef bench_disk_functions[];                                                    /* disk.c */
extern PyMethodDef bench_write_functions[];                                                   /* naive_write.c */

enum { BENCH_MAX_RANK = 8 };

/* A tensor of (address, type, shape), whose shape goes into `shape`; 0 with an exception set where it is none. */
int bench_read_tensor(PyObject *tuple, gather_tensor *tensor, int64_t *shape);
/* A pool of so many threads; NULL for one. */
const gather_executor *bench_executor(int threads);
/* Sets the exception of an error, and returns NULL. */
PyObject *bench_complain(const gather_error *error);

#endif
