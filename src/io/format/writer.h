/* SPDX-License-Identifier: MIT
 *
 * writer.h: what writers of one tensor and of several share: the checks that need no file, and beginning to write.
 */
#ifndef GATHER_FORMAT_WRITER_H
#define GATHER_FORMAT_WRITER_H

#include "io/format/format.h"

/* One checked gather_writing, or several. */
typedef struct gather_writing_plan {
  const gather_format *format;
  gather_header header;
  int64_t data_bytes;
  int64_t swap_unit;            /* of one tensor; 0 = the elements are written unchanged */
  gather_writing_place *places; /* of several tensors, by their numbers; NULL. On the heap */
  int64_t count;                /* of places */
} gather_writing_plan;

/* Does everything that needs no file. On GATHER_OK the caller must clear the plan. */
GATHER_CHECKED gather_status gather_writing_plan_make(const gather_writing *what, gather_writing_plan *plan,
                                                      gather_error *error);
void gather_writing_plan_clear(gather_writing_plan *plan);
/* Fails if the target of a plan may not be written. */
GATHER_CHECKED gather_status gather_writing_check_target(const gather_writing *what, gather_error *error);
/* Begins to write to the target of `what`. Takes ownership of the plan's content, also on failure. */
GATHER_CHECKED gather_status gather_writer_begin(const gather_writing *what, gather_writing_plan *plan, bool parts,
                                                 gather_writer **writer, gather_error *error);

#endif
