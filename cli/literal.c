/* SPDX-License-Identifier: MIT
 *
 * literal.c: numbers on the command line. A literal is a tree whose leaves (numbers, or empty lists) must all have the same
 * depth.
 */
#include "literal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "fail.h"

static bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

static const char *skip_blanks(const char *p) {
  while (is_blank(*p)) p++;
  return p;
}

void gather_cli_numbers_clear(gather_cli_numbers *numbers) {
  free(numbers->at);
  memset(numbers, 0, sizeof *numbers);
}

static gather_status push(gather_cli_numbers *numbers, int64_t number, gather_error *error) {
  if (numbers->len == numbers->room) {
    int64_t room = numbers->room ? numbers->room * 2 : 64;
    int64_t *at = realloc(numbers->at, (size_t)room * sizeof *at);
    if (!at) return gather_cli_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for %lld indices", (long long)room);
    numbers->at = at;
    numbers->room = room;
  }
  numbers->at[numbers->len++] = number;
  return GATHER_OK;
}

gather_status gather_cli_numbers_make(int64_t len, gather_cli_numbers *numbers, gather_error *error) {
  memset(numbers, 0, sizeof *numbers);
  if ((uint64_t)len < PTRDIFF_MAX / sizeof *numbers->at) numbers->at = calloc((size_t)len + 1, sizeof *numbers->at);
  if (!numbers->at) return gather_cli_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for %lld numbers", (long long)len);
  numbers->len = numbers->room = numbers->shape[0] = len;
  numbers->rank = 1;
  return GATHER_OK;
}

gather_status gather_cli_numbers_copy(const int64_t *from, int64_t len, gather_cli_numbers *numbers, gather_error *error) {
  GATHER_CLI_TRY(gather_cli_numbers_make(len, numbers, error));
  if (len > 0) memcpy(numbers->at, from, (size_t)len * sizeof *from);
  return GATHER_OK;
}

/* Reading a literal. shape[d] is -1 until the first list at depth d ends; rank is -1 until the first leaf. */
typedef struct reading {
  const char *begin, *p;
  gather_type type; /* of the leaves */
  gather_cli_numbers *numbers;
  gather_error *error;
} reading;

static gather_status broken(const reading *r, const char *why) {
  return gather_cli_fail(r->error, GATHER_USAGE, "the literal '%.200s%s' %s (character %lld)", r->begin,
                         strlen(r->begin) > 200 ? "..." : "", why, (long long)(r->p - r->begin + 1));
}

static gather_status leaf_at(reading *r, int32_t depth) {
  if (r->numbers->rank >= 0 && r->numbers->rank != depth) return broken(r, "is ragged: its lists have different depths");
  r->numbers->rank = depth;
  return GATHER_OK;
}

static gather_status list_of(reading *r, int32_t depth, int64_t len) {
  int64_t *length = &r->numbers->shape[depth];
  if (*length >= 0 && *length != len) return broken(r, "is ragged: its lists have different lengths");
  *length = len;
  return GATHER_OK;
}

/* Text of `bytes` bytes instead of an integer: 1.5, true, x. */
static gather_status not_whole(const reading *r, size_t bytes) {
  char why[96];
  (void)snprintf(why, sizeof why, "contains '%.*s', which is not an integer", bytes < 40 ? (int)bytes : 40, r->p);
  return broken(r, why);
}

static gather_status read_number(reading *r, int32_t depth) {
  int64_t number = 0;
  bool too_big;
  const char *end;
  bool whole = gather_cli_whole(r->p, &end, &number, &too_big);
  size_t rest = strcspn(end, ",[] \t\r\n");
  if (rest > 0) return not_whole(r, (size_t)(end - r->p) + rest);
  if (!whole) return broken(r, too_big ? "contains a number that does not fit in int64" : "is malformed: an integer is missing");
  GATHER_CLI_TRY(leaf_at(r, depth));
  r->p = end;
  return push(r->numbers, number, r->error);
}

/* A leaf of another type than int64 is in the first bytes of its int64_t until all are read. */
static gather_status read_typed(reading *r, int32_t depth) {
  char word[64];
  int64_t element = 0;
  size_t bytes = strcspn(r->p, ",[] \t\r\n");
  snprintf(word, sizeof word, "%.*s", bytes < sizeof word ? (int)bytes : 0, r->p);
  if (!*word || !gather_cli_exact(r->type, word, &element)) {
    char why[160];
    snprintf(why, sizeof why, "contains '%.*s', which %s cannot represent exactly%s", bytes < 40 ? (int)bytes : 40, r->p,
             gather_type_get(r->type)->name, r->type == GATHER_TYPE_BOOL ? ": a bool is true or false" : "");
    return broken(r, why);
  }
  GATHER_CLI_TRY(leaf_at(r, depth));
  r->p += bytes;
  return push(r->numbers, element, r->error);
}

static gather_status read_value(reading *r, int32_t depth);

/* The values of a list up to its bracket; p is at the first one. */
static gather_status read_list(reading *r, int32_t depth) {
  for (int64_t len = 1;; len++) {
    GATHER_CLI_TRY(read_value(r, depth + 1));
    r->p = skip_blanks(r->p);
    if (*r->p == ']') {
      GATHER_CLI_TRY(list_of(r, depth, len));
      r->p++;
      return GATHER_OK;
    }
    if (*r->p != ',') return broken(r, "is malformed: a comma or a closing bracket is missing");
    r->p++;
  }
}

static gather_status read_value(reading *r, int32_t depth) {
  r->p = skip_blanks(r->p);
  if (*r->p != '[') return r->type == GATHER_TYPE_INT64 ? read_number(r, depth) : read_typed(r, depth);
  if (depth == GATHER_MAX_RANK) return broken(r, "is nested more than 64 deep");
  r->p = skip_blanks(r->p + 1);
  if (*r->p != ']') return read_list(r, depth);
  GATHER_CLI_TRY(leaf_at(r, depth + 1));
  GATHER_CLI_TRY(list_of(r, depth, 0));
  r->p++;
  return GATHER_OK;
}

static gather_status read_literal(const char *text, gather_type type, gather_cli_numbers *numbers, gather_error *error) {
  reading r = {text, text, type, numbers, error};
  memset(numbers, 0, sizeof *numbers);
  numbers->rank = -1;
  for (int i = 0; i < GATHER_MAX_RANK; i++) numbers->shape[i] = -1;
  GATHER_CLI_TRY(read_value(&r, 0));
  r.p = skip_blanks(r.p);
  return *r.p == 0 ? GATHER_OK : broken(&r, "is malformed: there is text after its end");
}

gather_status gather_cli_literal(const char *text, gather_cli_numbers *numbers, gather_error *error) {
  return read_literal(text, GATHER_TYPE_INT64, numbers, error);
}

gather_status gather_cli_literal_typed(const char *text, gather_type type, gather_cli_numbers *numbers, gather_error *error) {
  if (!gather_cli_literal_has(type))
    return gather_cli_fail(error, GATHER_UNSUPPORTED, "a literal cannot be %s: give a file", gather_type_get(type)->name);
  GATHER_CLI_TRY(read_literal(text, type, numbers, error));
  size_t bytes = (size_t)gather_type_get(type)->bits / 8;
  for (int64_t i = 0; i < numbers->len; i++) memmove((char *)numbers->at + (size_t)i * bytes, &numbers->at[i], bytes);
  return GATHER_OK;
}

gather_status gather_cli_numbers_retype(gather_cli_numbers *numbers, gather_type type, gather_error *error) {
  const gather_type_info *info = gather_type_get(type);
  if (!gather_cli_literal_has(type))
    return gather_cli_fail(error, GATHER_UNSUPPORTED, "integers as text cannot be %s: give a file", info->name);
  for (int64_t i = 0; i < numbers->len; i++) {
    char word[32];
    int64_t element = 0;
    snprintf(word, sizeof word, "%lld", (long long)numbers->at[i]);
    if (!gather_cli_exact(type, word, &element))
      return gather_cli_fail(error, GATHER_USAGE, "%s cannot be represented exactly as %s", word, info->name);
    memcpy((char *)numbers->at + (size_t)i * ((size_t)info->bits / 8), &element, (size_t)info->bits / 8);
  }
  return GATHER_OK;
}
