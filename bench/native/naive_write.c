/* SPDX-License-Identifier: MIT
 *
 * naive_write.c: the loops that anybody writes for operators that write: one update after another, one thread, no check of the indices, no
 * prefetch.
 */
#include <string.h>

#include "module.h"
#include "native.h"
#include "x86.h"

enum { MAX_COMPONENTS = 4 };

/* Position (o, i, k) reads the tuple number o * index_outer + i * inner + k, and writes a row at out + o * outer_step + k * inner_step, and
 * each number of the tuple times its step further on. Steps count elements. Updates stand one after the other. inner > 1: single elements
 * by single indices. */
typedef struct {
  const char *updates, *indices;
  char *out;
  int64_t outer, count, inner, index_outer, outer_step, inner_step, row_len;
  int64_t components, steps[MAX_COMPONENTS];
  int64_t zero_bytes; /* of out, that are set to 0 first */
} writes;

static void set_float(float *a, float b) { *a = b; }
static void add_float(float *a, float b) { *a += b; }
static void max_float(float *a, float b) { *a = b > *a ? b : *a; }
static void min_float(float *a, float b) { *a = b < *a ? b : *a; }
static void add_int(uint32_t *a, uint32_t b) { *a += b; }
static void max_int(int32_t *a, int32_t b) { *a = b > *a ? b : *a; }

static float of_bfloat(uint16_t v) {
  uint32_t bits = (uint32_t)v << 16;
  float f;
  memcpy(&f, &bits, 4);
  return f;
}
static void add_bfloat(uint16_t *a, uint16_t b) {
  float sum = of_bfloat(*a) + of_bfloat(b);
  uint32_t bits;
  memcpy(&bits, &sum, 4);
  *a = (uint16_t)((bits + 0x7FFFu + (bits >> 16 & 1u)) >> 16);
}

#define LOOP(kind, name, type, combine)                                                                                               \
  kind void name(const writes *w) {                                                                                                   \
    const type *update = (const type *)(const void *)w->updates;                                                                      \
    for (int64_t o = 0; o < w->outer; o++) {                                                                                          \
      const int64_t *index = (const int64_t *)(const void *)w->indices + o * w->index_outer * w->components;                          \
      type *out = (type *)(void *)w->out + o * w->outer_step;                                                                         \
      if (w->components == 1 && w->inner == 1 && w->row_len == 1) {                                                                   \
        for (int64_t i = 0; i < w->count; i++) combine(out + index[i] * w->steps[0], *update++);                                      \
      } else if (w->components == 2 && w->row_len == 1) {                                                                             \
        for (int64_t i = 0; i < w->count; i++, index += 2) combine(out + index[0] * w->steps[0] + index[1] * w->steps[1], *update++); \
      } else if (w->row_len == 1) {                                                                                                   \
        for (int64_t i = 0; i < w->count; i++, index += w->inner)                                                                     \
          for (int64_t k = 0; k < w->inner; k++) combine(out + index[k] * w->steps[0] + k * w->inner_step, *update++);                \
      } else {                                                                                                                        \
        for (int64_t i = 0; i < w->count; i++, index += w->components, update += w->row_len) {                                        \
          type *row = out;                                                                                                            \
          for (int64_t c = 0; c < w->components; c++) row += index[c] * w->steps[c];                                                  \
          for (int64_t e = 0; e < w->row_len; e++) combine(row + e, update[e]);                                                       \
        }                                                                                                                             \
      }                                                                                                                               \
    }                                                                                                                                 \
  }

LOOP(static, none_float32, float, set_float)
LOOP(static, add_float32, float, add_float)
LOOP(static, max_float32, float, max_float)
LOOP(static, min_float32, float, min_float)
LOOP(static, add_int32, uint32_t, add_int)
LOOP(static, max_int32, int32_t, max_int)
LOOP(static, add_bfloat16, uint16_t, add_bfloat)

#if BENCH_X86
/* Every CPU with AVX2 has it. */
GATHER_BENCH_TARGET("f16c")
static inline void add_half(uint16_t *a, uint16_t b) { *a = _cvtss_sh(_cvtsh_ss(*a) + _cvtsh_ss(b), 0); }
LOOP(GATHER_BENCH_TARGET("f16c") static, add_float16, uint16_t, add_half)
#endif

static const struct {
  const char *type, *reduction;
  void (*loop)(const writes *);
} loops[] = {
    {"float32", "none", none_float32}, {"float32", "add", add_float32}, {"float32", "max", max_float32},   {"float32", "min", min_float32},
    {"int32", "add", add_int32},       {"int32", "max", max_int32},     {"bfloat16", "add", add_bfloat16},
#if BENCH_X86
    {"float16", "add", add_float16},
#endif
};

/* write_loop(type, reduction, rounds, (updates, indices, out, outer, count, inner, index_outer, outer_step, inner_step, row_len,
 * zero_bytes), steps): nanoseconds. Indices are int64. */
static PyObject *write_loop(PyObject *self, PyObject *args) {
  const char *type, *reduction;
  long long rounds, n[8];
  unsigned long long updates, indices, out;
  PyObject *steps;
  (void)self;
  if (!PyArg_ParseTuple(args, "ssL(KKKLLLLLLLL)O!", &type, &reduction, &rounds, &updates, &indices, &out, &n[0], &n[1], &n[2], &n[3], &n[4],
                        &n[5], &n[6], &n[7], &PyTuple_Type, &steps))
    return NULL;
  writes w = {(const char *)(uintptr_t)updates,
              (const char *)(uintptr_t)indices,
              (char *)(uintptr_t)out,
              n[0],
              n[1],
              n[2],
              n[3],
              n[4],
              n[5],
              n[6],
              PyTuple_GET_SIZE(steps),
              {0},
              n[7]};
  if (w.components > MAX_COMPONENTS) return PyErr_Format(PyExc_ValueError, "too many components");
  for (int64_t c = 0; c < w.components; c++) w.steps[c] = PyLong_AsLongLong(PyTuple_GET_ITEM(steps, c));
  if (PyErr_Occurred()) return NULL;
  for (size_t i = 0; i < sizeof loops / sizeof *loops; i++) {
    if (strcmp(loops[i].type, type) != 0 || strcmp(loops[i].reduction, reduction) != 0) continue;
#if BENCH_X86
    if (loops[i].loop == add_float16 && !__builtin_cpu_supports("avx2")) continue;
#endif
    int64_t start = bench_now();
    for (long long round = 0; round < rounds; round++) {
      memset(w.out, 0, (size_t)w.zero_bytes);
      loops[i].loop(&w);
    }
    return PyLong_FromLongLong(bench_now() - start);
  }
  return PyErr_Format(PyExc_ValueError, "no loop for %s of %s", reduction, type);
}

/* Sums float32 rows of bags; each times its weight, if there are weights, or divided by the number of rows. */
typedef struct {
  const float *table, *weights;
  const int64_t *ids, *offsets;
  float *out;
  int64_t bags, ids_count, row_len;
  int mean;
} bag_sums;

static void sum_bags(const bag_sums *s) {
  for (int64_t b = 0; b < s->bags; b++) {
    float *out = s->out + b * s->row_len;
    int64_t from = s->offsets[b], to = b + 1 < s->bags ? s->offsets[b + 1] : s->ids_count;
    memset(out, 0, (size_t)s->row_len * sizeof *out);
    for (int64_t i = from; i < to; i++) {
      const float *row = s->table + s->ids[i] * s->row_len;
      if (s->weights)
        for (int64_t e = 0; e < s->row_len; e++) out[e] += s->weights[i] * row[e];
      else
        for (int64_t e = 0; e < s->row_len; e++) out[e] += row[e];
    }
    if (s->mean && to > from)
      for (int64_t e = 0; e < s->row_len; e++) out[e] /= (float)(to - from);
  }
}

/* bag_loop(rounds, (table, weights or 0, ids, offsets, out, bags, ids_count, row_len, mean)): nanoseconds. */
static PyObject *bag_loop(PyObject *self, PyObject *args) {
  long long rounds, bags, count, row_len;
  unsigned long long at[5];
  int mean;
  (void)self;
  if (!PyArg_ParseTuple(args, "L(KKKKKLLLp)", &rounds, &at[0], &at[1], &at[2], &at[3], &at[4], &bags, &count, &row_len, &mean)) return NULL;
  bag_sums s = {(const float *)(uintptr_t)at[0],
                (const float *)(uintptr_t)at[1],
                (const int64_t *)(uintptr_t)at[2],
                (const int64_t *)(uintptr_t)at[3],
                (float *)(uintptr_t)at[4],
                bags,
                count,
                row_len,
                mean};
  int64_t start = bench_now();
  for (long long round = 0; round < rounds; round++) sum_bags(&s);
  return PyLong_FromLongLong(bench_now() - start);
}

PyMethodDef bench_write_functions[] = {
    {"write_loop", write_loop, METH_VARARGS, "write_loop(type, reduction, rounds, job, steps): nanoseconds"},
    {"bag_loop", bag_loop, METH_VARARGS, "bag_loop(rounds, job): nanoseconds"},
    {NULL, NULL, 0, NULL}};
