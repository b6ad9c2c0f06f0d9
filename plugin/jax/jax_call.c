/* SPDX-License-Identifier: MIT
 *
 * jax_call.c: the buffers of a call as tensors, and the library's errors as the runtime's.
 */
#include "jax_internal.h"

#include <stdio.h>
#include <string.h>

typedef xla_error *create_function(xla_error_create *arguments);

void (*jax_function(const xla_api *api, int slot))(void) {
  size_t end = offsetof(xla_api, functions) + ((size_t)slot + 1) * sizeof api->functions[0];
  return api == NULL || api->size < end ? NULL : api->functions[slot];
}

/* ---- buffers --------------------------------------------------------------------------------------------------------- */

static gather_status set_type(int number, const char *what, gather_tensor *tensor, gather_error *error) {
  tensor->item_bytes = 0;
  switch (number) {
#define XLA_TYPE(name, number, as, bytes) \
  case number:                            \
    tensor->type = GATHER_TYPE_##as;      \
    tensor->item_bytes = bytes;           \
    return GATHER_OK;
    XLA_TYPES(XLA_TYPE)
#undef XLA_TYPE
    case 0:
      return gather_error_set_input(error, GATHER_TYPE_UNSUPPORTED, what, "this version of XLA passes %s without its type", what);
    default:
      return gather_error_set_input(error, GATHER_TYPE_UNSUPPORTED, what, "XLA's type number %d of %s is not supported", number, what);
  }
}

gather_status jax_read_buffer(const xla_buffers *buffers, int64_t i, const char *what, gather_tensor *tensor, gather_error *error) {
  if (i >= buffers->count || buffers->kinds[i] != XLA_BUFFER)
    return gather_error_set_input(error, GATHER_USAGE, what, "the custom call has no buffer for %s", what);
  const xla_buffer *buffer = buffers->items[i];
  if (buffer->rank < 0 || buffer->rank > GATHER_MAX_RANK)
    return gather_error_set_input(error, GATHER_UNSUPPORTED, what, "%s has rank %lld; at most %d is supported", what,
                                  (long long)buffer->rank, GATHER_MAX_RANK);
  *tensor = (gather_tensor){.data = buffer->data, .rank = (int32_t)buffer->rank, .shape = buffer->lengths};
  return set_type(buffer->type, what, tensor, error);
}

gather_status jax_read_shard(jax_call *call, int64_t i, gather_error *error) {
  const xla_buffers *arguments = &call->frame->arguments;
  gather_tensor shard = {0};
  if (arguments->count <= i) return GATHER_OK;
  gather_status status = jax_read_buffer(arguments, i, "shard", &shard, error);
  if (status != GATHER_OK) return status;
  if (shard.type != GATHER_TYPE_INT32 || shard.rank != 1 || shard.shape[0] != call->indices.rank)
    return gather_error_set(error, GATHER_USAGE, "the custom call's shard is not one int32 per dimension of indices");
  call->shard = shard.data;
  return GATHER_OK;
}

/* ---- broadcasting ---------------------------------------------------------------------------------------------------- */

/* Row-major strides, in bytes or, for packed types, in elements. */
static void fill_strides(gather_tensor *tensor, int64_t *shape, int64_t *strides) {
  const gather_type_info *info = gather_type_get(tensor->type);
  int64_t step = info->packing != GATHER_PACKING_BYTES ? 1 : info->bits != 0 ? info->bits / 8 : tensor->item_bytes;
  for (int32_t d = tensor->rank - 1; d >= 0; d--) {
    shape[d] = tensor->shape[d];
    strides[d] = step;
    step *= shape[d] > 0 ? shape[d] : 1;
  }
  tensor->shape = shape;
  tensor->strides = strides;
}

gather_status jax_broadcast(jax_call *call, gather_error *error) {
  int32_t rank = call->data.rank;
  int64_t axis = call->request.options.axis;
  if (!call->request.broadcast || call->indices.rank != rank) return GATHER_OK;
  fill_strides(&call->data, call->data_shape, call->data_strides);
  fill_strides(&call->indices, call->indices_shape, call->indices_strides);
  for (int32_t d = 0; d < rank; d++) {
    int64_t *data = &call->data_shape[d], *indices = &call->indices_shape[d];
    if (d == axis || *data == *indices) continue;
    if (*data != 1 && *indices != 1)
      return gather_error_set_input(error, GATHER_SHAPE_MISMATCH, "indices",
                                    "dimension %d of x has length %lld and of indices %lld: they do not broadcast", (int)d,
                                    (long long)*data, (long long)*indices);
    int64_t length = *data == 1 ? *indices : *data;
    (*data == 1 ? call->data_strides : call->indices_strides)[d] = 0;
    *data = *indices = length;
  }
  return GATHER_OK;
}

/* ---- errors ---------------------------------------------------------------------------------------------------------- */

static int code_of(gather_status status) {
  switch (status) {
    case GATHER_INDEX_OUT_OF_RANGE:
      return XLA_OUT_OF_RANGE;
    case GATHER_OUT_OF_MEMORY:
      return XLA_RESOURCE_EXHAUSTED;
    case GATHER_UNSUPPORTED:
    case GATHER_TYPE_UNSUPPORTED:
      return XLA_UNIMPLEMENTED;
    default:
      return XLA_INVALID_ARGUMENT;
  }
}

/* A call on one shard: the position in the whole of the indices, "indices[7, 0] = 9 is outside ..., in this shard". */
static void name_position(const jax_call *call, gather_error *error) {
  char text[sizeof error->message];
  const char *rest = strchr(error->message, ']');
  size_t used = (size_t)snprintf(text, sizeof text, "indices[");
  if (error->position_rank < 1 || rest == NULL) return;
  for (int32_t d = 0; d < error->position_rank && d < call->indices.rank && used < sizeof text; d++) {
    error->position[d] += call->shard[d] * call->indices.shape[d];
    used += (size_t)snprintf(text + used, sizeof text - used, "%s%lld", d > 0 ? ", " : "", (long long)error->position[d]);
  }
  if (used < sizeof text) snprintf(text + used, sizeof text - used, "%s, in this shard", rest);
  memcpy(error->message, text, sizeof text);
}

xla_error *jax_fail(const jax_call *call, gather_error *error) {
  create_function *create = (create_function *)jax_function(call->frame->api, XLA_ERROR_CREATE);
  if (call->shard != NULL && error->status == GATHER_INDEX_OUT_OF_RANGE) name_position(call, error);
  xla_error_create arguments = {sizeof arguments, NULL, error->message, code_of(error->status)};
  return create(&arguments);
}
