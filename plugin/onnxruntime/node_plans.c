/* SPDX-License-Identifier: MIT
 *
 * node_plans.c: keeps the plans of a node.
 */
#include "node_plans.h"

#include <string.h>

#define OWNED 0x80000000u

void gather_ort_plans_init(ort_plans *plans, int32_t count) {
  memset(plans, 0, sizeof *plans);
  plans->count = count;
}

void gather_ort_plans_free(ort_plans *plans) {
  for (int32_t i = 0; i < ORT_MOST_PLANS; i++) gather_plan_destroy(plans->places[i].plan);
}

/* ---- keys */

static bool make_key(const gather_tensor *data, const gather_tensor *indices, ort_plan_key *key) {
  if (data->rank + indices->rank > ORT_PLAN_LENGTHS) return false;
  *key = (ort_plan_key){.data_type = (int32_t)data->type,
                        .index_type = (int32_t)indices->type,
                        .data_rank = data->rank,
                        .index_rank = indices->rank};
  for (int32_t d = 0; d < data->rank; d++) key->lengths[d] = data->shape[d];
  for (int32_t d = 0; d < indices->rank; d++) key->lengths[data->rank + d] = indices->shape[d];
  return true;
}

static uint64_t mix(uint64_t hash, uint64_t number) {
  hash = (hash ^ number) * 0x9e3779b97f4a7c15u;
  return hash ^ hash >> 29;
}

/* Never 0, which means an empty place. */
static uint64_t key_hash(const ort_plan_key *key) {
  uint64_t hash = mix((uint64_t)key->data_type << 32 | (uint32_t)key->index_type,
                      (uint64_t)key->data_rank << 32 | (uint32_t)key->index_rank);
  for (int32_t i = 0; i < key->data_rank + key->index_rank; i++) hash = mix(hash, (uint64_t)key->lengths[i]);
  return hash ? hash : 1;
}

static bool keys_equal(const ort_plan_key *a, const ort_plan_key *b) {
  if (a->data_type != b->data_type || a->index_type != b->index_type || a->data_rank != b->data_rank ||
      a->index_rank != b->index_rank)
    return false;
  for (int32_t i = 0; i < a->data_rank + a->index_rank; i++)
    if (a->lengths[i] != b->lengths[i]) return false;
  return true;
}

/* ---- places */

void gather_ort_plans_release(ort_plan *plan) { atomic_fetch_sub_explicit(&plan->users, 1, memory_order_release); }

/* The fields may only be read as a user of a place that nobody changes. */
static bool use(ort_plan *place, const ort_plan_key *key) {
  const unsigned before = atomic_fetch_add_explicit(&place->users, 1, memory_order_acquire);
  if (!(before & OWNED) && place->plan && keys_equal(&place->key, key)) return true;
  gather_ort_plans_release(place);
  return false;
}

/* Becomes the only owner of a place without users. */
static bool own(ort_plan *place) {
  unsigned none = 0;
  return atomic_compare_exchange_strong_explicit(&place->users, &none, OWNED, memory_order_acquire,
                                                 memory_order_relaxed);
}

/* From owner to user. Others may have counted themselves meanwhile, and will leave again. */
static void keep_using(ort_plan *place) { atomic_fetch_sub_explicit(&place->users, OWNED - 1, memory_order_release); }

static void disown(ort_plan *place) { atomic_fetch_sub_explicit(&place->users, OWNED, memory_order_release); }

/* What a run moves; INT64_MAX where that is not known. */
static int64_t moved_bytes(const ort_plan *place, const gather_tensor *data, const gather_tensor *indices) {
  const gather_tensor out = {.type = data->type, .rank = place->out_rank, .shape = place->out_lengths};
  const int64_t rows = gather_tensor_bytes(&out), numbers = gather_tensor_bytes(indices);
  return rows > INT64_MAX - numbers ? INT64_MAX : rows + numbers;
}

static bool fill(ort_plan *place, const gather_op *op, const gather_options *options, const gather_tensor *data,
                 const gather_tensor *indices, const ort_plan_key *key, uint64_t hash) {
  int64_t lengths[GATHER_MAX_RANK];
  gather_plan *plan;
  if (gather_plan_create(op, data, indices, NULL, options, &plan, NULL) != GATHER_OK) return false;
  const int32_t rank = gather_plan_shape(plan, lengths);
  if (rank > ORT_PLAN_LENGTHS) {
    gather_plan_destroy(plan);
    return false;
  }
  gather_plan_destroy(place->plan);
  place->plan = plan, place->key = *key, place->out_rank = rank;
  memcpy(place->out_lengths, lengths, (size_t)rank * sizeof *lengths);
  place->bytes = moved_bytes(place, data, indices);
  atomic_store_explicit(&place->hash, hash, memory_order_relaxed);
  return true;
}

/* Whether this key came before; notes it. */
static bool came_before(ort_plans *plans, uint64_t hash) {
  return atomic_exchange_explicit(&plans->seen[hash % ORT_SEEN], hash, memory_order_relaxed) == hash;
}

/* Gives the next place that has no users to this key. */
static ort_plan *replace(ort_plans *plans, const gather_op *op, const gather_options *options,
                         const gather_tensor *data, const gather_tensor *indices, const ort_plan_key *key,
                         uint64_t hash) {
  for (int32_t i = 0; i < plans->count; i++) {
    const unsigned turn = atomic_fetch_add_explicit(&plans->next, 1, memory_order_relaxed);
    ort_plan *place = &plans->places[turn % (unsigned)plans->count];
    if (!own(place)) continue;
    if (fill(place, op, options, data, indices, key, hash)) {
      keep_using(place);
      return place;
    }
    disown(place);
    return NULL;
  }
  return NULL;
}

ort_plan *gather_ort_plans_get(ort_plans *plans, const gather_op *op, const gather_options *options,
                               const gather_tensor *data, const gather_tensor *indices) {
  ort_plan_key key;
  if (!make_key(data, indices, &key)) return NULL;
  const uint64_t hash = key_hash(&key);
  for (int32_t i = 0; i < plans->count; i++) {
    ort_plan *place = &plans->places[i];
    if (atomic_load_explicit(&place->hash, memory_order_relaxed) == hash && use(place, &key)) return place;
  }
  if (plans->count == 0 || !came_before(plans, hash)) return NULL;
  return replace(plans, op, options, data, indices, &key, hash);
}
