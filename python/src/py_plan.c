/* SPDX-License-Identifier: MIT
 *
 * py_plan.c: the type Plan: a gather with every decision made, for any tensors of the same layouts.
 */
#include <stddef.h>
#include <string.h>

#include "py_layout.h"
#include "structmember.h"

/* Calls without a tuple and a dict (vectorcall): in every Python since 3.9, and in the limited API since 3.12. */
typedef PyObject *(*vectorcall)(PyObject *object, PyObject *const *args, size_t count, PyObject *names);
#define HAVE_VECTORCALL (1UL << 11)
#define COUNT_OF(count) (Py_ssize_t)((count) & ~((size_t)1 << (8 * sizeof(size_t) - 1)))

typedef struct plan_object {
  PyObject ob_base;
  vectorcall call_by_vector;
  gather_plan *plan;
  gather_py_call call; /* for outputs that are not row-major; fill_owner owns its fill */
  PyObject *fill_owner, *descr;
  gather_py_dtype dtype; /* of data; its descr is the one above */
  gather_py_layout data, indices;
  int32_t rank;
  int64_t shape[GATHER_MAX_RANK], bytes;
} plan_object;

static PyObject *plan_vectorcall(PyObject *object, PyObject *const *args, size_t count, PyObject *names);

static int check_layout(const gather_py_layout *layout, const gather_py_view *view, const char *what) {
  if (gather_py_is_like(layout, view)) return 0;
  gather_py_fail(GATHER_SHAPE_MISMATCH, what, "the plan was made for %s of a different dtype, shape or strides", what);
  return -1;
}

static int decide(plan_object *self, gather_py_tensors *t) {
  gather_error error;
  gather_py_call *call = &self->call;
  gather_status status = gather_plan_create(call->op, &t->data.tensor, &t->indices.tensor, NULL, &call->options, &self->plan, &error);
  if (status != GATHER_OK) {
    gather_py_raise(&error);
    return -1;
  }
  self->rank = gather_plan_shape(self->plan, self->shape);
  self->bytes = gather_tensor_bytes(&t->indices.tensor);
  gather_tensor out = {.type = t->data.tensor.type, .item_bytes = t->data.tensor.item_bytes, .rank = self->rank, .shape = self->shape};
  self->bytes += gather_tensor_bytes(&out);
  return 0;
}

/* What is kept after the tensors that the plan was made from. */
static void keep(plan_object *self, gather_py_tensors *t) {
  self->dtype = gather_py_dtype_of(&t->data);
  self->descr = self->dtype.descr;
  Py_XINCREF(self->descr);
  self->fill_owner = t->fill_owner;
  t->fill_owner = NULL;
  self->call.x = self->call.indices = self->call.out = NULL;
}

static int read_views(PyObject *x, PyObject *indices, gather_py_view *data, gather_py_view *index) {
  int result = gather_py_read_data(x, data);
  if (result == 0) return gather_py_read_indices(indices, index);
  if (result == 1)
    gather_py_fail(GATHER_TYPE_UNSUPPORTED, "data",
                   "plans do not support objects, strings of variable size, masked arrays or tables in files");
  return -1;
}

/* The layouts before broadcasting, as calls pass them. */
static int read_layouts(plan_object *self, gather_py_tensors *t) {
  gather_py_view data, indices;
  gather_py_view_init(&data);
  gather_py_view_init(&indices);
  int result = read_views(self->call.x, self->call.indices, &data, &indices);
  if (result == 0) {
    gather_py_layout_read(&self->data, &data);
    gather_py_layout_read(&self->indices, &indices);
  }
  gather_py_view_clear(&data);
  gather_py_view_clear(&indices);
  return result < 0 ? -1 : gather_py_tensors_read(&self->call, t);
}

static PyObject *create(PyObject *type, const gather_py_function *like, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  gather_py_tensors tensors;
  gather_py_function function = *like;
  gather_py_call call;
  function.keywords &= ~(1u << GATHER_PY_OUT);
  if (gather_py_read_call(&function, args, count, names, &call) < 0) return NULL;
  call.function = like;
  if (like->along && call.axis_none) {
    PyErr_SetString(PyExc_TypeError, "a plan needs axis=");
    return NULL;
  }
  plan_object *self = (plan_object *)gather_py_allocate((PyTypeObject *)type);
  if (!self) return NULL;
  self->call = call;
  self->call_by_vector = plan_vectorcall;
  gather_py_tensors_init(&tensors);
  int made = read_layouts(self, &tensors);
  if (made == 0) made = decide(self, &tensors);
  if (made == 0) keep(self, &tensors);
  gather_py_tensors_clear(&tensors);
  if (made == 0) return (PyObject *)self;
  Py_DECREF((PyObject *)self);
  return NULL;
}

static PyObject *plan_take(PyObject *type, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  return create(type, &gather_py_take, args, count, names);
}

static PyObject *plan_along(PyObject *type, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  return create(type, &gather_py_along, args, count, names);
}

static PyObject *plan_elements(PyObject *type, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  return create(type, &gather_py_elements, args, count, names);
}

static PyObject *plan_nd(PyObject *type, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  return create(type, &gather_py_nd, args, count, names);
}

static void plan_free(PyObject *object) {
  plan_object *self = (plan_object *)object;
  gather_plan_destroy(self->plan);
  Py_XDECREF(self->descr);
  Py_XDECREF(self->fill_owner);
  gather_py_release(object);
}

/* The plan writes row-major: another output gets a new plan. */
static PyObject *execute(const plan_object *self, gather_py_tensors *t, PyObject *x, PyObject *out) {
  gather_py_call call = self->call;
  call.x = x;
  call.out = out;
  if (!out || gather_py_is_planned(self->rank, self->shape, &t->out)) return gather_py_gather(self->plan, &call, t, self->bytes);
  if (gather_py_broadcast(&call, &t->data, &t->indices) < 0) return NULL;
  return gather_py_gather(NULL, &call, t, self->bytes);
}

static PyObject *run_views(plan_object *self, gather_py_tensors *t, PyObject *x, PyObject *indices, PyObject *out) {
  if (read_views(x, indices, &t->data, &t->indices) < 0) return NULL;
  gather_py_dtype dtype = gather_py_dtype_of(&t->data);
  if (!gather_py_same_dtype(&self->dtype, &dtype)) {
    gather_py_fail(GATHER_TYPE_MISMATCH, "data", "the plan was made for data of a different dtype");
    return NULL;
  }
  if (check_layout(&self->data, &t->data, "data") < 0 || check_layout(&self->indices, &t->indices, "indices") < 0) return NULL;
  if (out ? gather_py_read_out(out, &t->data, &t->out) < 0 : gather_py_output(&t->data, self->rank, self->shape, &t->out) < 0) return NULL;
  return execute(self, t, x, out);
}

static PyObject *call_plan(plan_object *self, PyObject *x, PyObject *indices, PyObject *out) {
  gather_py_tensors tensors;
  gather_py_tensors_init(&tensors);
  PyObject *result = run_views(self, &tensors, x, indices, out == Py_None ? NULL : out);
  gather_py_tensors_clear(&tensors);
  return result;
}

static PyObject *plan_call(PyObject *object, PyObject *args, PyObject *keywords) {
  PyObject *out = NULL;
  Py_ssize_t given = keywords ? PyDict_Size(keywords) : 0;
  if (PyTuple_Size(args) != 2)
    return PyErr_Format(PyExc_TypeError, "a plan takes 2 positional arguments (x, indices), not %zd", PyTuple_Size(args));
  if (given) out = PyDict_GetItemWithError(keywords, gather_py.keyword[GATHER_PY_OUT]);
  if (PyErr_Occurred()) return NULL;
  if (given > (out ? 1 : 0)) return PyErr_Format(PyExc_TypeError, "a plan takes no keyword argument but out");
  return call_plan((plan_object *)object, PyTuple_GetItem(args, 0), PyTuple_GetItem(args, 1), out);
}

static PyObject *plan_vectorcall(PyObject *object, PyObject *const *args, size_t count, PyObject *names) {
  static const gather_py_function function = {"plan", NULL, NULL, false, 0, 1u << GATHER_PY_OUT};
  PyObject *positional[2], *keyword[GATHER_PY_KEYWORDS];
  if (gather_py_arguments(&function, args, COUNT_OF(count), names, positional, keyword) < 0) return NULL;
  return call_plan((plan_object *)object, positional[0], positional[1], keyword[GATHER_PY_OUT]);
}

static PyObject *plan_check(PyObject *object, PyObject *indices) {
  plan_object *self = (plan_object *)object;
  gather_py_view view;
  gather_error error;
  gather_py_view_init(&view);
  int result = gather_py_read_indices(indices, &view);
  if (result == 0) result = check_layout(&self->indices, &view, "indices");
  if (result == 0) {
    gather_run run = GATHER_RUN_INIT;
    run.indices = view.tensor.data;
    PyThreadState *state = PyEval_SaveThread();
    run.executor = gather_py_executor(self->call.threads, self->bytes);
    gather_status status = gather_plan_check(self->plan, &run, &error);
    PyEval_RestoreThread(state);
    if (status != GATHER_OK) {
      gather_py_raise(&error);
      result = -1;
    }
  }
  gather_py_view_clear(&view);
  if (result != 0) return NULL;
  Py_RETURN_NONE;
}

static PyObject *plan_shape(PyObject *object, void *closure) {
  const plan_object *self = (const plan_object *)object;
  (void)closure;
  return gather_py_tuple(self->rank, self->shape);
}

static PyObject *plan_text(PyObject *object, void *closure) {
  char text[1024];
  (void)closure;
  gather_plan_print(((plan_object *)object)->plan, text, sizeof text);
  return PyUnicode_FromString(text);
}

static PyObject *plan_repr(PyObject *object) {
  PyObject *text = plan_text(object, NULL);
  PyObject *repr = text ? PyUnicode_FromFormat("<libgather.Plan: %U>", text) : NULL;
  Py_XDECREF(text);
  return repr;
}

#define FAST (METH_CLASS | METH_FASTCALL | METH_KEYWORDS)
static PyMethodDef methods[] = {
    {"take", (PyCFunction)(void (*)(void))plan_take, FAST,
     "take(x, indices, /, *, axis=None, batch_dims=0, mode=None, fill_value=None, negative=None, rules=None, "
     "threads=None)\n"
     "--\n\nPlans libgather.take for tensors with the layouts of x and indices."},
    {"take_along_axis", (PyCFunction)(void (*)(void))plan_along, FAST,
     "take_along_axis(x, indices, /, *, axis=-1, mode=None, fill_value=None, negative=None, threads=None)\n--\n\n"
     "Plans libgather.take_along_axis for tensors with the layouts of x and indices."},
    {"gather_elements", (PyCFunction)(void (*)(void))plan_elements, FAST,
     "gather_elements(x, indices, /, *, axis=0, mode=None, fill_value=None, negative=None, rules=None, "
     "threads=None)\n--\n\n"
     "Plans libgather.gather_elements for tensors with the layouts of x and indices."},
    {"gather_nd", (PyCFunction)(void (*)(void))plan_nd, FAST,
     "gather_nd(x, indices, /, *, batch_dims=0, mode=None, fill_value=None, negative=None, rules=None, threads=None)\n"
     "--\n\nPlans libgather.gather_nd for tensors with the layouts of x and indices."},
    {"check", plan_check, METH_O,
     "check(indices, /)\n--\n\nValidates every index as a call would, without writing.\n\n"
     "Raises\n------\nGatherIndexError\n    The first index out of range, and the number of them."},
    {NULL, NULL, 0, NULL}};

static PyGetSetDef getters[] = {{"shape", plan_shape, NULL, "The shape of the result: a tuple of int.", NULL},
                                {"text", plan_text, NULL, "The plan in one line for people. The wording may change.", NULL},
                                {NULL, NULL, NULL, NULL, NULL}};

static PyMemberDef members[] = {{"__vectorcalloffset__", T_PYSSIZET, offsetof(plan_object, call_by_vector), READONLY, NULL},
                                {NULL, 0, 0, 0, NULL}};

static char doc[] =
    "A gather with every decision made, for any tensors of the same layouts.\n\n"
    "Made by Plan.take, Plan.take_along_axis, Plan.gather_elements or Plan.gather_nd from the layouts (dtype, shape, "
    "strides) of\n"
    "x and indices. plan(x, indices, out=None) then gathers from tensors of these layouts; others raise "
    "GatherValueError. A "
    "plan\n"
    "never changes: any number of threads may call one at once.";

static PyType_Slot slots[] = {{Py_tp_dealloc, GATHER_PY_SLOT(plan_free)},
                              {Py_tp_call, GATHER_PY_SLOT(plan_call)},
                              {Py_tp_repr, GATHER_PY_SLOT(plan_repr)},
                              {Py_tp_methods, methods},
                              {Py_tp_members, members},
                              {Py_tp_getset, getters},
                              {Py_tp_doc, doc},
                              {0, NULL}};

PyType_Spec gather_py_plan_spec = {"libgather.Plan", sizeof(plan_object), 0,
                                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE | HAVE_VECTORCALL,
                                   slots};
