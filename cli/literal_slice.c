/* SPDX-License-Identifier: MIT
 *
 * literal_slice.c: INDICES as a slice of the axis, START:STOP:STEP, with the meaning that it has in Python.
 */
#include <string.h>

#include "args.h"
#include "fail.h"
#include "literal.h"

/* A bound at *p, if there is one; one beyond 64 bits is beyond every axis, too. */
static bool read_bound(const char **p, bool *given, int64_t *bound) {
  bool too_big;
  const char *begin = *p;
  *given = *begin != ':' && *begin != 0;
  if (!*given) return true;
  if (gather_cli_whole(begin, p, bound, &too_big)) return true;
  *bound = *begin == '-' ? INT64_MIN : INT64_MAX;
  return too_big;
}

static bool read_slice(const char *text, gather_cli_slice *slice) {
  const char *p = text;
  bool has_step = false;
  *slice = (gather_cli_slice){.text = text, .step = 1};
  if (!read_bound(&p, &slice->has_start, &slice->start) || *p++ != ':') return false;
  if (!read_bound(&p, &slice->has_stop, &slice->stop)) return false;
  if (*p == ':') {
    p++;
    if (!read_bound(&p, &has_step, &slice->step)) return false;
  }
  if (slice->step == INT64_MIN) slice->step = -INT64_MAX; /* so that it can be negated */
  return *p == 0;
}

bool gather_cli_is_slice(const char *text) {
  gather_cli_slice slice;
  return read_slice(text, &slice);
}

gather_status gather_cli_slice_read(const char *text, gather_cli_slice *slice, gather_error *error) {
  if (!read_slice(text, slice)) return gather_cli_fail(error, GATHER_USAGE, "'%.100s' is not a slice", text);
  if (slice->step == 0) return gather_cli_fail(error, GATHER_USAGE, "the slice '%.100s' has the step 0", text);
  return GATHER_OK;
}

/* A bound as a number of the axis; for steps below 0 one of -1 is before its beginning. */
static int64_t clip(int64_t bound, int64_t len, bool down) {
  if (bound < 0) bound += len;
  if (bound < 0) return down ? -1 : 0;
  return bound < len ? bound : down ? len - 1 : len;
}

int64_t gather_cli_slice_len(const gather_cli_slice *slice, int64_t len, int64_t *first) {
  const bool down = slice->step < 0;
  int64_t start = down ? len - 1 : 0, stop = down ? -1 : len;
  if (slice->has_start) start = clip(slice->start, len, down);
  if (slice->has_stop) stop = clip(slice->stop, len, down);
  int64_t distance = down ? start - stop : stop - start, step = down ? -slice->step : slice->step;
  *first = start;
  return distance > 0 ? (distance - 1) / step + 1 : 0;
}

gather_status gather_cli_slice_numbers(const gather_cli_slice *slice, int64_t len, gather_cli_numbers *numbers, gather_error *error) {
  int64_t first, count = gather_cli_slice_len(slice, len, &first);
  GATHER_CLI_TRY(gather_cli_numbers_make(count, numbers, error));
  /* The last step may lead beyond 64 bits. */
  for (int64_t i = 0; i < count; i++) numbers->at[i] = first + (i > 0 ? i * slice->step : 0);
  return GATHER_OK;
}
