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
  for (int32_t i = 0; i < (count + 1) / 2; i++) plans->places[i].fixed = true;
}

void gather_ort_plans_free(ort_plans *plans) {
  for (int32_t i = 0; i < ORT_MOST_PLANS; i++) gather_plan_destroy(plans->places[i].plan);
}

/* ---- keys */

static uint64_t add(uint64_t hash, uint64_t number, uint64_t place) {
  return hash + (number + place) * (0x9e3779b97f4a7c15u + 2 * place * 0x85ebca77c2b2ae63u);
}

/* The products do not wait for each other. The hash is never 0, which means an empty place. */
static bool make_key(const gather_tensor *data, const gather_tensor *indices, ort_plan_key *key) {
  if (data->rank > ORT_PLAN_LENGTHS || indices->rank > ORT_PLAN_LENGTHS) return false;
  key->data_type = (uint8_t)data->type, key->index_type = (uint8_t)indices->type;
  key->data_rank = (uint8_t)data->rank, key->index_rank = (uint8_t)indices->rank;
  uint64_t hash = (uint64_t)key->data_type << 24 | (uint64_t)key->index_type << 16 | (uint64_t)key->data_rank << 8 | key->index_rank;
  for (int32_t d = 0; d < data->rank; d++) hash = add(hash, (uint64_t)data->shape[d], (uint64_t)d + 1);
  for (int32_t d = 0; d < indices->rank; d++) hash = add(hash, (uint64_t)indices->shape[d], (uint64_t)d + 1 + ORT_PLAN_LENGTHS);
  hash ^= hash >> 32;
  key->hash = hash ? hash : 1;
  return true;
}

static bool lengths_equal(const int64_t *a, const int64_t *b, int32_t rank) {
  for (int32_t d = 0; d < rank; d++)
    if (a[d] != b[d]) return false;
  return true;
}

static bool is_of(const ort_plan *place, const ort_plan_key *key, const gather_tensor *data, const gather_tensor *indices) {
  const ort_plan_key *own = &place->key;
  return own->data_type == key->data_type && own->index_type == key->index_type && own->data_rank == key->data_rank &&
         own->index_rank == key->index_rank && lengths_equal(place->lengths, data->shape, data->rank) &&
         lengths_equal(place->lengths + data->rank, indices->shape, indices->rank);
}

/* ---- places */

void gather_ort_plans_release(ort_plan *plan) {
  if (!plan->fixed) atomic_fetch_sub_explicit(&plan->users, 1, memory_order_release);
}

/* Becomes a user of a place of this key. The fields may only be read where nobody changes them. */
static bool use(ort_plan *place, const ort_plan_key *key, const gather_tensor *data, const gather_tensor *indices) {
  if (atomic_load_explicit(&place->hash, memory_order_acquire) != key->hash) return false;
  if (place->fixed) return is_of(place, key, data, indices);
  const unsigned before = atomic_fetch_add_explicit(&place->users, 1, memory_order_acquire);
  if (!(before & OWNED) && place->plan && is_of(place, key, data, indices)) return true;
  gather_ort_plans_release(place);
  return false;
}

/* Becomes the only owner of a place without users. */
static bool own(ort_plan *place) {
  unsigned none = 0;
  return atomic_compare_exchange_strong_explicit(&place->users, &none, OWNED, memory_order_acquire, memory_order_relaxed);
}

/* From owner to user. Others may have counted themselves meanwhile, and will leave again. */
static void keep_using(ort_plan *place) { atomic_fetch_sub_explicit(&place->users, OWNED - 1, memory_order_release); }

static void disown(ort_plan *place) { atomic_fetch_sub_explicit(&place->users, OWNED, memory_order_release); }

/* What a run moves; INT64_MAX where that is not known. */
static int64_t moved_bytes(const ort_plan *place, const gather_tensor *data, const gather_tensor *indices) {
  const gather_tensor out = {.type = data->type, .rank = place->out_rank, .shape = gather_ort_plan_shape(place)};
  const int64_t rows = gather_tensor_bytes(&out), numbers = gather_tensor_bytes(indices);
  return rows > INT64_MAX - numbers ? INT64_MAX : rows + numbers;
}

static bool fill(ort_plan *place, const gather_op *op, const gather_options *options, const gather_tensor *data,
                 const gather_tensor *indices, const ort_plan_key *key) {
  int64_t shape[GATHER_MAX_RANK], *lengths = place->lengths;
  gather_plan *plan;
  if (gather_plan_create(op, data, indices, NULL, options, &plan, NULL) != GATHER_OK) return false;
  const int32_t rank = gather_plan_shape(plan, shape);
  if (rank > ORT_PLAN_LENGTHS) {
    gather_plan_destroy(plan);
    return false;
  }
  gather_plan_destroy(place->plan);
  place->plan = plan, place->key = *key, place->out_rank = (uint8_t)rank;
  for (int32_t d = 0; d < data->rank; d++) *lengths++ = data->shape[d];
  for (int32_t d = 0; d < indices->rank; d++) *lengths++ = indices->shape[d];
  for (int32_t d = 0; d < rank; d++) *lengths++ = shape[d];
  place->bytes = moved_bytes(place, data, indices);
  atomic_store_explicit(&place->hash, key->hash, memory_order_release);
  return true;
}

/* Whether this key came before; notes it. */
static bool came_before(ort_plans *plans, uint64_t hash) {
  return atomic_exchange_explicit(&plans->seen[hash % ORT_SEEN], hash, memory_order_relaxed) == hash;
}

/* The next place that may be given to another key; its owner's bit is set. NULL: all are in use. */
static ort_plan *take_place(ort_plans *plans) {
  for (int32_t i = 0; i < plans->count; i++)
    if (plans->places[i].fixed && !atomic_load_explicit(&plans->places[i].hash, memory_order_relaxed) && own(&plans->places[i]))
      return &plans->places[i]; /* its owner's bit stays: nobody else will have it */
  for (int32_t i = 0; i < plans->count; i++) {
    const unsigned turn = atomic_fetch_add_explicit(&plans->next, 1, memory_order_relaxed);
    ort_plan *place = &plans->places[turn % (unsigned)plans->count];
    if (!place->fixed && own(place)) return place;
  }
  return NULL;
}

ort_plan *gather_ort_plans_get(ort_plans *plans, const gather_op *op, const gather_options *options, const gather_tensor *data,
                               const gather_tensor *indices) {
  ort_plan_key key;
  if (!make_key(data, indices, &key)) return NULL;
  for (int32_t i = 0; i < plans->count; i++)
    if (use(&plans->places[i], &key, data, indices)) return &plans->places[i];
  if (plans->count == 0 || !came_before(plans, key.hash)) return NULL;
  ort_plan *place = take_place(plans);
  if (!place) return NULL;
  const bool filled = fill(place, op, options, data, indices, &key);
  if (place->fixed && filled) return place;
  if (filled)
    keep_using(place);
  else
    disown(place);
  return filled ? place : NULL;
}
