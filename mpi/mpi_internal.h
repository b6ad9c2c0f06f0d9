/* SPDX-License-Identifier: MIT
 *
 * mpi_internal.h: what the files of libgather_mpi share.
 */
#ifndef GATHER_MPI_INTERNAL_H
#define GATHER_MPI_INTERNAL_H

#include "gather/mpi.h"
#include "schedule.h"

/* ---- mpi_link.c: MPI with a time limit. Every call polls, yields the CPU between two looks, and never blocks. -------------- */

/* An error that travels: its pointers are replaced, since they mean nothing elsewhere. */
typedef struct gather_mpi_message {
  gather_error error;
  char input[16];
  bool op;
} gather_mpi_message;

typedef struct gather_mpi_link {
  MPI_Comm comm; /* a duplicate, which returns errors */
  int rank, ranks;
  double seconds; /* below 0 = no limit */
  bool broken;    /* an operation is still running, and may never end */
  bool bulk;      /* what is waited for is rows, not a message */
  bool crowded;   /* more ranks on this machine than CPUs */
  /* Memory of small operations: one that did not end in time may still send or receive after the caller has returned. */
  int64_t number;
  gather_mpi_message message;
  unsigned char mine[1100];
} gather_mpi_link;

/* Duplicates a communicator. link->seconds is set. Collective. */
gather_status gather_mpi_link_open(gather_mpi_link *link, MPI_Comm comm, gather_error *error);
/* The result of a call of MPI: an error of it breaks the link. */
gather_status gather_mpi_link_check(gather_mpi_link *link, int result, gather_error *error);
/* FNV-1a over bytes, continued from `hash`. */
uint64_t gather_mpi_fnv(uint64_t hash, const void *bytes, size_t count);
#define GATHER_MPI_FNV 0xCBF29CE484222325u
/* Waits for a request. */
gather_status gather_mpi_link_wait(gather_mpi_link *link, MPI_Request *request, gather_error *error);
/* The largest of the ranks' numbers, in place. */
gather_status gather_mpi_link_max(gather_mpi_link *link, int64_t *number, gather_error *error);
/* Frees memory that an operation may have used: not after one that may still be running. */
void gather_mpi_link_free(const gather_mpi_link *link, void *memory);
/* `bytes` of each rank, to all ranks. Free `all`, and `mine` if it is long, with gather_mpi_link_free. */
gather_status gather_mpi_link_gather(gather_mpi_link *link, const void *mine, int bytes, void *all, gather_error *error);
/* Seconds of a clock that only goes forward. */
double gather_mpi_now(void);

/* ---- mpi_agree.c: errors that all ranks return ------------------------------------------------------------------------------ */

/* Gives the error of rank `failed` to all ranks. own: that rank's error; others ignore it. Returns the status. */
gather_status gather_mpi_share(gather_mpi_link *link, int failed, const gather_error *own, const gather_op *op, gather_error *error);
/* GATHER_OK if `own_status` is so on every rank, else the error of the lowest rank that failed; *failed is that rank, else -1. */
gather_status gather_mpi_agree(gather_mpi_link *link, gather_status own_status, const gather_error *own, const gather_op *op,
                               int32_t *failed, gather_error *error);

/* ---- memory ------------------------------------------------------------------------------------------------------------------ */

/* A buffer that is kept between takes, and grows. */
typedef struct gather_mpi_buffer {
  void *data;
  size_t bytes;
} gather_mpi_buffer;

/* Makes a buffer hold at least count * item bytes. Its content is lost if it grows. Returns false if out of memory: it is then empty. */
bool gather_mpi_reserve(gather_mpi_buffer *buffer, int64_t count, int64_t item);

/* ---- mpi_owner.c: the rows of this rank -------------------------------------------------------------------------------------- */

typedef struct gather_mpi_owner {
  gather_tensor mine; /* data NULL where a table or a function has the rows */
  int64_t shape[GATHER_MAX_RANK], strides[GATHER_MAX_RANK];
  int64_t row_bytes;
  gather_table *table;
  gather_mpi_read read;
  void *read_context;
  const gather_executor *executor;
} gather_mpi_owner;

/* Describes the rows of this rank. Returns the errors that gather_mpi_plan_create names. */
gather_status gather_mpi_owner_open(gather_mpi_owner *owner, const gather_tensor *mine, const gather_mpi_options *options,
                                    gather_error *error);
/* rows[i] = row ids[i] of this rank, row-major. ids: `len` numbers in range: uint32 if `narrow`, else int64. */
gather_status gather_mpi_owner_take(const gather_mpi_owner *owner, const void *ids, bool narrow, int64_t len, void *rows,
                                    gather_error *error);
/* Whether a take may fail although the ids are in range. */
bool gather_mpi_owner_fallible(const gather_mpi_owner *owner);

/* ---- mpi_identity.c: whether ranks have the same rows ------------------------------------------------------------------------- */

/* A hash of the files of a table and the rows in them: equal if the system reports the same files. */
uint64_t gather_mpi_identity(gather_table *table);
/* A hash of a sample of the rows of this rank: equal for equal rows. */
gather_status gather_mpi_sample(const gather_mpi_owner *owner, uint64_t *sample, gather_error *error);
/* Whether every rank can read the files of every other rank, which all bring tables. Collective. */
gather_status gather_mpi_visible(gather_mpi_link *link, gather_table *table, bool *visible, gather_error *error);

/* ---- the plan ----------------------------------------------------------------------------------------------------------------- */

/* The requests of other ranks to this one, and this rank's own. */
typedef struct gather_mpi_answers {
  int32_t rounds;          /* of all ranks */
  int32_t pieces;          /* of a round, so that sent rows fit buffer_bytes */
  gather_mpi_buffer cells; /* int64: counts[p * rounds + r], rows that rank p asks for in round r; then where these begin in ids */
  gather_mpi_buffer ids;   /* by round, then by rank: numbers of rows of this rank, uint32 or int64 */
  gather_mpi_buffer asked; /* the ids of the schedule as they are sent */
  gather_mpi_buffer wire;  /* the same from other ranks: by rank, then by round */
} gather_mpi_answers;

/* The most frequent rows, on every rank. */
typedef struct gather_mpi_hot_set {
  gather_mpi_distinct slots; /* row to slot */
  struct gather_mpi_counter *counters;
  int64_t *rows;  /* [most] */
  int64_t *takes; /* [most] the last take that asked for this row */
  int64_t len, most, sets;
} gather_mpi_hot_set;

struct gather_mpi_plan {
  gather_mpi_link link;
  gather_mpi_owner owner;
  gather_mpi_spread spread;
  gather_mpi_info info;
  gather_mpi_statistics statistics;
  int64_t shape[GATHER_MAX_RANK]; /* of the whole table */
  int64_t *splits;
  char why[192];
  /* Options. */
  const gather_op *op;
  gather_on_bad on_bad;
  bool negative;
  int32_t rounds;
  int64_t buffer_bytes;
  int32_t *failed_rank;
  bool narrow;        /* numbers of rows fit 4 bytes on every rank */
  bool alone;         /* each rank takes its own rows, without an exchange: the same on all ranks */
  bool fallible;      /* reading rows may fail on some rank */
  MPI_Datatype row;   /* row_bytes bytes */
  uint8_t *fill_row;  /* NULL unless the policy fills */
  int64_t fill_slots; /* 1 if it does */
  void *fill_element; /* of GATHER_ON_BAD_FILL */
  gather_mpi_hot_set hot;
  /* Of the last take. */
  gather_mpi_buffer raw, rows, convert; /* ids as int64 or uint64; row numbers, -1 = the fill row; scratch */
  int64_t raw_len, raw_repaired;
  bool raw_unsigned;
  bool kept; /* the schedule is that of `raw`; if all ranks say so, the answers are too */
  gather_mpi_schedule schedule;
  gather_mpi_answers answers;
  gather_mpi_buffer arriving, leaving[2], ints, records;
};

/* ---- mpi_layout.c: what the ranks bring ---------------------------------------------------------------------------------------- */

/* The record that each rank sends to the others. Equal on all ranks: from `type` on, in the order in which differences are reported. */
enum {
  RECORD_STATUS,
  RECORD_ROWS,
  RECORD_FALLIBLE,
  RECORD_READ,
  RECORD_IDENTITY,
  RECORD_TABLE,
  RECORD_TYPE,
  RECORD_ITEM,
  RECORD_ORDER,
  RECORD_ROW_RANK,
  RECORD_ROW_SHAPE,
  RECORD_LAYOUT,
  RECORD_OPTIONS,
  RECORD_BUILD,
  RECORD_LEN
};

/* Whether they agree in what must be equal: the same result, and the same error, on every rank, since all have all records. */
gather_status gather_mpi_compare(const int64_t *records, int ranks, int32_t *failed, gather_error *error);
/* Decides which rank has which rows: plan->info.layout, info.rows, splits and spread. Likewise the same on every rank. */
gather_status gather_mpi_lay_out(gather_mpi_plan *plan, const int64_t *records, const gather_mpi_options *options, int32_t *failed,
                                 gather_error *error);

/* ---- takes --------------------------------------------------------------------------------------------------------------------- */

/* mpi_ids.c: how many ids one exchange may have. */
int64_t gather_mpi_most_ids(const gather_mpi_plan *plan);
/* mpi_ids.c: reads ids into plan->raw and plan->rows. *same: they are those of the last take: rows are unchanged. *repaired: how many
 * were out of range. */
gather_status gather_mpi_ids_read(gather_mpi_plan *plan, const gather_tensor *ids, const gather_tensor *rows, bool *same, int64_t *repaired,
                                  gather_error *error);

/* A part of a take: the ids begin .. begin + len of plan->rows. */
typedef struct gather_mpi_part {
  const gather_tensor *rows; /* of the whole take, row-major */
  int64_t begin, len;
  bool more; /* this rank has ids after these */
  bool same; /* the schedule is that of these ids */
} gather_mpi_part;

/* The count of numbers that each rank sends to each other one. */
enum { GATHER_MPI_TELL_LEN = 5 + GATHER_MPI_MAX_ROUNDS };

/* mpi_exchange.c: fetches and writes the rows of a part. own_status, own: the error of this rank so far, which all ranks then return.
 * *any_more: some rank has ids after these. *failed: the rank whose error is returned, else -1. */

gather_status gather_mpi_exchange(gather_mpi_plan *plan, const gather_mpi_part *part, gather_status own_status, gather_error *own,
                                  bool *any_more, int32_t *failed, gather_error *error);

/* An exchange while it runs: mpi_exchange.c begins it. */
typedef struct gather_mpi_moving {
  gather_mpi_plan *plan;
  const gather_mpi_part *part;
  int32_t parties, self, rounds, pieces;
  int64_t row_bytes;
  int64_t *counts, *begin;  /* of the answers: [p * rounds + r] */
  MPI_Request requests[2];  /* of the steps in flight: step s has number s % 2 */
  gather_status own_status; /* of reading rows */
  gather_error *own;
} gather_mpi_moving;

/* mpi_move.c: gathers, sends, receives and writes all rows. moving->own_status: of reading rows, which does not end the exchange.
 * Two steps are in flight: while one ends on this rank, another rank may be busy with the next. */
gather_status gather_mpi_move(gather_mpi_moving *moving, gather_error *error);

/* mpi_hot.c */
bool gather_mpi_hot_open(gather_mpi_hot_set *hot, int64_t most);
void gather_mpi_hot_free(gather_mpi_hot_set *hot);
/* After each exchange of a take: counts the rows that this rank asked others for. */
void gather_mpi_hot_count(gather_mpi_plan *plan);
/* After a take: chooses and fetches the hot rows anew, where the number of takes is a power of two. Collective. */
gather_status gather_mpi_hot_renew(gather_mpi_plan *plan, int32_t *failed, gather_error *error);

#endif
