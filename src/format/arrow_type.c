/* SPDX-License-Identifier: MIT
 *
 * arrow_type.c: maps the type of an Arrow column to the type and shape of a tensor. Dates and times become integers;
 * other types of fixed size are opaque.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "format/arrow.h"

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

/* Elements that are bytes, as stored. */
static gather_status set_opaque(gather_arrow *arrow, gather_arrow_column *column, int64_t bytes) {
  char *text = NULL;
  GATHER_TRY(gather_arrow_take(arrow, 2, 32, &text));
  (void)snprintf(text, 32, "'|V%" PRId64 "'", bytes);
  (void)snprintf(text + 32, 32, "|V%" PRId64, bytes);
  column->type = GATHER_TYPE_OPAQUE;
  column->item_bytes = bytes;
  column->descr = text;
  column->type_name = text + 32;
  return GATHER_OK;
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
  int64_t bits = 128;
  GATHER_TRY(gather_flat_number(of->flat, &of->type, 2, 4, &bits));
  if (bits != 32 && bits != 64 && bits != 128 && bits != 256) return no_such(of, "number of bits", bits);
  return set_opaque(of->arrow, of->column, bits / 8);
}

static gather_status read_date(element *of) {
  int64_t unit = DATE_MILLISECOND;
  GATHER_TRY(gather_flat_number(of->flat, &of->type, 0, 2, &unit));
  if (unit != DATE_DAY && unit != DATE_MILLISECOND) return no_such(of, "unit", unit);
  set_type(of->column, unit == DATE_DAY ? GATHER_TYPE_INT32 : GATHER_TYPE_INT64);
  return GATHER_OK;
}

static gather_status read_time(element *of) {
  int64_t unit = TIME_MILLISECOND, bits = 32;
  GATHER_TRY(gather_flat_number(of->flat, &of->type, 0, 2, &unit));
  GATHER_TRY(gather_flat_number(of->flat, &of->type, 1, 4, &bits));
  if (unit < 0 || unit > 3) return no_such(of, "unit", unit);
  if (bits != (unit <= TIME_MILLISECOND ? 32 : 64)) return no_such(of, "number of bits", bits);
  set_type(of->column, bits == 32 ? GATHER_TYPE_INT32 : GATHER_TYPE_INT64);
  return GATHER_OK;
}

static gather_status read_interval(element *of) {
  int64_t unit = INTERVAL_MONTHS;
  GATHER_TRY(gather_flat_number(of->flat, &of->type, 0, 2, &unit));
  if (unit < INTERVAL_MONTHS || unit > INTERVAL_NANOSECONDS) return no_such(of, "unit", unit);
  if (unit != INTERVAL_MONTHS) return set_opaque(of->arrow, of->column, unit == INTERVAL_DAYS ? 8 : 16);
  set_type(of->column, GATHER_TYPE_INT32);
  return GATHER_OK;
}

static gather_status read_bytes(element *of) {
  int64_t bytes = 0;
  GATHER_TRY(gather_flat_number(of->flat, &of->type, 0, 4, &bytes));
  return bytes >= 0 ? set_opaque(of->arrow, of->column, bytes) : no_such(of, "number of bytes", bytes);
}

static gather_status read_element(element *of, int64_t number) {
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
    case GATHER_ARROW_DURATION:
      set_type(of->column, GATHER_TYPE_INT64);
      return GATHER_OK;
    case GATHER_ARROW_INTERVAL:
      return read_interval(of);
    case GATHER_ARROW_BINARY_FIXED:
      return read_bytes(of);
    case GATHER_ARROW_BOOL:
      of->column->why = "holds 1-bit bools, which are not supported; write it as uint8";
      return GATHER_OK;
    default:
      of->column->why =
          "has values of variable size; supported are numbers, fixed_size_binary, and fixed_size_list of "
          "them";
      return GATHER_OK;
  }
}

/* ---- columns */

/* Goes from a fixed-size list field to its child, and keeps the length. */
static gather_status enter_list(element *of, gather_flat_table *field, int64_t lengths[GATHER_ARROW_DEPTH_MAX]) {
  gather_flat_vector children;
  int64_t length = 0;
  GATHER_TRY(gather_flat_number(of->flat, &of->type, 0, 4, &length));
  if (length < 0) return no_such(of, "length of lists", length);
  GATHER_TRY(gather_flat_list(of->flat, field, GATHER_ARROW_FIELD_CHILDREN, 4, &children));
  if (children.len != 1)
    return GATHER_ARROW_WRONG(of->arrow, field->at, "a list column has %" PRId64 " child fields; expected 1",
                              children.len);
  lengths[of->column->lists++] = length;
  if (!gather_mul(of->column->row_len, length, &of->column->row_len))
    return GATHER_ARROW_WRONG(of->arrow, field->at, "the length of a column's rows does not fit in 64 bits");
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

static gather_status keep_lengths(element *of, const int64_t *lengths) {
  gather_arrow_column *column = of->column;
  int64_t *kept = NULL;
  GATHER_TRY(gather_arrow_take(of->arrow, column->lists, sizeof *kept, &kept));
  if (column->lists > 0) memcpy(kept, lengths, (size_t)column->lists * sizeof *kept);
  column->list_lengths = kept;
  column->shape = kept;
  column->rank = column->lists;
  return GATHER_OK;
}

gather_status gather_arrow_column_type(gather_arrow *arrow, const gather_flat *flat, const gather_flat_table *field,
                                       gather_arrow_column *column) {
  element of = {.arrow = arrow, .flat = flat, .column = column};
  gather_flat_table inner = *field;
  int64_t lengths[GATHER_ARROW_DEPTH_MAX], number = 0;
  column->row_len = 1;
  GATHER_TRY(open_type(&of, field, &number));
  column->type_name = number == 0 ? "dictionary" : gather_arrow_type_name(number);
  while (number == GATHER_ARROW_LIST_FIXED) {
    GATHER_TRY(enter_list(&of, &inner, lengths));
    GATHER_TRY(open_type(&of, &inner, &number));
  }
  if (number != 0) GATHER_TRY(read_element(&of, number));
  if (column->why) return GATHER_OK;
  GATHER_TRY(keep_lengths(&of, lengths));
  return column->lists > 0 ? gather_arrow_tensor_type(arrow, flat, field, column) : GATHER_OK;
}
