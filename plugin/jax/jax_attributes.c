/* SPDX-License-Identifier: MIT
 *
 * jax_attributes.c: the attributes of the custom calls that python/libgather/_jax_primitive.py makes. Nobody else makes them, but an
 * exported program may be older or newer than this library: every attribute is checked.
 */
#include "jax_internal.h"

#include <string.h>

/* Like the rules of the Python package: no document, every type. Which family, and whether negative indices count from the end, the
 * attributes say. */
static const gather_op RULES = {.dialect = "jax",
                                .on_bad = GATHER_ON_BAD_ERROR,
                                .batch_dims = true,
                                .off_axis = GATHER_OFF_AXIS_NONE,
                                .types = UINT64_MAX,
                                .index_types = UINT64_MAX,
                                .document = "libgather.jax",
                                .tuples = GATHER_TUPLES_NONE};

/* The attributes, and where the last one was found: the runtime sorts them by name, and they are asked for in that order. */
typedef struct jax_reader {
  const xla_attributes *attributes;
  int64_t next;
} jax_reader;

static const void *find(jax_reader *reader, const char *name, int kind) {
  const xla_attributes *attributes = reader->attributes;
  size_t bytes = strlen(name);
  for (int64_t turn = 0, i = reader->next; turn < attributes->count; turn++, i++) {
    if (i >= attributes->count) i = 0;
    const xla_span *have = attributes->names[i];
    if (have->bytes != bytes || memcmp(have->text, name, bytes) != 0) continue;
    reader->next = i + 1;
    return attributes->kinds[i] == kind ? attributes->items[i] : NULL;
  }
  return NULL;
}

static gather_status missing(const char *name, gather_error *error) {
  return gather_error_set(error, GATHER_USAGE,
                          "the custom call has no valid attribute '%s' of this version of libgather (%s): export the program "
                          "again with this version",
                          name, gather_version());
}

static gather_status read_number(jax_reader *reader, const char *name, int64_t *value, gather_error *error) {
  const xla_scalar *scalar = find(reader, name, XLA_ATTRIBUTE_SCALAR);
  if (scalar == NULL || scalar->type != XLA_S64) return missing(name, error);
  memcpy(value, scalar->value, sizeof *value);
  return GATHER_OK;
}

static gather_status read_numbers(jax_reader *reader, const char *name, const int64_t **items, int64_t *len, gather_error *error) {
  const xla_array *array = find(reader, name, XLA_ATTRIBUTE_ARRAY);
  if (array == NULL || array->type != XLA_S64 || array->len > GATHER_MAX_RANK) return missing(name, error);
  *items = array->items;
  *len = (int64_t)array->len;
  return GATHER_OK;
}

/* Which of the families: its name in errors, the rest of its rules. */
static gather_status set_family(int64_t family, jax_request *request, gather_error *error) {
  const gather_family_info *info = gather_family_get((gather_family)family);
  if (info == NULL || info->function != NULL) return missing("family", error);
  gather_op *op = &request->op;
  *op = RULES;
  op->family = info->family;
  op->name = info->name;
  if (info->family == GATHER_FAMILY_ND) op->axis_source = GATHER_AXIS_SOURCE_NONE;
  if (info->family == GATHER_FAMILY_STABLEHLO) op->axis_source = GATHER_AXIS_SOURCE_NONE;
  if (op->axis_source == GATHER_AXIS_SOURCE_NONE) op->tuples = GATHER_TUPLES_ANY;
  if (info->family == GATHER_FAMILY_ELEMENTS) op->off_axis = request->broadcast ? GATHER_OFF_AXIS_EQUAL : GATHER_OFF_AXIS_AT_MOST;
  return GATHER_OK;
}

static gather_status read_dimensions(jax_reader *reader, jax_request *request, gather_error *error) {
  static const struct {
    const char *name;
    size_t items, len;
  } FIELDS[] = {
#define FIELD(name) {#name, offsetof(gather_dimension_numbers, name), offsetof(gather_dimension_numbers, name##_count)}
      FIELD(offset_dims),     FIELD(collapsed_slice_dims),        FIELD(operand_batching_dims),
      FIELD(start_index_map), FIELD(start_indices_batching_dims), FIELD(slice_sizes),
#undef FIELD
  };
  gather_dimension_numbers *numbers = &request->numbers;
  *numbers = (gather_dimension_numbers)GATHER_DIMENSION_NUMBERS_INIT;
  for (size_t i = 0; i < sizeof FIELDS / sizeof *FIELDS; i++) {
    const int64_t *items = NULL;
    int64_t len = 0;
    gather_status status = read_numbers(reader, FIELDS[i].name, &items, &len, error);
    if (status != GATHER_OK) return status;
    memcpy((char *)numbers + FIELDS[i].items, &items, sizeof items);
    memcpy((char *)numbers + FIELDS[i].len, &len, sizeof len);
  }
  request->options.numbers = numbers;
  return read_number(reader, "index_vector_dim", &numbers->index_vector_dim, error);
}

static gather_status read_policy(jax_reader *reader, jax_request *request, gather_error *error) {
  int64_t on_bad = 0, negative = 0;
  const xla_array *fill = find(reader, "fill", XLA_ATTRIBUTE_ARRAY);
  if (fill == NULL || fill->type != XLA_U8 || fill->len < 16) return missing("fill", error);
  gather_status status = read_number(reader, "negative", &negative, error);
  if (status == GATHER_OK) status = read_number(reader, "on_bad", &on_bad, error);
  if (status != GATHER_OK) return status;
  if (on_bad < GATHER_ON_BAD_ERROR || on_bad > GATHER_ON_BAD_PROMISE) return missing("on_bad", error);
  request->options.on_bad = (gather_on_bad)on_bad;
  request->options.negative = negative != 0 ? GATHER_NEGATIVE_ON : GATHER_NEGATIVE_OFF;
  request->options.fill = on_bad == GATHER_ON_BAD_FILL ? fill->items : NULL;
  return GATHER_OK;
}

gather_status jax_read_request(const xla_attributes *attributes, jax_request *request, gather_error *error) {
  int64_t family = 0, broadcast = 0, rank = 0;
  jax_reader reader = {attributes, 0};
  request->options = (gather_options)GATHER_OPTIONS_INIT;
  request->options.fresh_output = true;
  gather_status status = read_number(&reader, "axis", &request->options.axis, error);
  if (status == GATHER_OK) status = read_number(&reader, "batch_dims", &request->options.batch_dims, error);
  if (status == GATHER_OK) status = read_number(&reader, "broadcast", &broadcast, error);
  if (status == GATHER_OK) status = read_numbers(&reader, "data_shape", &request->shape, &rank, error);
  if (status == GATHER_OK) status = read_number(&reader, "family", &family, error);
  if (status == GATHER_OK) status = read_policy(&reader, request, error);
  if (status != GATHER_OK) return status;
  request->rank = (int32_t)rank;
  request->broadcast = broadcast != 0;
  status = set_family(family, request, error);
  if (status != GATHER_OK || request->op.family != GATHER_FAMILY_STABLEHLO) return status;
  return read_dimensions(&reader, request, error);
}
