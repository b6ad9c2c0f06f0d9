/* SPDX-License-Identifier: MIT
 *
 * module.h: the types of the module, and the functions that stand in a file of their own.
 */
#ifndef GATHER_BENCH_MODULE_H
#define GATHER_BENCH_MODULE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "gather/gather.h"

extern PyTypeObject bench_buffer_type, bench_plan_type, bench_table_type;
extern PyMethodDef bench_disk_functions[]; /* disk_module.c */

#endif
