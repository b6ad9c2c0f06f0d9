/* SPDX-License-Identifier: MIT
 *
 * arrow_schema.c: the columns of an Arrow file: the tensor that each of them is, and where in each batch its buffers are.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/checked.h"
#include "core/base/tensor.h"
#include "io/format/arrow/arrow.h"
#include "io/format/npy/descr.h"
#include "io/format/span.h"

/* Numbers of the union Type. */
enum {
  GATHER_ARROW_NULL = 1,
  GATHER_ARROW_INT = 2,
  GATHER_ARROW_FLOAT = 3,
  GATHER_ARROW_BOOL = 6,
  GATHER_ARROW_DECIMAL = 7,
  GATHER_ARROW_DATE = 8,
  GATHER_ARROW_TIME = 9,
  GATHER_ARROW_TIMESTAMP = 10,
  GATHER_ARROW_INTERVAL = 11,
  GATHER_ARROW_LIST = 12,
  GATHER_ARROW_STRUCT = 13,
  GATHER_ARROW_UNION = 14,
  GATHER_ARROW_BINARY_FIXED = 15,
  GATHER_ARROW_LIST_FIXED = 16,
  GATHER_ARROW_MAP = 17,
  GATHER_ARROW_DURATION = 18,
  GATHER_ARROW_LIST_LARGE = 21,
  GATHER_ARROW_RUN_END = 22,
  GATHER_ARROW_LIST_VIEW = 25,
  GATHER_ARROW_LIST_VIEW_LARGE = 26
};

/* Numbers of a Field's fields. */
enum {
  GATHER_ARROW_FIELD_NAME,
  GATHER_ARROW_FIELD_NULLABLE,
  GATHER_ARROW_FIELD_TYPE_NUMBER,
  GATHER_ARROW_FIELD_TYPE,
  GATHER_ARROW_FIELD_DICTIONARY,
  GATHER_ARROW_FIELD_CHILDREN,
  GATHER_ARROW_FIELD_METADATA
};

/* ---- Arrow's types, and the buffers of each in a record batch */

/* An Arrow type: its name, and the number of its buffers in a record batch, without its children's. */
typedef struct arrow_layout {
  const char *name;
  int8_t buffers;
  bool views; /* and further ones, counted in the batch */
} arrow_layout;

/* The types in the order of their numbers: the number of buffers of each in a batch, without its children's. */
static const arrow_layout LAYOUTS[] = {
    {NULL, 0, false},
    {"null", 0, false},
    {"int", 2, false},
    {"float", 2, false},
    {"binary", 3, false},
    {"utf8", 3, false},
    {"bool", 2, false},
    {"decimal", 2, false},
    {"date", 2, false},
    {"time", 2, false},
    {"timestamp", 2, false},
    {"interval", 2, false},
    {"list", 2, false},
    {"struct", 1, false},
    {"union", 1, false},
    {"fixed_size_binary", 2, false},
    {"fixed_size_list", 1, false},
    {"map", 2, false},
    {"duration", 2, false},
    {"large_binary", 3, false},
    {"large_utf8", 3, false},
    {"large_list", 2, false},
    {"run_end_encoded", 0, false},
    {"binary_view", 2, true},
    {"utf8_view", 2, true},
    {"list_view", 3, false},
    {"large_list_view", 3, false},
};

/* NULL for an unknown number. */
static const arrow_layout *layout_of(int64_t number) {
  return number > 0 && number < (int64_t)(sizeof LAYOUTS / sizeof *LAYOUTS) ? &LAYOUTS[number] : NULL;
}

static const char *name_of_type(int64_t number) {
  const arrow_layout *layout = layout_of(number);
  return layout ? layout->name : NULL;
}

/* ---- JSON: the extension arrow.fixed_shape_tensor. Columns whose rows are tensors of one shape. Arrow stores them as fixed-size lists,
 * with the shape as JSON text in the field's metadata: {"shape": [2, 3], "permutation": [1, 0], "dim_names": ["a", "b"]}. JSON strings
 * and integers are also Python literals, so one reader handles both. */

enum { KEY, VALUE };

enum { JSON_DEPTH_MAX = 16 };

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
  if (gather_literal_word(json, "null") || gather_literal_word(json, "true") || gather_literal_word(json, "false")) return true;
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
static gather_status keep_shape(gather_arrow *arrow, const numbers *shape, const numbers *order, gather_arrow_column *column) {
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

/* The same for the extension arrow.fixed_shape_tensor, for a column already set up as lists. */
static gather_status set_tensor_type(gather_arrow *arrow, const gather_flat *flat, const gather_flat_table *field,
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

/* ---- from the type of a column to the type and shape of a tensor. Types that NumPy has keep their unit (timestamps, durations); other
 * types of fixed size are opaque. */

/* Units of dates, times and intervals; sizes of floats. */
enum { DATE_DAY, DATE_MILLISECOND, TIME_MILLISECOND = 1 };

enum { INTERVAL_MONTHS, INTERVAL_DAYS, INTERVAL_NANOSECONDS };

static void set_type(gather_arrow_column *column, gather_type type) {
  const gather_type_info *info = gather_type_get(type);
  column->type = type;
  column->type_name = info->name;
  column->item_bytes = info->bits / 8;
  column->has_order = column->item_bytes > 1;
}

/* Elements that are none of our types: NumPy's descr, without quotes, and the name of the type; NULL = the descr. */
static gather_status set_opaque(gather_arrow *arrow, gather_arrow_column *column, const char *descr, const char *name, int64_t bytes) {
  enum { ROOM = 64 };
  char *text = NULL;
  GATHER_TRY(gather_arrow_take(arrow, 2, ROOM, &text));
  (void)snprintf(text, ROOM, "'%s'", descr);
  (void)snprintf(text + ROOM, ROOM, "%s", name ? name : descr);
  column->type = GATHER_TYPE_OPAQUE;
  column->item_bytes = bytes;
  column->descr = text;
  column->type_name = text + ROOM;
  return GATHER_OK;
}

/* Elements that are bytes, as stored. */
static gather_status set_bytes(gather_arrow *arrow, gather_arrow_column *column, int64_t bytes, const char *name) {
  char descr[40];
  (void)snprintf(descr, sizeof descr, "|V%" PRId64, bytes);
  return set_opaque(arrow, column, descr, name, bytes);
}

/* Elements whose bytes have an order. kind: of the descr, such as i4 or M8[ns]. */
static gather_status set_ordered(gather_arrow *arrow, gather_arrow_column *column, const char *kind, int64_t bytes, const char *name) {
  char descr[24];
  (void)snprintf(descr, sizeof descr, "%c%s", arrow->big_endian ? '>' : '<', kind);
  column->has_order = true;
  return set_opaque(arrow, column, descr, name, bytes);
}

/* An integer of that many bits; false if there is no such type. */
static bool set_integer(gather_arrow_column *column, int64_t bits, bool is_signed) {
  static const gather_type TYPES[][2] = {{GATHER_TYPE_UINT8, GATHER_TYPE_INT8},
                                         {GATHER_TYPE_UINT16, GATHER_TYPE_INT16},
                                         {GATHER_TYPE_UINT32, GATHER_TYPE_INT32},
                                         {GATHER_TYPE_UINT64, GATHER_TYPE_INT64}};
  for (int i = 0; i < 4; i++)
    if (bits == 8 << i) {
      set_type(column, TYPES[i][is_signed]);
      return true;
    }
  return false;
}

/* ---- elements */

/* The type being read: its table, and the number of its first field, which most types have. */
typedef struct element {
  gather_arrow *arrow;
  const gather_flat *flat;
  gather_flat_table type;
  gather_arrow_column *column;
} element;

static gather_status no_such(const element *of, const char *what, int64_t number) {
  return GATHER_ARROW_WRONG(of->arrow, of->type.at, "invalid %s of a column: %" PRId64, what, number);
}

static gather_status read_int(element *of) {
  int64_t bits = 0, is_signed = 0;
  GATHER_TRY(gather_flat_number(of->flat, &of->type, 0, 4, &bits));
  GATHER_TRY(gather_flat_number(of->flat, &of->type, 1, 1, &is_signed));
  return set_integer(of->column, bits, is_signed != 0) ? GATHER_OK : no_such(of, "number of bits", bits);
}

static gather_status read_float(element *of) {
  static const gather_type TYPES[] = {GATHER_TYPE_FLOAT16, GATHER_TYPE_FLOAT32, GATHER_TYPE_FLOAT64};
  int64_t precision = 0;
  GATHER_TRY(gather_flat_number(of->flat, &of->type, 0, 2, &precision));
  if (precision < 0 || precision > 2) return no_such(of, "precision", precision);
  set_type(of->column, TYPES[precision]);
  return GATHER_OK;
}

static gather_status read_decimal(element *of) {
  int64_t bits = 128, precision = 0, scale = 0;
  char name[40];
  GATHER_TRY(gather_flat_number(of->flat, &of->type, 0, 4, &precision));
  GATHER_TRY(gather_flat_number(of->flat, &of->type, 1, 4, &scale));
  GATHER_TRY(gather_flat_number(of->flat, &of->type, 2, 4, &bits));
  if (bits != 32 && bits != 64 && bits != 128 && bits != 256) return no_such(of, "number of bits", bits);
  (void)snprintf(name, sizeof name, "decimal%d(%" PRId64 ", %" PRId64 ")", (int)bits, precision, scale);
  return set_bytes(of->arrow, of->column, bits / 8, name);
}

static const char *const UNITS[] = {"s", "ms", "us", "ns"};

/* A count of units in 64 bits: NumPy's datetime64 (letter M) or timedelta64 (m). */
static gather_status set_time(element *of, char letter, int64_t unit) {
  char kind[16];
  if (unit < 0 || unit > 3) return no_such(of, "unit", unit);
  (void)snprintf(kind, sizeof kind, "%c8[%s]", letter, UNITS[unit]);
  return set_ordered(of->arrow, of->column, kind, 8, NULL);
}

/* NumPy has no dates and times of 32 bits: they are integers, with a name that says what they are. */
static gather_status set_short(element *of, const char *name) { return set_ordered(of->arrow, of->column, "i4", 4, name); }

static gather_status read_date(element *of) {
  int64_t unit = DATE_MILLISECOND;
  GATHER_TRY(gather_flat_number(of->flat, &of->type, 0, 2, &unit));
  if (unit != DATE_DAY && unit != DATE_MILLISECOND) return no_such(of, "unit", unit);
  return unit == DATE_DAY ? set_short(of, "date32[day]") : set_time(of, 'M', TIME_MILLISECOND);
}

/* The time since midnight. */
static gather_status read_time(element *of) {
  int64_t unit = TIME_MILLISECOND, bits = 32;
  GATHER_TRY(gather_flat_number(of->flat, &of->type, 0, 2, &unit));
  GATHER_TRY(gather_flat_number(of->flat, &of->type, 1, 4, &bits));
  if (unit < 0 || unit > 3) return no_such(of, "unit", unit);
  if (bits != (unit <= TIME_MILLISECOND ? 32 : 64)) return no_such(of, "number of bits", bits);
  if (bits == 64) return set_time(of, 'm', unit);
  return set_short(of, unit == TIME_MILLISECOND ? "time32[ms]" : "time32[s]");
}

/* Timestamps are UTC if they have a time zone, as NumPy's are; the zone itself is not kept. Units: seconds; of durations the default
 * is milliseconds. */
static gather_status read_instant(element *of, char letter, int64_t unit) {
  GATHER_TRY(gather_flat_number(of->flat, &of->type, 0, 2, &unit));
  return set_time(of, letter, unit);
}

static gather_status read_interval(element *of) {
  int64_t unit = INTERVAL_MONTHS;
  GATHER_TRY(gather_flat_number(of->flat, &of->type, 0, 2, &unit));
  if (unit < INTERVAL_MONTHS || unit > INTERVAL_NANOSECONDS) return no_such(of, "unit", unit);
  if (unit == INTERVAL_MONTHS) return set_short(of, "interval[month]");
  return unit == INTERVAL_DAYS ? set_bytes(of->arrow, of->column, 8, "interval[day_time]")
                               : set_bytes(of->arrow, of->column, 16, "interval[month_day_nano]");
}

static gather_status read_bytes(element *of) {
  int64_t bytes = 0;
  GATHER_TRY(gather_flat_number(of->flat, &of->type, 0, 4, &bytes));
  return bytes >= 0 ? set_bytes(of->arrow, of->column, bytes, NULL) : no_such(of, "number of bytes", bytes);
}

/* Why elements of a type are no tensor. */
static const char *why_not(int64_t number) {
  switch (number) {
    case GATHER_ARROW_BOOL:
      return "holds 1-bit bools, which are not supported; write it as uint8";
    case GATHER_ARROW_NULL:
      return "has the type null: it has no values";
    case GATHER_ARROW_STRUCT:
      return "holds structs; write each field as a column (pyarrow: table.flatten())";
    case GATHER_ARROW_UNION:
      return "holds unions, which are not supported";
    case GATHER_ARROW_MAP:
      return "holds maps; write keys and values as columns";
    case GATHER_ARROW_RUN_END:
      return "is run-end encoded; write its values (pyarrow: pyarrow.compute.run_end_decode())";
    case GATHER_ARROW_LIST_VIEW:
    case GATHER_ARROW_LIST_VIEW_LARGE:
      return "holds list views; write it as lists (pyarrow: cast(pyarrow.list_(...)))";
    default:
      return "holds text or bytes of variable length; supported are numbers, dates, times, fixed_size_binary, and "
             "lists "
             "of them";
  }
}

static gather_status read_element(element *of, int64_t number) {
  enum { SECONDS = 0 };
  switch (number) {
    case GATHER_ARROW_INT:
      return read_int(of);
    case GATHER_ARROW_FLOAT:
      return read_float(of);
    case GATHER_ARROW_DECIMAL:
      return read_decimal(of);
    case GATHER_ARROW_DATE:
      return read_date(of);
    case GATHER_ARROW_TIME:
      return read_time(of);
    case GATHER_ARROW_TIMESTAMP:
      return read_instant(of, 'M', SECONDS);
    case GATHER_ARROW_DURATION:
      return read_instant(of, 'm', TIME_MILLISECOND);
    case GATHER_ARROW_INTERVAL:
      return read_interval(of);
    case GATHER_ARROW_BINARY_FIXED:
      return read_bytes(of);
    default:
      of->column->why = why_not(number);
      return GATHER_OK;
  }
}

/* ---- columns */

static bool is_list(int64_t number) {
  return number == GATHER_ARROW_LIST_FIXED || number == GATHER_ARROW_LIST || number == GATHER_ARROW_LIST_LARGE;
}

/* Goes from a list field to its child, and keeps the length, or that it is variable. */
static gather_status enter_list(element *of, int64_t number, gather_flat_table *field, gather_arrow_list lists[GATHER_ARROW_DEPTH_MAX]) {
  gather_arrow_column *column = of->column;
  gather_flat_vector children;
  int64_t length = 0;
  if (number == GATHER_ARROW_LIST_FIXED) GATHER_TRY(gather_flat_number(of->flat, &of->type, 0, 4, &length));
  if (length < 0) return no_such(of, "length of lists", length);
  GATHER_TRY(gather_flat_list(of->flat, field, GATHER_ARROW_FIELD_CHILDREN, 4, &children));
  if (children.len != 1)
    return GATHER_ARROW_WRONG(of->arrow, field->at, "a list column has %" PRId64 " child fields; expected 1", children.len);
  if (number == GATHER_ARROW_LIST_FIXED) {
    lists[column->lists++] = (gather_arrow_list){length, 0};
    if (!gather_mul(column->row_len, length, &column->row_len))
      return GATHER_ARROW_WRONG(of->arrow, field->at, "the length of a column's rows does not fit in 64 bits");
  } else {
    lists[column->lists++] = (gather_arrow_list){-1, number == GATHER_ARROW_LIST ? 4 : 8};
    column->is_variable = true;
  }
  return gather_flat_item(of->flat, &children, 0, field);
}

/* Reads the type of a field. A dictionary-encoded one is not read further. */
static gather_status open_type(element *of, const gather_flat_table *field, int64_t *number) {
  gather_flat_table dictionary;
  *number = 0;
  GATHER_TRY(gather_flat_number(of->flat, field, GATHER_ARROW_FIELD_TYPE_NUMBER, 1, number));
  GATHER_TRY(gather_flat_inner(of->flat, field, GATHER_ARROW_FIELD_TYPE, &of->type));
  GATHER_TRY(gather_flat_inner(of->flat, field, GATHER_ARROW_FIELD_DICTIONARY, &dictionary));
  if (of->type.at == 0) return GATHER_ARROW_WRONG(of->arrow, field->at, "a column has no type");
  if (dictionary.at == 0) return GATHER_OK;
  of->column->why = "is dictionary-encoded; write its values (pyarrow: dictionary_decode())";
  *number = 0;
  return GATHER_OK;
}

static gather_status keep_lists(element *of, const gather_arrow_list *lists) {
  gather_arrow_column *column = of->column;
  int64_t *lengths = NULL;
  GATHER_TRY(gather_arrow_take(of->arrow, column->lists, sizeof *column->list, &column->list));
  GATHER_TRY(gather_arrow_take(of->arrow, column->lists, sizeof *lengths, &lengths));
  for (int32_t i = 0; i < column->lists; i++) {
    column->list[i] = lists[i];
    lengths[i] = lists[i].length;
  }
  column->shape = lengths; /* of variable ones when they are settled */
  column->rank = column->lists;
  return GATHER_OK;
}

/* Sets a column's element type and row shape, or why it cannot be a tensor. */
static gather_status set_column_type(gather_arrow *arrow, const gather_flat *flat, const gather_flat_table *field,
                                     gather_arrow_column *column) {
  element of = {.arrow = arrow, .flat = flat, .column = column};
  gather_flat_table inner = *field;
  gather_arrow_list lists[GATHER_ARROW_DEPTH_MAX];
  int64_t number = 0;
  column->row_len = 1;
  GATHER_TRY(open_type(&of, field, &number));
  column->type_name = number == 0 ? "dictionary" : name_of_type(number);
  while (is_list(number)) {
    GATHER_TRY(enter_list(&of, number, &inner, lists));
    GATHER_TRY(open_type(&of, &inner, &number));
  }
  if (number != 0) GATHER_TRY(read_element(&of, number));
  if (column->why) return GATHER_OK;
  GATHER_TRY(keep_lists(&of, lists));
  column->is_settled = !column->is_variable;
  bool fixed = column->lists > 0 && !column->is_variable;
  return fixed ? set_tensor_type(arrow, flat, field, column) : GATHER_OK;
}

enum { SCHEMA_ENDIANNESS, SCHEMA_FIELDS };

enum { UNION_MODE, UNION_DENSE = 1, FIRST_VERSION_WITHOUT_VALIDITY = 4 };

/* ---- what a field has in a batch */

/* The traversal of a schema. A field needs more than 4 bytes, so more fields than bytes / 4 must be repeated ones:
 * several children may point to one table, and theirs too, so that a small schema could describe exponentially many
 * fields. */
typedef struct schema_walk {
  gather_arrow *arrow;
  const gather_flat *flat;
  gather_arrow_counts counts;
} schema_walk;

static gather_status count_field(schema_walk *walk, const gather_flat_table *field, int depth);

static gather_status count_children(schema_walk *walk, const gather_flat_table *field, int depth) {
  gather_flat_vector children;
  gather_flat_table child;
  GATHER_TRY(gather_flat_list(walk->flat, field, GATHER_ARROW_FIELD_CHILDREN, 4, &children));
  if (children.len > 0 && depth == GATHER_ARROW_DEPTH_MAX)
    return GATHER_ARROW_REFUSE(walk->arrow, field->at, "columns are nested deeper than %d levels", GATHER_ARROW_DEPTH_MAX);
  for (int64_t i = 0; i < children.len; i++) {
    GATHER_TRY(gather_flat_item(walk->flat, &children, i, &child));
    GATHER_TRY(count_field(walk, &child, depth + 1));
  }
  return GATHER_OK;
}

/* A union has type numbers, a dense one also offsets; before V5 also a validity bitmap. */
static gather_status count_union(schema_walk *walk, const gather_flat_table *field) {
  gather_flat_table type;
  int64_t mode = 0;
  GATHER_TRY(gather_flat_inner(walk->flat, field, GATHER_ARROW_FIELD_TYPE, &type));
  if (type.at != 0) GATHER_TRY(gather_flat_number(walk->flat, &type, UNION_MODE, 2, &mode));
  walk->counts.buffers += (mode == UNION_DENSE) + (walk->arrow->version < FIRST_VERSION_WITHOUT_VALIDITY);
  return GATHER_OK;
}

static gather_status count_field(schema_walk *walk, const gather_flat_table *field, int depth) {
  gather_flat_table dictionary;
  int64_t number = 0;
  if (walk->counts.nodes >= (walk->flat->end - walk->flat->start) / 4)
    return GATHER_ARROW_WRONG(walk->arrow, field->at, "its columns contain each other");
  GATHER_TRY(gather_flat_number(walk->flat, field, GATHER_ARROW_FIELD_TYPE_NUMBER, 1, &number));
  GATHER_TRY(gather_flat_inner(walk->flat, field, GATHER_ARROW_FIELD_DICTIONARY, &dictionary));
  const arrow_layout *layout = layout_of(number);
  if (!layout) return GATHER_ARROW_REFUSE(walk->arrow, field->at, "unknown column type number %" PRId64, number);
  walk->counts.nodes++;
  if (dictionary.at != 0) { /* indices into the dictionary, whatever its values are */
    walk->counts.buffers += 2;
    return GATHER_OK;
  }
  walk->counts.buffers += layout->buffers;
  walk->counts.views += layout->views;
  if (number == GATHER_ARROW_UNION) GATHER_TRY(count_union(walk, field));
  return count_children(walk, field, depth);
}

/* ---- columns */

static gather_status read_column(schema_walk *walk, const gather_flat_table *field, gather_arrow_column *column) {
  gather_flat_text name;
  column->field = field->at;
  column->node = walk->counts.nodes;
  column->buffer = walk->counts.buffers;
  column->views = walk->counts.views;
  GATHER_TRY(gather_flat_string(walk->flat, field, GATHER_ARROW_FIELD_NAME, &name));
  column->name = name.text ? gather_arena_text(&walk->arrow->file->arena, name.text, (size_t)name.bytes) : "";
  if (!column->name) return GATHER_ARROW_NO_MEMORY(walk->arrow);
  GATHER_TRY(count_field(walk, field, 0));
  return set_column_type(walk->arrow, walk->flat, field, column);
}

static bool comes_before(const void *a, const void *b) {
  return strcmp(((const gather_arrow_column *)a)->name, ((const gather_arrow_column *)b)->name) < 0;
}

/* Columns with the same name are ambiguous. */
static gather_status mark_twins(gather_arrow *arrow) {
  const void **sorted = NULL;
  GATHER_TRY(gather_arrow_take(arrow, arrow->len, sizeof *sorted, &sorted));
  for (int64_t i = 0; i < arrow->len; i++) sorted[i] = &arrow->columns[i];
  gather_sort_pointers(sorted, arrow->len, comes_before);
  for (int64_t i = 1; i < arrow->len; i++) {
    gather_arrow_column *first = &arrow->columns[(const gather_arrow_column *)sorted[i - 1] - arrow->columns];
    gather_arrow_column *second = &arrow->columns[(const gather_arrow_column *)sorted[i] - arrow->columns];
    if (strcmp(first->name, second->name) == 0) first->why = second->why = "has the same name as another column; rename one of them";
  }
  return GATHER_OK;
}

gather_status gather_arrow_schema(gather_arrow *arrow, const gather_flat *flat, const gather_flat_table *schema) {
  schema_walk walk = {.arrow = arrow, .flat = flat};
  gather_flat_vector fields;
  gather_flat_table field;
  int64_t endianness = 0;
  GATHER_TRY(gather_flat_number(flat, schema, SCHEMA_ENDIANNESS, 2, &endianness));
  if (endianness != 0 && endianness != 1) return GATHER_ARROW_WRONG(arrow, schema->at, "unknown byte order number %" PRId64, endianness);
  arrow->big_endian = endianness == 1;
  GATHER_TRY(gather_flat_list(flat, schema, SCHEMA_FIELDS, 4, &fields));
  GATHER_TRY(gather_arrow_take(arrow, fields.len, sizeof *arrow->columns, &arrow->columns));
  for (int64_t i = 0; i < fields.len; i++) {
    GATHER_TRY(gather_flat_item(flat, &fields, i, &field));
    GATHER_TRY(read_column(&walk, &field, &arrow->columns[arrow->len++]));
  }
  arrow->all = walk.counts;
  return mark_twins(arrow);
}
