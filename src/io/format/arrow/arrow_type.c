/* SPDX-License-Identifier: MIT
 *
 * arrow_type.c: maps the type of an Arrow column to the type and shape of a tensor. Types that NumPy has keep
 * their unit (timestamps, durations); other types of fixed size are opaque.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/checked.h"
#include "io/format/arrow/arrow.h"

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
static gather_status set_opaque(gather_arrow *arrow, gather_arrow_column *column, const char *descr, const char *name,
                                int64_t bytes) {
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
static gather_status set_ordered(gather_arrow *arrow, gather_arrow_column *column, const char *kind, int64_t bytes,
                                 const char *name) {
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
static gather_status set_short(element *of, const char *name) {
  return set_ordered(of->arrow, of->column, "i4", 4, name);
}

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
      return "holds unions: values of several types";
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
static gather_status enter_list(element *of, int64_t number, gather_flat_table *field,
                                gather_arrow_list lists[GATHER_ARROW_DEPTH_MAX]) {
  gather_arrow_column *column = of->column;
  gather_flat_vector children;
  int64_t length = 0;
  if (number == GATHER_ARROW_LIST_FIXED) GATHER_TRY(gather_flat_number(of->flat, &of->type, 0, 4, &length));
  if (length < 0) return no_such(of, "length of lists", length);
  GATHER_TRY(gather_flat_list(of->flat, field, GATHER_ARROW_FIELD_CHILDREN, 4, &children));
  if (children.len != 1)
    return GATHER_ARROW_WRONG(of->arrow, field->at, "a list column has %" PRId64 " child fields; expected 1",
                              children.len);
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

gather_status gather_arrow_column_type(gather_arrow *arrow, const gather_flat *flat, const gather_flat_table *field,
                                       gather_arrow_column *column) {
  element of = {.arrow = arrow, .flat = flat, .column = column};
  gather_flat_table inner = *field;
  gather_arrow_list lists[GATHER_ARROW_DEPTH_MAX];
  int64_t number = 0;
  column->row_len = 1;
  GATHER_TRY(open_type(&of, field, &number));
  column->type_name = number == 0 ? "dictionary" : gather_arrow_type_name(number);
  while (is_list(number)) {
    GATHER_TRY(enter_list(&of, number, &inner, lists));
    GATHER_TRY(open_type(&of, &inner, &number));
  }
  if (number != 0) GATHER_TRY(read_element(&of, number));
  if (column->why) return GATHER_OK;
  GATHER_TRY(keep_lists(&of, lists));
  column->is_settled = !column->is_variable;
  bool fixed = column->lists > 0 && !column->is_variable;
  return fixed ? gather_arrow_tensor_type(arrow, flat, field, column) : GATHER_OK;
}
