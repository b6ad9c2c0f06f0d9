/* SPDX-License-Identifier: MIT
 *
 * model.h: the type Model, for the module's start.
 */
#ifndef GATHER_PY_MODEL_H
#define GATHER_PY_MODEL_H

#include "core.h"

/* Adds the type to the module. */
int gather_py_model_init(PyObject *module);

#endif
