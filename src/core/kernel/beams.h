/* SPDX-License-Identifier: MIT
 *
 * beams.h: follows the parents of a beam search from its last step to its first. Every parent is compared with the width where it
 * is used, so that no memory outside the tensors is read, whatever other threads write meanwhile.
 */
#ifndef GATHER_KERNEL_BEAMS_H
#define GATHER_KERNEL_BEAMS_H

#include "gather/gather.h"

/* A number that an element has. */
typedef struct gather_beam_number {
  int64_t value; /* the bits of an unsigned one; a float truncated towards zero, at the ends of the range at most */
  bool whole;    /* an integer that fits */
} gather_beam_number;

/* The tensors, checked. Steps are in bytes. */
typedef struct gather_beams {
  gather_type type;
  int64_t time, batch, width;
  const char *steps, *parents, *lens;
  char *out;
  int64_t step[3], parent[3], to[3], len; /* steps of the tensors above, the lengths' last */
  bool parents_swapped, lens_swapped;     /* in the other byte order */
  gather_on_bad on_bad;                   /* where it is error, the parents were checked before */
  bool negative;
  unsigned char end[8], fill[8]; /* elements as in out */
  unsigned char ends[2][8];      /* the elements that equal the end token, as in steps: end_count of them */
  int32_t end_count;
} gather_beams;

enum {
  GATHER_BEAM_FILL = -1 /* a parent that the policy fills */
};

/* Whether elements of the type are numbers of whole bytes. */
bool gather_beams_have_type(gather_type type);
/* The number of an element of this type. */
gather_beam_number gather_beam_read(gather_type type, const void *element, bool swapped);
/* How many steps of a batch count, 0 to time. */
int64_t gather_beams_len(const gather_beams *beams, int64_t batch);
/* Whether a number is a beam; if so, *beam is that. */
bool gather_beam_find(const gather_beams *beams, gather_beam_number number, int64_t *beam);
/* What the policy makes of a number that is no beam: a beam, or GATHER_BEAM_FILL. */
int64_t gather_beam_repair(const gather_beams *beams, gather_beam_number number);
/* The parent of one beam; a pointer to its element. */
const char *gather_beam_parent(const gather_beams *beams, int64_t time, int64_t batch, int64_t beam);

/* Whether all parents that sequences may follow are beams: those of steps 1 and later that count. lane: batch * width + beam. */
bool gather_beams_scan(const gather_beams *beams, int64_t first_lane, int64_t last_lane);
/* Writes the sequences of lanes [first, last). */
void gather_beams_trace(const gather_beams *beams, int64_t first_lane, int64_t last_lane);

#endif
