/* SPDX-License-Identifier: MIT
 *
 * quant_state.c: reads the description that bitsandbytes stores beside a 4-bit tensor.
 * Source: bitsandbytes 0.49, QuantState.as_dict and from_dict, and pack_dict_to_tensor.
 */
#include "io/format/safetensors/quant_state.h"

#include "core/base/error.h"
#include "io/format/safetensors/safetensors_json.h"

#ifdef GATHER_HAVE_JANSSON

#include <float.h>
#include <inttypes.h>
#include <string.h>

/* One reading: the JSON's positions are those of the file. */
typedef struct quant_state_reading {
  gather_json json;
  const gather_file_tensor *state;
  gather_quant_state *read;
} quant_state_reading;

#define WRONG(r, ...) GATHER_JSON_WRONG(&(r)->json, (r)->state->offset, __VA_ARGS__)

static gather_status read_length(const quant_state_reading *r, const json_t *tree, const char *key, int64_t *length) {
  const json_t *value = json_object_get(tree, key);
  if (!json_is_integer(value) || json_integer_value(value) < 1)
    return WRONG(r, "the state '%.100s' has no positive integer '%s'", r->state->name, key);
  *length = (int64_t)json_integer_value(value);
  return GATHER_OK;
}

static gather_status read_shape(const quant_state_reading *r, const json_t *tree) {
  const json_t *list = json_object_get(tree, "shape");
  const size_t rank = json_array_size(list); /* 0 if it is no array */
  int64_t len;
  if (rank < 1 || rank > GATHER_MAX_RANK)
    return WRONG(r, "the state '%.100s' has no 'shape' of 1 to %d lengths", r->state->name, GATHER_MAX_RANK);
  for (size_t d = 0; d < rank; d++) {
    const json_t *length = json_array_get(list, d);
    if (!json_is_integer(length) || json_integer_value(length) < 0)
      return WRONG(r, "the state '%.100s' has a shape with a length that is not a non-negative integer", r->state->name);
    r->read->shape[d] = (int64_t)json_integer_value(length);
  }
  r->read->rank = (int32_t)rank;
  if (gather_shape_len(r->read->rank, r->read->shape, &len)) return GATHER_OK;
  return WRONG(r, "the state '%.100s' has a shape whose size does not fit in 63 bits", r->state->name);
}

/* The scales may be quantised themselves. */
static gather_status read_nested(const quant_state_reading *r, const json_t *tree) {
  const json_t *offset = json_object_get(tree, "nested_offset");
  r->read->nested_block_len = 0;
  r->read->nested_offset = 0;
  if (!json_object_get(tree, "nested_blocksize")) return GATHER_OK;
  GATHER_TRY(read_length(r, tree, "nested_blocksize", &r->read->nested_block_len));
  const double value = json_number_value(offset); /* 0 if it is no number */
  if (!json_is_number(offset) || value > (double)FLT_MAX || value < -(double)FLT_MAX)
    return WRONG(r, "the state '%.100s' has no 'nested_offset' that fits float32", r->state->name);
  r->read->nested_offset = (float)value;
  return GATHER_OK;
}

static gather_status read_tree(const quant_state_reading *r, const json_t *tree, const char *type) {
  const char *given = json_string_value(json_object_get(tree, "quant_type"));
  if (!given || strcmp(given, type) != 0)
    return WRONG(r, "the state '%.100s' has the quant_type '%.20s', not '%s'", r->state->name, given ? given : "", type);
  GATHER_TRY(read_length(r, tree, "blocksize", &r->read->block_len));
  GATHER_TRY(read_nested(r, tree));
  return read_shape(r, tree);
}

gather_status gather_quant_state_read(const gather_file *file, const gather_file_tensor *state, const char *type, gather_quant_state *read,
                                      gather_error *error) {
  const gather_map *map;
  int64_t at = 0;
  json_t *tree = NULL;
  if (state->tensor.type != GATHER_TYPE_UINT8)
    return gather_fail_file(error, GATHER_TYPE_MISMATCH, file->name, -1, "the side tensor '%.100s' is %.40s, not uint8", state->name,
                            state->type_name);
  if (state->bytes == 0) return gather_fail_file(error, GATHER_FILE_MALFORMED, file->name, -1, "the state '%.100s' is empty", state->name);
  const char *name = gather_file_place(file, state, &map, &at);
  if (name) GATHER_TRY(gather_map_need(map, at, state->bytes, error));
  const uint8_t *bytes = name ? map->bytes : state->tensor.data;
  /* Only reads: the file's arena is not used by gather_json_load. */
  quant_state_reading r = {{(gather_file *)(uintptr_t)file, name ? name : file->name, bytes, error}, state, read};
  GATHER_TRY(gather_json_load(&r.json, (gather_json_part){at, at + state->bytes}, &tree));
  gather_status status = read_tree(&r, tree, type);
  json_decref(tree);
  return status;
}

#else

gather_status gather_quant_state_read(const gather_file *file, const gather_file_tensor *state, const char *type, gather_quant_state *read,
                                      gather_error *error) {
  (void)type, (void)read;
  return gather_fail_file(error, GATHER_UNSUPPORTED, file->name, -1, "the state '%.100s' is JSON, which is not supported in this build",
                          state->name);
}

#endif
