/* SPDX-License-Identifier: MIT
 *
 * tuning.c: the tuning parameters, which may change at any time. They decide how a gather runs, never its result.
 */
#include "core/kernel/tuning.h"

#include <stdatomic.h>
#include <string.h>

#include "core/base/error.h"
#include "gather/gather.h"

static _Atomic int64_t VALUES[GATHER_TUNING_COUNT] = {
#define GATHER_TUNING(name, value, meaning) value,
#include "core/kernel/tuning.def"
#undef GATHER_TUNING
};

static const gather_tuning TABLE[GATHER_TUNING_COUNT] = {
#define GATHER_TUNING(name, value, meaning) {#name, value, meaning},
#include "core/kernel/tuning.def"
#undef GATHER_TUNING
};

int64_t gather_tuned(int which) { return atomic_load_explicit(&VALUES[which], memory_order_relaxed); }

int64_t gather_tuned_keep(int which, int64_t asked, int64_t found) {
  return atomic_compare_exchange_strong(&VALUES[which], &asked, found) ? found : asked;
}

const gather_tuning *gather_tuning_at(int32_t i) { return i >= 0 && i < GATHER_TUNING_COUNT ? &TABLE[i] : NULL; }

static int find(const char *name) {
  for (int i = 0; name && i < GATHER_TUNING_COUNT; i++)
    if (strcmp(TABLE[i].name, name) == 0) return i;
  return -1;
}

static gather_status find_named(const char *caller, const char *name, int *i, gather_error *error) {
  if (!name) return gather_fail(error, GATHER_NAME_NOT_FOUND, "%s: name is NULL", caller);
  *i = find(name);
  if (*i < 0) return gather_fail(error, GATHER_NAME_NOT_FOUND, "no such tuning parameter '%s'", name);
  return GATHER_OK;
}

gather_status gather_tuning_get(const char *name, int64_t *value, gather_error *error) {
  int i;
  if (!value) return gather_fail(error, GATHER_USAGE, "gather_tuning_get: value is NULL");
  GATHER_TRY(find_named("gather_tuning_get", name, &i, error));
  *value = gather_tuned(i);
  return GATHER_OK;
}

gather_status gather_tuning_set(const char *name, int64_t value, gather_error *error) {
  int i;
  GATHER_TRY(find_named("gather_tuning_set", name, &i, error));
  atomic_store_explicit(&VALUES[i], value, memory_order_relaxed);
  return GATHER_OK;
}
