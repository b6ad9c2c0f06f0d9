/* SPDX-License-Identifier: MIT
 *
 * text_nested.c: lists in brackets, nested or not: [1, 2, 3] and [[0, 1], [2, 3]], as JSON has them. NumPy's print(array), without
 * commas, is the same.
 */
#include <inttypes.h>
#include <string.h>

#include "io/format/text/text_input.h"

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

bool gather_text_is_nested(gather_text_input *in) {
  pass_blanks(in);
  return gather_text_peek(in) == '[';
}

static gather_status wrong(const nested *n, gather_text_place place, const char *why) {
  GATHER_TRY(n->in->status);
  return gather_fail_file(n->in->error, GATHER_FILE_MALFORMED, n->in->name, place.byte, "line %" PRId64 ": %s",
                          place.line, why);
}

static gather_status open_list(nested *n, gather_text_place place) {
  if (n->depth == GATHER_MAX_RANK) return wrong(n, place, "lists are nested more than 64 deep");
  if (n->leaves > 0 && n->depth >= n->leaves) return wrong(n, place, "a list stands where the others have a number");
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
  if (is_leaf && n->leaves != n->depth + 1) return wrong(n, place, "a list is empty where the others have lists");
  if (*length >= 0 && *length != len) {
    GATHER_TRY(n->in->status);
    return gather_fail_file(n->in->error, GATHER_FILE_MALFORMED, n->in->name, place.byte,
                            "line %" PRId64 ": a list has %" PRId64 " items; the first one has %" PRId64, place.line,
                            len, *length);
  }
  *length = len;
  n->value_before = true;
  return GATHER_OK;
}

static gather_status read_number(nested *n) {
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
    return gather_fail_file(in->error, GATHER_FILE_MALFORMED, in->name, place.byte, "line %" PRId64 ": '%s' %s",
                            place.line, gather_text_word_show(&word), why);
  if (n->leaves == 0) n->leaves = n->depth;
  if (n->leaves != n->depth) return wrong(n, place, "a number stands where the others have a list");
  n->count[n->depth - 1]++;
  n->value_before = true;
  n->comma_before = false;
  return gather_text_numbers_add(n->numbers, number, in);
}

/* Reads what begins with c. */
static gather_status read_next(nested *n, int c) {
  gather_text_place place = gather_text_here(n->in);
  if (!is_mark(c)) return read_number(n);
  (void)gather_text_next(n->in);
  if (c == '[') return open_list(n, place);
  if (c == ']') return close_list(n, place);
  if (!n->value_before || n->comma_before) return wrong(n, place, "a number is missing before the comma");
  n->comma_before = true;
  return GATHER_OK;
}

gather_status gather_text_nested(gather_text_input *in, gather_text_numbers *numbers) {
  nested n = {.in = in, .numbers = numbers};
  for (int i = 0; i < GATHER_MAX_RANK; i++) numbers->shape[i] = -1;
  int c = gather_text_peek(in);
  do {
    if (c < 0) return wrong(&n, gather_text_here(in), "a list is not closed");
    GATHER_TRY(read_next(&n, c));
    pass_blanks(in);
    c = gather_text_peek(in);
  } while (n.depth > 0);
  if (c >= 0) return wrong(&n, gather_text_here(in), "text follows the list");
  GATHER_TRY(in->status);
  numbers->rank = n.leaves;
  return GATHER_OK;
}
