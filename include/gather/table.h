/* SPDX-License-Identifier: MIT
 *
 * table.h: takes rows of tables out of files. The tables may be larger than memory. Since 0.1.
 *
 *     gather_table *table;
 *     gather_table_open("model.safetensors:emb", NULL, &table, &error);
 *     gather_table_take(table, &ids, &out, NULL, &error);
 *     gather_table_close(table);
 *
 * A table is a tensor of rank 1 or more in a file of any format that file.h reads, or several of them concatenated along
 * axis 0. Its rows are along axis 0. Files are only read, never changed or converted.
 *
 * Rows that are resident (in the page cache) are copied from the mapped file. Rows that are cached (read by an earlier call) are
 * copied from the table's own cache. The rest is read: each block once per call, adjacent blocks together, many reads in flight.
 * gather_table_statistics counts each kind. Quantised rows may be decoded: see "decoded rows". Files may be on other machines: see `remote`
 * in the options, and remote.h.
 *
 * Errors   An index out of range is found before anything is read or written, with its position. Indices with GATHER_TENSOR_SHARED
 *          are validated again when they are used: an index that has changed gives the same error, and rows of `out` may have been
 *          written. A file that cannot be read, or that was truncated while open, is GATHER_IO_ERROR with the row and the byte in the file.
 *          Then, too, rows of `out` may have been written.
 * Signals  If the file is read through a mapping, the system reports both by SIGBUS. So the first table that maps a file installs a
 *          handler. It turns a SIGBUS within a take into the error above, and passes every other SIGBUS to the previous handler.
 *          With the option keep_signals a table does not read through mappings, and installs no handler.
 * Threads  Any number of threads may use one table at once. After fork() the child may use it too: it has the parent's files,
 *          no jobs and an empty cache.
 */
#ifndef GATHER_TABLE_H
#define GATHER_TABLE_H

#include "gather/file.h"
#include "gather/remote.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gather_table gather_table;

/* ---- opening --------------------------------------------------------------------------------------------------------- */

/* How misses (rows neither resident nor cached) are read. */
typedef enum gather_engine {
  GATHER_ENGINE_AUTO = 0,  /* copies resident rows, and reads the rest with the fastest engine of this system */
  GATHER_ENGINE_MMAP,      /* only the mapped file; the system is advised of each batch before its use */
  GATHER_ENGINE_PREAD,     /* threads that read */
  GATHER_ENGINE_URING,     /* io_uring of Linux, with O_DIRECT if the file system supports it */
  GATHER_ENGINE_HTTP,      /* ranges of files on other machines: the engine of every table of URLs, and of no other. Since 0.2 */
  GATHER_ENGINE_OVERLAPPED /* overlapped reads of Windows, unbuffered if the file system supports it. Since 0.2 */
} gather_engine;

/* "auto", "mmap", "pread", "uring", "http", or NULL for any other number. */
GATHER_API const char *gather_engine_name(gather_engine engine);
/* The engine of a name. Returns GATHER_USAGE for any other name; the message lists the names. */
GATHER_API GATHER_CHECKED gather_status gather_engine_parse(const char *name, gather_engine *engine, gather_error *error);

/* How to open a table. Initialise with GATHER_TABLE_OPTIONS_INIT. NULL in a call means the defaults. */
typedef struct gather_table_options {
  size_t size; /* sizeof(gather_table_options) */
  gather_engine engine;
  /* Memory limit of this table, in bytes: mapped pages of its files, buffers, scratch and cache together, without the caller's
   * indices and output. At least GATHER_TABLE_LEAST_MEMORY. Long rows need more. 0 = no limit: then the system manages the mapped pages,
   * and buffers, scratch and cache stay below 2 GiB and below an eighth of the memory that this process may use. */
  int64_t memory_bytes;
  int64_t cache_bytes;   /* at most this much of it for the row cache; -1 = automatic, 0 = no cache */
  int32_t depth;         /* queue depth: reads in flight on each device, 1 to 4096; 0 = automatic */
  bool buffered;         /* read through the page cache, never with O_DIRECT */
  bool keep_signals;     /* do not read through mappings: then no SIGBUS handler is installed */
  const gather_raw *raw; /* the files hold raw bytes of this type; shape[0] may be -1: all rows of the file. NULL = detect the format */
  bool no_links;         /* as gather_file_source.no_links: for models and index files of safetensors */
  /* Decodes quantised rows to this type: GATHER_TYPE_FLOAT32, _FLOAT16 or _BFLOAT16. See "decoded rows" below. GATHER_TYPE_NONE: rows are
   * not decoded. */
  gather_type decode_as;
  /* With decode_as: the codec, by its name in codec.h, if the file does not identify it. It must need no side tensors (blocks, row-wise
   * codes). Exception: "biased:4", for files of MLX, is the codec "biased" with codes of 4 bits. NULL or "" = as the file says. */
  const char *codec;
  /* Paths that are URLs are read over the network (remote.h). Either all paths of a table are URLs, or none (else GATHER_UNSUPPORTED).
   * gather_file_split splits URL:TENSOR. The options are copied. NULL = every path is the name of a local file. Since 0.2 */
  const gather_remote_options *remote;
  /* The name of the tensor in each file. Paths are then not split, so names and paths may contain any characters. "" = the only tensor.
   * NULL = a path may be FILE:TENSOR. Since 0.3 */
  const char *tensor;
  /* 0: raw describes every path. Otherwise the number of paths, and raw is an array with one element for each. Numbers of rows and offsets
   * may differ, types and row shapes must be equal. Since 0.3 */
  int32_t raw_count;
} gather_table_options;

#define GATHER_TABLE_OPTIONS_INIT \
  { sizeof(gather_table_options), GATHER_ENGINE_AUTO, 0, -1, 0, false, false, NULL, false, GATHER_TYPE_NONE, NULL, NULL, NULL, 0 }

enum { GATHER_TABLE_LEAST_MEMORY = 1 << 20 };

/* Opens a table. path: FILE or FILE:TENSOR (gather_file_split), or only FILE if options->tensor is not NULL. Memory: freed by
 * gather_table_close. Returns the errors of gather_file_open and gather_file_find; GATHER_RANK_MISMATCH (rank 0), GATHER_UNSUPPORTED
 * (strings; elements not in row-major order; packed rows that do not end on a whole byte), GATHER_USAGE (memory_bytes too low; the message
 * has the minimum). */
GATHER_API GATHER_CHECKED gather_status gather_table_open(const char *path, const gather_table_options *options, gather_table **table,
                                                          gather_error *error);
/* The same for a table of `count` parts, concatenated along axis 0: paths as above, equal types and row shapes
 * (GATHER_TYPE_MISMATCH, GATHER_SHAPE_MISMATCH). */
GATHER_API GATHER_CHECKED gather_status gather_table_open_parts(const char *const *paths, int32_t count,
                                                                const gather_table_options *options, gather_table **table,
                                                                gather_error *error);
/* Closes a table. First it waits for all jobs and frees them. NULL does nothing. */
GATHER_API void gather_table_close(gather_table *table);

/* The properties of a table. All pointers are valid until it is closed. */
typedef struct gather_table_info {
  const char *format;    /* of the (first) file */
  const char *name;      /* of the tensor; "" */
  gather_tensor tensor;  /* type, item_bytes, shape and flags of the whole table; data and strides are NULL */
  const char *descr;     /* as gather_file_tensor.descr */
  const char *type_name; /* likewise */
  int64_t rows, row_bytes;
  int32_t parts;
  const char *codec; /* decoded rows: the name of their codec; else NULL */
  /* Rows are stored in chunks, which must be decoded: even for a few rows, several threads are faster. Since 0.3. */
  bool chunked;
} gather_table_info;

GATHER_API const gather_table_info *gather_table_describe(const gather_table *table);

/* One part of a table. */
typedef struct gather_table_part {
  const char *path;    /* of the file that holds the elements */
  int64_t offset;      /* of its first row in this file, in bytes; -1 if its rows are not contiguous (Fortran order) */
  int64_t first, rows; /* its rows in the table */
} gather_table_part;

/* Whether a table reads the file that is now at `path` (as gather_file_reads): a part, or a file with scales of decoded rows. False for a
 * NULL table or path, and for remote files. Threads: any. Since 0.3. */
GATHER_API bool gather_table_reads(const gather_table *table, const char *path);
/* Part number i, 0 <= i < parts. Returns false for any other i. */
GATHER_API bool gather_table_part_at(const gather_table *table, int32_t i, gather_table_part *part);

/* ---- decoded rows ---------------------------------------------------------------------------------------------------- */

/* A table opened with decode_as delivers decoded rows. Its type is decode_as, its shape that of the values. Takes, jobs and statistics work
 * as for any other table. A take reads the quantised rows and their scales through the engine into scratch memory, and decodes them into
 * the output. The table is never decoded as a whole. The values are those of codec.h. These can be decoded:
 *
 *   GGUF         tensors of blocks (Q4_K ...): the type determines the codec
 *   safetensors  by the names of the side tensors (also of models in several files): MXFP4 (X_blocks, X_scales); NVFP4 (weight with
 *                weight_scale and weight_scale_2; weight_packed with weight_scale and weight_global_scale); FP8 (weight with
 *                weight_scale_inv or weight_scale: one scale, one per row, or one per 128 x 128); NF4 and FP4 of bitsandbytes (weight with
 *                weight.absmax, weight.quant_map, weight.quant_state.*); MLX (weight with scales and biases)
 *   any          rows that contain their scales, if the codec is given; float64, float32, float16 and bfloat16, whose values are
 *                rounded to decode_as; smaller floats, which usually have scales, if the codec "float" is given
 *
 * Not decoded (GATHER_UNSUPPORTED, with the reason): GPTQ and AWQ, which pack along the input axis; codecs that codec.h refuses; blocks
 * of big-endian GGUF files. A missing side tensor is GATHER_NAME_NOT_FOUND, one of a wrong type or shape GATHER_TYPE_MISMATCH or
 * GATHER_SHAPE_MISMATCH. The message names it.
 *
 * Memory: memory_bytes is shared by the quantised rows, the side tensors and the scratch memory. Without it each tensor that is read counts
 * as a separate table. Scales of the whole tensor and code books are kept in memory. So are all scales of a bitsandbytes tensor whose rows
 * are not a multiple of its blocks. In the statistics, resident, cached and read count quantised rows. bytes_useful counts them and the
 * side rows as stored in the files. row_bytes of the table is that of a decoded row. */

/* How a tensor in a file is quantised. */
typedef struct gather_file_codec {
  const char *codec;  /* its name in codec.h; static memory */
  const char *layout; /* how the file stores it ("GGUF", "MXFP4 (gpt-oss)"); static memory */
  int32_t rank;       /* of the values */
  int64_t shape[GATHER_MAX_RANK];
} gather_file_codec;

/* Whether a tensor is quantised, judged by its type and the names in its file. Side tensors are not read. */
GATHER_API bool gather_file_is_quantised(const gather_file *file, const gather_file_tensor *tensor);
/* Finds how a tensor is quantised, as gather_table_open does with decode_as and this codec. Returns its errors, and GATHER_OK only if rows
 * can be decoded.
 * Threads: any. */
GATHER_API GATHER_CHECKED gather_status gather_file_codec_find(const gather_file *file, const gather_file_tensor *tensor, const char *codec,
                                                               gather_file_codec *found, gather_error *error);

/* ---- taking rows ----------------------------------------------------------------------------------------------------- */

/* Options of one take. Initialise with GATHER_TABLE_TAKE_INIT. NULL in a call means the defaults. */
typedef struct gather_table_take_options {
  size_t size;
  const gather_op *op;             /* a version of Gather, for its index rule, or of GatherND, for rows by tuples. NULL = ONNX Gather-13 */
  gather_on_bad on_bad;            /* as gather_options.on_bad; default: the operator's */
  gather_negative negative;        /* likewise */
  const void *fill;                /* likewise */
  const gather_executor *executor; /* copies the resident rows; NULL = the calling thread. submit ignores it */
  int64_t *bad_count;              /* receives how many indices were out of range and repaired; may be NULL */
  /* Called for each read and each 1024 rows, by any working thread, also by several at once. If it returns true, the take ends
   * with GATHER_CANCELLED as soon as the reads in flight have ended. Then some rows of `out` may have been written. The table remains
   * usable. It must be quick and must not use the table. NULL = the take cannot be cancelled. submit ignores it: see
   * gather_table_job_cancel. */
  bool (*stop)(void *context);
  void *stop_context;
  /* Only bytes [part_from, part_from + part_bytes) of each row are needed: the others in `out` may have any value. Chunks without needed
   * bytes are not read (gather_file_chunks). part_bytes 0 = the whole row. Not with tuples. Since 0.3. */
  int64_t part_from, part_bytes;
  /* How many rows the caller will take in further takes; 0 = unknown. A table without a memory limit then reads its local files in order
   * if that is cheaper. The result is the same. Since 0.3. */
  int64_t rows_to_come;
} gather_table_take_options;

#define GATHER_TABLE_TAKE_INIT \
  { sizeof(gather_table_take_options), NULL, GATHER_ON_BAD_DEFAULT, GATHER_NEGATIVE_DEFAULT, NULL, NULL, NULL, NULL, NULL, 0, 0, 0 }

/* out[i...] = table[indices[i...]], in any order and with repetitions. With a version of GatherND:
 * out[i...] = table[indices[i..., 0], indices[i..., 1], ..]: the last dimension of indices has the numbers of a tuple, which select on
 * the first dimensions of the table. Only the bytes that the tuples select are read. Tuples of two or more numbers do not use the
 * table's cache, whose rows are whole. Errors have the component as the last coordinate of position, and as axis. Also returned:
 * GATHER_UNSUPPORTED for empty tuples, and for packed types if the selection of a tuple does not end on a whole byte.
 * indices: any integer type, rank and strides. out: type, item_bytes and byte order of the table, the shape of the indices followed by
 * that of a row, row-major without gaps (else GATHER_UNSUPPORTED). It must not overlap the indices.
 * Returns the errors of gather_apply, before anything is read; GATHER_IO_ERROR; GATHER_OUT_OF_MEMORY; GATHER_CANCELLED. Threads:
 * any. Memory: within the memory limit of the table. */
GATHER_API GATHER_CHECKED gather_status gather_table_take(gather_table *table, const gather_tensor *indices, const gather_tensor *out,
                                                          const gather_table_take_options *options, gather_error *error);

/* A take in the background. */
typedef struct gather_table_job gather_table_job;

/* Starts a job. Shapes and indices are checked before it returns. The memory of the indices, out, bad_count and fill must remain valid and
 * unchanged until gather_table_wait. The descriptions are copied. Several jobs may run at once. Jobs that do not fit the memory limit wait.
 * Returns as gather_table_take. */
GATHER_API GATHER_CHECKED gather_status gather_table_submit(gather_table *table, const gather_tensor *indices, const gather_tensor *out,
                                                            const gather_table_take_options *options, gather_table_job **job,
                                                            gather_error *error);
/* Waits at most `seconds` for the end of a job. 0 only polls. Frees nothing. Returns whether the job has ended, with or without an error.
 * Threads: any, until one calls
 * gather_table_wait. */
GATHER_API bool gather_table_job_await(gather_table_job *job, double seconds);
/* Cancels a job, and returns at once. The caller must still call gather_table_wait, which returns GATHER_CANCELLED, or the result of a job
 * that had already ended. Until then the job may write to its output. May be called more than once. NULL does nothing. Threads: as
 * gather_table_job_await. */
GATHER_API void gather_table_job_cancel(gather_table_job *job);
/* Waits for the end of a job, frees it, and returns as gather_table_take. */
GATHER_API GATHER_CHECKED gather_status gather_table_wait(gather_table_job *job, gather_error *error);

/* ---- what happened --------------------------------------------------------------------------------------------------- */

/* Counts since the table was opened, or since gather_table_statistics_reset. */
typedef struct gather_table_statistics {
  gather_engine engine;  /* the engine in use, never AUTO */
  bool direct;           /* reads with O_DIRECT */
  int32_t depth;         /* queue depth, of each device */
  char why[160];         /* why this engine was chosen, or why not the requested one; one sentence */
  int64_t takes;         /* successful calls and jobs */
  int64_t rows;          /* rows delivered by them: the next three, and filled rows */
  int64_t rows_resident; /* copied from the mapped file or the page cache */
  int64_t rows_cached;   /* copied from the table's own cache */
  int64_t rows_read;     /* delivered from reads; a row given twice in a batch counts twice */
  int64_t reads;         /* read requests to the system */
  int64_t bytes_useful;  /* rows * row_bytes */
  int64_t bytes_read;    /* read by them */
  int64_t memory_bytes;  /* in use now, as the memory limit counts it */
  int64_t memory_peak;
  int64_t memory_ceiling; /* the memory limit; 0 = none */
  double seconds;         /* in takes, all threads together */
  double seconds_waiting; /* of it waiting for reads */
  /* Of rows that are stored in chunks (gather_file_chunks); else 0. */
  int64_t chunks_read, chunks_cached; /* chunks read, and chunks found in the table's own cache, each once per take */
  int64_t bytes_decoded;              /* of decoded chunks */
  double seconds_decoding;            /* in decoding them, all threads together */
} gather_table_statistics;

/* Threads: any, also during takes. */
GATHER_API void gather_table_statistics_get(const gather_table *table, gather_table_statistics *statistics);
/* Sets all counts to 0; memory_peak becomes memory_bytes. */
GATHER_API void gather_table_statistics_reset(gather_table *table);

/* A device that a table reads from: its files with one device number (st_dev). Each device has a separate queue of reads, so that a slow
 * one does not delay the others. Beyond 16 devices, or if the memory limit is low, several share a queue. Each mount point has one device
 * number, so a RAID or a pool of disks is one device. Decoded rows (decode_as) are read file after file. */
typedef struct gather_table_device {
  uint64_t number;        /* st_dev */
  const char *path;       /* of its first file; valid until the table is closed */
  int32_t files;          /* how many of the table's files are on it */
  bool direct;            /* all of them are read with O_DIRECT */
  int32_t depth;          /* queue depth */
  int32_t most_in_flight; /* the most reads that one take had in flight here */
  int64_t reads;          /* as in gather_table_statistics; the sum over all devices is that of the table */
  int64_t bytes_read;
  double seconds_reading; /* of all reads, each from its start to its end: divided by reads, the mean latency; divided by the seconds of the
                             takes, the mean number of reads in flight */
} gather_table_device;

/* Device number i of a table, in the order of its files, with its counts since the table was opened or since gather_table_statistics_reset.
 * Returns false if i is not below the number of devices. Threads: any, also during takes. */
GATHER_API bool gather_table_device_at(const gather_table *table, int32_t i, gather_table_device *device);

/* The network statistics of a table of URLs: requests, bytes, latencies. All files of the table share the connections, so the requests that
 * opened the files count too. Returns false for a table of local files, with all counts 0. Threads: any, also during takes. Since 0.2 */
GATHER_API bool gather_table_remote_statistics(const gather_table *table, gather_remote_statistics *statistics);

/* ---- mapped memory that is no table ---------------------------------------------------------------------------------- */

/* Bytes that the caller, or somebody else in the process, has mapped from a file. Since 0.3 */
typedef struct gather_mapped {
  const void *memory;
  int64_t bytes;
  const char *path; /* of the file, for messages */
  int64_t offset;   /* of the first byte in it, likewise */
} gather_mapped;

/* The function that gather_mapped_call calls. executor: runs tasks under the same protection. NULL if the caller gave none. Since 0.3 */
typedef gather_status (*gather_mapped_body)(void *argument, const gather_executor *executor, gather_error *error);

/* Calls body(argument, executor, error), and returns its status. If body, or a task that it runs on this executor, reads a byte of `mapped`
 * that the system cannot read (a truncated file, a failed disk), SIGBUS does not end the process. The call returns GATHER_IO_ERROR with the
 * file and the byte. Then body, or the task, was left by a jump: it must hold no lock, and memory that it had allocated is leaked.
 * gather_plan_run holds neither. The rest of a truncated file's last page reads as zeros.
 * mapped: `count` ranges, 1 to GATHER_MAPPED_MOST. executor: NULL = none. Installs the handler of tables, if it is not installed yet (see
 * "Signals" above). Other errors, before body is called: GATHER_USAGE (count), GATHER_OUT_OF_MEMORY, GATHER_IO_ERROR (no handler can be
 * installed). Threads: any. Memory: none. Since 0.3 */
GATHER_API GATHER_CHECKED gather_status gather_mapped_call(const gather_mapped *mapped, int32_t count, const gather_executor *executor,
                                                           gather_mapped_body body, void *argument, gather_error *error);
enum { GATHER_MAPPED_MOST = 8 };

/* ---- engines --------------------------------------------------------------------------------------------------------- */

/* Whether this engine can be used: GATHER_OK, or GATHER_UNSUPPORTED with the reason (not in this build, not in this system, not
 * permitted). */
GATHER_API GATHER_CHECKED gather_status gather_engine_check(gather_engine engine, gather_error *error);

#ifdef __cplusplus
}
#endif

#endif
