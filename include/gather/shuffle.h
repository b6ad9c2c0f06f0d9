/* SPDX-License-Identifier: MIT
 *
 * shuffle.h: writes the rows of a table into a new file, in a random or a given order. The table may be larger than memory. Since 0.1.
 *
 *     gather_shuffle_options options = GATHER_SHUFFLE_OPTIONS_INIT;
 *     gather_shuffle *shuffle;
 *     options.seed = 7;
 *     gather_shuffle_create(&path, 1, "shuffled.npy", &options, &shuffle, &error);
 *     gather_shuffle_plan(shuffle, NULL, NULL, &error);
 *     gather_shuffle_run(shuffle, NULL, &error);
 *     gather_shuffle_close(shuffle);
 *
 * The order of a seed never changes: it does not depend on version, machine, memory, threads or passes. docs/use/shuffle.md defines it,
 * and gives the cost of one and two passes.
 *
 * Files    The output is written atomically: it gets its name when it is complete. Until then all files are in the folder
 *          ".gather-shuffle-NAME" beside the output NAME, which only its owner can enter. A run that ends early keeps the folder if a later
 *          run with `resume` can use it. Otherwise it removes the folder.
 * Errors   A row number out of range is found before anything is written (GATHER_INDEX_OUT_OF_RANGE).
 *          Messages name an option by its field here, without "_bytes" ("memory 1.00 MiB is too little ..."). gather_shuffle_info.remedy
 *          says which option helps.
 * Threads  One thread at a time may use one shuffle. Two shuffles cannot work on one output: the second fails, also in the same process.
 *          After fork() the child must not use the parent's shuffles.
 * Paths    Relative paths are relative to the working directory, which must not change while a shuffle is open.
 * System   POSIX. If a file exceeds the user's file size limit, the system sends SIGXFSZ: ignore it to get GATHER_IO_ERROR. Rows may be
 *          read through mappings: for SIGBUS see table.h.
 */
#ifndef GATHER_SHUFFLE_H
#define GATHER_SHUFFLE_H

#include "gather/table.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gather_shuffle gather_shuffle;

/* ---- progress -------------------------------------------------------------------------------------------------------- */

/* The steps of a shuffle. In one pass: PREPARE, ONLY_PASS, PUBLISH; in two: PREPARE, SORT_ORDER (of a given order), FIRST_PASS,
 * SECOND_PASS, PUBLISH. */
typedef enum gather_shuffle_step {
  GATHER_SHUFFLE_PREPARE = 0, /* creates the folder and reserves disk space */
  GATHER_SHUFFLE_SORT_ORDER,  /* sorts the row numbers of a given order */
  GATHER_SHUFFLE_FIRST_PASS,  /* reads the table and writes each row to the bucket of its place */
  GATHER_SHUFFLE_SECOND_PASS, /* puts the rows of each bucket in order */
  GATHER_SHUFFLE_ONLY_PASS,   /* writes the output part by part, in order */
  GATHER_SHUFFLE_PUBLISH,     /* gives the output its name and removes the folder */
  GATHER_SHUFFLE_STEPS
} gather_shuffle_step;

/* The progress of a run. */
typedef struct gather_shuffle_progress {
  gather_shuffle_step step;
  int64_t done, total; /* rows of this step; in a resumed run the first call of a step includes the rows of the earlier run */
  const char *folder;  /* the folder to resume from; NULL = nothing to resume. Valid until the shuffle is closed */
} gather_shuffle_progress;

/* ---- options --------------------------------------------------------------------------------------------------------- */

/* How to shuffle. Initialise with GATHER_SHUFFLE_OPTIONS_INIT. NULL in a call means the defaults. */
typedef struct gather_shuffle_options {
  size_t size;        /* sizeof(gather_shuffle_options) */
  const char *format; /* of the output: "npy", "raw", "pb", "safetensors"; NULL = by the extension of its name */
  const char *name;   /* of the tensor in it, if the format has names; NULL = that of the table */
  bool replace;       /* replace an existing output, and remove the folder of an earlier run */
  bool resume;        /* continue an earlier run; start a new one if there is none */
  int64_t seed;       /* of a random order, at least 0; -1 = that of the resumed run, or a new one */
  int32_t passes;     /* 1 or 2; 0 = those of the resumed run, or the faster number. The output has the same bytes */
  /* Memory limit of the shuffle, in bytes, without the caller's order and pool. At least 4 MiB and 32 rows. 0 = that of the resumed run,
   * or a quarter of the memory that this process may use. */
  int64_t memory_bytes;
  gather_engine engine;  /* reads rows in the order of the output; as gather_table_options */
  int32_t depth;         /* likewise */
  const gather_raw *raw; /* likewise: the table is raw bytes. NULL = detect the format */
  bool no_links;         /* likewise */
  /* Called in the calling thread at the start of each step and then often. It must be quick. NULL = no progress reports. */
  void (*progress)(void *context, const gather_shuffle_progress *progress);
  void *progress_context;
  /* Called often during gather_shuffle_plan and gather_shuffle_run, by any working thread, also by several at once. If it returns true,
   * the call ends with GATHER_CANCELLED as soon as the current read, write or sync has ended. Work on disk can be resumed. It must be
   * quick and must not use the shuffle. NULL = the work cannot be cancelled. */
  bool (*stop)(void *context);
  void *stop_context;
  int64_t align_bytes; /* as gather_file_target.align_bytes */
  /* The output may be a file of the table itself, which is replaced when the rows are complete. Without this option that is
   * GATHER_FILE_EXISTS, also with `replace`. Since 0.3. */
  bool in_place;
  const char *tensor; /* as gather_table_options.tensor. Since 0.3 */
} gather_shuffle_options;

#define GATHER_SHUFFLE_OPTIONS_INIT                                                                                                    \
  {                                                                                                                                    \
    sizeof(gather_shuffle_options), NULL, NULL, false, false, -1, 0, 0, GATHER_ENGINE_AUTO, 0, NULL, false, NULL, NULL, NULL, NULL, 0, \
        false, NULL                                                                                                                    \
  }

/* ---- shuffling ------------------------------------------------------------------------------------------------------- */

/* Creates a shuffle, and opens no file. paths: the `count` parts of the table, as for gather_table_open_parts. output: the file to write.
 * NULL = the shuffle is only planned. If it is a symbolic link, `replace` replaces the link's target. All arguments are copied, except what
 * progress_context and stop_context point to. Memory: freed by gather_shuffle_close. Returns GATHER_USAGE (an option out of range, a name
 * too long), GATHER_IO_ERROR, GATHER_OUT_OF_MEMORY. */
GATHER_API GATHER_CHECKED gather_status gather_shuffle_create(const char *const *paths, int32_t count, const char *output,
                                                              const gather_shuffle_options *options, gather_shuffle **shuffle,
                                                              gather_error *error);

/* Finds the work of an earlier run, if it is to be resumed, and opens the table. Optional: gather_shuffle_plan calls it. Call it first if
 * errors of the table must be reported before those of opening an order. Returns the errors of gather_table_open_parts;
 * GATHER_FILE_MALFORMED (the earlier work is damaged), GATHER_IO_ERROR (another shuffle uses the folder). After a failure the shuffle
 * can only be closed. */
GATHER_API GATHER_CHECKED gather_status gather_shuffle_open(gather_shuffle *shuffle, gather_error *error);

/* Checks everything and decides how to do the work. Writes nothing.
 * order: the rows of the output by their numbers in the table, as the indices of gather_table_take: any integer type of whole bytes, rank
 * and strides. Negative numbers count from the end. The output has the order's shape followed by that of a row. Shape and strides are
 * copied. order->data must remain valid and unchanged until gather_shuffle_run has returned. NULL = the random order of the seed.
 * order_file: the file that contains the order, which must remain open as long. If it is mapped, pages are released after they were
 * read, so an order larger than memory stays within the memory limit. NULL = the order is not in a file.
 * Returns the errors of gather_shuffle_open; GATHER_USAGE (too little memory, both a seed and an order), GATHER_FILE_EXISTS (also if the
 * output is a file of the table, without `in_place`, or that of the order),
 * GATHER_UNSUPPORTED (the format cannot store the type), GATHER_OVERFLOW (the output is too large for any file),
 * GATHER_INDEX_OUT_OF_RANGE and the other errors of gather_table_take for its indices, GATHER_CANCELLED. After a failure the
 * shuffle can only be closed. */
GATHER_API GATHER_CHECKED gather_status gather_shuffle_plan(gather_shuffle *shuffle, const gather_tensor *order,
                                                            const gather_file *order_file, gather_error *error);

/* Does the work, once. executor: computes and copies; NULL = the calling thread. Reserves disk space first, so a full disk is reported at
 * once. On success the output has its name. A small file ".gather-shuffle-NAME.done" beside it records this until gather_shuffle_close. A
 * program that is killed before can resume and gets the same result.
 * Returns GATHER_USAGE (not planned, no output, or the earlier work is of another shuffle), GATHER_FILE_EXISTS (the output, or the
 * folder of an earlier run), GATHER_FILE_MALFORMED (the earlier work is damaged), GATHER_IO_ERROR (also if the table has changed),
 * GATHER_OUT_OF_MEMORY, GATHER_CANCELLED. */
GATHER_API GATHER_CHECKED gather_status gather_shuffle_run(gather_shuffle *shuffle, const gather_executor *executor, gather_error *error);

/* Closes a shuffle. The work of an unfinished run remains for a later one. NULL does nothing. */
GATHER_API void gather_shuffle_close(gather_shuffle *shuffle);

/* ---- what is done ---------------------------------------------------------------------------------------------------- */

/* The option that avoids the last failure. */
typedef enum gather_shuffle_remedy {
  GATHER_SHUFFLE_REMEDY_NONE = 0,
  GATHER_SHUFFLE_REMEDY_SEED,    /* give a seed: this system has no random numbers */
  GATHER_SHUFFLE_REMEDY_RESUME,  /* set `resume` to continue the earlier run */
  GATHER_SHUFFLE_REMEDY_REPLACE, /* set `replace` without `resume` to start again */
  GATHER_SHUFFLE_REMEDY_IN_PLACE /* set `in_place` to replace the table by its rows in the new order */
} gather_shuffle_remedy;

/* The properties of a shuffle. Fields are set from the call in brackets on, and 0 or NULL before. Pointers are valid until the shuffle is
 * closed. */
typedef struct gather_shuffle_info {
  const gather_table *table; /* [open] for gather_table_describe and gather_table_statistics_get */
  bool resumed;              /* [open] an earlier run is continued, or had ended after its output got its name */
  int64_t memory_bytes;      /* [open] the memory limit */
  bool given;                /* [plan] true: an order was given; false: by the seed */
  int64_t seed;              /* [plan] -1 if an order was given */
  int64_t rows, row_bytes;   /* [plan] of the output */
  int32_t rank;              /* [plan] of the output, and its shape */
  const int64_t *shape;
  int32_t passes;               /* [plan] 1 or 2 */
  int64_t buckets;              /* [plan] of two passes; 0 */
  int64_t part_rows;            /* [plan] of one pass: rows per take; 0 */
  int64_t temporary_bytes;      /* [plan] disk space, in addition to the output */
  const char *folder;           /* [run] the folder to resume from; NULL = none */
  gather_shuffle_remedy remedy; /* after a failure of open, plan or run */
} gather_shuffle_info;

/* The current properties. The struct is valid until the shuffle is closed, and changes with the next call. */
GATHER_API const gather_shuffle_info *gather_shuffle_describe(const gather_shuffle *shuffle);

/* ---- the order of a seed --------------------------------------------------------------------------------------------- */

/* The order itself, without files: to[i] = the row of the table at place first + i of the shuffled `rows` rows, for 0 <= i < len. Only
 * these places are computed. Returns GATHER_USAGE (a seed below 0, places out of range). Threads: any. Memory: none. */
GATHER_API GATHER_CHECKED gather_status gather_shuffle_rows(int64_t seed, int64_t rows, int64_t first, int64_t len, int64_t *to,
                                                            gather_error *error);
/* The inverse: to[i] = the place of row first + i. */
GATHER_API GATHER_CHECKED gather_status gather_shuffle_places(int64_t seed, int64_t rows, int64_t first, int64_t len, int64_t *to,
                                                              gather_error *error);

#ifdef __cplusplus
}
#endif

#endif
