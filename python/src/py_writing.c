/* SPDX-License-Identifier: MIT
 *
 * py_writing.c: the arguments of the functions that write: reduction=, mode=, accumulate= and the like.
 */
#include <string.h>

#include "py_scatter.h"

typedef struct word {
  const char *name;
  int value;
} word;

static const word MODES[] = {{"raise", GATHER_ON_BAD_ERROR}, {"error", GATHER_ON_BAD_ERROR}, {"clip", GATHER_ON_BAD_CLAMP},
                             {"clamp", GATHER_ON_BAD_CLAMP}, {"wrap", GATHER_ON_BAD_WRAP},   {"skip", GATHER_ON_BAD_SKIP},
                             {"zero", GATHER_ON_BAD_ZERO},   {"fill", GATHER_ON_BAD_ZERO}};
static const word SUMS[] = {{"steps", GATHER_ACCUMULATE_STEPS}, {"halves", GATHER_ACCUMULATE_HALVES}, {"wide", GATHER_ACCUMULATE_WIDE}};

static const char *text_of(PyObject *object) {
  const char *text = PyUnicode_Check(object) ? PyUnicode_AsUTF8AndSize(object, NULL) : NULL;
  if (!text) PyErr_Clear(); /* lone surrogates are no name */
  return text;
}

/* Leaves *value alone if nothing is given. */
static int read_word(PyObject *given, const word *words, size_t count, const char *refusal, int *value) {
  const char *text = given == Py_None ? NULL : text_of(given);
  if (given == Py_None) return 0;
  for (size_t i = 0; text && i < count; i++) {
    if (strcmp(words[i].name, text) != 0) continue;
    *value = words[i].value;
    return 0;
  }
  PyErr_Format(PyExc_ValueError, "%s, not %R", refusal, given);
  return -1;
}

static int read_reduction(PyObject *given, gather_reduction *reduction) {
  const char *text = given == Py_None ? "none" : text_of(given);
  if (text && gather_reduction_parse(text, reduction)) return 0;
  PyErr_Format(PyExc_ValueError, "reduction must be 'none', 'add', 'sub', 'mul', 'min', 'max' or 'mean', not %R", given);
  return -1;
}

static int read_negative(PyObject *given, gather_negative *negative) {
  const int on = given == Py_None ? 0 : PyObject_IsTrue(given);
  if (on < 0) return -1;
  *negative = given == Py_None ? GATHER_NEGATIVE_DEFAULT : on ? GATHER_NEGATIVE_ON : GATHER_NEGATIVE_OFF;
  return 0;
}

int gather_py_read_writing(const gather_py_writing *given, gather_scatter_options *options, int32_t *threads) {
  int on_bad = GATHER_ON_BAD_DEFAULT, accumulate = GATHER_ACCUMULATE_DEFAULT;
  *options = (gather_scatter_options)GATHER_SCATTER_OPTIONS_INIT;
  *threads = GATHER_PY_DEFAULT_THREADS;
  if (read_reduction(given->reduction, &options->reduction) < 0 || read_negative(given->negative, &options->negative) < 0 ||
      read_word(given->mode, MODES, sizeof MODES / sizeof *MODES, "mode must be 'raise', 'clip', 'wrap' or 'skip'", &on_bad) < 0 ||
      read_word(given->accumulate, SUMS, sizeof SUMS / sizeof *SUMS, "accumulate must be 'steps', 'halves', 'wide' or None", &accumulate) <
          0)
    return -1;
  options->on_bad = (gather_on_bad)on_bad;
  options->accumulate = (gather_accumulate)accumulate;
  return given->threads == Py_None ? 0 : gather_py_read_threads(given->threads, threads);
}
