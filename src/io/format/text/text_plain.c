/* SPDX-License-Identifier: MIT
 *
 * text_plain.c: reads a text of whole numbers; in brackets text_nested.c does. A number with a damaged byte must never pass as a comment or header: a
 * comment's '#' is not followed by a digit, and follows a number only after white space; a header has at least two
 * letters and no digit.
 */
#include <inttypes.h>
#include <string.h>

#include "io/format/text/text_input.h"

/* The state of the reader. */
typedef struct plain {
  gather_text_input *in;
  gather_text_numbers *numbers;
  int64_t columns; /* numbers in the first line that has any; 0 = not known yet */
  int64_t in_line; /* numbers in this line */
  gather_text_place line;
  bool comma_allowed; /* one may follow each number */
  bool after_comma;   /* the previous byte is one */
  bool has_header;
  gather_text_place header_at;
  gather_text_word header;
} plain;

static bool is_blank(int c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
static bool is_digit(int c) { return c >= '0' && c <= '9'; }
static bool is_letter(int c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

/* Consumes the rest of an invalid word. Its first byte may be a comma. */
static void take_word(gather_text_input *in, gather_text_word *word) {
  for (int c; (c = gather_text_peek(in)) >= 0 && !is_blank(c) && (c != ',' || word->bytes == 0);)
    gather_text_word_add(word, gather_text_next(in));
}

static gather_status wrong(const plain *p, gather_text_place place, gather_text_word *word, const char *why) {
  GATHER_TRY(p->in->status);
  return gather_fail_file(p->in->error, GATHER_FILE_MALFORMED, p->in->name, place.byte, "line %" PRId64 ": '%s' %s",
                          place.line, gather_text_word_show(word), why);
}

static gather_status no_number(const plain *p, gather_text_place place, gather_text_word *word) {
  if (p->numbers->len > 0 || p->has_header || !(is_letter(word->text[0]) || word->text[0] == '"'))
    return wrong(p, place, word, "is not a whole number");
  return wrong(p, place, word,
               "is not a whole number; a header is one word of letters; for a column of a table write FILE:COLUMN");
}

/* ---- headers */

/* Whether a word means a missing number: it is not a header. */
static bool is_missing_value(const char *word) {
  static const char *const WORDS[] = {"nan", "inf", "infinity", "null", "none", "na", "nil", "nat", "true", "false"};
  for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++) {
    size_t at = 0;
    while (WORDS[i][at] && (word[at] | 0x20) == WORDS[i][at]) at++;
    if (!WORDS[i][at] && !word[at]) return true;
  }
  return false;
}

static bool is_header(const gather_text_word *word) {
  if (word->bytes < 2 || word->bytes > GATHER_TEXT_QUOTED || !is_letter(word->text[0])) return false;
  for (int64_t i = 1; i < word->bytes; i++)
    if (!is_letter(word->text[i]) && word->text[i] != '-' && word->text[i] != '.') return false;
  return !is_missing_value(word->text);
}

/* Reads the first line that is neither empty nor a comment, if it begins with a letter. */
static gather_status read_header(plain *p) {
  gather_text_input *in = p->in;
  p->header_at = gather_text_here(in);
  take_word(in, &p->header);
  while (gather_text_peek(in) == ' ' || gather_text_peek(in) == '\t' || gather_text_peek(in) == '\r')
    (void)gather_text_next(in);
  int c = gather_text_peek(in);
  if (!is_header(&p->header) || (c >= 0 && c != '\n')) return no_number(p, p->header_at, &p->header);
  p->has_header = true;
  return GATHER_OK;
}

/* ---- comments and numbers */

static gather_status pass_comment(plain *p) {
  gather_text_word word = {.bytes = 0};
  gather_text_place place = gather_text_here(p->in);
  gather_text_word_add(&word, gather_text_next(p->in));
  if (is_digit(gather_text_peek(p->in))) {
    take_word(p->in, &word);
    return wrong(p, place, &word, "is neither a whole number nor a comment, which begins with '# '");
  }
  for (int c; (c = gather_text_peek(p->in)) >= 0 && c != '\n';) (void)gather_text_next(p->in);
  return GATHER_OK;
}

/* A table in which a number is missing must not be read as another list. The last line of a list may be shorter. */
static gather_status refuse_line(const plain *p) {
  GATHER_TRY(p->in->status);
  return gather_fail_file(p->in->error, GATHER_FILE_MALFORMED, p->in->name, p->line.byte,
                          "line %" PRId64 " has %" PRId64 " %s; the first one has %" PRId64
                          ": write one in each line, or the same number of them",
                          p->line.line, p->in_line, p->in_line == 1 ? "number" : "numbers", p->columns);
}

/* Counts a number that begins at `place`. */
static gather_status count_number(plain *p, gather_text_place place) {
  if (p->in_line > 0 && place.line == p->line.line) {
    p->in_line++;
    return GATHER_OK;
  }
  if (p->columns == 0) p->columns = p->in_line; /* of the first line; 0: this is it */
  if (p->in_line != p->columns) return refuse_line(p);
  p->line = place;
  p->in_line = 1;
  return GATHER_OK;
}

static gather_status read_number(plain *p) {
  gather_text_input *in = p->in;
  gather_text_word word = {.bytes = 0};
  gather_text_whole whole = {0};
  gather_text_place place = gather_text_here(in);
  int64_t number = 0;
  bool good = true;
  int c = gather_text_peek(in);
  do { /* the first byte may be a comma, which is not one between numbers */
    gather_text_word_add(&word, gather_text_next(in));
    good = good && gather_text_whole_put(&whole, c);
    c = gather_text_peek(in);
  } while (c >= 0 && !is_blank(c) && c != ',');
  if (!good || !gather_text_whole_ends(&whole)) return no_number(p, place, &word);
  const char *why = gather_text_whole_value(&whole, &number);
  if (why) return wrong(p, place, &word, why);
  GATHER_TRY(count_number(p, place));
  p->comma_allowed = true;
  p->after_comma = false;
  return gather_text_numbers_add(p->numbers, number, in);
}

/* Reads what begins with c. */
static gather_status read_next(plain *p, int c) {
  if (is_blank(c) || (c == ',' && p->comma_allowed)) {
    p->comma_allowed = p->comma_allowed && c != ',';
    p->after_comma = c == ',';
    (void)gather_text_next(p->in);
    return GATHER_OK;
  }
  if (c == '#' && !p->after_comma) return pass_comment(p);
  if (is_letter(c) && p->numbers->len == 0 && !p->has_header) return read_header(p);
  return read_number(p);
}

gather_status gather_text_plain(gather_text_input *in, gather_text_numbers *numbers) {
  plain p = {.in = in, .numbers = numbers};
  if (gather_text_is_nested(in)) return gather_text_nested(in, numbers);
  for (int c; (c = gather_text_peek(in)) >= 0;) GATHER_TRY(read_next(&p, c));
  GATHER_TRY(in->status);
  if (p.columns > 0 && p.in_line > p.columns) return refuse_line(&p);
  if (!p.has_header || numbers->len > 0) return GATHER_OK;
  return wrong(&p, p.header_at, &p.header, "is not a whole number, and nothing follows it");
}
