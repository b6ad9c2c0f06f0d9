/* SPDX-License-Identifier: MIT
 *
 * node_status.c: the library's errors as statuses of the host, which puts the node's name in front of the message.
 */
#include "node_internal.h"

static OrtErrorCode code_of(gather_status status) {
  switch (status) {
    case GATHER_UNSUPPORTED:
    case GATHER_TYPE_UNSUPPORTED:
      return ORT_NOT_IMPLEMENTED;
    case GATHER_OUT_OF_MEMORY:
    case GATHER_IO_ERROR:
      return ORT_FAIL;
    default:
      return ORT_INVALID_ARGUMENT;
  }
}

OrtStatus *gather_ort_status(const ort_host *host, gather_status status, const gather_error *error) {
  if (status == GATHER_OK) return NULL;
  return ORT(host, CreateStatus)(code_of(status), error->message);
}
