/* SPDX-License-Identifier: MIT
 *
 * bag_run.c: sums embedding bags: a batch of them at a time, whose indices become numbers of rows, or a long one in parts. Threads share
 * them by their indices, so that bags of different lengths are no hindrance. Which thread sums a bag, and how, never changes its bits.
 */
#include <string.h>

#include "core/kernel/dispatch.h"
#include "core/kernel/float_bits.h"
#include "core/plan/tasks.h"
#include "core/scatter/bag_job.h"

/* Rows and bags of a batch, and numbers read at a time: they stay in L1. */
enum { BATCH_ROWS = 512, BATCH_BAGS = 256, BATCH_MORE = GATHER_BAG_AHEAD, WINDOW = 128 };

/* ---- sequences */

void gather_sequence_read(const gather_sequence *s, const gather_index_rule *rule, int64_t first, int64_t count, int64_t *numbers) {
  while (count > 0) {
    const int64_t at = first % s->len, left = s->len - at, now = left < count ? left : count;
    gather_indices_resolve(rule, s->at + first / s->len * s->round + at * s->step, s->step, now, numbers);
    first += now, numbers += now, count -= now;
  }
}

static int64_t read_one(const gather_sequence *s, const gather_index_rule *rule, int64_t i) {
  int64_t number;
  gather_sequence_read(s, rule, i, 1, &number);
  return number;
}

/* The rows of indices [first, first + count): the indices themselves, or in `room`. */
static const int64_t *read_rows(const gather_bag_job *job, int64_t first, int64_t count, int64_t *room) {
  const gather_sequence *s = &job->indices;
  const char *at = s->at + first * s->step;
  if (job->rows) return job->rows + first;
  if (job->widen)
    job->widen(at, count, job->rule.negative ? job->rule.axis_len : 0, room);
  else
    gather_sequence_read(s, &job->rule, first, count, room);
  return room;
}

/* ---- weights, in the type of the sums */

typedef union weight_numbers {
  float singles[BATCH_ROWS];
  double doubles[BATCH_ROWS];
  char bytes[BATCH_ROWS * 8];
} weight_numbers;

/* Bytes of one weight in the kernel's type. */
static int64_t weight_bytes(const gather_bag_job *job) {
  switch (job->kind) {
    case GATHER_BAG_HALF:
    case GATHER_BAG_BFLOAT:
    case GATHER_BAG_HALF_STEPS:
    case GATHER_BAG_BFLOAT_STEPS:
      return (int64_t)sizeof(float);
    case GATHER_BAG_WIDE:
      return (int64_t)sizeof(double);
    default:
      return job->item_bytes;
  }
}

static void put_weight(const gather_bag_job *job, const char *from, weight_numbers *weights, int64_t i) {
  uint16_t half = 0;
  float single;
  if (job->item_bytes == 2) memcpy(&half, from, sizeof half);
  switch (job->kind) {
    case GATHER_BAG_HALF:
    case GATHER_BAG_HALF_STEPS:
      weights->singles[i] = gather_half_value(half);
      return;
    case GATHER_BAG_BFLOAT:
    case GATHER_BAG_BFLOAT_STEPS:
      weights->singles[i] = gather_float_of((uint32_t)half << 16);
      return;
    case GATHER_BAG_WIDE:
      memcpy(&single, from, sizeof single);
      weights->doubles[i] = (double)single;
      return;
    default:
      memcpy(weights->bytes + i * job->item_bytes, from, (size_t)job->item_bytes);
  }
}

/* Whether weights stand in memory as the kernels read them. */
static bool are_weights_plain(const gather_bag_job *job) {
  const gather_sequence *s = &job->weights;
  if (job->leaves_out || s->step != job->item_bytes || weight_bytes(job) != job->item_bytes) return false;
  return s->len == s->count && (uintptr_t)s->at % (uintptr_t)job->item_bytes == 0;
}

/* The weights of indices [first, first + count): where they stand, or in `room`. */
static const char *read_weights(const gather_bag_job *job, int64_t first, int64_t count, weight_numbers *room) {
  const gather_sequence *s = &job->weights;
  if (job->fold != GATHER_BAG_WEIGHTED) return NULL;
  if (are_weights_plain(job)) return s->at + first * s->step;
  for (int64_t i = 0; i < count;) {
    const int64_t at = (first + i) % s->len, left = s->len - at, now = left < count - i ? left : count - i;
    const char *from = s->at + (first + i) / s->len * s->round + at * s->step;
    for (int64_t k = 0; k < now; k++, from += s->step) put_weight(job, from, room, i++);
  }
  return room->bytes;
}

/* Removes rows that are left out, and their weights. Returns how many of `count` are left; they are moved to number `to`. */
static int64_t remove_left_out(const gather_bag_job *job, int64_t *rows, weight_numbers *weights, int64_t from, int64_t count, int64_t to) {
  const int64_t bytes = weight_bytes(job);
  int64_t left = 0;
  for (int64_t i = from; i < from + count; i++) {
    if (rows[i] < 0) continue;
    rows[to + left] = rows[i];
    if (job->fold == GATHER_BAG_WEIGHTED) memmove(weights->bytes + (to + left) * bytes, weights->bytes + i * bytes, (size_t)bytes);
    left++;
  }
  return left;
}

/* ---- bags in order */

/* A bag, and numbers of job->ends near its own. */
typedef struct bag_cursor {
  const gather_bag_job *job;
  int64_t bag, start;
  int64_t first, count, numbers[WINDOW];
} bag_cursor;

static int64_t end_number(bag_cursor *c, int64_t i) {
  const gather_sequence *ends = &c->job->ends;
  if (i < c->first || i >= c->first + c->count) {
    c->first = i, c->count = ends->count - i < WINDOW ? ends->count - i : WINDOW;
    gather_sequence_read(ends, &c->job->end_rule, c->first, c->count, c->numbers);
  }
  return c->numbers[i - c->first];
}

/* The end of the cursor's bag: the number of the first index that is not in it. */
static int64_t end_of(bag_cursor *c) {
  const gather_bag_job *job = c->job;
  int64_t at = c->start;
  switch (job->form) {
    case GATHER_BAGS_PACKED:
      return at + job->packed_len;
    case GATHER_BAGS_OFFSETS:
      return c->bag + 1 < job->ends.count ? end_number(c, c->bag + 1) : job->count;
    case GATHER_BAGS_SEGMENTS:
      while (at < job->count && end_number(c, at) == c->bag) at++;
      break;
  }
  return at;
}

/* The number of the first index of a bag. */
static int64_t start_of(const gather_bag_job *job, int64_t bag) {
  if (job->form == GATHER_BAGS_PACKED) return bag * job->packed_len;
  if (job->form == GATHER_BAGS_OFFSETS) return read_one(&job->ends, &job->end_rule, bag);
  int64_t low = 0, high = job->count; /* the first id that is not below `bag` is in [low, high] */
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (read_one(&job->ends, &job->end_rule, middle) < bag)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Work is counted in indices and bags: bag i begins at its first index's number plus i, which no other does. The first bag that begins at
 * `work` or later. */
static int64_t bag_of(const gather_bag_job *job, int64_t work) {
  int64_t low = 0, high = job->bags;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (start_of(job, middle) + middle < work)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* ---- rows of any strides */

/* The offsets of part number i of a row. */
static void part_of(const gather_bag_job *job, int64_t i, int64_t *data, int64_t *out) {
  *data = *out = 0;
  for (int32_t d = job->loop_count - 1; d >= 0; d--) {
    *data += i % job->loops[d].len * job->loops[d].data, *out += i % job->loops[d].len * job->loops[d].out;
    i /= job->loops[d].len;
  }
}

/* One part of an empty bag. */
static void put_empty(const gather_bag_job *job, int64_t data, char *out) {
  const size_t bytes = (size_t)(job->len * job->item_bytes);
  if (job->default_row < 0)
    memset(out, 0, bytes);
  else
    memcpy(out, job->table + job->default_row * job->axis_step + data, bytes);
}

/* ---- a long bag: by columns that `acc` has room for, some rows at a time */

typedef struct long_bag {
  int64_t rows[BATCH_ROWS];
  weight_numbers weights;
  char acc[(GATHER_BAG_ACC + GATHER_BAG_ACC_MORE) * 8];
} long_bag;

static gather_bag_span span_of(const gather_bag_job *job) {
  gather_bag_span span = {.table = job->table, .axis_step = job->axis_step};
  span.out_step = job->out_step, span.len = job->len, span.mean = job->mean, span.prefetch_rows = job->prefetch_rows;
  return span;
}

/* The indices [start, end), and `len` columns. */
static void sum_long(const gather_bag_job *job, long_bag *l, int64_t start, int64_t end, int64_t data, char *out, int64_t len) {
  gather_bag_span span = span_of(job);
  int64_t n, total = 0;
  span.table += data, span.out = out, span.len = len, span.acc = l->acc, span.lens = &n, span.bags = 1;
  for (int64_t at = start, now; at < end; at += now) {
    now = end - at < BATCH_ROWS ? end - at : BATCH_ROWS;
    span.rows = read_rows(job, at, now, l->rows);
    span.weights = read_weights(job, at, now, &l->weights);
    n = job->leaves_out ? remove_left_out(job, l->rows, &l->weights, 0, now, 0) : now;
    span.row_count = n, span.resume = total > 0, span.keep = at + now < end;
    span.total = total += n;
    if (total > 0) job->kernel(&span);
  }
  if (total == 0) {
    gather_bag_job part = *job;
    part.len = len;
    put_empty(&part, data, out);
  }
}

static void run_long(const gather_bag_job *job, int64_t bag, int64_t start, int64_t end) {
  long_bag l;
  for (int64_t i = 0; i < job->loop_rounds; i++) {
    int64_t data, out;
    part_of(job, i, &data, &out);
    for (int64_t column = 0; column < job->len; column += GATHER_BAG_ACC) {
      const int64_t left = job->len - column, offset = column * job->item_bytes;
      sum_long(job, &l, start, end, data + offset, job->out + bag * job->out_step + out + offset,
               left < GATHER_BAG_ACC ? left : GATHER_BAG_ACC);
    }
  }
}

/* ---- a batch of bags */

typedef struct bag_batch {
  int64_t bags, start, count; /* indices [start, start + count) */
  bool empty;                 /* one of its bags is */
  int64_t lens[BATCH_BAGS];
  int64_t rows[BATCH_ROWS + BATCH_MORE];
  weight_numbers weights;
} bag_batch;

/* The bags that come next, up to bag `last`; none if the next one is too long for a batch: then *end is its end. */
static void fill_batch(bag_cursor *c, bag_batch *b, int64_t last, int64_t *end) {
  b->bags = b->count = 0, b->start = c->start, b->empty = false;
  while (c->bag < last && b->bags < BATCH_BAGS) {
    *end = end_of(c);
    const int64_t len = *end - c->start;
    if (len > BATCH_ROWS - b->count) return;
    b->lens[b->bags++] = len, b->count += len;
    if (len == 0) b->empty = true;
    c->bag++, c->start = *end;
  }
}

static void leave_out(const gather_bag_job *job, bag_batch *b) {
  int64_t from = 0, to = 0;
  for (int64_t i = 0; i < b->bags; i++) {
    const int64_t len = b->lens[i];
    b->lens[i] = remove_left_out(job, b->rows, &b->weights, from, len, to);
    if (b->lens[i] == 0) b->empty = true;
    from += len, to += b->lens[i];
  }
  b->count = to;
}

/* The first bag is number `first`. */
static void sum_batch(const gather_bag_job *job, bag_batch *b, int64_t first) {
  const int64_t behind = job->count - b->start - b->count;
  int64_t more = job->prefetch_rows < BATCH_MORE ? job->prefetch_rows : BATCH_MORE;
  if (more > behind) more = behind;
  gather_bag_span span = span_of(job);
  span.rows = read_rows(job, b->start, b->count + more, b->rows);
  span.weights = read_weights(job, b->start, b->count, &b->weights);
  if (job->leaves_out) leave_out(job, b), more = 0;
  span.lens = b->lens, span.bags = b->bags, span.row_count = b->count, span.more = more;
  for (int64_t i = 0; i < job->loop_rounds; i++) {
    int64_t data, out;
    part_of(job, i, &data, &out);
    span.table = job->table + data, span.out = job->out + first * job->out_step + out;
    job->kernel(&span);
    for (int64_t k = 0; b->empty && k < b->bags; k++)
      if (b->lens[k] == 0) put_empty(job, data, span.out + k * job->out_step);
  }
}

static void run_task(void *argument, int64_t first_work, int64_t last_work) {
  const gather_bag_job *job = argument;
  const int64_t first = bag_of(job, first_work), last = last_work == job->count + job->bags ? job->bags : bag_of(job, last_work);
  bag_cursor cursor = {.job = job, .bag = first};
  if (first >= last) return;
  cursor.start = start_of(job, first);
  while (cursor.bag < last) {
    const int64_t bag = cursor.bag;
    bag_batch batch;
    int64_t end = 0;
    fill_batch(&cursor, &batch, last, &end);
    if (batch.bags > 0) {
      sum_batch(job, &batch, bag);
    } else {
      run_long(job, bag, cursor.start, end);
      cursor.bag++, cursor.start = end;
    }
  }
}

void gather_bags_run(const gather_bag_job *job, const gather_executor *executor) {
  gather_bag_job own = *job;
  gather_split(executor, job->count + job->bags, job->len * job->loop_rounds * job->item_bytes, 1, run_task, &own);
}
