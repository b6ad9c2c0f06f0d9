/* SPDX-License-Identifier: MIT
 *
 * text_column.c: reads one column of whole numbers from a text table. Every record must have as many fields as the
 * first: a damaged file is refused, never read as another table.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/alloc.h"
#include "io/format/text/csv.h"

enum { NAME_MAX_BYTES = 1 << 16, SHOWN_NAMES = 8 };

static bool is_digit(int c) { return c >= '0' && c <= '9'; }

/* ---- which column */

static gather_status read_spec(gather_csv *c, const char *column) {
  size_t bytes = strlen(column);
  bool digits = bytes > 0;
  c->has_sign = column[0] == '#' && is_digit((unsigned char)column[1]);
  c->is_quoted = bytes >= 2 && column[0] == '"' && column[bytes - 1] == '"';
  c->name = column + (c->has_sign || c->is_quoted);
  c->name_bytes = bytes - c->has_sign - 2 * (size_t)c->is_quoted;
  for (size_t i = 0; i < c->name_bytes; i++) digits = digits && is_digit((unsigned char)c->name[i]);
  c->is_number = digits && !c->is_quoted;
  c->column = -1;
  if (c->has_sign && !digits) return GATHER_CSV_REFUSE(c, GATHER_USAGE, "'%.60s' is not a column number", column);
  if (c->name_bytes > NAME_MAX_BYTES) return GATHER_CSV_REFUSE(c, GATHER_USAGE, "the column name is too long");
  if (!c->is_number) return GATHER_OK;
  gather_text_whole whole = {0};
  for (size_t i = 0; i < c->name_bytes; i++) gather_text_whole_add(&whole, c->name[i] - '0');
  if (!gather_text_whole_value(&whole, &c->column)) return GATHER_OK;
  return GATHER_CSV_REFUSE(c, GATHER_NAME_NOT_FOUND, "no such column %.30s", c->name);
}

/* ---- the header */

static gather_status fail_name(const gather_csv *c, const char *names) {
  if (c->columns == 0) return GATHER_CSV_REFUSE(c, GATHER_NAME_NOT_FOUND, "the file is empty, so it has no columns");
  return GATHER_CSV_REFUSE(
      c, GATHER_NAME_NOT_FOUND,
      "no such column '%.*s'; the first line has: %s; without a header, columns are #0 to #%" PRId64,
      c->name_bytes < 60 ? (int)c->name_bytes : 60, c->name, names, c->columns - 1);
}

/* The fields of the first record: which one has the name, how many have it, and a list for messages. */
typedef struct first_look {
  int64_t named, count;
  bool wanted_is_whole; /* whether the field at the requested number is a whole number */
  char names[240];
} first_look;

static gather_status look_at_first(gather_csv *c, first_look *look) {
  size_t used = 0;
  for (c->columns = 0;; c->columns++) {
    GATHER_TRY(gather_csv_read_field(c));
    if (gather_csv_is_name(c) && look->count++ == 0) look->named = c->columns;
    if (c->columns == c->column) look->wanted_is_whole = c->is_whole;
    if (c->columns < SHOWN_NAMES && used < sizeof look->names - GATHER_TEXT_QUOTED - 8)
      used += (size_t)snprintf(look->names + used, sizeof look->names - used, "%s'%.24s'", used ? ", " : "",
                               gather_text_word_show(&c->word));
    else if (c->columns == SHOWN_NAMES)
      (void)snprintf(look->names + used, sizeof look->names - used, ", ...");
    if (c->ending != GATHER_CSV_END_FIELD) break;
  }
  c->columns++;
  return GATHER_OK;
}

/* Digits only are a column number, for a file without a header, unless a field of the first line equals them: that
 * line may be a header. */
static gather_status use_number(const gather_csv *c, const first_look *look, gather_text_place place) {
  if (!c->has_sign && look->count > 0)
    return GATHER_CSV_WRONG(c, place,
                            "line %" PRId64
                            " has a field '%s': write #%s for the column of that number if the file has no "
                            "header, or \"%s\" with its quotes for the column of that name",
                            place.line, c->name, c->name, c->name);
  if (c->column >= c->columns)
    return GATHER_CSV_REFUSE(c, GATHER_NAME_NOT_FOUND, "no such column %" PRId64 "; columns are 0 to %" PRId64,
                             c->column, c->columns - 1);
  if (look->wanted_is_whole) return GATHER_OK;
  return GATHER_CSV_WRONG(c, place,
                          "line %" PRId64 " has no whole number in column %" PRId64
                          "; if it is a header, give the name of the column: %s",
                          place.line, c->column, look->names);
}

static gather_status find_column(gather_csv *c, gather_text_place place, bool *is_header) {
  first_look look = {.named = -1};
  gather_text_input *rest = c->in, first = gather_csv_first_again(c, place);
  c->in = &first;
  gather_status status = c->first_bytes > 0 ? look_at_first(c, &look) : GATHER_OK;
  c->in = rest;
  GATHER_TRY(status);
  if (first.at < first.size) return GATHER_CSV_WRONG(c, place, "line %" PRId64 ": unbalanced quotes", place.line);
  *is_header = !c->is_number;
  if (c->is_number && c->columns > 0) return use_number(c, &look, place);
  if (look.count == 0) return fail_name(c, look.names);
  if (look.count > 1)
    return GATHER_CSV_REFUSE(c, GATHER_NAME_NOT_FOUND, "%" PRId64 " columns have the name '%.*s'", look.count,
                             c->name_bytes < 60 ? (int)c->name_bytes : 60, c->name);
  c->column = look.named;
  return GATHER_OK;
}

/* ---- records */

static gather_status take_number(gather_csv *c, gather_text_numbers *numbers) {
  int64_t number = 0;
  const char *why = c->is_whole ? gather_text_whole_value(&c->whole, &number) : "is not a whole number";
  if (!why) return gather_text_numbers_add(numbers, number, c->in);
  if (c->empty) why = "is empty";
  return GATHER_CSV_WRONG(c, c->place, "line %" PRId64 ", column %s%.*s%s: '%s' %s", c->place.line,
                          c->is_number ? "" : "'", c->name_bytes < 60 ? (int)c->name_bytes : 60, c->name,
                          c->is_number ? "" : "'", gather_text_word_show(&c->word), why);
}

static gather_status read_record(gather_csv *c, gather_text_numbers *numbers) {
  gather_text_place place = gather_text_here(c->in);
  int64_t fields = 0;
  for (c->ending = GATHER_CSV_END_FIELD; c->ending == GATHER_CSV_END_FIELD; fields++) {
    GATHER_TRY(gather_csv_read_field(c));
    if (fields == c->column) GATHER_TRY(take_number(c, numbers));
  }
  if (fields == c->columns) return GATHER_OK;
  return GATHER_CSV_WRONG(c, place, "line %" PRId64 " has %" PRId64 " %s; the first one has %" PRId64, place.line,
                          fields, fields == 1 ? "field" : "fields", c->columns);
}

/* Reads the first record again, as numbers. */
static gather_status read_first_record(gather_csv *c, gather_text_place place, gather_text_numbers *numbers) {
  gather_text_input *rest = c->in, first = gather_csv_first_again(c, place);
  c->in = &first;
  gather_status status = read_record(c, numbers);
  c->in = rest;
  return status;
}

static gather_status read_table(gather_csv *c, gather_text_numbers *numbers) {
  int64_t counts[3] = {0};
  bool is_header = false;
  (void)gather_csv_at_record(c->in);
  GATHER_TRY(c->in->status);
  gather_text_place place = gather_text_here(c->in);
  GATHER_TRY(gather_csv_read_first(c, counts));
  GATHER_TRY(gather_csv_choose_separator(c, counts, place));
  GATHER_TRY(find_column(c, place, &is_header));
  if (!is_header && c->columns > 0) GATHER_TRY(read_first_record(c, place, numbers));
  while (gather_csv_at_record(c->in)) GATHER_TRY(read_record(c, numbers));
  return c->in->status;
}

gather_status gather_text_column(gather_text_input *in, const char *column, gather_text_numbers *numbers) {
  gather_csv c = {.in = in};
  GATHER_TRY(read_spec(&c, column));
  gather_status status = read_table(&c, numbers);
  gather_free(c.first);
  return status;
}
