/* SPDX-License-Identifier: MIT
 *
 * py_index_error.c: an index of a key that is out of range: which item of the key, and where in the broadcast shape of its arrays.
 */
#include "py_index_error.h"

#include <inttypes.h>
#include <stdio.h>

/* "key[1][0, 2]", "key[1]" */
static int print_place(char *text, size_t bytes, const gather_error *error, int32_t item) {
  int at = snprintf(text, bytes, "key[%d]", (int)item);
  for (int32_t d = 0; d < error->position_rank && (size_t)at < bytes; d++)
    at += snprintf(text + at, bytes - (size_t)at, "%s%" PRId64, d == 0 ? "[" : ", ", error->position[d]);
  if (error->position_rank > 0 && (size_t)at < bytes) at += snprintf(text + at, bytes - (size_t)at, "]");
  return at;
}

int gather_py_index_raise(gather_error *error, int32_t item, int64_t len) {
  char place[200], number[32], many[64] = "";
  (void)print_place(place, sizeof place, error, item);
  (void)snprintf(number, sizeof number, error->value_is_unsigned ? "%" PRIu64 : "%" PRId64, (uint64_t)error->value);
  if (error->bad_count > 1) (void)snprintf(many, sizeof many, "; %" PRId64 " are out of range in total", error->bad_count);
  error->op = "index", error->rules = NULL;
  if (len == 0)
    (void)snprintf(error->message, sizeof error->message, "%s = %s cannot be in range: axis %d has length 0%s", place, number,
                   (int)error->axis, many);
  else
    (void)snprintf(error->message, sizeof error->message, "%s = %s is outside [%" PRId64 ", %" PRId64 "] of axis %d%s", place, number,
                   error->low, error->high, (int)error->axis, many);
  PyObject *made = gather_py_exception(error), *which = PyLong_FromLong(item);
  if (made && which && PyObject_SetAttrString(made, "item", which) == 0) PyErr_SetObject((PyObject *)Py_TYPE(made), made);
  Py_XDECREF(made);
  Py_XDECREF(which);
  return -1;
}
