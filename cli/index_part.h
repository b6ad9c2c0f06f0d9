/* SPDX-License-Identifier: MIT
 *
 * index_part.h: a large tensor of indices part by part, in row-major order, and the memory of a mapped one.
 */
#ifndef GATHER_CLI_INDEX_PART_H
#define GATHER_CLI_INDEX_PART_H

#include "gather/gather.h"

/* Access to the parts of one tensor. */
typedef struct gather_cli_index_parts {
  gather_tensor tensor; /* not owned */
  int64_t item_bytes;
  bool dense; /* parts are views of it */
  char *copy; /* owned: a part of a tensor that is not dense */
} gather_cli_index_parts;

/* most: the maximum number of indices in a part. Returns GATHER_OUT_OF_MEMORY. */
GATHER_CHECKED gather_status gather_cli_index_parts_start(const gather_tensor *tensor, int64_t most, gather_cli_index_parts *parts,
                                                          gather_error *error);
/* Indices number first to first + *len - 1 as a 1-D tensor, whose shape is *len. */
gather_tensor gather_cli_index_part(const gather_cli_index_parts *parts, int64_t first, const int64_t *len);
void gather_cli_index_parts_end(gather_cli_index_parts *parts);

/* Releases the pages of a read-only mapped file that are entirely within these bytes; they are read again when they are
 * accessed. */
void gather_cli_drop_pages(const void *memory, int64_t bytes);

/* An executor that repeatedly releases the pages of a mapped tensor of indices while a plan checks it. */
typedef struct gather_cli_dropping {
  gather_executor executor; /* for gather_plan_check; context is this structure */
  const gather_executor *inner;
  const void *memory;
  int64_t bytes, step_bytes;
  void (*task)(void *argument, int64_t i);
  void *argument;
  int64_t tasks;
} gather_cli_dropping;

/* step_bytes: how much may be resident. */
void gather_cli_dropping_start(gather_cli_dropping *dropping, const gather_executor *inner, const void *memory, int64_t bytes,
                               int64_t step_bytes);

#endif
