/* SPDX-License-Identifier: MIT
 *
 * py_picture.c: drawings of the library (explain.h), and their facts as dictionaries. Writes no file and starts no process.
 */
#include "py_model.h"

#include <string.h>

#include "gather/explain.h"

/* A finished drawing: what Python gets. */
typedef struct drawn {
  gather_explain *explain;
  char *text, *svg;
} drawn;

static void drawn_clear(drawn *d) {
  gather_text_free(d->text);
  gather_text_free(d->svg);
  gather_explain_destroy(d->explain);
}

/* ---- advice in Python's words ---- */

/* A name as repr() shows it, except what gather_text_visible escapes. */
static size_t quote(const char *name, char *text, size_t bytes) {
  const char mark = strchr(name, '\'') && !strchr(name, '"') ? '"' : '\'';
  size_t at = 0;
  if (bytes < 4) return 0;
  text[at++] = mark;
  for (; *name && at + 4 < bytes; name++) {
    if (*name == '\\' || *name == mark) text[at++] = '\\';
    text[at++] = *name;
  }
  text[at++] = mark;
  text[at] = '\0';
  return at;
}

/* Adds as much of a text as fits. */
static void append(char *text, size_t bytes, const char *more) {
  size_t at = strlen(text), len = strlen(more);
  if (at + len < bytes) memcpy(text + at, more, len + 1);
}

void gather_py_advice(void *context, const gather_advice *advice, char *text, size_t bytes) {
  char name[400];
  (void)context;
  text[0] = '\0';
  if (advice->kind == GATHER_ADVICE_NODE) {
    (void)quote(advice->node, name, sizeof name);
    append(text, bytes, "Model.explain(");
    append(text, bytes, name);
    append(text, bytes, ", ");
  }
  append(text, bytes, advice->kind == GATHER_ADVICE_DIMS ? "dims={" : "inputs={");
  for (int64_t i = 0; i < advice->count; i++) {
    (void)quote(advice->names[i], name, sizeof name);
    append(text, bytes, i > 0 ? ", " : "");
    append(text, bytes, name);
    append(text, bytes, advice->kind == GATHER_ADVICE_DIMS ? ": LENGTH" : ": TENSOR");
  }
  append(text, bytes, advice->kind == GATHER_ADVICE_NODE ? "})" : "}");
}

/* ---- facts ---- */

static PyObject *number_of(int64_t number, bool is_unsigned) {
  return is_unsigned ? PyLong_FromUnsignedLongLong((unsigned long long)number) : PyLong_FromLongLong((long long)number);
}

static PyObject *numbers_of(int32_t count, const int64_t *numbers, bool is_unsigned) {
  PyObject *list = PyList_New(count);
  for (int32_t i = 0; list && i < count; i++) {
    PyObject *number = number_of(numbers[i], is_unsigned);
    if (!number || PyList_SetItem(list, i, number) < 0) Py_CLEAR(list);
  }
  return list;
}

static PyObject *list_of(int32_t count, const int64_t *numbers) { return numbers_of(count, numbers, false); }

static PyObject *none(void) { Py_RETURN_NONE; }

/* Of a tuple a list of numbers, and so are the rows that it selects. */
static PyObject *index_of(const gather_explain_facts *facts, const gather_explain_cell *cell) {
  return facts->tuples ? numbers_of(facts->selected, cell->values, cell->value_is_unsigned)
                       : number_of(cell->value, cell->value_is_unsigned);
}

static PyObject *row_of(const gather_explain_facts *facts, const gather_explain_cell *cell) {
  if (!cell->has_source) return none();
  return facts->tuples ? list_of(facts->selected, cell->data + facts->axis) : number_of(cell->row, false);
}

static PyObject *cell_of(const gather_explain_facts *facts, const gather_explain_cell *cell) {
  PyObject *row = row_of(facts, cell);
  PyObject *data = cell->has_source ? list_of(facts->data_rank, cell->data) : none();
  return Py_BuildValue("{s:N,s:N,s:N,s:N,s:N}", "out", list_of(facts->output_rank, cell->out), "index", index_of(facts, cell), "bad",
                       PyBool_FromLong(cell->bad), "row", row, "data", data);
}

static PyObject *cells_of(const gather_explain *explain, const gather_explain_facts *facts) {
  PyObject *cells = PyList_New((Py_ssize_t)facts->cell_count);
  gather_explain_cell cell;
  for (int64_t i = 0; cells && gather_explain_cell_at(explain, i, &cell); i++) {
    PyObject *made = cell_of(facts, &cell);
    if (!made || PyList_SetItem(cells, (Py_ssize_t)i, made) < 0) Py_CLEAR(cells);
  }
  return cells;
}

/* (text, svg, cells, complete, formula, error, node): error None if there is none; node "" if it has no name. */
static PyObject *answer(const drawn *d) {
  const gather_explain_facts *facts = gather_explain_facts_of(d->explain);
  PyObject *cells = cells_of(d->explain, facts);
  PyObject *error = cells && facts->error ? gather_py_exception(facts->error) : none();
  if (!cells || !error) {
    Py_XDECREF(cells);
    Py_XDECREF(error);
    return NULL;
  }
  return Py_BuildValue("(NNNNNNN)", gather_py_text(d->text), gather_py_text(d->svg), cells, PyBool_FromLong(facts->complete),
                       gather_py_text(facts->formula), error, gather_py_text(facts->node ? facts->node->name : ""));
}

static gather_status draw(drawn *d, int32_t width, gather_error *error) {
  gather_explain_text_options options = GATHER_EXPLAIN_TEXT_OPTIONS_INIT;
  options.width = width;
  gather_status status = gather_explain_text(d->explain, &options, &d->text, NULL, error);
  return status == GATHER_OK ? gather_explain_svg(d->explain, &d->svg, NULL, error) : status;
}

/* ---- tensors ---- */

/* The caller's arguments of a gather of tensors. */
typedef struct asked {
  const gather_op *op;
  gather_options options;
  gather_explain_options told;
  int width;
} asked;

/* items: data, indices, and the fill value if there is one. */
static PyObject *explain_tensors(const gather_py_given *given, asked *a) {
  drawn d = {NULL, NULL, NULL};
  gather_error error;
  if (given->count < 2) return PyErr_Format(PyExc_TypeError, "data and indices are missing");
  if (given->count > 2) a->options.fill = given->inputs[2].tensor.data;
  PyThreadState *state = PyEval_SaveThread();
  gather_status status =
      gather_explain_create(a->op, &given->inputs[0].tensor, &given->inputs[1].tensor, &a->options, &a->told, &d.explain, &error);
  if (status == GATHER_OK) status = draw(&d, a->width, &error);
  PyEval_RestoreThread(state);
  PyObject *made = status == GATHER_OK ? answer(&d) : gather_py_raise(&error);
  drawn_clear(&d);
  return made;
}

static int read_policy(PyObject *mode, PyObject *negative, gather_options *options) {
  if (mode != Py_None && gather_py_read_mode(mode, options) < 0) return -1;
  if (negative == Py_None) return 0;
  int on = PyObject_IsTrue(negative);
  options->negative = on ? GATHER_NEGATIVE_ON : GATHER_NEGATIVE_OFF;
  return on < 0 ? -1 : 0;
}

/* _explain(items, op, rules, axis, batch_dims, mode, negative, data type, fill text, width) */
PyObject *gather_py_explain(PyObject *self, PyObject *args) {
  static const asked INIT = {NULL, GATHER_OPTIONS_INIT, GATHER_EXPLAIN_OPTIONS_INIT, 0};
  asked a = INIT;
  gather_py_given given = {.drawn = true};
  const char *op, *rules;
  PyObject *items, *mode, *negative, *made = NULL;
  long long axis, batch;
  (void)self;
  if (!PyArg_ParseTuple(args, "OssLLOOzzi", &items, &op, &rules, &axis, &batch, &mode, &negative, &a.told.data_type, &a.told.fill_text,
                        &a.width))
    return NULL;
  a.op = gather_op_find(op, rules);
  if (!a.op) return gather_py_fail(GATHER_USAGE, NULL, "%s has no rules '%.100s'", op, rules);
  a.options.axis = axis;
  a.options.batch_dims = batch;
  if (read_policy(mode, negative, &a.options) == 0 && gather_py_given_read(items, &given) == 0) made = explain_tensors(&given, &a);
  gather_py_given_clear(&given);
  return made;
}

/* ---- a node of a model ---- */

static gather_status draw_node(const gather_model *model, const char *node, const gather_check_options *options, const char *name,
                               int32_t width, drawn *d, gather_model_operands **operands, gather_error *error) {
  gather_explain_options told = GATHER_EXPLAIN_OPTIONS_INIT;
  told.model_name = name;
  told.writer = gather_py_advice;
  gather_status status = gather_model_operands_find(model, node, options, operands, error);
  if (status == GATHER_OK) status = gather_explain_create_node(*operands, NULL, &told, &d->explain, error);
  return status == GATHER_OK ? draw(d, width, error) : status;
}

static PyObject *explain_node(const gather_model *model, const char *node, const gather_check_options *options, const char *name,
                              int32_t width) {
  drawn d = {NULL, NULL, NULL};
  gather_model_operands *operands = NULL;
  gather_error error;
  PyThreadState *state = PyEval_SaveThread();
  gather_status status = draw_node(model, node, options, name, width, &d, &operands, &error);
  PyEval_RestoreThread(state);
  PyObject *made = status == GATHER_OK ? answer(&d) : gather_py_raise(&error);
  drawn_clear(&d);
  gather_model_operands_destroy(operands);
  return made;
}

/* explain(node, inputs, dims, name, width); node None: the only one */
PyObject *gather_py_model_explain(PyObject *self, PyObject *args) {
  PyObject *node, *inputs, *dims, *name, *made = NULL;
  gather_py_given given = {0};
  gather_model_dim *lengths = NULL;
  gather_check_options options = GATHER_CHECK_OPTIONS_INIT;
  int width;
  if (!PyArg_ParseTuple(args, "OOOO!i", &node, &inputs, &dims, &PyBytes_Type, &name, &width)) return NULL;
  const char *which = node == Py_None ? NULL : gather_py_name(node);
  if (!PyErr_Occurred() && gather_py_given_read(inputs, &given) == 0 && gather_py_read_dims(dims, &options, &lengths) == 0) {
    options.inputs = given.inputs;
    options.input_count = given.count;
    made = explain_node(((const gather_py_model *)self)->model, which, &options, PyBytes_AsString(name), width);
  }
  gather_py_given_clear(&given);
  PyMem_Free(lengths);
  return made;
}
