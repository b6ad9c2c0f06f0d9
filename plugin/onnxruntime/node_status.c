/* SPDX-License-Identifier: MIT
 *
 * node_status.c: the library's errors as statuses of the host, which puts the node's name in front of the message.
 */
#include <stdio.h>

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

/* Whether the caller's arguments are the reason, rather than a file or the memory. */
static bool is_argument(gather_status status) {
  switch (status) {
#define GATHER_STATUS(ENUM, number, name, exit_code, sentence) \
  case GATHER_##ENUM:                                          \
    return (exit_code) != 3;
#include "gather/status.def"
#undef GATHER_STATUS
  }
  return true;
}

OrtStatus *gather_ort_ep_status(const ort_host *host, const char *prefix, const gather_error *error) {
  char text[700];
  (void)snprintf(text, sizeof text, "%s%s", prefix, error->message);
  return ORT(host, CreateStatus)(is_argument(error->status) ? ORT_INVALID_ARGUMENT : ORT_FAIL, text);
}
