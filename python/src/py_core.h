/* SPDX-License-Identifier: MIT
 *
 * py_core.h: what the files of the extension share: tensors of other libraries as the engine sees them, arguments, errors, threads.
 * Functions return -1 (or NULL) with a Python exception set.
 */
#ifndef GATHER_PY_CORE_H
#define GATHER_PY_CORE_H

#include "py_numpy.h"
/* NumPy's headers come before the library's: Python.h must be first. */
#include "gather/gather.h"
#include "gather/remote.h"
#include "py_exchange.h"

/* A function as a slot of a module or type; ISO C allows this only by way of an integer. */
#define GATHER_PY_SLOT(function) (void *)(uintptr_t)(function)
#define GATHER_PY_FROM_SLOT(type, slot) (type)(uintptr_t)(slot)

/* ---- the module's own objects: made once, never freed ---- */

typedef enum gather_py_keyword {
  GATHER_PY_AXIS,
  GATHER_PY_BATCH_DIMS,
  GATHER_PY_OUT,
  GATHER_PY_MODE,
  GATHER_PY_FILL_VALUE,
  GATHER_PY_NEGATIVE,
  GATHER_PY_RULES,
  GATHER_PY_THREADS,
  GATHER_PY_OP,
  GATHER_PY_UPDATES,
  GATHER_PY_KEYWORDS
} gather_py_keyword;

enum { GATHER_PY_MODES = 6 };

typedef struct gather_py_names {
  PyObject *keyword[GATHER_PY_KEYWORDS];
  PyObject *mode[GATHER_PY_MODES]; /* in the order of gather_on_bad, from GATHER_ON_BAD_ERROR */
  PyObject *exchange, *dlpack, *array, *array_interface, *array_struct, *dtype, *numpy_ma, *masked_array, *max_version, *requires_grad,
      *is_conj, *is_neg;
  PyObject *errors; /* the module libgather.errors */
} gather_py_names;

extern gather_py_names gather_py;
/* The types Table, TableJob and Result; set at the module's start. */
extern PyTypeObject *gather_py_table_type, *gather_py_job_type, *gather_py_result_type, *gather_py_check_type;

/* Makes the names, and loads NumPy's function table. */
int gather_py_names_init(void);

/* The function of that name in libgather._fallback, which is imported on first use. */
PyObject *gather_py_fallback(const char *name);
/* An attribute that may be missing: 1 with a new reference, 0 (no exception), or -1. Only AttributeError means missing. */
int gather_py_find(PyObject *object, PyObject *name, PyObject **value);
int gather_py_has(PyObject *object, PyObject *name);
/* libgather._fallback.NAME(*args, **keywords), for the arguments of a function. */
PyObject *gather_py_fall_back(const char *name, PyObject *const *args, Py_ssize_t count, PyObject *names);
/* Allocates an object of one of our types, all zero; frees it, after its members were freed. */
PyObject *gather_py_allocate(PyTypeObject *type);
void gather_py_release(PyObject *object);

/* An int, or an object with __index__; what: its name in errors. */
int gather_py_read_int(PyObject *object, const char *what, int64_t *value);

/* ---- tensors ---- */

/* A tensor of the caller's. The object is borrowed: our caller holds it. Shape and strides are copied, so that another
 * thread that changes the object's shape meanwhile cannot free them. */
typedef struct gather_py_view {
  gather_tensor tensor;                                     /* its strides are NULL if row-major: less work for the engine */
  PyObject *array;                                          /* the NumPy array that owns the memory; a reference; NULL for others */
  const gather_py_exchange *exchange;                       /* of the object's library; or NULL */
  gather_dl_type dl_type;                                   /* if array is NULL */
  gather_dl_versioned *managed;                             /* freed by gather_py_view_clear */
  gather_dl_managed *managed_old;                           /* the same, before DLPack 1.0 */
  int64_t number;                                           /* the element, if the object is an int */
  int64_t shape[GATHER_MAX_RANK], strides[GATHER_MAX_RANK]; /* always filled in */
} gather_py_view;

/* A view without memory. Every view must be cleared, also after a failure. */
void gather_py_view_init(gather_py_view *view);
void gather_py_view_clear(gather_py_view *view);
/* Points tensor.shape and tensor.strides at the view's own, once tensor.rank and shape are set, and strides or tensor.strides = NULL. */
void gather_py_view_settle(gather_py_view *view);
int gather_py_is_row_major(const gather_py_view *view);
/* Row-major strides in steps of `step`. Lengths of 0 count as 1: their strides are never used. */
void gather_py_row_major(int32_t rank, const int64_t *shape, int64_t step, int64_t *strides);
/* A shape or a position as a tuple of int. */
PyObject *gather_py_tuple(int32_t count, const int64_t *numbers);

/* data: any tensor. Returns 0, -1, or 1 if only libgather._fallback supports it (objects, strings of variable size, masks). */
int gather_py_read_data(PyObject *object, gather_py_view *view);
/* The same for another argument, which errors call `what`. */
int gather_py_read_input(PyObject *object, const char *what, gather_py_view *view);
/* indices: any tensor of integers, numbers, lists. */
int gather_py_read_indices(PyObject *object, gather_py_view *view);
/* out: a tensor that can be written, of data's type. */
int gather_py_read_out(PyObject *object, const gather_py_view *data, gather_py_view *view);
/* Returns 0 if out has this shape; else -1, with an error that names both. */
int gather_py_check_out_shape(const gather_py_view *out, int32_t rank, const int64_t *shape);
/* data.reshape(-1). *owner keeps it alive if it is not a NumPy array. */
int gather_py_flatten(PyObject *object, gather_py_view *view, PyObject **owner);
/* A NumPy array as a view: its type is one of ours, or opaque. */
int gather_py_view_array(PyArrayObject *array, gather_py_view *view);
/* py_convert.c: anything that NumPy makes an array of. bytes are memory here, not text. */
PyObject *gather_py_as_array(PyObject *object);
/* NumPy drops what an object's buffer or length raises, and continues without them. This raises it. */
int gather_py_probe(PyObject *object);
PyObject *gather_py_probe_object(PyObject *self, PyObject *object);
/* Whether an array has a mask: 1, 0, or -1. */
int gather_py_is_masked(PyObject *array);
/* py_exchange.c: an object that has DLPack's C interface, or __dlpack__. `what` names it in errors. */
int gather_py_read_exchange(PyObject *object, const gather_py_exchange *exchange, const char *what, gather_py_view *view);
int gather_py_read_dlpack(PyObject *object, const char *what, gather_py_view *view);
/* DLPack's C interface of the object's type; NULL if it has none. */
int gather_py_exchange_of(PyObject *object, const gather_py_exchange **exchange);

/* An element type as its library defines it. Two are the same if the same bytes mean the same value. */
typedef struct gather_py_dtype {
  PyObject *descr; /* NumPy's, borrowed from the view; or NULL */
  gather_dl_type dl_type;
  gather_type type;
} gather_py_dtype;

gather_py_dtype gather_py_dtype_of(const gather_py_view *view);
int gather_py_same_dtype(const gather_py_dtype *a, const gather_py_dtype *b);

/* A new tensor of data's library and type, and the view that the engine writes to. */
int gather_py_output(const gather_py_view *data, int32_t rank, const int64_t *shape, gather_py_view *view);
/* The caller's object of it. x: the data that `data` is a view of. scalar: a NumPy array of rank 0 becomes a scalar. */
PyObject *gather_py_finish(PyObject *x, const gather_py_view *data, gather_py_view *view, bool scalar);
/* _capsule(array, shape, code, bits, lanes): memory of a NumPy array as a DLPack capsule. */
PyObject *gather_py_capsule(PyObject *self, PyObject *args);

/* ---- arguments ---- */

/* One call: take, take_along_axis, gather_elements, gather_nd; also index, which has its own steps (py_index.h). */
typedef struct gather_py_function {
  const char *name;
  const char *op;       /* the operator that rules= names a version of; NULL = there is no rules= */
  const gather_op *own; /* our own rules */
  bool along;           /* indices and data broadcast off the axis */
  int64_t axis;         /* the default */
  unsigned keywords;    /* bits of gather_py_keyword */
} gather_py_function;

extern const gather_py_function gather_py_take, gather_py_along, gather_py_elements, gather_py_nd;

typedef struct gather_py_call {
  const gather_py_function *function;
  const gather_op *op;
  gather_options options;
  int32_t threads;
  PyObject *x, *indices, *out, *fill; /* borrowed; out and fill are NULL if not given */
  bool axis_given, axis_none;
} gather_py_call;

/* Sorts arguments into slots: two positional ones and keywords. */
int gather_py_arguments(const gather_py_function *function, PyObject *const *args, Py_ssize_t count, PyObject *names, PyObject **positional,
                        PyObject **keyword);
/* Reads them. */
int gather_py_read_call(const gather_py_function *function, PyObject *const *args, Py_ssize_t count, PyObject *names, gather_py_call *call);
/* mode= as a policy. */
int gather_py_read_mode(PyObject *mode, gather_options *options);
/* The operator version that rules= names. */
const gather_op *gather_py_find_rules(const char *op, PyObject *rules);
/* fill_value as one element of data. *owner keeps its memory. */
int gather_py_fill(PyObject *x, const gather_py_view *data, gather_py_call *call, PyObject **owner, gather_py_view *fill);

/* A call with its tensors: data and indices read, broadcast, the axis chosen. */
typedef struct gather_py_tensors {
  gather_py_view data, indices, out, fill;
  PyObject *flat, *fill_owner;
  int32_t rank; /* of the output */
  int64_t shape[GATHER_MAX_RANK];
} gather_py_tensors;

/* Starts without memory; clear it in every case. */
void gather_py_tensors_init(gather_py_tensors *tensors);
/* Returns 0, -1, or 1 (see gather_py_read_data). */
int gather_py_tensors_read(gather_py_call *call, gather_py_tensors *tensors);
void gather_py_tensors_clear(gather_py_tensors *tensors);
/* Gathers into tensors->out, which is call->out or new, by the plan if there is one, and returns the caller's object. bytes: roughly
 * what is moved; decides whether to use threads and release the GIL. */
PyObject *gather_py_gather(const gather_plan *plan, gather_py_call *call, gather_py_tensors *tensors, int64_t bytes);
/* Broadcasts data and indices off the axis. Errors of types, ranks and the axis come before those of lengths; fill_value was read. */
int gather_py_broadcast(const gather_py_call *call, gather_py_view *data, gather_py_view *indices);

/* ---- errors, threads ---- */

/* Raises the library's error; returns NULL. */
PyObject *gather_py_raise(const gather_error *error);
/* The same as an exception that is not raised; NULL if it cannot be made. */
PyObject *gather_py_exception(const gather_error *error);
/* Raises one of our own. input: "data", "indices", "output" or NULL. */
PyObject *gather_py_fail(gather_status status, const char *input, const char *format, ...);
PyObject *gather_py_fail_by_name(PyObject *self, PyObject *args);

/* ---- py_text.c, py_write.c */
/* A str of a text that may contain names from files: like gather_text_visible. NULL with an exception. */
PyObject *gather_py_visible_text(const char *text);
PyObject *gather_py_visible(PyObject *self, PyObject *text);
PyObject *gather_py_write(PyObject *self, PyObject *args);

/* The threads of a call without threads=: the default at the time it runs. */
enum { GATHER_PY_DEFAULT_THREADS = 0 };
int gather_py_read_threads(PyObject *object, int32_t *threads);
/* The executor for so many bytes; NULL = the calling thread, also if no pool can be made. */
const gather_executor *gather_py_executor(int32_t threads, int64_t bytes);
int gather_py_threads_init(void);
PyObject *gather_py_set_threads(PyObject *self, PyObject *threads);
PyObject *gather_py_get_threads(PyObject *self, PyObject *none);

/* Whether so much work is worth releasing the GIL. */
enum { GATHER_PY_RELEASE_BYTES = 64 << 10 };

/* ---- the rest of the module ---- */

PyObject *gather_py_infer_shape(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names);
PyObject *gather_py_ops(PyObject *self, PyObject *none);
PyObject *gather_py_types(PyObject *self, PyObject *none);
PyObject *gather_py_is_url(PyObject *self, PyObject *name);
PyObject *gather_py_split_path(PyObject *self, PyObject *path);
PyObject *gather_py_info(PyObject *self, PyObject *none);
/* py_table_open.c: the options of URLs, of which libgather/remote.py has made a tuple; -1 with an exception. Its texts belong to the
 * tuple. */
int gather_py_read_remote(PyObject *values, gather_remote_options *to);
PyObject *gather_py_read_ids(PyObject *self, PyObject *args);
extern PyType_Spec gather_py_plan_spec;

#endif
