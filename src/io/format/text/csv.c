/* SPDX-License-Identifier: MIT
 *
 * csv.c: splits text into the fields of a table. In a tab-separated file, a quote must not swallow a line: most
 * writers of such files do not quote.
 */
#include "io/format/text/csv.h"

#include <inttypes.h>
#include <string.h>

#include "core/base/alloc.h"

enum { FIRST_MAX = 1 << 20, FIRST_ROOM = 4096 };

static bool is_space(int c) { return c == ' ' || c == '\t'; }

/* ---- a field */

static void begin_field(gather_csv *c) {
  c->place = gather_text_here(c->in);
  c->word = (gather_text_word){.bytes = 0};
  c->whole = (gather_text_whole){0};
  c->is_whole = c->empty = true;
  c->quoted = false;
  c->match = 0;
}

/* One byte of a field's content: updates whether it is still a number and still the name. */
static void add_byte(gather_csv *c, int byte) {
  c->empty = false;
  c->is_whole = c->is_whole && gather_text_whole_put(&c->whole, byte);
  if (c->match >= 0) {
    bool agrees = (size_t)c->match < c->name_bytes && (unsigned char)c->name[c->match] == byte;
    c->match = agrees ? c->match + 1 : -1;
  }
  gather_text_word_add(&c->word, byte);
}

bool gather_csv_is_name(const gather_csv *c) { return c->match >= 0 && (size_t)c->match == c->name_bytes; }

/* Consumes the end of a field. */
static gather_status end_field(gather_csv *c) {
  int byte = gather_text_next(c->in);
  GATHER_TRY(c->in->status);
  c->is_whole = c->is_whole && gather_text_whole_ends(&c->whole);
  if (byte == '\r' && gather_text_peek(c->in) == '\n') byte = gather_text_next(c->in);
  c->ending = byte < 0 ? GATHER_CSV_END_FILE : byte == c->separator ? GATHER_CSV_END_FIELD : GATHER_CSV_END_RECORD;
  return c->in->status;
}

static bool ends_field(const gather_csv *c, int byte) {
  return byte < 0 || byte == c->separator || byte == '\n' || byte == '\r';
}

static gather_status read_quoted(gather_csv *c) {
  gather_text_input *in = c->in;
  (void)gather_text_next(in);
  c->quoted = true;
  for (int byte;;) {
    byte = gather_text_next(in);
    if (byte < 0 && in->status == GATHER_OK)
      return GATHER_CSV_WRONG(c, c->place, "line %" PRId64 ": this quote is not closed", c->place.line);
    GATHER_TRY(in->status);
    if (c->separator == '\t' && (byte == '\n' || byte == '\r'))
      return GATHER_CSV_WRONG(c, c->place, "line %" PRId64 ": this quote is not closed on its line", c->place.line);
    if (byte == '"') {
      if (gather_text_peek(in) != '"') break;
      (void)gather_text_next(in);
    }
    add_byte(c, byte);
  }
  gather_text_place place = gather_text_here(in);
  if (!ends_field(c, gather_text_peek(in)))
    return GATHER_CSV_WRONG(c, place, "line %" PRId64 ": unexpected text after the closing quote of a field",
                            place.line);
  return end_field(c);
}

gather_status gather_csv_read_field(gather_csv *c) {
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

bool gather_csv_at_record(gather_text_input *in) {
  int c;
  while ((c = gather_text_peek(in)) == '\n' || c == '\r') (void)gather_text_next(in);
  return c >= 0;
}

/* ---- the first record */

static gather_status keep_first(gather_csv *c, int byte) {
  if (c->first_bytes == FIRST_MAX)
    return GATHER_CSV_REFUSE(c, GATHER_FILE_MALFORMED,
                             "the first record is longer than %d bytes, so this is not a table", FIRST_MAX);
  if (c->first_bytes == c->first_room) {
    int64_t room = c->first_room ? c->first_room * 2 : FIRST_ROOM;
    char *first = gather_alloc(room);
    if (!first) return GATHER_CSV_REFUSE(c, GATHER_OUT_OF_MEMORY, "no memory for its first record");
    if (c->first_bytes > 0) memcpy(first, c->first, (size_t)c->first_bytes);
    gather_free(c->first);
    c->first = first;
    c->first_room = room;
  }
  c->first[c->first_bytes++] = (char)byte;
  return GATHER_OK;
}

/* A quote opens only at the start of a field, whatever the separator is. */
gather_status gather_csv_read_first(gather_csv *c, int64_t counts[3]) {
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

gather_text_input gather_csv_first_again(const gather_csv *c, gather_text_place place) {
  return (gather_text_input){.name = c->in->name,
                             .error = c->in->error,
                             .bytes = (const uint8_t *)c->first,
                             .size = c->first_bytes,
                             .base = place.byte,
                             .line = place.line,
                             .fd = -1};
}

gather_status gather_csv_choose_separator(gather_csv *c, const int64_t counts[3], gather_text_place place) {
  c->separator = counts[0] > 0 ? '\t' : counts[1] > 0 || counts[2] == 0 ? ',' : ';';
  if (counts[0] > 0 || counts[1] == 0 || counts[2] == 0) return GATHER_OK;
  return GATHER_CSV_WRONG(c, place,
                          "line %" PRId64
                          " has commas and semicolons outside quotes, so either may separate its fields; quote "
                          "the fields that have one",
                          place.line);
}
