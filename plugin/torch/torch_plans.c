/* SPDX-License-Identifier: MIT
 *
 * torch_plans.c: the last plans of each thread. A model makes the same small gathers again and again; making a plan takes longer than
 * to gather a few rows by it.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "torch_operator.h"

/* Ranks of data and indices together up to this are kept; others are rare. */
enum { KEY_DIMS = 8, KEPT = 16 };

/* Everything that a plan depends on; without gaps, as it is compared as bytes. */
typedef struct key {
  const gather_op *op;
  int64_t axis, batch_dims;
  int64_t item_bytes;
  int32_t policy, types;
  int32_t data_rank, indices_rank;
  int64_t numbers[4 * KEY_DIMS]; /* lengths and strides */
} key;

typedef struct kept {
  key keys[KEPT];
  size_t bytes[KEPT]; /* of the key, as far as it is used; 0 = free */
  gather_plan *plans[KEPT];
} kept;

static _Thread_local kept *own;
static pthread_key_t at_exit;
static bool can_keep;

static void forget(void *memory) {
  kept *all = memory;
  own = NULL;
  for (int i = 0; i < KEPT; i++) gather_plan_destroy(all->plans[i]);
  free(all);
}

void gather_torch_prepare_plans(void) { can_keep = pthread_key_create(&at_exit, forget) == 0; }

static kept *of_thread(void) {
  if (own || !can_keep) return own;
  kept *fresh = calloc(1, sizeof *fresh);
  if (fresh && pthread_setspecific(at_exit, fresh) != 0) {
    free(fresh);
    fresh = NULL;
  }
  own = fresh;
  return own;
}

static int64_t *add(int64_t *to, const gather_tensor *tensor) {
  for (int32_t d = 0; d < tensor->rank; d++) {
    *to++ = tensor->shape[d];
    *to++ = tensor->strides[d];
  }
  return to;
}

/* The bytes of the key that are used; 0 = this gather is not kept. */
static size_t describe(const gather_op *op, const gather_tensor *data, const gather_tensor *indices, const gather_options *options,
                       key *made) {
  if (data->rank + indices->rank > 2 * KEY_DIMS || options->on_bad == GATHER_ON_BAD_FILL) return 0;
  made->op = op;
  made->axis = options->axis;
  made->batch_dims = options->batch_dims;
  made->item_bytes = data->item_bytes;
  made->policy = (int32_t)options->on_bad * 4 + (int32_t)options->negative;
  made->types = (int32_t)data->type * 256 + (int32_t)indices->type;
  made->data_rank = data->rank;
  made->indices_rank = indices->rank;
  int64_t *end = add(add(made->numbers, data), indices);
  return (size_t)((char *)end - (char *)made);
}

static size_t place(const key *made, size_t bytes) {
  uint64_t hash = bytes;
  const unsigned char *from = (const unsigned char *)made;
  for (size_t i = 0; i < bytes; i += sizeof hash) {
    uint64_t word;
    memcpy(&word, from + i, sizeof word);
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
  }
  return (size_t)(hash % KEPT);
}

gather_status gather_torch_plan(const gather_op *op, const gather_tensor *data, const gather_tensor *indices, const gather_options *options,
                                const gather_plan **plan, gather_error *error) {
  _Static_assert(sizeof(key) % sizeof(uint64_t) == 0, "keys are words");
  key made;
  *plan = NULL;
  kept *all = of_thread();
  const size_t bytes = all ? describe(op, data, indices, options, &made) : 0;
  if (!bytes) return GATHER_OK;
  const size_t i = place(&made, bytes);
  if (all->bytes[i] != bytes || memcmp(&all->keys[i], &made, bytes) != 0) {
    gather_plan *fresh;
    const gather_status status = gather_plan_create(op, data, indices, NULL, options, &fresh, error);
    if (status != GATHER_OK) return status;
    gather_plan_destroy(all->plans[i]);
    all->plans[i] = fresh;
    all->bytes[i] = bytes;
    memcpy(&all->keys[i], &made, bytes);
  }
  *plan = all->plans[i];
  return GATHER_OK;
}
