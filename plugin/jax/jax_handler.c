/* SPDX-License-Identifier: MIT
 *
 * jax_handler.c: what XLA calls: libgather_jax_gather(data, indices[, shard]) and libgather_jax_check(indices[, shard]).
 *
 * libgather.jax registers both. The runtime first calls a handler with the metadata extension, to learn for which version of the
 * interface it was made, then with stage EXECUTE whenever a program reaches the custom call. Threads: any, several at once.
 */
#include "jax_internal.h"

#include <string.h>

/* What the plug-in shows, whatever the library in it shows. */
#define EXPORTED __attribute__((visibility("default")))
EXPORTED xla_error *libgather_jax_gather(xla_frame *frame);
EXPORTED xla_error *libgather_jax_check(xla_frame *frame);

/* ---- versions -------------------------------------------------------------------------------------------------------- */

/* The structs that are used here are the same in every version from XLA_MINOR_FIRST to XLA_MINOR_LAST, so the answer is the host's own
 * version where that is one of these, else the nearest. A host that does not show its interface when it asks is an old one (jaxlib 0.5
 * to 0.8), which takes XLA_MINOR_FIRST only. Whether it accepts the answer, the host decides: an older or newer one may refuse, in its
 * own words, when the handler is registered. */
static void answer(const xla_api *api, xla_metadata *metadata) {
  int minor = XLA_MINOR_FIRST;
  if (api != NULL && api->size >= offsetof(xla_api, internal)) {
    minor = api->version.major == XLA_MAJOR && api->version.minor < XLA_MINOR_LAST ? api->version.minor : XLA_MINOR_LAST;
    if (minor < XLA_MINOR_FIRST) minor = XLA_MINOR_FIRST;
  }
  metadata->version.major = XLA_MAJOR;
  metadata->version.minor = minor;
  metadata->traits = 0;
}

/* Whether this was a question for the metadata. */
static bool answered(const xla_frame *frame) {
  for (const xla_extension *extension = frame->extensions; extension != NULL; extension = extension->next) {
    if (extension->type != XLA_EXTENSION_METADATA) continue;
    answer(frame->api, ((const xla_metadata_extension *)(const void *)extension)->metadata);
    return true;
  }
  return false;
}

/* Whether there is anything to do. A frame that ends before the attributes has none, and a host without errors could not hear of it:
 * neither registers a handler, since both are older than XLA_MINOR_FIRST. */
static bool executes(const xla_frame *frame) {
  return !answered(frame) && frame->size >= sizeof *frame && frame->stage == XLA_STAGE_EXECUTE &&
         jax_function(frame->api, XLA_ERROR_CREATE) != NULL;
}

/* ---- the handlers ---------------------------------------------------------------------------------------------------- */

/* Bytes of an output from which the runtime is asked for its threads; how many of them work, the library decides. */
enum { WORTH_THREADS = 64 << 10 };

static gather_status gather(jax_call *call, gather_error *error) {
  const xla_frame *frame = call->frame;
  jax_pool pool;
  gather_status status = jax_read_request(&frame->attributes, &call->request, error);
  if (status == GATHER_OK) status = jax_read_buffer(&frame->arguments, 0, "data", &call->data, error);
  if (status == GATHER_OK) status = jax_read_buffer(&frame->arguments, 1, "indices", &call->indices, error);
  if (status == GATHER_OK) status = jax_read_buffer(&frame->results, 0, "output", &call->out, error);
  if (status == GATHER_OK) status = jax_read_shard(call, 2, error);
  if (status == GATHER_OK) status = jax_broadcast(call, error);
  if (status != GATHER_OK) return status;
  if (gather_tensor_bytes(&call->out) >= WORTH_THREADS) call->request.options.executor = jax_executor(frame, &pool);
  return gather_apply(&call->request.op, &call->data, &call->indices, &call->out, &call->request.options, error);
}

xla_error *libgather_jax_gather(xla_frame *frame) {
  gather_error error;
  if (!executes(frame)) return NULL;
  jax_call call = {.frame = frame};
  return gather(&call, &error) == GATHER_OK ? NULL : jax_fail(&call, &error);
}

/* A gather of elements without bytes: only the indices are read. The result is the indices, so that a program that uses them
 * depends on the check. */
static gather_status check(jax_call *call, gather_error *error) {
  const xla_frame *frame = call->frame;
  jax_request *request = &call->request;
  int64_t shape[GATHER_MAX_RANK];
  gather_tensor copy = {0};
  gather_status status = jax_read_request(&frame->attributes, request, error);
  if (status == GATHER_OK) status = jax_read_buffer(&frame->arguments, 0, "indices", &call->indices, error);
  if (status == GATHER_OK) status = jax_read_buffer(&frame->results, 0, "output", &copy, error);
  if (status == GATHER_OK) status = jax_read_shard(call, 1, error);
  if (status != GATHER_OK) return status;
  call->data = (gather_tensor){.type = GATHER_TYPE_OPAQUE, .rank = request->rank, .shape = request->shape};
  call->out = call->data;
  call->out.shape = shape;
  gather_tensor given = call->indices;
  status = jax_broadcast(call, error);
  if (status == GATHER_OK)
    status = gather_output_shape(&request->op, &call->data, &call->indices, &request->options, shape, &call->out.rank, error);
  if (status == GATHER_OK) status = gather_apply(&request->op, &call->data, &call->indices, &call->out, &request->options, error);
  if (status != GATHER_OK) return status;
  int64_t bytes = gather_tensor_bytes(&given);
  if (copy.type != given.type || gather_tensor_bytes(&copy) != bytes)
    return gather_error_set(error, GATHER_USAGE, "the custom call's result is not like its indices");
  if (bytes > 0) memcpy(copy.data, given.data, (size_t)bytes);
  return GATHER_OK;
}

xla_error *libgather_jax_check(xla_frame *frame) {
  gather_error error;
  if (!executes(frame)) return NULL;
  jax_call call = {.frame = frame};
  return check(&call, &error) == GATHER_OK ? NULL : jax_fail(&call, &error);
}
