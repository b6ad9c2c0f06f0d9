/* SPDX-License-Identifier: MIT
 *
 * declared.c: what a file declares of the shapes of its values. No runtime enforces it, so no verdict rests on it; it is shown, and
 * what contradicts it is reported.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "model/model_check.h"

enum { MOST_CONTRADICTIONS = 64 };

static gather_status no_memory(gather_error *error) {
  return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory to check a model");
}

/* "[3, n, ?]" */
static void shape_text(int32_t rank, const gather_dim *dims, char *text, size_t bytes) {
  size_t at = (size_t)snprintf(text, bytes, "[");
  for (int32_t d = 0; d < rank && at + 48 < bytes; d++) {
    const char *comma = d > 0 ? ", " : "";
    at += (size_t)(gather_is_exact(&dims[d])
                       ? snprintf(text + at, bytes - at, "%s%" PRId64, comma, dims[d].min)
                       : snprintf(text + at, bytes - at, "%s%.30s", comma, dims[d].symbol ? dims[d].symbol : "?"));
  }
  (void)snprintf(text + at, bytes - at, "]");
}

static bool contradicts(const gather_check *check, const gather_known *known) {
  const gather_value *declared = known->declared;
  if (!declared || known->rank < 0) return false;
  if (known->rank != declared->rank) return true;
  for (int32_t d = 0; d < known->rank; d++) {
    const gather_dim dim = gather_check_dim(check, &declared->dims[d]);
    if (known->dims[d].max < dim.min || known->dims[d].min > dim.max) return true;
  }
  return false;
}

gather_status gather_check_contradicts(gather_check *check, const gather_scope *scope, const gather_known *known,
                                       gather_error *error) {
  char text[700], declared[160], found[160];
  gather_dim dims[GATHER_MAX_RANK];
  if (check->quiet || check->probe || check->contradiction_count >= MOST_CONTRADICTIONS || !contradicts(check, known))
    return GATHER_OK;
  if (!check->contradictions)
    check->contradictions = gather_arena_take(&check->arena, MOST_CONTRADICTIONS, sizeof *check->contradictions);
  if (!check->contradictions) return no_memory(error);
  for (int32_t d = 0; d < known->declared->rank; d++) dims[d] = gather_check_dim(check, &known->declared->dims[d]);
  shape_text(known->declared->rank, dims, declared, sizeof declared);
  shape_text(known->rank, known->dims, found, sizeof found);
  (void)snprintf(text, sizeof text, "the value '%.100s' of %.200s is declared %s, but is %s", known->name, scope->path,
                 declared, found);
  const char *kept = gather_arena_text(&check->arena, text, strlen(text));
  if (!kept) return no_memory(error);
  check->contradictions[check->contradiction_count++] = kept;
  return GATHER_OK;
}

gather_status gather_check_shown(gather_check *check, const gather_scope *scope, gather_operand *operand,
                                 gather_error *error) {
  const gather_known *known = gather_scope_find(scope, operand->name);
  const gather_value *declared = known && !operand->value ? known->declared : NULL;
  if (!declared || (operand->rank >= 0 && operand->rank != declared->rank)) return GATHER_OK;
  gather_dim *dims = gather_arena_take(&check->arena, declared->rank, sizeof *dims);
  if (!dims) return no_memory(error);
  for (int32_t d = 0; d < declared->rank; d++) {
    const gather_dim dim = gather_check_dim(check, &declared->dims[d]);
    dims[d] = operand->rank < 0 ? dim : operand->dims[d];
    if (!gather_is_exact(&dims[d]) && gather_is_exact(&dim) && dims[d].min <= dim.min && dim.max <= dims[d].max)
      dims[d] = dim;
    if (!dims[d].symbol) dims[d].symbol = dim.symbol;
  }
  operand->rank = declared->rank;
  operand->dims = dims;
  return GATHER_OK;
}
