/* SPDX-License-Identifier: MIT
 *
 * arrow_tensor.c: columns whose rows are tensors of one shape: Arrow's extension arrow.fixed_shape_tensor. Arrow
 * stores them as fixed-size lists, with the shape as JSON text in the field's metadata: {"shape": [2, 3],
 * "permutation": [1, 0], "dim_names": ["a", "b"]}. JSON strings and integers are also Python literals, so one reader
 * handles both.
 */
#include <string.h>

#include "core/base/checked.h"
#include "core/base/tensor.h"
#include "io/format/arrow/arrow.h"
#include "io/format/npy/npy_literal.h"

enum { KEY, VALUE };
enum { JSON_DEPTH_MAX = 16 };

/* ---- JSON */

/* A list of numbers, in brackets. */
typedef struct numbers {
  int32_t count;
  int64_t values[GATHER_ARROW_DEPTH_MAX];
} numbers;

static bool read_numbers(gather_literal *json, numbers *list) {
  list->count = 0;
  if (gather_literal_word(json, "null")) return true;
  if (!gather_literal_expect(json, '[')) return false;
  for (bool comma = true; !gather_literal_accept(json, ']'); comma = gather_literal_accept(json, ',')) {
    if (!comma || list->count == GATHER_ARROW_DEPTH_MAX) return false;
    if (!gather_literal_int(json, &list->values[list->count++])) return false;
  }
  return true;
}

static bool skip_value(gather_literal *json, int depth) {
  gather_literal_text text;
  int64_t number;
  if (gather_literal_at_string(json)) return gather_literal_string(json, &text);
  if (gather_literal_word(json, "null") || gather_literal_word(json, "true") || gather_literal_word(json, "false"))
    return true;
  bool list = gather_literal_accept(json, '['), object = !list && gather_literal_accept(json, '{');
  if (!list && !object) return gather_literal_int(json, &number);
  if (depth == JSON_DEPTH_MAX) return false;
  for (bool comma = true; !gather_literal_accept(json, list ? ']' : '}'); comma = gather_literal_accept(json, ',')) {
    if (!comma) return false;
    if (object && (!gather_literal_string(json, &text) || !gather_literal_expect(json, ':'))) return false;
    if (!skip_value(json, depth + 1)) return false;
  }
  return true;
}

static bool is(gather_literal_text text, const char *word) {
  return (size_t)text.bytes == strlen(word) && memcmp(text.text, word, (size_t)text.bytes) == 0;
}

static bool read_json(gather_flat_text text, numbers *shape, numbers *order) {
  gather_literal json;
  bool has_shape = false;
  gather_literal_init(&json, text.text, text.bytes);
  if (!gather_literal_expect(&json, '{')) return false;
  for (bool comma = true; !gather_literal_accept(&json, '}'); comma = gather_literal_accept(&json, ',')) {
    gather_literal_text key;
    (void)gather_literal_peek(&json);
    if (!comma || !gather_literal_string(&json, &key) || !gather_literal_expect(&json, ':')) return false;
    (void)gather_literal_peek(&json);
    bool is_shape = is(key, "shape"), is_order = is(key, "permutation");
    has_shape = has_shape || is_shape;
    if (is_shape || is_order ? !read_numbers(&json, is_shape ? shape : order) : !skip_value(&json, 0)) return false;
  }
  (void)gather_literal_peek(&json);
  return has_shape && json.at == json.end;
}

/* ---- the shape */

/* Whether it has each number below its count once. No numbers: the stored order. */
static bool is_permutation(const numbers *order, int32_t rank) {
  bool seen[GATHER_ARROW_DEPTH_MAX] = {false};
  if (order->count != 0 && order->count != rank) return false;
  for (int32_t i = 0; i < order->count; i++) {
    int64_t axis = order->values[i];
    if (axis < 0 || axis >= rank || seen[axis]) return false;
    seen[axis] = true;
  }
  return true;
}

static bool fits(const numbers *shape, const numbers *order, const gather_arrow_column *column) {
  int64_t len;
  for (int32_t i = 0; i < shape->count; i++)
    if (shape->values[i] < 0) return false;
  return gather_shape_len(shape->count, shape->values, &len) && column->lists == 1 && len == column->row_len &&
         is_permutation(order, shape->count);
}

/* The shape is that in memory; the permutation gives the logical one. */
static gather_status keep_shape(gather_arrow *arrow, const numbers *shape, const numbers *order,
                                gather_arrow_column *column) {
  int64_t *lengths = NULL;
  int32_t *axes = NULL;
  GATHER_TRY(gather_arrow_take(arrow, shape->count, sizeof *lengths, &lengths));
  GATHER_TRY(gather_arrow_take(arrow, order->count, sizeof *axes, &axes));
  for (int32_t i = 0; i < shape->count; i++) lengths[i] = shape->values[order->count > 0 ? order->values[i] : i];
  for (int32_t i = 0; i < order->count; i++) axes[i] = (int32_t)order->values[i];
  column->rank = shape->count;
  column->shape = lengths;
  for (int32_t i = 0; i < order->count; i++)
    if (axes[i] != i) column->order = axes;
  return GATHER_OK;
}

static bool says(const gather_flat_text *text, const char *word) {
  return text->text && is((gather_literal_text){text->text, text->bytes}, word);
}

gather_status gather_arrow_tensor_type(gather_arrow *arrow, const gather_flat *flat, const gather_flat_table *field,
                                       gather_arrow_column *column) {
  gather_flat_vector pairs;
  gather_flat_text metadata = {0};
  bool is_tensor = false;
  GATHER_TRY(gather_flat_list(flat, field, GATHER_ARROW_FIELD_METADATA, 4, &pairs));
  for (int64_t i = 0; i < pairs.len; i++) {
    gather_flat_table pair;
    gather_flat_text key, value;
    GATHER_TRY(gather_flat_item(flat, &pairs, i, &pair));
    GATHER_TRY(gather_flat_string(flat, &pair, KEY, &key));
    GATHER_TRY(gather_flat_string(flat, &pair, VALUE, &value));
    if (says(&key, "ARROW:extension:name")) is_tensor = says(&value, "arrow.fixed_shape_tensor");
    if (says(&key, "ARROW:extension:metadata")) metadata = value;
  }
  if (!is_tensor) return GATHER_OK;
  numbers shape = {0}, order = {0};
  if (metadata.text && read_json(metadata, &shape, &order) && fits(&shape, &order, column))
    return keep_shape(arrow, &shape, &order, column);
  column->why = "holds tensors whose shape (ARROW:extension:metadata) does not fit its rows";
  return GATHER_OK;
}
