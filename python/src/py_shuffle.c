/* SPDX-License-Identifier: MIT
 *
 * py_shuffle.c: _shuffle(): writes the rows of a table to a new file, for libgather/shuffle_file.py, which has converted its
 * arguments to plain values.
 */
#include "py_signals.h"
/* Python.h must be first. */
#include <string.h>

#include "gather/shuffle.h"

typedef struct shuffle_call {
  PyObject *paths, *order, *shape, *progress; /* borrowed */
  char *output;                               /* or NULL */
  const char *name, *engine, *type;
  int32_t threads;
  bool dry_run;
  gather_shuffle_options options;
  gather_py_raw raw;
  gather_py_view order_view;
  gather_py_interruption interruption;
  bool has_handlers; /* Python runs signal handlers in this thread */
  bool raised;       /* progress raised */
  gather_shuffle_step step;
  double next; /* when to call progress again, by the clock of time.monotonic() */
  gather_shuffle *shuffle;
} shuffle_call;

/* ---- arguments */

static int read_engine(shuffle_call *given) {
  gather_error error;
  if (gather_engine_parse(given->engine, &given->options.engine, &error) == GATHER_OK) return 0;
  gather_py_raise(&error);
  return -1;
}

static int read_call(PyObject *args, shuffle_call *given) {
  gather_shuffle_options *options = &given->options;
  PyObject *output;
  long long seed, memory, offset, align;
  int passes, depth, replace, resume, threads, dry_run, as_is, links, in_place;
  *options = (gather_shuffle_options)GATHER_SHUFFLE_OPTIONS_INIT;
  if (!PyArg_ParseTuple(args, "O!OzOLLisippipzO!LppOLpz", &PyTuple_Type, &given->paths, &output, &given->name, &given->order, &seed,
                        &memory, &passes, &given->engine, &depth, &replace, &resume, &threads, &dry_run, &given->type, &PyTuple_Type,
                        &given->shape, &offset, &as_is, &links, &given->progress, &align, &in_place, &options->tensor))
    return -1;
  if (output != Py_None && PyBytes_AsStringAndSize(output, &given->output, NULL) < 0) return -1;
  options->name = given->name;
  options->seed = seed;
  options->memory_bytes = memory;
  options->passes = passes;
  options->depth = depth;
  options->align_bytes = align;
  options->replace = replace;
  options->in_place = in_place;
  options->resume = resume;
  options->no_links = !links;
  given->threads = threads;
  given->dry_run = dry_run;
  if (given->type) options->raw = &given->raw.raw;
  if (given->type && gather_py_read_raw(given->type, given->shape, offset, as_is, &given->raw) < 0) return -1;
  if (read_engine(given) < 0) return -1;
  return given->order == Py_None ? 0 : gather_py_read_indices(given->order, &given->order_view);
}

/* ---- callbacks of the work, without the GIL */

/* What progress() raises is kept in the thread, and ends the work at the next call of stop. */
static void tell_progress(shuffle_call *given, const gather_shuffle_progress *progress) {
  static const char *const STEPS[GATHER_SHUFFLE_STEPS] = {"prepare", "sort order", "first pass", "second pass", "only pass", "publish"};
  PyEval_RestoreThread(given->interruption.state);
  PyObject *result =
      PyObject_CallFunction(given->progress, "sLL", STEPS[progress->step], (long long)progress->done, (long long)progress->total);
  given->raised = !result;
  Py_XDECREF(result);
  given->interruption.state = PyEval_SaveThread();
}

/* gather_shuffle_options.progress */
static void on_progress(void *context, const gather_shuffle_progress *progress) {
  shuffle_call *given = context;
  const double time = (double)gather_py_now() * 1e-9;
  if (given->raised || (progress->step == given->step && time < given->next)) return;
  given->step = progress->step;
  tell_progress(given, progress);
  given->next = time + GATHER_PY_SLICE;
}

/* gather_shuffle_options.stop */
static bool is_stopped(void *context) {
  shuffle_call *given = context;
  if (!gather_py_thread_is_self(given->interruption.thread)) return false; /* a thread of a pool */
  return given->raised || (given->has_handlers && gather_py_is_interrupted(&given->interruption));
}

/* ---- the work, without the GIL */

static gather_status run(shuffle_call *given, gather_error *error) {
  const gather_shuffle_info *info = gather_shuffle_describe(given->shuffle);
  const bool ordered = given->order != Py_None;
  gather_status status = gather_shuffle_plan(given->shuffle, ordered ? &given->order_view.tensor : NULL, NULL, error);
  if (status != GATHER_OK || given->dry_run) return status;
  return gather_shuffle_run(given->shuffle, gather_py_executor(given->threads, info->rows * info->row_bytes), error);
}

static gather_status create_and_run(shuffle_call *given, const char *const *paths, gather_error *error) {
  gather_status status =
      gather_shuffle_create(paths, (int32_t)PyTuple_Size(given->paths), given->output, &given->options, &given->shuffle, error);
  return status == GATHER_OK ? run(given, error) : status;
}

/* ---- the result */

/* The option that would help, in Python's words. */
static void add_remedy(const gather_shuffle *shuffle, gather_error *error) {
  const gather_shuffle_remedy remedy = shuffle ? gather_shuffle_describe(shuffle)->remedy : GATHER_SHUFFLE_REMEDY_NONE;
  const char *text = remedy == GATHER_SHUFFLE_REMEDY_SEED       ? "; give seed="
                     : remedy == GATHER_SHUFFLE_REMEDY_RESUME   ? "; resume=True resumes it"
                     : remedy == GATHER_SHUFFLE_REMEDY_REPLACE  ? "; replace=True without resume starts again"
                     : remedy == GATHER_SHUFFLE_REMEDY_IN_PLACE ? "; in_place=True replaces it"
                                                                : "";
  const size_t len = strlen(error->message);
  if (len + strlen(text) < sizeof error->message) memcpy(error->message + len, text, strlen(text) + 1);
}

/* The fields of libgather.Shuffled after its path. */
static PyObject *facts(const gather_shuffle_info *info) {
  PyObject *shape = gather_py_tuple(info->rank, info->shape), *seed = Py_None;
  if (info->given)
    Py_INCREF(seed);
  else
    seed = PyLong_FromLongLong(info->seed);
  return Py_BuildValue("(LLNNNiLLLN)", (long long)info->rows, (long long)info->row_bytes,
                       gather_py_table_text(gather_table_describe(info->table)->type_name), shape, seed, (int)info->passes,
                       (long long)info->buckets, (long long)info->memory_bytes, (long long)info->temporary_bytes,
                       PyBool_FromLong(info->resumed));
}

static void close_shuffle(gather_shuffle *shuffle) {
  PyThreadState *state = PyEval_SaveThread();
  gather_shuffle_close(shuffle);
  PyEval_RestoreThread(state);
}

static PyObject *shuffle(shuffle_call *given) {
  gather_error error;
  PyObject *result = NULL;
  const char **paths = gather_py_read_paths(given->paths);
  if (!paths) return NULL;
  given->has_handlers = gather_py_interruption_begin(&given->interruption, NULL);
  given->step = GATHER_SHUFFLE_STEPS;
  given->options.stop = is_stopped;
  given->options.progress = given->progress == Py_None ? NULL : on_progress;
  given->options.stop_context = given->options.progress_context = given;
  given->interruption.state = PyEval_SaveThread();
  gather_status status = create_and_run(given, paths, &error);
  PyEval_RestoreThread(given->interruption.state);
  PyMem_Free((void *)paths);
  if (status != GATHER_OK) add_remedy(given->shuffle, &error);
  if (!given->interruption.interrupted && !given->raised) /* else with that exception, even if the work had ended */
    result = status == GATHER_OK ? facts(gather_shuffle_describe(given->shuffle)) : gather_py_raise(&error);
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  close_shuffle(given->shuffle);
  PyErr_Restore(type, value, trace);
  return result;
}

/* _shuffle(paths, output, name, order, seed, memory, passes, engine, depth, replace, resume, threads, dry_run, raw_type, raw_shape,
 * raw_offset, raw_as_is, links, progress, align, in_place, tensor) */
PyObject *gather_py_shuffle(PyObject *self, PyObject *args) {
  shuffle_call given = {0};
  PyObject *result = NULL;
  (void)self;
  gather_py_view_init(&given.order_view);
  if (read_call(args, &given) == 0) result = shuffle(&given);
  gather_py_view_clear(&given.order_view);
  return result;
}
