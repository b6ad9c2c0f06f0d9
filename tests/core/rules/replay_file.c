/* SPDX-License-Identifier: MIT
 *
 * replay_file.c: the file that make_cases.py writes: 8-byte integers in this machine's byte order, and bytes behind their number.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/rules/replay.h"

#define MAGIC INT64_C(0x6761746865722E63)
enum { VERSION = 1 };

static int64_t *content, *at, *end;
static int64_t largest, numbers;

static int64_t number(void) {
  if (at == end) fail_msg("the case file ends within case %d", (int)numbers);
  return *at++;
}

/* `count` integers, where they are. */
static const int64_t *integers(int64_t count) {
  const int64_t *first = at;
  if (count < 0 || count > end - at) fail_msg("the case file ends within case %d", (int)numbers);
  at += count;
  return first;
}

static const uint8_t *bytes(int64_t *size) {
  *size = number();
  return (const uint8_t *)integers((*size + 7) / 8);
}

int64_t replay_open(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file) fail_msg("%s: not found; the test rules_make_cases writes it", path);
  if (fseek(file, 0, SEEK_END) != 0) fail_msg("%s: cannot be read", path);
  const long size = ftell(file);
  rewind(file);
  content = malloc((size_t)size + 8);
  if (!content || fread(content, 1, (size_t)size, file) != (size_t)size) fail_msg("%s: cannot be read", path);
  (void)fclose(file);
  at = content, end = content + size / 8, numbers = 0, largest = size;
  if (size < 40 || number() != MAGIC) fail_msg("%s: not a case file for this machine's byte order", path);
  if (number() != VERSION) fail_msg("%s: a case file of another version", path);
  if (number() != (int64_t)sizeof(void *)) fail_msg("%s: a case file for other sizes of pointers", path);
  print_message("cases of seed %lld\n", (long long)number());
  return number();
}

int64_t replay_largest(void) { return largest; }

void replay_close(void) {
  free(content);
  content = at = end = NULL;
}

static void read_tensor(replay_tensor *t, bool with_bytes) {
  gather_tensor *tensor = &t->tensor;
  *t = (replay_tensor){.bytes = NULL};
  tensor->type = (gather_type)number(), tensor->rank = (int32_t)number(), tensor->item_bytes = number();
  tensor->packed_offset = number(), tensor->flags = (uint32_t)number();
  tensor->shape = integers(tensor->rank);
  if (number()) tensor->strides = integers(tensor->rank);
  t->base = number();
  if (with_bytes)
    t->bytes = bytes(&t->size);
  else
    t->size = number();
}

static void read_answer(replay_case *c) {
  int64_t size;
  c->shape_status = (gather_status)number();
  c->rank = (int32_t)number(), c->shape = integers(c->rank);
  c->status = (gather_status)number(), c->bad_axis = (int32_t)number();
  c->position_rank = (int32_t)number(), c->position = integers(c->position_rank);
  c->value = number(), c->low = number(), c->high = number(), c->bad_count = number();
  c->is_table = number() != 0;
  c->wanted = bytes(&size);
  if (c->status != GATHER_OK && c->status != GATHER_INDEX_OUT_OF_RANGE)
    c->wanted = NULL;
  else if (size != c->tensors[REPLAY_OUT].size)
    fail_msg("case %d: the answer has another size than the output", (int)c->number);
}

void replay_next(replay_case *c) {
  int64_t size;
  c->number = numbers++;
  const char *name = (const char *)bytes(&size), *rules = (const char *)bytes(&size);
  c->op = op_of(name, rules);
  c->axis = number(), c->batch_dims = number();
  c->on_bad = (gather_on_bad)number(), c->negative = (gather_negative)number();
  c->fill = bytes(&size);
  for (int t = 0; t < REPLAY_TENSORS; t++) read_tensor(&c->tensors[t], t != REPLAY_OUT);
  c->mark = (uint8_t)number();
  read_answer(c);
}

const char *replay_cases_file(void) {
  const char *given = getenv("GATHER_TEST_CASES_FILE");
  return given ? given : GATHER_TEST_CASES_FILE;
}

static void print_shape(const char *name, const gather_tensor *tensor) {
  print_message("  %s: %s [", name, gather_type_get(tensor->type)->name);
  for (int32_t d = 0; d < tensor->rank; d++) print_message("%s%" PRId64, d ? ", " : "", tensor->shape[d]);
  print_message("]\n");
}

void replay_say(const replay_case *c, const char *doing) {
  print_message("case %" PRId64 " (make_cases.py --show %" PRId64 " tells more): %s %s, %s\n ", c->number, c->number, c->op->name,
                c->op->rules, doing);
  print_message("%s\n", replay_machine);
  print_shape("data", &c->tensors[REPLAY_DATA].tensor);
  print_shape("indices", &c->tensors[REPLAY_INDICES].tensor);
  print_shape("output", &c->tensors[REPLAY_OUT].tensor);
}
