/* SPDX-License-Identifier: MIT
 *
 * text_column.c: reads one column of whole numbers from a text table: comma-separated values (RFC 4180), also with tabs or semicolons.
 * Every record must have as many fields as the first: a damaged file is refused, never read as another table.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/alloc.h"
#include "io/format/text/text_input.h"

/* What ended a field. */
typedef enum csv_end { GATHER_CSV_END_FIELD, GATHER_CSV_END_RECORD, GATHER_CSV_END_FILE } csv_end;

typedef struct csv_reader {
  gather_text_input *in;
  char separator;
  /* The requested column. */
  const char *name; /* without quotes */
  size_t name_bytes;
  bool is_number, is_quoted, has_sign; /* digits only; "NAME"; #NUMBER */
  int64_t column;                      /* its number, from 0 */
  int64_t columns;                     /* of the first record */
  /* The first record. */
  char *first;
  int64_t first_bytes, first_room;
  /* The field just read. */
  gather_text_place place;
  gather_text_word word;
  gather_text_whole whole;
  bool is_whole, quoted, empty; /* is_whole: its text is a number so far */
  int match;                    /* bytes of the name that match; -1 = it differs */
  csv_end ending;               /* what ended it */
} csv_reader;

#define WRONG(csv, place, ...) gather_fail_file((csv)->in->error, GATHER_FILE_MALFORMED, (csv)->in->name, (place).byte, __VA_ARGS__)
#define REFUSE(csv, status, ...) gather_fail_file((csv)->in->error, status, (csv)->in->name, -1, __VA_ARGS__)

/* ---- fields. In a tab-separated file, a quote must not swallow a line: most writers of such files do not quote. */

enum { FIRST_MAX = 1 << 20, FIRST_ROOM = 4096 };

static bool is_space(int c) { return c == ' ' || c == '\t'; }

/* ---- a field */

static void begin_field(csv_reader *c) {
  c->place = gather_text_here(c->in);
  c->word = (gather_text_word){.bytes = 0};
  c->whole = (gather_text_whole){0};
  c->is_whole = c->empty = true;
  c->quoted = false;
  c->match = 0;
}

/* One byte of a field's content: updates whether it is still a number and still the name. */
static void add_byte(csv_reader *c, int byte) {
  c->empty = false;
  c->is_whole = c->is_whole && gather_text_whole_put(&c->whole, byte);
  if (c->match >= 0) {
    bool agrees = (size_t)c->match < c->name_bytes && (unsigned char)c->name[c->match] == byte;
    c->match = agrees ? c->match + 1 : -1;
  }
  gather_text_word_add(&c->word, byte);
}

/* Whether the field just read is the name of the column. */
static bool is_name(const csv_reader *c) { return c->match >= 0 && (size_t)c->match == c->name_bytes; }

/* Consumes the end of a field. */
static gather_status end_field(csv_reader *c) {
  int byte = gather_text_next(c->in);
  GATHER_TRY(c->in->status);
  c->is_whole = c->is_whole && gather_text_whole_ends(&c->whole);
  if (byte == '\r' && gather_text_peek(c->in) == '\n') byte = gather_text_next(c->in);
  c->ending = byte < 0 ? GATHER_CSV_END_FILE : byte == c->separator ? GATHER_CSV_END_FIELD : GATHER_CSV_END_RECORD;
  return c->in->status;
}

static bool ends_field(const csv_reader *c, int byte) { return byte < 0 || byte == c->separator || byte == '\n' || byte == '\r'; }

static gather_status read_quoted(csv_reader *c) {
  gather_text_input *in = c->in;
  (void)gather_text_next(in);
  c->quoted = true;
  for (int byte;;) {
    byte = gather_text_next(in);
    if (byte < 0 && in->status == GATHER_OK) return WRONG(c, c->place, "line %" PRId64 ": this quote is not closed", c->place.line);
    GATHER_TRY(in->status);
    if (c->separator == '\t' && (byte == '\n' || byte == '\r'))
      return WRONG(c, c->place, "line %" PRId64 ": this quote is not closed on its line", c->place.line);
    if (byte == '"') {
      if (gather_text_peek(in) != '"') break;
      (void)gather_text_next(in);
    }
    add_byte(c, byte);
  }
  gather_text_place place = gather_text_here(in);
  if (!ends_field(c, gather_text_peek(in)))
    return WRONG(c, place, "line %" PRId64 ": unexpected text after the closing quote of a field", place.line);
  return end_field(c);
}

/* Reads a field and its end. Spaces around an unquoted field are dropped. */
static gather_status read_field(csv_reader *c) {
  gather_text_input *in = c->in;
  int64_t spaces = 0;
  begin_field(c);
  while (is_space(gather_text_peek(in)) && gather_text_peek(in) != c->separator) (void)gather_text_next(in);
  if (gather_text_peek(in) == '"') return read_quoted(c);
  for (int byte; !ends_field(c, byte = gather_text_peek(in)); (void)gather_text_next(in)) {
    if (is_space(byte)) {
      spaces++;
      continue;
    }
    for (; spaces > 0; spaces--) add_byte(c, ' ');
    add_byte(c, byte);
  }
  return end_field(c);
}

/* Skips empty lines; false at the end of the text. */
static bool at_record(gather_text_input *in) {
  int c;
  while ((c = gather_text_peek(in)) == '\n' || c == '\r') (void)gather_text_next(in);
  return c >= 0;
}

/* ---- the first record */

static gather_status keep_first(csv_reader *c, int byte) {
  if (c->first_bytes == FIRST_MAX)
    return REFUSE(c, GATHER_FILE_MALFORMED, "the first record is longer than %d bytes, so this is not a table", FIRST_MAX);
  if (c->first_bytes == c->first_room) {
    int64_t room = c->first_room ? c->first_room * 2 : FIRST_ROOM;
    char *first = gather_alloc(room);
    if (!first) return REFUSE(c, GATHER_OUT_OF_MEMORY, "out of memory for its first record");
    if (c->first_bytes > 0) memcpy(first, c->first, (size_t)c->first_bytes);
    gather_free(c->first);
    c->first = first;
    c->first_room = room;
  }
  c->first[c->first_bytes++] = (char)byte;
  return GATHER_OK;
}

/* Copies the first record to c->first, which the caller frees, and counts tabs, commas and semicolons outside
 * quotes. */
/* A quote opens only at the start of a field, whatever the separator is. */
static gather_status read_first(csv_reader *c, int64_t counts[3]) {
  bool quoted = false, begins = true;
  int last = 0;
  for (int byte; (byte = gather_text_peek(c->in)) >= 0 && (quoted || (byte != '\n' && byte != '\r')); last = byte) {
    const bool separates = !quoted && (byte == '\t' || byte == ',' || byte == ';');
    (void)gather_text_next(c->in);
    if (quoted)
      quoted = byte != '"';
    else if (byte == '"')
      quoted = begins || last == '"';
    if (separates) counts[byte == '\t' ? 0 : byte == ',' ? 1 : 2]++;
    begins = separates || (begins && byte == ' ');
    GATHER_TRY(keep_first(c, byte));
  }
  return c->in->status;
}

/* The first record as a separate text. */
static gather_text_input first_again(const csv_reader *c, gather_text_place place) {
  return (gather_text_input){.name = c->in->name,
                             .error = c->in->error,
                             .bytes = (const uint8_t *)c->first,
                             .size = c->first_bytes,
                             .base = place.byte,
                             .line = place.line,
                             .fd = -1};
}

/* Chooses c->separator from these counts. */
static gather_status choose_separator(csv_reader *c, const int64_t counts[3], gather_text_place place) {
  c->separator = counts[0] > 0 ? '\t' : counts[1] > 0 || counts[2] == 0 ? ',' : ';';
  if (counts[0] > 0 || counts[1] == 0 || counts[2] == 0) return GATHER_OK;
  return WRONG(c, place,
               "line %" PRId64
               " has commas and semicolons outside quotes, so either may separate its fields; quote "
               "the fields that have one",
               place.line);
}

/* ---- the column */

enum { NAME_MAX_BYTES = 1 << 16, SHOWN_NAMES = 8 };

static bool is_digit(int c) { return c >= '0' && c <= '9'; }

/* ---- which column */

static gather_status read_spec(csv_reader *c, const char *column) {
  size_t bytes = strlen(column);
  bool digits = bytes > 0;
  c->has_sign = column[0] == '#' && is_digit((unsigned char)column[1]);
  c->is_quoted = bytes >= 2 && column[0] == '"' && column[bytes - 1] == '"';
  c->name = column + (c->has_sign || c->is_quoted);
  c->name_bytes = bytes - c->has_sign - 2 * (size_t)c->is_quoted;
  for (size_t i = 0; i < c->name_bytes; i++) digits = digits && is_digit((unsigned char)c->name[i]);
  c->is_number = digits && !c->is_quoted;
  c->column = -1;
  if (c->has_sign && !digits) return REFUSE(c, GATHER_USAGE, "'%.60s' is not a column number", column);
  if (c->name_bytes > NAME_MAX_BYTES) return REFUSE(c, GATHER_USAGE, "the column name is too long");
  if (!c->is_number) return GATHER_OK;
  gather_text_whole whole = {0};
  for (size_t i = 0; i < c->name_bytes; i++) (void)gather_text_whole_put(&whole, c->name[i]);
  if (!gather_text_whole_value(&whole, &c->column)) return GATHER_OK;
  return REFUSE(c, GATHER_NAME_NOT_FOUND, "no such column %.30s", c->name);
}

/* ---- the header */

static gather_status fail_name(const csv_reader *c, const char *names) {
  if (c->columns == 0) return REFUSE(c, GATHER_NAME_NOT_FOUND, "the file is empty, so it has no columns");
  return REFUSE(c, GATHER_NAME_NOT_FOUND, "no such column '%.*s'; the first line has: %s; without a header, columns are #0 to #%" PRId64,
                c->name_bytes < 60 ? (int)c->name_bytes : 60, c->name, names, c->columns - 1);
}

/* The fields of the first record: which one has the name, how many have it, and a list for messages. */
typedef struct first_look {
  int64_t named, count;
  bool wanted_is_whole; /* whether the field at the requested number is a whole number */
  char names[240];
} first_look;

static gather_status look_at_first(csv_reader *c, first_look *look) {
  size_t used = 0;
  for (c->columns = 0;; c->columns++) {
    GATHER_TRY(read_field(c));
    if (is_name(c) && look->count++ == 0) look->named = c->columns;
    if (c->columns == c->column) look->wanted_is_whole = c->is_whole;
    if (c->columns < SHOWN_NAMES && used < sizeof look->names - GATHER_TEXT_QUOTED - 8)
      used +=
          (size_t)snprintf(look->names + used, sizeof look->names - used, "%s'%.24s'", used ? ", " : "", gather_text_word_show(&c->word));
    else if (c->columns == SHOWN_NAMES)
      (void)snprintf(look->names + used, sizeof look->names - used, ", ...");
    if (c->ending != GATHER_CSV_END_FIELD) break;
  }
  c->columns++;
  return GATHER_OK;
}

/* Digits only are a column number, for a file without a header, unless a field of the first line equals them: that
 * line may be a header. */
static gather_status use_number(const csv_reader *c, const first_look *look, gather_text_place place) {
  if (!c->has_sign && look->count > 0)
    return WRONG(c, place,
                 "line %" PRId64
                 " has a field '%s': write #%s for the column of that number if the file has no "
                 "header, or \"%s\" with its quotes for the column of that name",
                 place.line, c->name, c->name, c->name);
  if (c->column >= c->columns)
    return REFUSE(c, GATHER_NAME_NOT_FOUND, "no such column %" PRId64 "; columns are 0 to %" PRId64, c->column, c->columns - 1);
  if (look->wanted_is_whole) return GATHER_OK;
  return WRONG(c, place, "line %" PRId64 " has no whole number in column %" PRId64 "; if it is a header, give the name of the column: %s",
               place.line, c->column, look->names);
}

static gather_status find_column(csv_reader *c, gather_text_place place, bool *is_header) {
  first_look look = {.named = -1};
  gather_text_input *rest = c->in, first = first_again(c, place);
  c->in = &first;
  gather_status status = c->first_bytes > 0 ? look_at_first(c, &look) : GATHER_OK;
  c->in = rest;
  GATHER_TRY(status);
  if (first.at < first.size) return WRONG(c, place, "line %" PRId64 ": unbalanced quotes", place.line);
  *is_header = !c->is_number;
  if (c->is_number && c->columns > 0) return use_number(c, &look, place);
  if (look.count == 0) return fail_name(c, look.names);
  if (look.count > 1)
    return REFUSE(c, GATHER_NAME_NOT_FOUND, "%" PRId64 " columns have the name '%.*s'", look.count,
                  c->name_bytes < 60 ? (int)c->name_bytes : 60, c->name);
  c->column = look.named;
  return GATHER_OK;
}

/* ---- records */

static gather_status take_number(csv_reader *c, gather_text_numbers *numbers) {
  int64_t number = 0;
  const char *why = c->is_whole ? gather_text_whole_value(&c->whole, &number) : "is not a whole number";
  if (!why) return gather_text_numbers_add(numbers, number, c->in);
  if (c->empty) why = "is empty";
  return WRONG(c, c->place, "line %" PRId64 ", column %s%.*s%s: '%s' %s", c->place.line, c->is_number ? "" : "'",
               c->name_bytes < 60 ? (int)c->name_bytes : 60, c->name, c->is_number ? "" : "'", gather_text_word_show(&c->word), why);
}

static gather_status read_record(csv_reader *c, gather_text_numbers *numbers) {
  gather_text_place place = gather_text_here(c->in);
  int64_t fields = 0;
  for (c->ending = GATHER_CSV_END_FIELD; c->ending == GATHER_CSV_END_FIELD; fields++) {
    GATHER_TRY(read_field(c));
    if (fields == c->column) GATHER_TRY(take_number(c, numbers));
  }
  if (fields == c->columns) return GATHER_OK;
  return WRONG(c, place, "line %" PRId64 " has %" PRId64 " %s; the first one has %" PRId64, place.line, fields,
               fields == 1 ? "field" : "fields", c->columns);
}

/* Reads the first record again, as numbers. */
static gather_status read_first_record(csv_reader *c, gather_text_place place, gather_text_numbers *numbers) {
  gather_text_input *rest = c->in, first = first_again(c, place);
  c->in = &first;
  gather_status status = read_record(c, numbers);
  c->in = rest;
  return status;
}

static gather_status read_table(csv_reader *c, gather_text_numbers *numbers) {
  int64_t counts[3] = {0};
  bool is_header = false;
  (void)at_record(c->in);
  GATHER_TRY(c->in->status);
  gather_text_place place = gather_text_here(c->in);
  GATHER_TRY(read_first(c, counts));
  GATHER_TRY(choose_separator(c, counts, place));
  GATHER_TRY(find_column(c, place, &is_header));
  if (!is_header && c->columns > 0) GATHER_TRY(read_first_record(c, place, numbers));
  while (at_record(c->in)) GATHER_TRY(read_record(c, numbers));
  return c->in->status;
}

gather_status gather_text_column(gather_text_input *in, const char *column, gather_text_numbers *numbers) {
  csv_reader c = {.in = in};
  GATHER_TRY(read_spec(&c, column));
  gather_status status = read_table(&c, numbers);
  gather_free(c.first);
  return status;
}
