/* SPDX-License-Identifier: MIT
 *
 * bag_job.h: embedding bags whose arguments were checked and whose indices were validated (bags.c), to be summed (bag_run.c).
 */
#ifndef GATHER_SCATTER_BAG_JOB_H
#define GATHER_SCATTER_BAG_JOB_H

#include "core/kernel/kernel.h"
#include "core/plan/plan.h"

/* Numbers or elements in memory, of one or two dimensions: number i is at (i / len) * round + (i % len) * step. */
typedef struct gather_sequence {
  const char *at; /* NULL: there are none */
  int64_t count, len, round, step;
} gather_sequence;

/* How bags are described. */
typedef enum gather_bag_form { GATHER_BAGS_PACKED = 0, GATHER_BAGS_OFFSETS, GATHER_BAGS_SEGMENTS } gather_bag_form;

/* The most rows that are prefetched ahead. */
enum { GATHER_BAG_AHEAD = 64 };

typedef struct gather_bag_job {
  /* The bags: `bags` of them, of the indices [0, count). */
  gather_bag_form form;
  int64_t bags, count;
  int64_t packed_len;         /* PACKED: indices of each bag */
  gather_sequence ends;       /* offsets, of which those of the bags after the first are the ends of those before; or ids of segments */
  gather_index_rule end_rule; /* how they are read */

  /* The indices, and the weights. */
  gather_sequence indices, weights;
  gather_index_rule rule;
  const int64_t *rows;   /* the indices, where they are the rows' numbers; else NULL */
  gather_widen_fn widen; /* for indices in range in this machine's byte order */
  bool leaves_out;       /* some are out of range, and their rows are left out */
  int64_t default_row;   /* of an empty bag; -1: zeros */

  /* What is done with their rows. */
  const char *table;
  char *out;
  int64_t axis_step, out_step; /* bytes from row to row, from bag to bag */
  int kind, fold;              /* of the kernels (kernel/bag.h) */
  bool mean;
  gather_bag_fn kernel;
  int64_t prefetch_rows;
  /* A row: loops around elements that are dense in both tensors. Steps in bytes. */
  gather_loop loops[GATHER_MAX_RANK];
  int32_t loop_count;
  int64_t loop_rounds; /* their product */
  int64_t len, item_bytes;
} gather_bag_job;

/* Sums all bags. */
void gather_bags_run(const gather_bag_job *job, const gather_executor *executor);

/* Reads numbers [first, first + count) of a sequence. */
void gather_sequence_read(const gather_sequence *s, const gather_index_rule *rule, int64_t first, int64_t count, int64_t *numbers);

#endif
