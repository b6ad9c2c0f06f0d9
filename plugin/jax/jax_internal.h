/* SPDX-License-Identifier: MIT
 *
 * jax_internal.h: what the files of this plug-in share.
 */
#ifndef JAX_INTERNAL_H
#define JAX_INTERNAL_H

#include "gather/gather.h"
#include "jax_xla.h"

/* What is gathered: the attributes of the custom call. Arrays point into the call frame. */
typedef struct jax_request {
  gather_op op;
  gather_options options;
  gather_dimension_numbers numbers;
  bool broadcast;       /* GatherElements: off the axis, lengths of 1 are repeated */
  const int64_t *shape; /* of data, where only the indices are checked */
  int32_t rank;
} jax_request;

/* One execution of a handler. */
typedef struct jax_call {
  const xla_frame *frame;
  jax_request request;
  gather_tensor data, indices, out;
  int64_t data_strides[GATHER_MAX_RANK], indices_strides[GATHER_MAX_RANK];
  int64_t data_shape[GATHER_MAX_RANK], indices_shape[GATHER_MAX_RANK];
  const int32_t *shard; /* of each dimension of indices, which shard of it this call has; NULL: all of them */
} jax_call;

/* The entry of the interface in a slot; NULL where the host's table ends before it. */
void (*jax_function(const xla_api *api, int slot))(void);

/* Reads the attributes. Returns GATHER_USAGE for a missing one or one of another kind: a custom call that was not made by
 * libgather.jax. */
gather_status jax_read_request(const xla_attributes *attributes, jax_request *request, gather_error *error);

/* Argument number i as a tensor; GATHER_USAGE where the frame has no such buffer, GATHER_TYPE_UNSUPPORTED for its type. */
gather_status jax_read_buffer(const xla_buffers *buffers, int64_t i, const char *what, gather_tensor *tensor, gather_error *error);
/* The shards of the optional argument i. */
gather_status jax_read_shard(jax_call *call, int64_t i, gather_error *error);
/* Repeats dimensions of length 1 off the axis by strides of 0. */
gather_status jax_broadcast(jax_call *call, gather_error *error);
/* The library's error as the runtime's. */
xla_error *jax_fail(const jax_call *call, gather_error *error);

/* XLA's thread pool as an executor, for the time of one call. */
typedef struct jax_pool {
  const xla_api *api;
  xla_context *context;
  gather_executor executor;
} jax_pool;
/* NULL where the runtime has no pool or a pool of one thread: then the calling thread does the work. */
const gather_executor *jax_executor(const xla_frame *frame, jax_pool *pool);

#endif
