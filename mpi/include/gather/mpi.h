/* SPDX-License-Identifier: MIT
 *
 * mpi.h: takes rows of a table that is spread over the ranks of an MPI communicator. Since 0.2. Library: libgather_mpi.
 *
 *     gather_mpi_plan *plan;
 *     gather_mpi_plan_create(MPI_COMM_WORLD, &mine, NULL, &plan, &error);  // mine: the rows of this rank
 *     gather_mpi_take(plan, &ids, &rows, &error);                         // rows[i...] = table[ids[i...]]
 *     gather_mpi_plan_destroy(plan);
 *
 * Each rank has some rows of one table, in memory or in files, and takes any rows of it. A take finds the distinct ids, asks their owners
 * for the rows (MPI_Ialltoallv), and writes each row where it belongs. Buffers are kept between takes, and so is the plan of the last
 * exchange: a take of the same ids on every rank sends only rows.
 *
 *   Collective  gather_mpi_plan_create, gather_mpi_take and gather_mpi_plan_destroy are called by all ranks of the communicator, in the
 *               same order. Ranks may give different numbers of ids. A rank that wants no rows gives ids of length 0.
 *   Errors      An error of one rank is an error of every rank: all return the same status and the same message. It begins with
 *               "rank 3: " (the lowest rank that failed). gather_mpi_options.failed_rank receives the number. All ranks report an id out
 *               of range before any row moves: `rows` are unchanged. After GATHER_IO_ERROR they may have been written.
 *               Only GATHER_USAGE for an unusable communicator is returned without the others.
 *   Failures    Calls of MPI return errors (MPI_ERRORS_RETURN on a duplicate of the communicator): GATHER_IO_ERROR with MPI's text. If
 *               another rank does not answer for gather_mpi_options.seconds, that is GATHER_IO_ERROR too. Either breaks the plan: every
 *               further take returns GATHER_IO_ERROR at once, and gather_mpi_plan_destroy does not free memory that MPI may still use.
 *   Threads     MPI_THREAD_FUNNELED suffices: MPI is called only by the thread that calls these functions. One thread at a time may use
 *               one plan.
 *   MPI         Any MPI 3.0. A library that is built for one MPI works only with that one. All ranks need the same byte order.
 */
#ifndef GATHER_MPI_H
#define GATHER_MPI_H

#include <mpi.h>

#include "gather/table.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The distribution of the table's rows over the ranks. */
typedef enum gather_mpi_layout {
  GATHER_MPI_AUTO = 0, /* SAME if every rank brings a table of the same files, else BLOCKS */
  GATHER_MPI_BLOCKS,   /* the rows of rank 0, then those of rank 1 ...; any number each */
  GATHER_MPI_STRIPES,  /* row i is row i / ranks of rank i % ranks: spreads hot neighbours */
  GATHER_MPI_SPLITS,   /* rank p has rows [splits[p], splits[p + 1]) */
  GATHER_MPI_SAME      /* every rank has the whole table, in the same files or in memory: no row is exchanged */
} gather_mpi_layout;

/* Reads rows of this rank that are neither in memory nor in a gather_table.
 * ids: int64, or uint32 if these suffice, rank 1, row-major: numbers of rows of this rank, in range, not sorted, with repetitions.
 * rows: where the rows go, row-major without gaps.
 * Returns GATHER_OK, or an error with *error filled in. Threads: the one that calls gather_mpi_take. */
typedef gather_status (*gather_mpi_read)(void *context, const gather_tensor *ids, const gather_tensor *rows, gather_error *error);

/* How to make a plan. Initialise with GATHER_MPI_OPTIONS_INIT; NULL in a call means the defaults. All ranks give the same values,
 * except for those marked "own". */
typedef struct gather_mpi_options {
  size_t size; /* sizeof(gather_mpi_options) */
  gather_mpi_layout layout;
  const int64_t *splits; /* GATHER_MPI_SPLITS: ranks + 1 ascending numbers, the first 0, the last the rows of the table */
  gather_table *table;   /* own: the rows of this rank are those of this table; `mine` is NULL */
  gather_mpi_read read;  /* own: this function reads the rows of this rank; `mine` describes them, its data is ignored */
  void *read_context;    /* own */
  const gather_op *op;   /* a version of Gather, for its index rule; NULL = ONNX Gather-13 */
  gather_on_bad on_bad;  /* as gather_options; GATHER_ON_BAD_PROMISE is GATHER_ON_BAD_CLAMP */
  gather_negative negative;
  const void *fill;
  /* Own: runs the copies; NULL = the calling thread. It must live as long as the plan. */
  const gather_executor *executor;
  /* Rounds of one exchange, 1 to 8: while the rows of one are sent, those of the next are gathered and those of the previous one are
   * written. 0 = one for each 4 MiB. */
  int32_t rounds;
  /* At most this many bytes of rows in each buffer of a rank: one for received rows, two for sent ones. Larger takes need several
   * exchanges. At least one row is exchanged at a time. 0 = 1 GiB. */
  int64_t buffer_bytes;
  /* Replicate at most this many of the most requested rows on every rank. A sketch counts the rows that each rank requests. After takes
   * 2, 4, 8, 16 ... the most frequent ones are fetched. Rows must not change if this is set. 0 = none. */
  int64_t hot_rows;
  double seconds;       /* the time limit described above; 0 = 600; below 0 = none */
  int32_t *failed_rank; /* own: receives the rank whose error a call returns, -1 if none; must live as long as the plan. NULL */
} gather_mpi_options;

#define GATHER_MPI_OPTIONS_INIT                                                                                                            \
  {                                                                                                                                        \
    sizeof(gather_mpi_options), GATHER_MPI_AUTO, NULL, NULL, NULL, NULL, NULL, GATHER_ON_BAD_DEFAULT, GATHER_NEGATIVE_DEFAULT, NULL, NULL, \
        0, 0, 0, 0, NULL                                                                                                                   \
  }

typedef struct gather_mpi_plan gather_mpi_plan;

/* Makes a plan. Collective.
 * mine: the rows of this rank, along axis 0; rank 1 or more, any strides. All ranks have the same type, byte order and row shape. A rank
 * without rows gives a tensor of length 0. The description is copied. The memory is not: it must live as long as the plan, and each take
 * reads it. NULL with options->table.
 * Memory: freed by gather_mpi_plan_destroy; the communicator is duplicated.
 * Returns GATHER_USAGE; GATHER_RANK_MISMATCH (rank 0); GATHER_TYPE_MISMATCH, GATHER_SHAPE_MISMATCH, GATHER_MISMATCH (the ranks disagree:
 * type, shape of a row, numbers of rows for the layout, options; rows of GATHER_MPI_SAME); GATHER_UNSUPPORTED (strings; packed rows that
 * do not end on a whole byte; operators other than Gather); GATHER_OVERFLOW; GATHER_OUT_OF_MEMORY; GATHER_IO_ERROR. */
GATHER_API GATHER_CHECKED gather_status gather_mpi_plan_create(MPI_Comm comm, const gather_tensor *mine, const gather_mpi_options *options,
                                                               gather_mpi_plan **plan, gather_error *error);
/* Frees a plan. Collective, before MPI_Finalize. NULL does nothing. */
GATHER_API void gather_mpi_plan_destroy(gather_mpi_plan *plan);

/* rows[i...] = table[ids[i...]]. Collective.
 * ids: any integer type, rank and strides. rows: type, item_bytes and byte order of the table, the shape of the ids followed by that of a
 * row, row-major without gaps (else GATHER_UNSUPPORTED); they must not overlap the ids or the rows of this rank.
 * Returns the errors of gather_apply, before any row moves; the errors of gather_table_take; GATHER_OUT_OF_MEMORY; GATHER_IO_ERROR. */
GATHER_API GATHER_CHECKED gather_status gather_mpi_take(gather_mpi_plan *plan, const gather_tensor *ids, const gather_tensor *rows,
                                                        gather_error *error);

/* The table of a plan. Pointers are valid until it is destroyed. */
typedef struct gather_mpi_info {
  gather_tensor tensor; /* of the whole table: type, item_bytes, shape and flags; data and strides are NULL */
  int64_t rows, row_bytes;
  int64_t rows_mine;        /* of this rank */
  int32_t rank, ranks;      /* in the communicator */
  gather_mpi_layout layout; /* never AUTO */
  /* One sentence: why this layout, and whether another one would exchange less: "every rank reads the same files: each takes its own
   * rows". */
  const char *why;
} gather_mpi_info;

GATHER_API const gather_mpi_info *gather_mpi_plan_describe(const gather_mpi_plan *plan);

/* Statistics of this rank since the plan was made. */
typedef struct gather_mpi_statistics {
  int64_t takes;         /* successful ones; the counts below include takes that failed midway */
  int64_t takes_kept;    /* successful ones that reused the plan of the previous take */
  int64_t exchanges;     /* at least one per take; more if buffer_bytes is less than the rows */
  int64_t ids;           /* requested by the caller */
  int64_t unique;        /* distinct ids, counted per exchange */
  int64_t repaired;      /* ids out of range that a repair policy replaced */
  int64_t rows_own;      /* distinct rows of this rank */
  int64_t rows_hot;      /* distinct rows that were replicated */
  int64_t rows_received; /* distinct rows from other ranks */
  int64_t rows_sent;     /* to other ranks */
  int64_t hot_rows;      /* replicated now */
  int64_t memory_bytes;  /* of buffers, now */
  /* Seconds: ids to plans; ids to owners; owners' gathers; waiting for rows and for other ranks; writing the rows. */
  double seconds_plan, seconds_ids, seconds_gather, seconds_wait, seconds_place;
} gather_mpi_statistics;

GATHER_API void gather_mpi_plan_statistics(const gather_mpi_plan *plan, gather_mpi_statistics *statistics);

/* The MPI that this library was built for: "Open MPI 4.1.4", "MPICH 4.0.2". Static memory. Threads: any, also before MPI_Init. */
GATHER_API const char *gather_mpi_built_for(void);

#ifdef __cplusplus
}
#endif

#endif
