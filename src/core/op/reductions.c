/* SPDX-License-Identifier: MIT
 *
 * reductions.c: names of reductions, and which types have them.
 */
#include <string.h>

#include "gather/scatter.h"

static const char *const NAMES[] = {"none", "add", "sub", "mul", "min", "max", "mean"};
enum { REDUCTIONS = sizeof NAMES / sizeof *NAMES };

/* Of other documents. */
static const struct {
  const char *name;
  gather_reduction reduction;
} ALSO[] = {{"sum", GATHER_REDUCTION_ADD}, {"prod", GATHER_REDUCTION_MUL}, {"amin", GATHER_REDUCTION_MIN}, {"amax", GATHER_REDUCTION_MAX}};

const char *gather_reduction_name(gather_reduction reduction) {
  return (unsigned)reduction < REDUCTIONS ? NAMES[(unsigned)reduction] : NULL;
}

bool gather_reduction_parse(const char *name, gather_reduction *reduction) {
  for (int i = 0; i < REDUCTIONS; i++)
    if (strcmp(name, NAMES[i]) == 0) {
      *reduction = (gather_reduction)i;
      return true;
    }
  for (size_t i = 0; i < sizeof ALSO / sizeof *ALSO; i++)
    if (strcmp(name, ALSO[i].name) == 0) {
      *reduction = ALSO[i].reduction;
      return true;
    }
  return false;
}

bool gather_reduction_supports(gather_reduction reduction, gather_type type) {
  const gather_type_info *info = gather_type_get(type);
  if (!info || (unsigned)reduction >= REDUCTIONS) return false;
  if (reduction == GATHER_REDUCTION_NONE) return true;
  if (type < GATHER_TYPE_BOOL || type > GATHER_TYPE_COMPLEX128) return false; /* packed, float8, strings, opaque */
  const bool ordered = reduction == GATHER_REDUCTION_MIN || reduction == GATHER_REDUCTION_MAX;
  return info->kind == GATHER_KIND_COMPLEX ? !ordered : info->kind != GATHER_KIND_BOOL || reduction != GATHER_REDUCTION_MEAN;
}
