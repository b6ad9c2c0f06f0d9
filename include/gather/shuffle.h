/* SPDX-License-Identifier: MIT
 *
 * shuffle.h: writes the rows of a table into a new file, in a random or a given order. The table may be far larger than memory.
 *
 *     gather_shuffle_options options = GATHER_SHUFFLE_OPTIONS_INIT;
 *     gather_shuffle *shuffle;
 *     options.seed = 7;
 *     gather_shuffle_create(&path, 1, "shuffled.npy", &options, &shuffle, &error);
 *     gather_shuffle_plan(shuffle, NULL, NULL, &error);
 *     gather_shuffle_run(shuffle, NULL, &error);
 *     gather_shuffle_close(shuffle);
 *
 * The order of a seed never changes: not with the version, the machine, the memory, the threads or the number of passes. docs/shuffle.md
 * defines it, and says what one pass and two passes cost.
 *
 * Files    The output is written atomically: it gets its name when it is complete. Until then all files are in a folder
 *          ".gather-shuffle-NAME" beside the output NAME, which only its owner can enter. A run that ends early leaves the folder where
 *          it holds work that a later run with `resume` can use; else it removes the folder.
 * Errors   A bad row number is found before anything is written (GATHER_INDEX_OUT_OF_RANGE). Messages name an option by its field here,
 *          without "_bytes" ("memory 1.00 MiB is too little ..."). gather_shuffle_info.remedy says which option helps.
 * Threads  One thread at a time may use one shuffle. Two shuffles cannot work on one output: the second fails, in the same process too.
 *          After fork() the child must not use the parent's shuffles.
 * Paths    that are relative are relative to the working directory, which must not change while a shuffle is open.
 * System   POSIX. Where a file grows beyond the user's limit, the system sends SIGXFSZ: ignore it, so that this is GATHER_IO_ERROR. Rows
 *          may be read through mappings: table.h says what that means for SIGBUS.
 */
#ifndef GATHER_SHUFFLE_H
#define GATHER_SHUFFLE_H

#include "gather/table.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gather_shuffle gather_shuffle;

/* ---- progress -------------------------------------------------------------------------------------------------------- */

/* What a shuffle does. In one pass: PREPARE, ONLY_PASS, PUBLISH; in two: PREPARE, SORT_ORDER (of a given order), FIRST_PASS,
 * SECOND_PASS, PUBLISH. */
typedef enum gather_shuffle_step {
  GATHER_SHUFFLE_PREPARE = 0, /* makes the folder and reserves room on the disk */
  GATHER_SHUFFLE_SORT_ORDER,  /* sorts the row numbers of a given order */
  GATHER_SHUFFLE_FIRST_PASS,  /* reads the table and puts each row into the bucket of its place */
  GATHER_SHUFFLE_SECOND_PASS, /* puts the rows of each bucket in order */
  GATHER_SHUFFLE_ONLY_PASS,   /* takes one part of the output after the other */
  GATHER_SHUFFLE_PUBLISH,     /* the output has its name; the folder is removed */
  GATHER_SHUFFLE_STEPS
} gather_shuffle_step;

/* How far a run is. */
typedef struct gather_shuffle_progress {
  gather_shuffle_step step;
  int64_t done,
      total; /* rows of this step; in a resumed run the first call of a step tells how many an earlier run has done */
  const char *folder; /* holds the work so far; NULL = there is nothing to resume. Valid until the shuffle is closed */
} gather_shuffle_progress;

/* ---- options --------------------------------------------------------------------------------------------------------- */

/* How to shuffle. Start from GATHER_SHUFFLE_OPTIONS_INIT; NULL in a call means just that. */
typedef struct gather_shuffle_options {
  size_t size;        /* sizeof(gather_shuffle_options): lets later versions add fields */
  const char *format; /* of the output: "npy", "raw", "pb", "safetensors"; NULL = by the extension of its name */
  const char *name;   /* of the tensor in it, where the format has names; NULL = the table's */
  bool replace;       /* an existing output may be replaced, and the folder that an earlier run left may be removed */
  bool resume;        /* continue what an earlier run left; where it left nothing, begin */
  int64_t seed;       /* of a random order, from 0 on; -1 = that of the resumed run, or a new one */
  int32_t passes;     /* 1 or 2; 0 = those of the resumed run, or what is faster. The output has the same bytes */
  /* Ceiling on the memory that the shuffle takes, in bytes; not the caller's order and pool. At least 4 MiB and 32 rows. 0 = that of the
   * resumed run, or a quarter of the memory that this process may use. */
  int64_t memory_bytes;
  gather_engine engine;  /* that reads rows in the order of the output; as gather_table_options */
  int32_t depth;         /* likewise */
  const gather_raw *raw; /* likewise: the table is raw bytes. NULL = its files say what they are */
  bool no_links;         /* likewise */
  /* Called in the calling thread at the beginning of each step and then often; it must be quick. NULL = nobody is told. */
  void (*progress)(void *context, const gather_shuffle_progress *progress);
  void *progress_context;
  /* Asked again and again during gather_shuffle_plan and gather_shuffle_run, by any thread that works, several at once: true ends
   * the call with GATHER_CANCELLED, as soon as a read, a write or a sync of the disk that was begun has ended. What is durable by then
   * can be resumed. It must be quick, and must not use the shuffle. NULL = the work is not to be cancelled. */
  bool (*stop)(void *context);
  void *stop_context;
} gather_shuffle_options;

#define GATHER_SHUFFLE_OPTIONS_INIT                                                                               \
  {                                                                                                               \
    sizeof(gather_shuffle_options), NULL, NULL, false, false, -1, 0, 0, GATHER_ENGINE_AUTO, 0, NULL, false, NULL, \
        NULL, NULL, NULL                                                                                          \
  }

/* ---- shuffling ------------------------------------------------------------------------------------------------------- */

/* Notes what is asked for; opens no file. paths: the `count` parts of the table, as gather_table_open_parts has them. output: the
 * file that will be written; NULL for a shuffle that is planned and never run. With `replace` the file behind a link is replaced, and
 * the link stays. Everything is copied but progress_context and stop_context. Memory: freed by gather_shuffle_close. Returns
 * GATHER_USAGE (an option out of range, a name that is too long), GATHER_IO_ERROR, GATHER_OUT_OF_MEMORY. Since 0.1. */
GATHER_API GATHER_CHECKED gather_status gather_shuffle_create(const char *const *paths, int32_t count,
                                                              const char *output, const gather_shuffle_options *options,
                                                              gather_shuffle **shuffle, gather_error *error);

/* Finds what an earlier run left, where that is to be resumed, and opens the table. gather_shuffle_plan does it where it was not done:
 * call it before where the table's errors must come before those of opening an order. Returns the errors of gather_table_open_parts;
 * GATHER_FILE_MALFORMED (what was left is damaged), GATHER_IO_ERROR (another shuffle works in the folder). After a failure the shuffle
 * can only be closed. Since 0.1. */
GATHER_API GATHER_CHECKED gather_status gather_shuffle_open(gather_shuffle *shuffle, gather_error *error);

/* Checks everything and decides how the work is done; writes nothing.
 * order: the rows of the output by their numbers in the table, as the indices of gather_table_take: any integer type of whole bytes, rank
 * and strides; numbers below 0 count from the end. The output has the order's shape followed by that of a row. Shape and strides are
 * copied; order->data must stay as it is until gather_shuffle_run has returned. NULL = the random order of the seed.
 * order_file: the file that the order is a tensor of, which must stay open as long; of one that is mapped, pages that were read are given
 * back to the system, so that an order larger than memory keeps the ceiling. NULL = the order is other memory.
 * Returns what gather_shuffle_open does; GATHER_USAGE (too little memory, a seed besides an order), GATHER_FILE_EXISTS,
 * GATHER_UNSUPPORTED (the format cannot carry the type), GATHER_OVERFLOW (an output too big for any file),
 * GATHER_INDEX_OUT_OF_RANGE and the other errors of gather_table_take for its indices, GATHER_CANCELLED. After a failure the shuffle can only be closed.
 * Since 0.1. */
GATHER_API GATHER_CHECKED gather_status gather_shuffle_plan(gather_shuffle *shuffle, const gather_tensor *order,
                                                            const gather_file *order_file, gather_error *error);

/* Does the work, once. executor: who computes and copies; NULL = the calling thread. Reserves the room on the disk first, so that a full disk is
 * found at once. On success the output has its name, and a small file ".gather-shuffle-NAME.done" beside it says so until
 * gather_shuffle_close: a program that is killed before that can resume and gets the same answer.
 * Returns GATHER_USAGE (not planned, no output, or what was left is of another shuffle), GATHER_FILE_EXISTS (the output, or the folder of
 * an earlier run), GATHER_FILE_MALFORMED (what was left is damaged), GATHER_IO_ERROR (also where the table changed meanwhile),
 * GATHER_OUT_OF_MEMORY, GATHER_CANCELLED. Since 0.1. */
GATHER_API GATHER_CHECKED gather_status gather_shuffle_run(gather_shuffle *shuffle, const gather_executor *executor,
                                                           gather_error *error);

/* Closes it. What an unfinished run left stays for a later one. NULL does nothing. Since 0.1. */
GATHER_API void gather_shuffle_close(gather_shuffle *shuffle);

/* ---- what is done ---------------------------------------------------------------------------------------------------- */

/* Which option would get past the last failure. */
typedef enum gather_shuffle_remedy {
  GATHER_SHUFFLE_REMEDY_NONE = 0,
  GATHER_SHUFFLE_REMEDY_SEED,   /* give a seed: there are no random numbers here */
  GATHER_SHUFFLE_REMEDY_RESUME, /* `resume` continues what an earlier run left */
  GATHER_SHUFFLE_REMEDY_REPLACE /* `replace` without `resume` begins anew */
} gather_shuffle_remedy;

/* What a shuffle is. Fields are known from the call in brackets on, and 0 or NULL before it. Pointers live until the shuffle is closed. */
typedef struct gather_shuffle_info {
  const gather_table *table; /* [open] for gather_table_describe and gather_table_statistics_get */
  bool resumed;              /* [open] an earlier run is continued, or had ended behind its output */
  int64_t memory_bytes;      /* [open] the ceiling */
  bool given;                /* [plan] by an order; else by the seed */
  int64_t seed;              /* [plan] -1 where the order is given */
  int64_t rows, row_bytes;   /* [plan] of the output */
  int32_t rank;              /* [plan] of the output, and its shape */
  const int64_t *shape;
  int32_t passes;               /* [plan] 1 or 2 */
  int64_t buckets;              /* [plan] of two passes; 0 */
  int64_t part_rows;            /* [plan] of one pass: rows that are taken at a time; 0 */
  int64_t temporary_bytes;      /* [plan] of the disk, besides the output */
  const char *folder;           /* [run] where work is left that can be resumed; NULL = nowhere */
  gather_shuffle_remedy remedy; /* after a failure of open, plan or run */
} gather_shuffle_info;

/* The facts as they are now; the struct lives until the shuffle is closed, and changes with the next call. Since 0.1. */
GATHER_API const gather_shuffle_info *gather_shuffle_describe(const gather_shuffle *shuffle);

/* ---- the order of a seed --------------------------------------------------------------------------------------------- */

/* The order itself, without files: to[i] = the row of the table at place first + i of its shuffled `rows` rows, for 0 <= i < len. It takes
 * no memory and no time for other places. Returns GATHER_USAGE (a seed below 0, places that do not exist). Threads: any. Since 0.1. */
GATHER_API GATHER_CHECKED gather_status gather_shuffle_rows(int64_t seed, int64_t rows, int64_t first, int64_t len,
                                                            int64_t *to, gather_error *error);
/* The inverse: to[i] = the place of row first + i. Since 0.1. */
GATHER_API GATHER_CHECKED gather_status gather_shuffle_places(int64_t seed, int64_t rows, int64_t first, int64_t len,
                                                              int64_t *to, gather_error *error);

#ifdef __cplusplus
}
#endif

#endif
