/* SPDX-License-Identifier: MIT
 *
 * infer.c: infers the shape of a node's output while a model is loaded.
 */
#include "infer.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "gather/codec.h"

/* Whether a call of the host succeeded; its status is dropped. */
static bool done(const ort_host *host, OrtStatus *status) {
  if (status) ORT(host, ReleaseStatus)(status);
  return status == NULL;
}

static int64_t attribute(const ort_host *host, const OrtShapeInferContext *context, const char *name, int64_t otherwise) {
  const OrtOpAttr *attr = NULL;
  int64_t value;
  size_t bytes;
  if (!done(host, ORT(host, ShapeInferContext_GetAttribute)(context, name, &attr)) || !attr) return otherwise;
  return done(host, ORT(host, ReadOpAttr)(attr, ORT_ATTRIBUTE_INT, &value, sizeof value, &bytes)) ? value : otherwise;
}

/* The shape of an input. The names of its lengths belong to the host, and live as long as the context. */
static bool read_shape(const ort_host *host, const OrtShapeInferContext *context, size_t input, OrtElementType *element,
                       gather_shape *shape) {
  OrtTensorTypeAndShapeInfo *info = NULL; /* the context's own */
  int64_t lengths[GATHER_MAX_RANK];
  const char *names[GATHER_MAX_RANK];
  size_t rank;
  if (!done(host, ORT(host, ShapeInferContext_GetInputTypeShape)(context, input, &info)) || !info) return false;
  if (!done(host, ORT(host, GetTensorElementType)(info, element))) return false;
  if (!done(host, ORT(host, GetDimensionsCount)(info, &rank)) || rank > GATHER_MAX_RANK) return false;
  /* The host gives rank 0 for an unknown rank too (also 1.32, whose HasShape says that it is known). */
  shape->rank = rank > 0 ? (int32_t)rank : -1;
  if (shape->rank <= 0) return true;
  if (!done(host, ORT(host, GetDimensions)(info, lengths, rank))) return false;
  if (!done(host, ORT(host, GetSymbolicDimensions)(info, names, rank))) return false;
  for (size_t d = 0; d < rank; d++) {
    const bool known = lengths[d] >= 0;
    shape->dims[d] = (gather_dim){.min = known ? lengths[d] : 0,
                                  .max = known ? lengths[d] : GATHER_DIM_UNBOUNDED,
                                  .symbol = !known && names[d] && *names[d] ? names[d] : NULL};
  }
  return true;
}

/* The host cannot be told that a length is unknown, other than by a name. Lengths of one name are equal for it: each gets its own. */
static const char *fresh_name(char *text, size_t bytes) {
  static atomic_uint_least64_t count;
  const uint64_t number = atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
  snprintf(text, bytes, "libgather_unknown_%llu", (unsigned long long)number);
  return text;
}

static void write_shape(const ort_host *host, OrtShapeInferContext *context, OrtElementType element, const gather_shape *shape) {
  OrtTensorTypeAndShapeInfo *info = NULL;
  int64_t lengths[GATHER_MAX_RANK + 1];
  const char *names[GATHER_MAX_RANK + 1];
  char fresh[GATHER_MAX_RANK][48];
  const size_t rank = (size_t)shape->rank;
  for (size_t d = 0; d < rank; d++) {
    const gather_dim *dim = &shape->dims[d];
    const bool known = dim->min == dim->max;
    lengths[d] = known ? dim->min : -1;
    names[d] = known ? "" : dim->symbol ? dim->symbol : fresh_name(fresh[d], sizeof fresh[d]);
  }
  if (!done(host, ORT(host, CreateTensorTypeAndShapeInfo)(&info))) return;
  if (done(host, ORT(host, SetTensorElementType)(info, element)) && done(host, ORT(host, SetDimensions)(info, lengths, rank)) &&
      done(host, ORT(host, SetSymbolicDimensions)(info, names, rank)))
    (void)done(host, ORT(host, ShapeInferContext_SetOutputTypeShape)(context, 0, info));
  ORT(host, ReleaseTensorTypeAndShapeInfo)(info);
}

/* Bytes of several elements: the last length of the values is a multiple of what the model says. */
static void unpack_last(gather_shape *data, OrtElementType element, int64_t bits) {
  enum { ELEMENT_UINT8 = 2 };
  if (data->rank < 1 || element != ELEMENT_UINT8 || (bits != 2 && bits != 4)) return;
  gather_dim *last = &data->dims[data->rank - 1];
  const int64_t each = 8 / bits;
  if (last->min == last->max && last->max <= INT64_MAX / each)
    last->min = last->max = last->max * each;
  else
    *last = (gather_dim){0, GATHER_DIM_UNBOUNDED, NULL};
}

static void read_options(const ort_host *host, const ort_operator *op, const OrtShapeInferContext *context, gather_options *options) {
  for (const char *const *name = op->attributes; *name; name++) {
    if (!strcmp(*name, "axis") || !strcmp(*name, "gather_axis")) options->axis = attribute(host, context, *name, 0);
    if (!strcmp(*name, "batch_dims")) options->batch_dims = attribute(host, context, *name, 0);
  }
}

void gather_ort_infer(const ort_host *host, const ort_operator *op, OrtShapeInferContext *context) {
  gather_shape data, indices, scales, out;
  OrtElementType element, index;
  gather_options options = GATHER_OPTIONS_INIT;
  if (!read_shape(host, context, 0, &element, &data) || !read_shape(host, context, 1, &index, &indices)) return;
  read_options(host, op, context, &options);
  if (op->quantised) {
    unpack_last(&data, element, attribute(host, context, "bits", 4));
    if (!read_shape(host, context, (size_t)op->quantised, &element, &scales)) return;
  }
  if (gather_infer_shape(gather_ort_operator_rules(op, 0), &data, &indices, &options, &out, NULL) != GATHER_OK) return;
  if (out.rank >= 0) write_shape(host, context, element, &out);
}
