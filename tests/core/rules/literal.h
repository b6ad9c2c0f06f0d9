/* SPDX-License-Identifier: MIT
 *
 * literal.h: "[[1, 2], [3, 4]]" as a shape and values. The rank is the depth of the first element; ragged lists are refused.
 */
#ifndef GATHER_TESTS_CORE_RULES_LITERAL_H
#define GATHER_TESTS_CORE_RULES_LITERAL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

enum { LITERAL_MAX_RANK = 8, LITERAL_MAX_LEN = 256 };

struct literal {
  int32_t rank;
  int64_t shape[LITERAL_MAX_RANK];
  int64_t len;
  double values[LITERAL_MAX_LEN];
};

static inline const char *literal_skip(const char *at) {
  while (*at == ' ' || *at == '\n') at++;
  return at;
}

/* Reads the element at `depth`; NULL where it is broken. shape[depth] is -1 until the first list of that depth has ended. */
static inline const char *literal_element(struct literal *to, const char *at, int32_t depth) {
  at = literal_skip(at);
  if (*at != '[') {
    char *end;
    if (depth != to->rank || to->len == LITERAL_MAX_LEN) return NULL;
    to->values[to->len++] = strtod(at, &end);
    return end == at ? NULL : end;
  }
  if (depth >= to->rank) return NULL;
  int64_t count = 0;
  at = literal_skip(at + 1);
  while (*at != ']') {
    at = literal_element(to, at, depth + 1);
    if (!at) return NULL;
    count++;
    at = literal_skip(at);
    if (*at == ',') at = literal_skip(at + 1);
  }
  if (to->shape[depth] >= 0 && to->shape[depth] != count) return NULL;
  to->shape[depth] = count;
  return at + 1;
}

/* Reads the whole text; false where it is no rectangular nested list of numbers. */
static inline bool literal_read(struct literal *to, const char *text) {
  to->rank = 0;
  to->len = 0;
  for (const char *at = literal_skip(text); *at == '['; at = literal_skip(at + 1)) {
    if (to->rank == LITERAL_MAX_RANK) return false;
    to->shape[to->rank++] = -1;
  }
  const char *end = literal_element(to, text, 0);
  if (!end || *literal_skip(end)) return false;
  int64_t len = 1;
  for (int32_t d = 0; d < to->rank; d++) len *= to->shape[d];
  return len == to->len;
}

#endif
