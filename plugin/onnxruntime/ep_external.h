/* SPDX-License-Identifier: MIT
 *
 * ep_external.h: where the external initializers of a model lie, and whether the host really maps them from there.
 */
#ifndef GATHER_PLUGIN_ORT_EP_EXTERNAL_H
#define GATHER_PLUGIN_ORT_EP_EXTERNAL_H

#include "ort_api.h"

/* An external initializer of a model. */
typedef struct ort_external {
  struct ort_external *next;
  char *name, *path; /* of the value; of the file, with the folder of the model */
  int64_t offset;    /* of the first element in the file */
  uint64_t bytes;
} ort_external;

/* The external initializer that a value is; *external is NULL if it is none: computed, within the model, or replaceable by an input.
 * Its path is in the folder of the model, which the host makes up for models from memory. Returns NULL, or a status. */
OrtStatus *gather_ort_external_read(const ort_host *host, const OrtGraph *graph, const OrtValueInfo *value, ort_external **external);
void gather_ort_external_free(ort_external *external);

/* Which file this process has mapped at an address, and where. */
typedef struct ort_mapping {
  uint64_t device_major, device_minor, inode;
  int64_t offset; /* of that address in the file */
  char path[4096];
} ort_mapping;

/* Whether a file is mapped there. */
bool gather_ort_mapping_at(const void *address, ort_mapping *mapping);
/* Whether a mapping shows that file at that offset. */
bool gather_ort_mapping_is(const ort_mapping *mapping, const char *path, int64_t offset);

#endif
