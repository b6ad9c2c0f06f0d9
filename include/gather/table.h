/* SPDX-License-Identifier: MIT
 *
 * table.h: rows of tables that need not fit into memory, out of the files they are in.
 *
 *     gather_table *table;
 *     gather_table_open("model.safetensors:emb", NULL, &table, &error);
 *     gather_table_take(table, &ids, &out, NULL, &error);
 *     gather_table_close(table);
 *
 * A table is a tensor of rank 1 or more in a file of any format that file.h reads, or several of them that follow one another
 * along axis 0. Its rows are along axis 0. Files are read, never changed, and never converted.
 *
 * What happens to a row: what lies in the page cache is copied from the mapped file; what an earlier call read is copied from the
 * table's own cache; the rest is read, each block once however often its rows are asked for, neighbours together, many reads at a
 * time. Statistics tell what really happened.
 *
 * Errors   A bad index is found before anything is read or written, with its position. Indices that are GATHER_TENSOR_SHARED are
 *          checked again as they are used: one that was changed meanwhile is the same error, and rows of `out` may then have been
 *          written. A file that cannot be read, or that was cut
 *          while it was open, is GATHER_IO_ERROR with the row and the file's byte; rows of `out` may then have been written.
 * Signals  Where the file is read through a mapping, the system tells of both by SIGBUS. So the first table that maps a file
 *          installs a handler for it, which turns such a signal within a take into the error above, and hands every other SIGBUS
 *          to the handler that was there. keep_signals in the options of a table keeps it from reading through a mapping: then no
 *          handler is needed, and none is installed.
 * Threads  Any number of threads may use one table at once. After fork() the child may use it too: it has the parent's files and
 *          begins with no jobs and an empty cache.
 */
#ifndef GATHER_TABLE_H
#define GATHER_TABLE_H

#include "gather/file.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gather_table gather_table;

/* ---- opening --------------------------------------------------------------------------------------------------------- */

/* How rows come from the file. */
typedef enum gather_engine {
  GATHER_ENGINE_AUTO = 0, /* copies what is resident, and reads the rest by the fastest of the others that there is */
  GATHER_ENGINE_MMAP,     /* the mapped file alone; the system is told of each batch ahead */
  GATHER_ENGINE_PREAD,    /* threads that read */
  GATHER_ENGINE_URING     /* io_uring of Linux, past the page cache where the file system can do that */
} gather_engine;

/* "auto", "mmap", "pread", "uring"; NULL for a number that is none. Since 0.1. */
GATHER_API const char *gather_engine_name(gather_engine engine);
/* The engine of a name; GATHER_USAGE, with the names there are. Since 0.1. */
GATHER_API GATHER_CHECKED gather_status gather_engine_parse(const char *name, gather_engine *engine,
                                                            gather_error *error);

/* How to open a table. Start from GATHER_TABLE_OPTIONS_INIT; NULL in a call means just that. */
typedef struct gather_table_options {
  size_t size; /* sizeof(gather_table_options): lets later versions add fields */
  gather_engine engine;
  /* Ceiling on the memory that this table keeps resident, in bytes: what is mapped of its files, buffers, scratch and cache
   * together, not the caller's indices and output. At least GATHER_TABLE_LEAST_MEMORY, more where rows are longer. 0 = none: then
   * mappings are the system's matter, and buffers, scratch and cache stay below an eighth of the memory that this process may
   * use, and below 2 GiB. */
  int64_t memory_bytes;
  int64_t cache_bytes; /* of it at most for rows that were read and may be wanted again; -1 = chosen, 0 = none */
  int32_t depth;       /* reads in flight, 1 to 4096; 0 = chosen */
  bool buffered;       /* read through the page cache, never past it */
  bool keep_signals;   /* no mapping is read from, so that no handler for SIGBUS is needed */
  const gather_raw
      *raw;      /* the files hold raw bytes; shape[0] may be -1: as many rows as the file has. NULL = they say it */
  bool no_links; /* as gather_file_options.no_links: of models and indices of safetensors files */
} gather_table_options;

#define GATHER_TABLE_OPTIONS_INIT \
  { sizeof(gather_table_options), GATHER_ENGINE_AUTO, 0, -1, 0, false, false, NULL, false }

enum { GATHER_TABLE_LEAST_MEMORY = 1 << 20 };

/* Opens a table. path: FILE or FILE:TENSOR; where a file of the whole name exists, that one. Memory: freed by gather_table_close.
 * Returns the errors of gather_file_open and gather_file_find; GATHER_RANK_MISMATCH (rank 0), GATHER_UNSUPPORTED (strings; elements
 * that are not in row-major order; packed rows that do not end on a whole byte), GATHER_USAGE (a ceiling that is too low, with the
 * lowest that would do). Since 0.1. */
GATHER_API GATHER_CHECKED gather_status gather_table_open(const char *path, const gather_table_options *options,
                                                          gather_table **table, gather_error *error);
/* The same for a table in `count` parts, one behind the other along axis 0: paths as above, equal types and row shapes
 * (GATHER_TYPE_MISMATCH, GATHER_SHAPE_MISMATCH). Since 0.1. */
GATHER_API GATHER_CHECKED gather_status gather_table_open_parts(const char *const *paths, int32_t count,
                                                                const gather_table_options *options,
                                                                gather_table **table, gather_error *error);
/* Closes it. Jobs that were not waited for are finished first, and freed. NULL does nothing. Since 0.1. */
GATHER_API void gather_table_close(gather_table *table);

/* What a table is. All pointers live as long as it is open. */
typedef struct gather_table_info {
  const char *format;    /* of the (first) file */
  const char *name;      /* of the tensor; "" */
  gather_tensor tensor;  /* type, item_bytes, shape and flags of the whole table; data and strides are NULL */
  const char *descr;     /* as gather_file_tensor.descr */
  const char *type_name; /* likewise */
  int64_t rows, row_bytes;
  int32_t parts;
} gather_table_info;

/* Since 0.1. */
GATHER_API const gather_table_info *gather_table_describe(const gather_table *table);

/* Where a part of a table lies. */
typedef struct gather_table_part {
  const char *path;    /* of the file that holds the elements */
  int64_t offset;      /* of its first row in that file, in bytes */
  int64_t first, rows; /* the rows of the table that it holds */
} gather_table_part;

/* Part number i, 0 <= i < parts. Returns false where there is none. Since 0.1. */
GATHER_API bool gather_table_part_at(const gather_table *table, int32_t i, gather_table_part *part);

/* ---- taking rows ----------------------------------------------------------------------------------------------------- */

/* Options of one take. Start from GATHER_TABLE_TAKE_INIT; NULL in a call means just that. */
typedef struct gather_table_take_options {
  size_t size;
  const gather_op *op;             /* a version of Gather: its index rule holds. NULL = ONNX Gather-13 */
  gather_on_bad on_bad;            /* as gather_options.on_bad; default: the operator's */
  gather_negative negative;        /* likewise */
  const void *fill;                /* likewise */
  const gather_executor *executor; /* who copies what is resident; NULL = the calling thread. Not kept by submit */
  int64_t *bad_count;              /* receives how many indices were out of range and repaired; may be NULL */
  /* Asked again and again while rows are copied and read, by any thread that does so, several at once: true ends the take
   * with GATHER_CANCELLED as soon as the reads in flight have ended. Then some rows of `out` may have been written, and the table
   * is as usable as before. It must be quick (it is called for each read, and each 1024 rows), and must not use the table. NULL = the
   * take is not to be cancelled. Not kept by submit: see gather_table_job_cancel. */
  bool (*stop)(void *context);
  void *stop_context;
} gather_table_take_options;

#define GATHER_TABLE_TAKE_INIT                                                                                       \
  {                                                                                                                  \
    sizeof(gather_table_take_options), NULL, GATHER_ON_BAD_DEFAULT, GATHER_NEGATIVE_DEFAULT, NULL, NULL, NULL, NULL, \
        NULL                                                                                                         \
  }

/* out[i...] = table[indices[i...]]: in any order, as often as wanted.
 * indices: any integer type, rank and strides. out: type, item_bytes and byte order of the table, the shape of the indices followed
 * by that of a row, row-major without gaps (else GATHER_UNSUPPORTED); it must not overlap the indices.
 * Returns what gather_apply does, before anything is read; GATHER_IO_ERROR; GATHER_OUT_OF_MEMORY; GATHER_CANCELLED. Threads: any. Memory: within the
 * table's ceiling. Since 0.1. */
GATHER_API GATHER_CHECKED gather_status gather_table_take(gather_table *table, const gather_tensor *indices,
                                                          const gather_tensor *out,
                                                          const gather_table_take_options *options,
                                                          gather_error *error);

/* A take that runs while the caller does something else. */
typedef struct gather_table_job gather_table_job;

/* Begins one. Shapes and indices are checked before it returns; what indices->data and out->data point to, bad_count and fill must
 * stay as they are until gather_table_wait; the descriptions are copied. Several may be in flight; those beyond what the memory
 * allows wait for their turn. Returns as gather_table_take. Since 0.1. */
GATHER_API GATHER_CHECKED gather_status gather_table_submit(gather_table *table, const gather_tensor *indices,
                                                            const gather_tensor *out,
                                                            const gather_table_take_options *options,
                                                            gather_table_job **job, gather_error *error);
/* Whether a job has ended, well or badly. Since 0.1. */
GATHER_API bool gather_table_job_done(const gather_table_job *job);
/* Waits for its end, but at most so many seconds, and frees nothing. Returns gather_table_job_done. Threads: any, until one calls
 * gather_table_wait. Since 0.1. */
GATHER_API bool gather_table_job_await(gather_table_job *job, double seconds);
/* Asks a job to end early, and comes back at once. It must still be waited for: gather_table_wait then returns GATHER_CANCELLED, or what
 * it would have where the job had ended before. Until then it may write to its output, of which some rows may have been written. May be
 * called again; NULL does nothing. Threads: as gather_table_job_await. Since 0.1. */
GATHER_API void gather_table_job_cancel(gather_table_job *job);
/* Waits for its end, frees it, and returns what gather_table_take would have. Since 0.1. */
GATHER_API GATHER_CHECKED gather_status gather_table_wait(gather_table_job *job, gather_error *error);

/* ---- what happened --------------------------------------------------------------------------------------------------- */

/* What has been done since the table was opened, or since gather_table_statistics_reset. */
typedef struct gather_table_statistics {
  gather_engine engine;  /* that reads what is not resident: never AUTO */
  bool direct;           /* past the page cache */
  int32_t depth;         /* reads in flight at most */
  char why[160];         /* why it is this engine, or why not the one that was asked for; one sentence */
  int64_t takes;         /* calls and jobs that ended well */
  int64_t rows;          /* that they delivered: the three below, and rows that were filled */
  int64_t rows_resident; /* copied from memory without waiting: the mapped file, or the page cache */
  int64_t rows_cached;   /* copied from the table's own cache */
  int64_t rows_read;     /* delivered from reads; those asked for twice in a batch count twice */
  int64_t reads;         /* requests to the system */
  int64_t bytes_useful;  /* rows * row_bytes */
  int64_t bytes_read;    /* by these reads */
  int64_t memory_bytes;  /* resident now, as the ceiling counts it */
  int64_t memory_peak;
  int64_t memory_ceiling; /* 0 = none */
  double seconds;         /* in takes, all threads together */
  double seconds_waiting; /* of it for reads */
} gather_table_statistics;

/* Threads: any, while others take. Since 0.1. */
GATHER_API void gather_table_statistics_get(const gather_table *table, gather_table_statistics *statistics);
/* Sets all counts to 0; memory_peak becomes memory_bytes. Since 0.1. */
GATHER_API void gather_table_statistics_reset(gather_table *table);

/* Whether io_uring can be used here: GATHER_OK, or GATHER_UNSUPPORTED with the reason (not built in, not in this system, forbidden).
 * Since 0.1. */
GATHER_API GATHER_CHECKED gather_status gather_engine_check(gather_engine engine, gather_error *error);

#ifdef __cplusplus
}
#endif

#endif
