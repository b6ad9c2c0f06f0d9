/* SPDX-License-Identifier: MIT
 *
 * scatter_plan.h: a scatter as it is run. Its nest is that of a gather with the sides exchanged (core/plan/plan.h): each row of updates
 * goes to a row of the destination, in row-major order of the updates.
 *
 *     scatter_lower.c   an operator and its tensors become a plan
 *     scatter_run.c     indices are validated, data is copied, a method is chosen
 *     scatter_stream.c  methods that run through the updates: all, those of a part of a loop, those of a range of the destination
 *     scatter_wide.c    sums that are rounded once, in a wider copy of the destination
 *     whole.c           copies of whole tensors
 *     windows.c         windows that lie partly outside
 *     scatter_parts.c   methods that bring the updates in the order of their places first
 *
 * Every method applies the updates of one place in their order, so that all give the same bytes.
 */
#ifndef GATHER_SCATTER_SCATTER_PLAN_H
#define GATHER_SCATTER_SCATTER_PLAN_H

#include "core/kernel/combine.h"
#include "core/op/op.h"
#include "core/plan/execution.h"
#include "core/plan/plan.h"
#include "gather/scatter.h"

/* The indices that a plan keeps: a copy of them, in the order of the updates, or updates in the order of their places. Places are numbered
 * from the lowest one of the destination; an entry is place << position_bits | number of the update. */
typedef struct gather_sorted {
  void *memory;      /* on the heap */
  uint64_t *entries; /* in it; ascending; updates that are skipped are not in it */
  int64_t count;
  int position_bits;
  char *indices;            /* the copy, on the heap, of all bytes of nest.index_extent; NULL: entries */
  gather_index_state state; /* of the copy */
  /* On the heap: the scatter that is kept and run instead, of elements if windows lie partly outside, or of whole rows; or NULL. */
  struct gather_scatter_plan *instead;
} gather_sorted;

struct gather_scattering;

/* Windows of StableHLO's scatter whose elements are looked at one by one where an index is out of range. */
typedef struct gather_windows {
  bool partial; /* false: no other field is set, but for the last */
  /* Of each dimension of data: the dimension of the updates along its window, which number of a tuple selects on it, and the dimension of
   * indices, without that of the tuples, that it is paired with; -1: none. */
  int8_t window[GATHER_MAX_RANK], number[GATHER_MAX_RANK], paired[GATHER_MAX_RANK];
  int8_t from[GATHER_MAX_RANK]; /* of each dimension of the updates: that of indices, likewise; -1: it is along a window */
  int64_t updates_strides[GATHER_MAX_RANK], updates_offset;
  /* gather_windows_scatter, which runs another plan: so it stands above what runs plans, and is known here by its address. */
  gather_status (*scatter)(const struct gather_scattering *s, const gather_scatter_run *run, struct gather_scatter_plan **kept,
                           gather_error *error);
} gather_windows;

/* The lengths of windows, which the updates have; `numbers` points to them. */
typedef struct gather_window_sizes {
  gather_dimension_numbers numbers;
  int64_t slice_sizes[GATHER_MAX_RANK];
} gather_window_sizes;

struct gather_scatter_plan {
  gather_plan nest;
  gather_windows windows;
  gather_scatter_options options; /* every field is set; numbers is NULL */
  gather_type type;
  int64_t item_bytes, len; /* of an element; elements of a row */

  gather_combine_fn combine;
  const char *isa;
  const gather_wide *wide; /* sums are rounded once; NULL: at each step */
  gather_divide_fn divide; /* of means */
  bool finite;             /* the neutral numbers are finite ones */
  bool sorts;              /* the updates of a row must be known together: means, rows that start anew, sums that are rounded once */

  /* The destination: place p is at its data pointer + place_low + p * place_step. Rows of different places are apart. */
  int64_t place_low, place_step, places;
  bool linear; /* update number i is at out_offset + i * row_bytes of the updates */
  bool empty;  /* rows have no elements, but must be of different places: the nest has rows of one byte, of which only indices are read */

  /* Data that is not the destination is copied to it first. */
  int32_t rank;
  int64_t shape[GATHER_MAX_RANK], data_strides[GATHER_MAX_RANK], out_strides[GATHER_MAX_RANK];
  int64_t data_offset, out_offset; /* of packed types: number of the first element */
  gather_extent data_extent;
  int64_t data_len;
  bool same_layout, dense; /* data and the destination have the same strides; and are dense */
  bool clears;             /* the destination is set to zeros instead (gradients) */

  /* A kept plan (gather_scatter_plan_keep): its updates are sorted, and its indices are not read again. */
  bool kept;
  gather_sorted sorted;
  int64_t kept_bad;
};

/* One run. */
typedef struct gather_scattering {
  const gather_scatter_plan *plan, *given; /* given: the caller's, where plan is the scatter of whole rows that it is */
  gather_execution e;                      /* reads the indices */
  char *out;                               /* the destination's element with all coordinates 0 */
  const char *updates;
  const gather_executor *executor;
  bool fills;       /* each round fills its places before it writes them (gather_scatter_fills_rounds) */
  const char *fill; /* what with: the data of the same layout; NULL: zeros */
} gather_scattering;

/* ---- scatter_lower.c */

/* options with every field set. */
GATHER_CHECKED gather_status gather_scatter_options_read(const gather_scatter_options *options, gather_scatter_options *full,
                                                         gather_error *error);
/* Checks all arguments and writes the plan. rules: of the family whose sides are exchanged; op: for index rules and errors. data: of the
 * caller; out: NULL = row-major. options: full. */
GATHER_CHECKED gather_status gather_scatter_lower(const gather_op *op, const gather_family_rules *rules, const gather_tensor *data,
                                                  const gather_tensor *indices, const gather_tensor *updates, const gather_tensor *out,
                                                  const gather_scatter_options *options, gather_scatter_plan *plan, gather_error *error);

/* Scatters of elements whose indices are those of whole rows, repeated along the row, are what ONNX has in place of a scatter of rows.
 * Whether a plan may be such: its indices in each round of the innermost loop follow each other, as the elements of a row do. */
bool gather_scatter_may_widen(const gather_scatter_plan *plan);
/* The scatter of rows, if they are equal in each round. */
void gather_scatter_widen(const gather_scatter_plan *plan, gather_scatter_plan *wider);
/* Makes rows of so many bytes the rows of a plan whose rows are a multiple of it. */
void gather_scatter_part_rows(gather_scatter_plan *plan, int64_t row_bytes);

/* ---- window_numbers.c */

/* Lists that do not fit the ranks are left to the family's checks. */
GATHER_CHECKED gather_status gather_windows_measure(const gather_dimension_numbers *given, const gather_tensor *data,
                                                    const gather_tensor *updates, gather_window_sizes *w, gather_error *error);
/* Sets all but `scatter`. The numbers were checked. */
void gather_windows_set(gather_windows *w, const gather_dimension_numbers *numbers, const gather_tensor *data,
                        const gather_tensor *updates);

/* ---- windows.c */

/* Runs a plan with partial windows whose indices are validated, element by element. run == NULL: keeps the scatter of elements (*kept) or,
 * without that, only checks that none is repeated. Memory: 8 bytes for each element and dimension. */
GATHER_CHECKED gather_status gather_windows_scatter(const gather_scattering *s, const gather_scatter_run *run, gather_scatter_plan **kept,
                                                    gather_error *error);

/* ---- scatter_run.c */

/* Runs a plan; the struct was read. */
GATHER_CHECKED gather_status gather_scatter_execute(const gather_scatter_plan *plan, const gather_scatter_run *run, gather_error *error);
/* Validates its indices; repeated ones, too, if the plan wants them unique. */
GATHER_CHECKED gather_status gather_scatter_check_indices(const gather_scatter_plan *plan, const void *indices,
                                                          const gather_executor *executor, int64_t *bad, gather_error *error);
/* Validates and sorts them; keeps: or copies them, if runs with them in their order are faster. */
GATHER_CHECKED gather_status gather_scatter_sort(const gather_scatter_plan *plan, const void *indices, const gather_executor *executor,
                                                 bool keeps, gather_sorted *sorted, int64_t *bad, gather_error *error);
/* Frees what it returned. */
void gather_sorted_free(const gather_sorted *sorted);

/* ---- whole.c: tensors of one type and shape that passed their checks, with elements. A plan of a copy serves all of the same layouts. */

GATHER_CHECKED gather_status gather_whole_lower(const gather_tensor *from, const gather_tensor *to, gather_plan *plan, gather_error *error);
GATHER_CHECKED gather_status gather_whole_run(const gather_plan *plan, const gather_tensor *from, const gather_tensor *to,
                                              const gather_executor *executor, gather_error *error);
/* Both, shared among threads where both are dense. */
GATHER_CHECKED gather_status gather_whole_copy(const gather_tensor *from, const gather_tensor *to, const gather_executor *executor,
                                               gather_error *error);
/* Sets memory to zeros. */
void gather_whole_clear(void *memory, int64_t bytes, const gather_executor *executor);

/* ---- scatter_stream.c */

/* Rows that are known at a time. */
enum { GATHER_SCATTER_BLOCK = GATHER_BLOCK };

/* The next updates of a walk, at most GATHER_SCATTER_BLOCK: the place of each, and the offset of its row in the updates. Skipped ones are
 * left out. */
typedef struct gather_places {
  int64_t places[GATHER_SCATTER_BLOCK]; /* offsets in the destination, in bytes */
  int64_t from[GATHER_SCATTER_BLOCK];   /* offsets in the updates, in bytes */
  int64_t numbers[GATHER_SCATTER_BLOCK];
  int32_t count;
} gather_places;
/* numbers: whether the updates' numbers are wanted; `number` is that of the first of the walk. Returns how many updates of the walk were
 * read, at most `most`; from: whether their offsets are wanted. */
int64_t gather_places_next(const gather_scattering *s, gather_walk *walk, int64_t most, int64_t number, gather_places *block);
/* Leaves only the updates of places [low, low + span) in a block; their numbers are lost. */
void gather_places_keep(gather_places *block, int64_t low, int64_t span);

/* Two blocks of places: while the updates of one are applied, the rows of the other are fetched. The caller fills blocks[at], puts it, and
 * ends when it has put all. */
typedef struct gather_blocks {
  gather_combine_span span; /* rows, places and count are those of a block */
  gather_combine_fn combine;
  bool fetches_updates; /* they are not read in order, which the CPU sees itself */
  int32_t at;
  gather_places blocks[2];
} gather_blocks;
static inline void gather_blocks_start(gather_blocks *b, gather_combine_span span, gather_combine_fn combine, bool fetches_updates) {
  b->span = span, b->combine = combine, b->fetches_updates = fetches_updates, b->at = 0, b->blocks[1].count = 0;
}
/* How many updates suit a block, if `left` are left. */
int64_t gather_blocks_most(const gather_blocks *b, int64_t left);
void gather_blocks_put(gather_blocks *b);
void gather_blocks_end(gather_blocks *b);
/* Whether and how far ahead rows of places that have so many bytes together are prefetched. span->row_bytes is set. */
void gather_scatter_set_prefetch(gather_combine_span *span, int64_t bytes);

/* Whether the rounds of the innermost loop write apart, and together all of a dense destination, each so little that it stays in L2: then
 * each can be filled just before it is written, which saves moving the destination once more. Only whole rounds, serially or apart. */
bool gather_scatter_fills_rounds(const gather_scattering *s);

/* The updates [first, first + count), on the calling thread. */
void gather_scatter_serially(const gather_scattering *s, int64_t first, int64_t count);
/* Splits a loop whose rounds write apart among threads, for all updates. Returns false, having written nothing, if there is none. */
bool gather_scatter_apart(const gather_scattering *s);
/* Splits the rows, if they are long enough. */
bool gather_scatter_has_columns(const gather_scattering *s);
void gather_scatter_by_columns(const gather_scattering *s, int64_t first, int64_t count);
/* Splits the destination. */
void gather_scatter_owned(const gather_scattering *s, int64_t first, int64_t count);

/* ---- scatter_wide.c */

/* Whether sums that are rounded once are computed in a copy of the destination in the wider type; *bytes: its size. */
bool gather_scatter_wide_pays(const gather_scatter_plan *plan, int64_t *bytes);
/* memory: so many bytes. */
void gather_scatter_widely(const gather_scattering *s, void *memory);

/* ---- scatter_parts.c */

/* places[j], an offset in the destination, becomes the number of the place. */
void gather_scatter_number_places(const gather_scatter_plan *plan, int64_t *places, int32_t count);

/* Whether updates can be numbered with their places in 64 bits. */
bool gather_scatter_sortable(const gather_scatter_plan *plan);
/* Brings updates [first, first + count), with their values, in the order of the parts of the destination that they go to, and applies part
 * by part.
 * memory: as much as gather_scatter_parts_bytes says. */
void gather_scatter_in_parts(const gather_scattering *s, int64_t first, int64_t count, void *memory);
/* The memory that this needs, 8 or 16 bytes for each update; -1: this plan cannot be run so: rows are no values of 1, 2, 4 or 8 bytes. */
int64_t gather_scatter_parts_bytes(const gather_scatter_plan *plan, const gather_executor *executor);
/* Sorts the updates. Returns false if there is no memory. */
GATHER_CHECKED bool gather_scatter_sort_all(const gather_scattering *s, gather_sorted *sorted);
/* Applies sorted updates, row by row of the destination. */
void gather_scatter_sorted(const gather_scattering *s, const gather_sorted *sorted);
/* The number of the first entry of the place behind that of entry number i. */
int64_t gather_sorted_end(const gather_sorted *sorted, int64_t i);

#endif
