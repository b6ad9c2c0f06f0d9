/* SPDX-License-Identifier: MIT
 *
 * text_file.c: opens a text of whole numbers as a file of one tensor, and decides what is text.
 */
#include <inttypes.h>
#include <string.h>

#include "core/base/alloc.h"
#include "io/format/format.h"
#include "io/format/text/text_input.h"

/* ---- lists in brackets, nested or not: [1, 2, 3] and [[0, 1], [2, 3]], as JSON has them. NumPy's print(array), without commas, is the
 * same. */

/* The state of the reader. */
typedef struct nested {
  gather_text_input *in;
  gather_text_numbers *numbers; /* .shape: a length is -1 until a list of that depth has ended */
  int32_t depth;                /* of open lists */
  int32_t leaves;               /* depth of the numbers; 0 = not known yet */
  int64_t count[GATHER_MAX_RANK];
  bool value_before, comma_before; /* what precedes, in the same list */
} nested;

static bool is_blank(int c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

static bool is_mark(int c) { return c == ',' || c == '[' || c == ']'; }

static void pass_blanks(gather_text_input *in) {
  while (is_blank(gather_text_peek(in))) (void)gather_text_next(in);
}

/* Whether the next byte that is not blank opens a list. */
static bool is_nested(gather_text_input *in) {
  pass_blanks(in);
  return gather_text_peek(in) == '[';
}

static gather_status wrong(const nested *n, gather_text_place place, const char *why) {
  GATHER_TRY(n->in->status);
  return gather_fail_file(n->in->error, GATHER_FILE_MALFORMED, n->in->name, place.byte, "line %" PRId64 ": %s", place.line, why);
}

static gather_status open_list(nested *n, gather_text_place place) {
  if (n->depth == GATHER_MAX_RANK) return wrong(n, place, "lists are nested more than 64 deep");
  if (n->leaves > 0 && n->depth >= n->leaves) return wrong(n, place, "a list among numbers");
  if (n->depth > 0) n->count[n->depth - 1]++;
  n->count[n->depth++] = 0;
  n->value_before = n->comma_before = false;
  return GATHER_OK;
}

/* The list ends at `place`. Its length is that of the others of its depth. */
static gather_status close_list(nested *n, gather_text_place place) {
  if (n->comma_before) return wrong(n, place, "a number is missing after the comma");
  int64_t len = n->count[--n->depth], *length = &n->numbers->shape[n->depth];
  const bool is_leaf = n->leaves == n->depth + 1 || len == 0;
  if (is_leaf && n->leaves == 0) n->leaves = n->depth + 1; /* [] has numbers, but none */
  if (is_leaf && n->leaves != n->depth + 1) return wrong(n, place, "an empty list among lists of lists");
  if (*length >= 0 && *length != len) {
    GATHER_TRY(n->in->status);
    return gather_fail_file(n->in->error, GATHER_FILE_MALFORMED, n->in->name, place.byte,
                            "line %" PRId64 ": a list has %" PRId64 " items; the first one has %" PRId64, place.line, len, *length);
  }
  *length = len;
  n->value_before = true;
  return GATHER_OK;
}

static gather_status read_item(nested *n) {
  gather_text_input *in = n->in;
  gather_text_word word = {.bytes = 0};
  gather_text_whole whole = {0};
  gather_text_place place = gather_text_here(in);
  int64_t number = 0;
  bool good = true;
  for (int c; (c = gather_text_peek(in)) >= 0 && !is_blank(c) && !is_mark(c);) {
    gather_text_word_add(&word, gather_text_next(in));
    good = good && gather_text_whole_put(&whole, c);
  }
  const char *why = good ? gather_text_whole_value(&whole, &number) : "is not a whole number";
  GATHER_TRY(in->status);
  if (why)
    return gather_fail_file(in->error, GATHER_FILE_MALFORMED, in->name, place.byte, "line %" PRId64 ": '%s' %s", place.line,
                            gather_text_word_show(&word), why);
  if (n->leaves == 0) n->leaves = n->depth;
  if (n->leaves != n->depth) return wrong(n, place, "a number among lists");
  n->count[n->depth - 1]++;
  n->value_before = true;
  n->comma_before = false;
  return gather_text_numbers_add(n->numbers, number, in);
}

/* Reads what begins with c. */
static gather_status read_part(nested *n, int c) {
  gather_text_place place = gather_text_here(n->in);
  if (!is_mark(c)) return read_item(n);
  (void)gather_text_next(n->in);
  if (c == '[') return open_list(n, place);
  if (c == ']') return close_list(n, place);
  if (!n->value_before || n->comma_before) return wrong(n, place, "a number is missing before the comma");
  n->comma_before = true;
  return GATHER_OK;
}

static gather_status read_nested(gather_text_input *in, gather_text_numbers *numbers) {
  nested n = {.in = in, .numbers = numbers};
  for (int i = 0; i < GATHER_MAX_RANK; i++) numbers->shape[i] = -1;
  int c = gather_text_peek(in);
  do {
    if (c < 0) return wrong(&n, gather_text_here(in), "a list is not closed");
    GATHER_TRY(read_part(&n, c));
    pass_blanks(in);
    c = gather_text_peek(in);
  } while (n.depth > 0);
  if (c >= 0) return wrong(&n, gather_text_here(in), "unexpected text after the list");
  GATHER_TRY(in->status);
  numbers->rank = n.leaves;
  return GATHER_OK;
}

/* ---- numbers without brackets. A number with a damaged byte must never pass as a comment or header: a comment's '#' is not followed by a
 * digit, and follows a number only after white space; a header has at least two letters and no digit. */

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

static bool is_digit(int c) { return c >= '0' && c <= '9'; }

static bool is_letter(int c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

/* Consumes the rest of an invalid word. Its first byte may be a comma. */
static void take_word(gather_text_input *in, gather_text_word *word) {
  for (int c; (c = gather_text_peek(in)) >= 0 && !is_blank(c) && (c != ',' || word->bytes == 0);)
    gather_text_word_add(word, gather_text_next(in));
}

static gather_status wrong_word(const plain *p, gather_text_place place, gather_text_word *word, const char *why) {
  GATHER_TRY(p->in->status);
  return gather_fail_file(p->in->error, GATHER_FILE_MALFORMED, p->in->name, place.byte, "line %" PRId64 ": '%s' %s", place.line,
                          gather_text_word_show(word), why);
}

static gather_status no_number(const plain *p, gather_text_place place, gather_text_word *word) {
  if (p->numbers->len > 0 || p->has_header || !(is_letter(word->text[0]) || word->text[0] == '"'))
    return wrong_word(p, place, word, "is not a whole number");
  return wrong_word(p, place, word, "is not a whole number; a header is one word of letters; for a column of a table write FILE:COLUMN");
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
  while (gather_text_peek(in) == ' ' || gather_text_peek(in) == '\t' || gather_text_peek(in) == '\r') (void)gather_text_next(in);
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
    return wrong_word(p, place, &word, "is neither a whole number nor a comment, which begins with '# '");
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
  if (why) return wrong_word(p, place, &word, why);
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

/* Reads numbers separated by white space or commas, with comments, and with a header of one word. Lines have one number each, or as
 * many as the first; the last one may have fewer. */
static gather_status read_plain(gather_text_input *in, gather_text_numbers *numbers) {
  plain p = {.in = in, .numbers = numbers};
  if (is_nested(in)) return read_nested(in, numbers);
  for (int c; (c = gather_text_peek(in)) >= 0;) GATHER_TRY(read_next(&p, c));
  GATHER_TRY(in->status);
  if (p.columns > 0 && p.in_line > p.columns) return refuse_line(&p);
  if (!p.has_header || numbers->len > 0) return GATHER_OK;
  return wrong_word(&p, p.header_at, &p.header, "is not a whole number, and nothing follows it");
}

/* ---- what is text, and opening it */

/* A byte that text does not contain. Bytes from 0x80 up count as text: the message then gives the line of a wrong
 * character. */
static bool is_control(uint8_t c) { return (c < 0x20 && !is_blank(c)) || c == 0x7f; }

/* The byte-order marks of UTF-16 and UTF-32, unless XML follows. */
static bool is_wide_text(const uint8_t *head, size_t bytes) {
  if (bytes < 2 || !((head[0] == 0xff && head[1] == 0xfe) || (head[0] == 0xfe && head[1] == 0xff))) return false;
  for (size_t i = 2; i < bytes && i < 8; i++)
    if (head[i] == '<') return false;
  return true;
}

bool gather_file_is_text(const void *memory, size_t bytes) {
  const uint8_t *head = memory;
  size_t i = 0, controls = 0, early = 0;
  if (is_wide_text(head, bytes)) return true;
  for (size_t k = 0; k < bytes; k++) {
    if (!is_control(head[k])) continue;
    controls++;
    if (k < 8) early++;
  }
  if (bytes >= 3 && memcmp(head, "\xef\xbb\xbf", 3) == 0) i = 3;
  while (i < bytes && is_blank(head[i])) i++;
  if (i < bytes && (head[i] == '<' || head[i] == '{')) return false; /* XML, JSON */
  if (controls == 0) return true;
  bool number = i < bytes && ((head[i] >= '0' && head[i] <= '9') || head[i] == '-' || head[i] == '+');
  return number && early == 0 && bytes >= 8; /* a list of numbers with an invalid byte later */
}

static void clear_numbers(gather_text_numbers *numbers) {
  gather_free(numbers->at);
  *numbers = (gather_text_numbers){0};
}

static gather_status use_numbers(gather_file *file, gather_text_numbers *numbers, const char *column, gather_error *error) {
  gather_file_tensor *tensor = gather_arena_take(&file->arena, 1, (int64_t)sizeof *tensor);
  int32_t rank = numbers->rank > 0 ? numbers->rank : 1;
  int64_t *shape = gather_arena_take(&file->arena, rank, (int64_t)sizeof *shape);
  char *name = gather_arena_text(&file->arena, column, strlen(column));
  if (!tensor || !shape || !name) return gather_fail_file(error, GATHER_OUT_OF_MEMORY, file->name, -1, "out of memory for its numbers");
  *shape = numbers->len;
  for (int32_t i = 0; i < numbers->rank; i++) shape[i] = numbers->shape[i] < 0 ? 0 : numbers->shape[i];
  *tensor = (gather_file_tensor){
      .name = name,
      .tensor = {.data = numbers->at, .type = GATHER_TYPE_INT64, .rank = rank, .shape = shape, .flags = GATHER_TENSOR_READ_ONLY},
      .type_name = gather_type_get(GATHER_TYPE_INT64)->name,
      .bytes = numbers->len * (int64_t)sizeof *numbers->at};
  file->tensors = tensor;
  file->len = 1;
  file->single = numbers->at; /* owned by the file from now on */
  *numbers = (gather_text_numbers){0};
  return GATHER_OK;
}

static gather_status read_text(gather_file *file, gather_text_input *in, const char *column, gather_error *error) {
  gather_text_numbers numbers = {0};
  char substitute[GATHER_SUBSTITUTE_TEXT];
  if (gather_substitute_is(in->bytes, in->size, in->size, file->name, file->client != NULL, substitute, sizeof substitute))
    return gather_fail_file(error, GATHER_UNSUPPORTED, file->name, -1, "%s", substitute);
  const bool is_list = !column || column[0] == '\0';
  file->format = is_list ? "text" : "csv";
  gather_status status = is_list ? read_plain(in, &numbers) : gather_text_column(in, column, &numbers);
  if (status == GATHER_OK) status = use_numbers(file, &numbers, is_list ? "" : column, error);
  clear_numbers(&numbers);
  return status;
}

gather_status gather_text_open(gather_file *file, const char *path, const char *column, gather_error *error) {
  gather_text_input in;
  const gather_map *map = &file->map;
  if (!path) {
    GATHER_TRY(gather_file_check_download(file, "the text", map->remote ? map->size : 0, error));
    GATHER_TRY(gather_map_fetch(map, 0, map->size, error));
  }
  gather_status status =
      path ? gather_text_input_open(&in, path, error) : gather_text_input_memory(&in, map->bytes, map->size, file->name, error);
  if (status == GATHER_OK && path) (void)gather_map_identify(path, &file->map); /* it is read, and not mapped */
  if (status == GATHER_OK) status = read_text(file, &in, column, error);
  gather_text_input_end(&in);
  return status;
}
