/* SPDX-License-Identifier: MIT
 *
 * trial.c: chance that is the same on every run, places between forbidden pages, and what an output and all round it should be.
 */
#include "core/kernel/trial.h"

#include <inttypes.h>

enum { MARGIN = 2 * TRIAL_LINE /* marked bytes before and behind the output */ };

struct guard trial_areas[TRIAL_AREAS];
const gather_isa *trial_isa;
int64_t trial_slots, trial_cases;
char trial_text[100];
gather_span trial_span;

static uint64_t state;
static uint8_t *view; /* of the indices */
static struct {
  uint8_t *first, *wanted;
  size_t bytes, room;
} marked;

int trial_step(void) {
  const char *text = getenv("GATHER_TEST_MACHINES");
  const int step = text ? atoi(text) : 1;
  return step < 1 ? 1 : step > 8 ? 8 : step;
}

void trial_seed(uint64_t seed) { state = seed * 2654435761u + 88172645463325252u; }

uint64_t trial_bits(void) {
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return state * 2685821657736338717u;
}

int64_t trial_below(int64_t limit) { return (int64_t)((trial_bits() >> 32) * (uint64_t)limit >> 32); }

trial_reach trial_reach_of(int64_t bytes, int64_t step, int64_t count) {
  const int64_t far = step * (count - 1);
  return (trial_reach){far < 0 ? far : 0, (far < 0 ? 0 : far) + bytes};
}

uint8_t *trial_place(int area, trial_reach reach, bool at_end, int64_t align) {
  uint8_t *lowest = guard_place(trial_areas[area], (size_t)(reach.high - reach.low), at_end), *at = lowest - reach.low;
  if (align < 0) return at;
  const size_t ahead = (size_t)align - (size_t)at;
  return at_end ? at - (TRIAL_LINE - ahead % TRIAL_LINE) % TRIAL_LINE : at + ahead % TRIAL_LINE;
}

uint8_t *trial_view(const void *indices) { return view + ((const uint8_t *)indices - trial_areas[TRIAL_INDICES].first); }

/* A file's pages are mapped twice, so that nothing has to be locked before each kernel runs: that takes longer than the kernel. */
#if defined(_WIN32) /* no file is mapped at an address of the caller's: there the pages stay writable */
static void create_indices(size_t bytes) {
  trial_areas[TRIAL_INDICES] = guard_create(bytes);
  view = trial_areas[TRIAL_INDICES].first;
}
static void destroy_view(void) {}
#else
static void create_indices(size_t bytes) {
  struct guard *area = &trial_areas[TRIAL_INDICES];
  FILE *file = tmpfile();
  if (!file || ftruncate(fileno(file), (off_t)bytes) != 0) abort();
  *area = guard_create(bytes);
  view = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0);
  if (view == MAP_FAILED) abort();
  if (mmap(area->first, bytes, PROT_READ, MAP_SHARED | MAP_FIXED, fileno(file), 0) == MAP_FAILED) abort();
  fclose(file);
}
static void destroy_view(void) { munmap(view, trial_areas[TRIAL_INDICES].bytes); }
#endif

void trial_create(size_t bytes) {
  for (int area = 0; area < TRIAL_AREAS; area++)
    if (area != TRIAL_INDICES) trial_areas[area] = guard_create(bytes);
  create_indices(bytes);
  trial_seed(1);
  for (size_t at = 0; at < bytes; at += 8) trial_put(trial_areas[TRIAL_DATA].first + at, 8, trial_bits());
  guard_lock(trial_areas[TRIAL_DATA], true);
}

void trial_destroy(void) {
  destroy_view();
  for (int area = 0; area < TRIAL_AREAS; area++) guard_destroy(trial_areas[area]);
  free(marked.wanted);
  marked.wanted = NULL, marked.room = 0;
}

void trial_put(uint8_t *at, int width, uint64_t index) {
  const uint8_t one = (uint8_t)index;
  const uint16_t two = (uint16_t)index;
  const uint32_t four = (uint32_t)index;
  const void *from = width == 1 ? (const void *)&one : width == 2 ? (const void *)&two : (const void *)&four;
  memcpy(at, width == 8 ? (const void *)&index : from, (size_t)width);
}

uint64_t trial_get(const uint8_t *at, int width) {
  uint16_t two = 0;
  uint32_t four = 0;
  uint64_t eight = 0;
  memcpy(width == 2 ? (void *)&two : width == 4 ? (void *)&four : (void *)&eight, at, (size_t)width);
  return width == 1 ? *at : width == 2 ? two : width == 4 ? four : eight;
}

void trial_mark(const uint8_t *out, trial_reach reach) {
  const struct guard area = trial_areas[TRIAL_OUT];
  uint8_t *first = area.first + (out - area.first) + reach.low, *last = first + (reach.high - reach.low);
  first = first - area.first < MARGIN ? area.first : first - MARGIN;
  last = area.first + area.bytes - last < MARGIN ? area.first + area.bytes : last + MARGIN;
  marked.first = first, marked.bytes = (size_t)(last - first);
  if (marked.room < marked.bytes) {
    free(marked.wanted);
    marked.room = area.bytes, marked.wanted = malloc(area.bytes);
    if (!marked.wanted) abort();
  }
  const int mark = (int)trial_below(256);
  memset(marked.first, mark, marked.bytes);
  memset(marked.wanted, mark, marked.bytes);
}

uint8_t *trial_wanted(const uint8_t *out) { return marked.wanted + (out - marked.first); }

void trial_compare(void) {
  size_t at = 0;
  trial_cases++;
  if (memcmp(marked.first, marked.wanted, marked.bytes) == 0) return;
  while (marked.first[at] == marked.wanted[at]) at++;
  fail_msg("%s: byte %zu of %zu, the first %d of them marks, is %d, not %d", trial_text, at, marked.bytes, (int)MARGIN, marked.first[at],
           marked.wanted[at]);
}

void trial_say(void) {
  const gather_span *s = &trial_span;
  if (trial_text[0]) print_message("last case: %s\n", trial_text);
  trial_text[0] = 0;
  if (s->count == 0) return;
  print_message("  rows of %" PRId64 " bytes, %" PRId64 " in each of %" PRId64 " rounds; data step %" PRId64 ", round %" PRId64
                ", axis %" PRId64 "; index step %" PRId64 ", round %" PRId64 "; out step %" PRId64 ", round %" PRId64 "\n",
                s->row_bytes, s->count, s->rounds, s->data_step, s->data_round, s->axis_step, s->index_step, s->index_round, s->out_step,
                s->out_round);
  print_message("  %d, %d, %d behind a line; prefetch %" PRId64 ", more %" PRId64 ", lines %" PRId64 ", table of %" PRId64
                ", many %d, nontemporal %d\n",
                (int)((uintptr_t)s->data % TRIAL_LINE), (int)((uintptr_t)s->indices % TRIAL_LINE), (int)((uintptr_t)s->out % TRIAL_LINE),
                s->prefetch_rows, s->more, s->prefetch_lines, s->table_bytes, s->many, s->nontemporal);
  trial_span.count = 0;
}
