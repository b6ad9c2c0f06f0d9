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
extern PyMethodDef bench_disk_functions[];                                                    /* disk.c */

#endif
