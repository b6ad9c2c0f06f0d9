/* SPDX-License-Identifier: MIT
 *
 * gather.h: pick rows or elements out of a tensor by index.
 *
 *     ONNX Gather 1, 11, 13 and GatherElements 11, 13; OpenVINO Gather 1, 7, 8 and GatherElements 6.
 *
 * Contents: 1 version and linkage - 2 status and error - 3 element types - 4 tensors - 5 operators - 6 options
 *           7 threads - 8 shapes - 9 one call - 10 plans - 11 the machine
 *
 * For the whole header:
 *   Errors   A function that can fail returns a gather_status and takes a gather_error *, which may be NULL. On failure the
 *            error is filled in completely; on success it is not touched.
 *   Threads  Every function may be called by many threads at once on different objects; what is passed as const may be shared.
 *   Memory   The library never keeps a pointer to what the caller passed, unless the function says so. Nothing is allocated
 *            unless the function says so.
 *   Structs  that begin with a `size` are started from their ..._INIT, which sets it, so that a program works with later versions of
 *            the library. A smaller size (an older header) leaves the defaults in the fields that it has not. A larger one (a newer
 *            header) is accepted as long as all bytes behind the fields that the library knows are zero; else GATHER_USAGE, which names
 *            the struct: it asks for what the library does not have. A size that no header gives is GATHER_USAGE too: 0, above 4096, or
 *            no multiple of size_t's alignment.
 *   Sizes    are 64-bit. `len` counts elements, `bytes` counts bytes.
 */
#ifndef GATHER_GATHER_H
#define GATHER_GATHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- 1 version and linkage ------------------------------------------------------------------------------------------- */

#define GATHER_VERSION_MAJOR 0
#define GATHER_VERSION_MINOR 1
#define GATHER_VERSION_PATCH 0

/* An exported function. Programs that link the static library need no macro; the library itself sets GATHER_BUILDING. */
#if defined(__GNUC__)
#define GATHER_API __attribute__((visibility("default")))
#define GATHER_CHECKED __attribute__((warn_unused_result))
#define GATHER_PRINTF_LIKE(text, first) __attribute__((format(printf, text, first)))
#elif defined(_WIN32) && defined(GATHER_BUILDING_SHARED)
#define GATHER_API __declspec(dllexport)
#define GATHER_CHECKED
#define GATHER_PRINTF_LIKE(text, first)
#else
#define GATHER_API
#define GATHER_CHECKED
#define GATHER_PRINTF_LIKE(text, first)
#endif

/* The largest rank of any tensor, the output included. */
#define GATHER_MAX_RANK 64

/* The version of the library that is linked, "0.1.0". Static memory. Since 0.1. */
GATHER_API const char *gather_version(void);

/* ---- 2 status and error ---------------------------------------------------------------------------------------------- */

/* The numbers stand in status.def and never change their meaning. */
typedef enum gather_status {
#define GATHER_STATUS(ENUM, number, name, exit_code, sentence) GATHER_##ENUM = number,
#include "gather/status.def"
#undef GATHER_STATUS
} gather_status;

/* The name of a status as JSON has it ("index_out_of_range"); "unknown" for a number that is none. Since 0.1. */
GATHER_API const char *gather_status_name(gather_status status);
/* What a status means, in a few words. Since 0.1. */
GATHER_API const char *gather_status_sentence(gather_status status);
/* The exit code that the command gives for a status (0 to 4). Since 0.1. */
GATHER_API int gather_status_exit_code(gather_status status);

/* Why a function failed: one sentence, and fields for programs. The caller owns it; it may lie on the stack uninitialised.
 * Fields that do not apply are NULL, 0 or -1 as said. Strings are static unless they are arrays. */
typedef struct gather_error {
  gather_status status;
  char message[512];   /* one sentence without a line break, always terminated */
  const char *op;      /* "Gather"; NULL where no operator was involved */
  const char *rules;   /* "onnx-13"; NULL likewise */
  const char *input;   /* which argument: "data", "indices", "axis", "output"; NULL */
  char file[256];      /* the file's name (its end, where it is longer); "" */
  int64_t file_offset; /* byte in that file where it is wrong; -1 */
  int64_t row;         /* of a table (table.h): the row that could not be read; -1 */
  /* The rest stands only with GATHER_INDEX_OUT_OF_RANGE. */
  int32_t axis;                      /* the axis that is indexed, counted from 0; -1 */
  int32_t position_rank;             /* rank of the indices; -1 */
  int64_t position[GATHER_MAX_RANK]; /* the first bad index in row-major order, as coordinates in the indices */
  bool value_is_unsigned;            /* the index type is unsigned: read `value` as uint64_t */
  int64_t value;                     /* the bad index */
  int64_t low, high;                 /* the valid range, both ends included; low > high where nothing is valid */
  int64_t bad_count;                 /* how many indices are bad, all counted */
} gather_error;

/* Fills in an error, for programs and bindings that report their own failures as the library does.
 * The message is formatted as by printf and cut to the room that it has. It should be one sentence without a line break. Every other
 * field is reset: op, rules and input to NULL, file to "", file_offset, row, axis and position_rank to -1, the rest to 0. Set the
 * fields that apply afterwards.
 * error: NULL does nothing. The arguments of the format must not point into *error.
 * Returns `status`, so that `return gather_error_set(error, GATHER_USAGE, "...")` reads well. Threads: any. Memory: none.
 * Since 0.1. */
GATHER_API GATHER_PRINTF_LIKE(3, 4) gather_status
    gather_error_set(gather_error *error, gather_status status, const char *format, ...);
/* The same, and sets `input`: the argument that is wrong, a string in static memory ("data", "indices", "axis", "output"), or NULL.
 * Since 0.1. */
GATHER_API GATHER_PRINTF_LIKE(4, 5) gather_status
    gather_error_set_input(gather_error *error, gather_status status, const char *input, const char *format, ...);
/* The same about a file: sets `file` to the end of the name that fits, and file_offset. The message is "FILE: SENTENCE", with
 * " (at byte N)" behind it where offset is not below 0; the sentence is cut where all of it is too long. Since 0.1. */
GATHER_API GATHER_PRINTF_LIKE(5, 6) gather_status
    gather_error_set_file(gather_error *error, gather_status status, const char *file, int64_t offset,
                          const char *format, ...);

/* Frees a text that a function of the library made (explain.h, model.h). NULL does nothing. Since 0.1. */
GATHER_API void gather_text_free(char *text);

/* ---- 3 element types ------------------------------------------------------------------------------------------------- */

/* The numbers stand in type.def. GATHER_TYPE_NONE is no type. */
typedef enum gather_type {
  GATHER_TYPE_NONE = 0,
#define GATHER_TYPE(ENUM, number, ...) GATHER_TYPE_##ENUM = number,
#include "gather/type.def"
#undef GATHER_TYPE
} gather_type;

typedef enum gather_kind {
  GATHER_KIND_BOOL = 1,
  GATHER_KIND_INT,
  GATHER_KIND_UINT,
  GATHER_KIND_FLOAT,
  GATHER_KIND_COMPLEX,
  GATHER_KIND_STRING,
  GATHER_KIND_OPAQUE
} gather_kind;

typedef enum gather_packing {
  GATHER_PACKING_BYTES = 1,  /* an element is one or more whole bytes */
  GATHER_PACKING_LOW_FIRST,  /* several to a byte, the first in the lowest bits */
  GATHER_PACKING_HIGH_FIRST, /* several to a byte, the first in the highest bits */
  GATHER_PACKING_SPLIT_3, /* eight to three bytes: two planes of low bit pairs, one of high bits, first value on top */
  GATHER_PACKING_SPLIT_6, /* four to three bytes: two bytes of low nibbles, one of high bit pairs, first value on top */
  GATHER_PACKING_STREAM /* four to three bytes, which are one number of 24 bits, little-endian: the first in its lowest */
} gather_packing;

/* What is known of an element type. Static memory, one per type. */
typedef struct gather_type_info {
  gather_type type;
  const char *name; /* "float32": NumPy's or ml_dtypes' spelling */
  gather_kind kind;
  int32_t bits; /* of one element; 0 for opaque; a gather_string's for strings */
  gather_packing packing;
  int32_t group_len, group_bytes; /* packed types: this many elements stand in this many bytes; else 1 and the size */
  int32_t onnx;                   /* TensorProto.DataType; 0 where ONNX has no such type */
  const char *onnx_name;          /* "FLOAT"; NULL */
  int32_t onnxruntime;            /* ONNXTensorElementDataType; 0 */
  const char *openvino_name, *openvino_precision; /* "f32", "FP32"; NULL */
  const char *npy;                                /* "f4", without byte order; NULL where .npy cannot carry it */
  int32_t dlpack;                                 /* DLDataTypeCode; -1 */
  const char *safetensors;                        /* "F32"; NULL */
} gather_type_info;

/* What is known of `type`; NULL for a number that is no type. Since 0.1. */
GATHER_API const gather_type_info *gather_type_get(gather_type type);
/* The type of a name: NumPy's and ml_dtypes' ("float32"), ONNX's ("FLOAT") or OpenVINO's ("f32", "FP32"); letters as written.
 * GATHER_TYPE_NONE where the name is none of these. "opaque" is not a name. Since 0.1. */
GATHER_API gather_type gather_type_parse(const char *name);
/* The value of one element of a float type (GATHER_KIND_FLOAT), which a double can hold exactly.
 * element: its bytes in this machine's byte order, of any alignment; for packed types one byte with the value in its low bits.
 * Returns false, and leaves *number alone, for a type that is no float. Threads: any. Memory: none. Since 0.1. */
GATHER_API bool gather_float_read(gather_type type, const void *element, double *number);
/* How many bytes `len` elements take in row-major order without gaps: packed types are rounded up to whole groups.
 * type: any; item_bytes: bytes of one opaque element (ignored for other types); len: at least 0; bytes: the answer.
 * Returns GATHER_OVERFLOW when that does not fit in 63 bits, GATHER_TYPE_UNSUPPORTED for a number that is no type. Since 0.1. */
GATHER_API GATHER_CHECKED gather_status gather_type_bytes(gather_type type, int64_t item_bytes, int64_t len,
                                                          int64_t *bytes);

/* An element of a GATHER_TYPE_STRING tensor: a view of text that somebody else owns; no terminator. All bits zero is the
 * empty string. Gathering strings moves these views, never the text. */
typedef struct gather_string {
  const char *text;
  size_t bytes;
} gather_string;

/* ---- 4 tensors ------------------------------------------------------------------------------------------------------- */

enum {
  GATHER_TENSOR_READ_ONLY = 1, /* must not be written: refused as an output */
  GATHER_TENSOR_BYTE_SWAPPED =
      2, /* elements are in the other byte order than this machine's: indices are read so; data is moved as it is */
  GATHER_TENSOR_SHARED =
      4 /* others may write the elements during a call: a mapped file, memory of several processes. See below */
};

/* Memory that is written while the library reads it:
 *
 * data     Rows that somebody writes come out old, new or mixed. Nothing else depends on them. Ordinary memory that another thread of
 *          the program writes is a data race all the same, as C has it.
 * indices  must not change during a call, from any thread or process: they are validated and then read again, so that a changed one
 *          may be an address outside of data.
 *          Unless they are GATHER_TENSOR_SHARED: then each is read once, into private memory, where it is validated and used. However
 *          they change, nothing outside the tensors is touched, and each row of the output is one that an index meant when it was read.
 *          The tensors of files (file.h) have the flag. What it costs: indices are copied, in blocks of 8 KiB where fresh_output is set or
 *          the policy repairs (no memory; a few per cent of the time, up to a half more where rows are a few bytes in a cache), else all of
 *          them, on the heap from 16 KiB on (up to twice the time there): GATHER_OUT_OF_MEMORY where that cannot be had. GATHER_ON_BAD_PROMISE is not relied on: bad indices are clamped.
 * other tensors  The flag changes nothing on data and outputs. */

/* A tensor is described, not owned. It may be unaligned, strided (also with strides of 0 and below 0) and read-only.
 * An all-zero gather_tensor with a type is a valid 0-D tensor but for its data pointer. */
typedef struct gather_tensor {
  void *
      data; /* the element with all coordinates 0; never written when the tensor is an input; may be NULL without elements */
  gather_type type;       /* GATHER_TYPE_... */
  int32_t rank;           /* 0 to GATHER_MAX_RANK */
  int64_t item_bytes;     /* opaque types: bytes of one element, at least 0; else ignored */
  const int64_t *shape;   /* `rank` lengths, each at least 0; may be NULL at rank 0 */
  const int64_t *strides; /* `rank` steps, NULL = row-major; in bytes, for packed types (under 8 bits) in elements */
  int64_t
      packed_offset; /* packed types: number of the first element, counted from `data`, so that a view may begin within a byte */
  uint32_t flags; /* GATHER_TENSOR_... */
} gather_tensor;

/* Checks that a tensor is described sanely: type, rank, lengths, and that every size and every offset fits. Since 0.1. */
GATHER_API GATHER_CHECKED gather_status gather_tensor_check(const gather_tensor *tensor, gather_error *error);
/* The number of elements of a tensor that gather_tensor_check accepts. Since 0.1. */
GATHER_API int64_t gather_tensor_len(const gather_tensor *tensor);
/* The bytes that its elements take in row-major order without gaps (its own strides do not matter). Since 0.1. */
GATHER_API int64_t gather_tensor_bytes(const gather_tensor *tensor);

/* ---- 5 operators ----------------------------------------------------------------------------------------------------- */

/* A family: operators that differ only in what a row of the library's table says. The numbers are in family.def.
 * GATHER_FAMILY_GATHER: out[b][o][i][:] = data[b][o][indices[b][i]][:]
 * GATHER_FAMILY_ELEMENTS: out[..i..] = data[.. indices[..i..] at the axis ..] */
typedef enum gather_family {
#define GATHER_FAMILY(ENUM, number, file, name, whole_rows) GATHER_FAMILY_##ENUM = number,
#include "gather/family.def"
#undef GATHER_FAMILY
} gather_family;

typedef struct gather_family_info {
  gather_family family;
  const char *name; /* "Gather" or "GatherElements" */
  bool whole_rows;  /* each index selects a whole row of data; false: a single element */
} gather_family_info;

/* What is known of a family, in static memory; NULL for a number that is not in family.def. Since 0.1. */
GATHER_API const gather_family_info *gather_family_get(gather_family family);

/* What an index outside the valid range does. */
typedef enum gather_on_bad {
  GATHER_ON_BAD_DEFAULT = 0, /* as the operator's document says */
  GATHER_ON_BAD_ERROR,       /* the call fails; the output is not touched */
  GATHER_ON_BAD_CLAMP,       /* below the range the first row, above it the last */
  GATHER_ON_BAD_WRAP,        /* the true modulo of the index as it was written */
  GATHER_ON_BAD_ZERO,        /* all bits zero (the empty string) */
  GATHER_ON_BAD_FILL,        /* the element gather_options.fill points to */
  /* The caller promises that there is none: not checked, anything may happen if there is. On indices that are GATHER_TENSOR_SHARED:
   * as GATHER_ON_BAD_CLAMP. */
  GATHER_ON_BAD_PROMISE
} gather_on_bad;

typedef enum gather_negative {
  GATHER_NEGATIVE_DEFAULT = 0, /* as the operator's document says */
  GATHER_NEGATIVE_ON,          /* an index in [-n, -1] counts from the end of the axis of length n */
  GATHER_NEGATIVE_OFF          /* every negative index is out of range */
} gather_negative;

typedef enum gather_off_axis {
  GATHER_OFF_AXIS_NONE = 1, /* no rule (Gather) */
  GATHER_OFF_AXIS_EQUAL,    /* off the axis, indices and data have equal lengths (OpenVINO) */
  GATHER_OFF_AXIS_AT_MOST   /* off the axis, indices are no longer than data (ONNX, as its runtimes read it) */
} gather_off_axis;

/* An operator version: a row of the library's table, in static memory. A binding that has rules of its own may make one (with rules
 * NULL); it must then live as long as the plans and errors that name it. */
typedef struct gather_op {
  const char *rules;   /* "onnx-13"; NULL: no document's, errors and plans name the operator alone */
  const char *dialect; /* "onnx" or "openvino" */
  const char *name;    /* "Gather" or "GatherElements" */
  int32_t version;     /* the first opset that has this version */
  gather_family family;
  bool negative;        /* negative indices count from the end */
  gather_on_bad on_bad; /* never GATHER_ON_BAD_DEFAULT */
  bool batch_dims;      /* the operator has that attribute */
  gather_off_axis off_axis;
  bool axis_is_input;   /* the axis is a tensor, not an attribute */
  uint64_t types;       /* bit t is set where the document lists the type number t; all others work too */
  uint64_t index_types; /* likewise; every integer type works */
  const char *document; /* "ONNX Gather-13" */
} gather_op;

/* How many operator versions there are. Since 0.1. */
GATHER_API size_t gather_op_count(void);
/* Number i of them, NULL from gather_op_count() up. Since 0.1. */
GATHER_API const gather_op *gather_op_at(size_t i);
/* The version named by operator ("Gather", "GatherElements") and rules ("onnx-13"); NULL where there is none. Since 0.1. */
GATHER_API const gather_op *gather_op_find(const char *name, const char *rules);
/* The version that a node of this operator has in a model of that opset: the highest that is not above it.
 * dialect: "onnx" or "openvino". NULL where there is none. Since 0.1. */
GATHER_API const gather_op *gather_op_for_opset(const char *dialect, const char *name, int64_t opset);

/* ---- 6 options ------------------------------------------------------------------------------------------------------- */

struct gather_executor;

/* axis for gather_infer_shape when it is not known. */
#define GATHER_AXIS_UNKNOWN INT64_MIN

/* Attributes and policy of one gather. Start from GATHER_OPTIONS_INIT; NULL in a call means just that. */
typedef struct gather_options {
  size_t size;  /* sizeof(gather_options): lets later versions add fields */
  int64_t axis; /* in [-r, r-1], r = rank of data; default 0 */
  /* Leading dimensions that data and indices share; below 0 it counts from the rank of indices; default 0. */
  int64_t batch_dims;
  gather_on_bad on_bad;     /* default: the operator's */
  gather_negative negative; /* default: the operator's */
  /* GATHER_ON_BAD_FILL: one element as data stores it, in data's byte order; for packed types one byte that holds the value in
   * its low bits. */
  const void *fill;
  /* One-call functions only: who runs it (NULL = the calling thread), and where to write how many indices were out of range
   * and repaired (NULL = nowhere; 0 for an output without elements, which reads no index unless the policy is error). */
  const struct gather_executor *executor;
  int64_t *bad_count;
  bool fresh_output; /* one-call functions only: as in gather_run */
} gather_options;

#define GATHER_OPTIONS_INIT \
  { sizeof(gather_options), 0, 0, GATHER_ON_BAD_DEFAULT, GATHER_NEGATIVE_DEFAULT, NULL, NULL, NULL, false }

/* Reads the axis that OpenVINO's Gather takes as its third input: a tensor of any integer type with exactly one element (0-D
 * or any shape of ones). Returns GATHER_TYPE_UNSUPPORTED, GATHER_SHAPE_MISMATCH or GATHER_AXIS_OUT_OF_RANGE (a value beyond
 * 64 bits) otherwise. Source: OpenVINO Gather-7, input 3. Since 0.1. */
GATHER_API GATHER_CHECKED gather_status gather_axis_read(const gather_tensor *axis, int64_t *value,
                                                         gather_error *error);

/* ---- 7 threads ------------------------------------------------------------------------------------------------------- */

/* Who runs the parts of a gather. parallel_for calls task(argument, i) once for each i in [0, count), in any order, on any
 * threads, and returns when all calls have returned. The answer is the same, bit for bit, with any executor. */
typedef struct gather_executor {
  void *context;
  void (*parallel_for)(void *context, int64_t count, void (*task)(void *argument, int64_t i), void *argument);
  int32_t threads; /* how many tasks may run at once; at least 1 */
} gather_executor;

/* The built-in pool of threads. */
typedef struct gather_pool gather_pool;

/* Makes a pool. threads: how many, the calling thread included; 0 = the CPUs that this process may use. Where the system refuses a
 * thread (a limit on processes, no memory for its stack), the pool has fewer, at last the calling thread only: the executor's
 * `threads` says how many. Its threads block all signals but those that a thread can raise itself (SIGBUS, SIGSEGV, SIGFPE, SIGILL).
 * After fork() the child's copy of a pool runs everything on the calling thread.
 * Memory: one heap object and the threads' stacks; gather_pool_destroy frees them. Returns GATHER_USAGE (below 0, above 4096),
 * GATHER_OUT_OF_MEMORY. Since 0.1. */
GATHER_API GATHER_CHECKED gather_status gather_pool_create(int32_t threads, gather_pool **pool, gather_error *error);
/* Ends the pool's threads; nothing may run on it. NULL does nothing. Since 0.1. */
GATHER_API void gather_pool_destroy(gather_pool *pool);
/* The pool as an executor; it lives as long as the pool. Several threads may use it at once (they take turns). Since 0.1. */
GATHER_API const gather_executor *gather_pool_executor(const gather_pool *pool);

/* ---- 8 shapes -------------------------------------------------------------------------------------------------------- */

/* A length that is not known exactly: it lies in [min, max]. */
#define GATHER_DIM_UNBOUNDED INT64_MAX
typedef struct gather_dim {
  int64_t min, max;   /* 0 <= min <= max; max GATHER_DIM_UNBOUNDED = no upper bound; min == max = known */
  const char *symbol; /* a name that stands for the length ("N"), or NULL; copied as a pointer, compared by its text */
} gather_dim;

/* A shape of which not everything is known. */
typedef struct gather_shape {
  int32_t rank; /* -1 = unknown */
  gather_dim dims[GATHER_MAX_RANK];
} gather_shape;

/* The shape of the output where all is known.
 * data, indices: only their types, ranks and shapes are read; options: NULL = defaults; shape: room for GATHER_MAX_RANK
 * lengths; rank: how many were written.
 * Returns, in this order of complaints: GATHER_TYPE_UNSUPPORTED (indices are no integers), GATHER_RANK_MISMATCH,
 * GATHER_AXIS_OUT_OF_RANGE, GATHER_BATCH_DIMS_OUT_OF_RANGE, GATHER_SHAPE_MISMATCH, GATHER_UNSUPPORTED (the output's
 * rank is above GATHER_MAX_RANK), GATHER_OVERFLOW. Source: the shape rule of each document. Since 0.1. */
GATHER_API GATHER_CHECKED gather_status gather_output_shape(const gather_op *op, const gather_tensor *data,
                                                            const gather_tensor *indices, const gather_options *options,
                                                            int64_t *shape, int32_t *rank, gather_error *error);

/* The shape of the output where not all is known: ranks may be -1, lengths intervals, options->axis GATHER_AXIS_UNKNOWN.
 * out: a shape that every legal output fits. Where the axis is unknown, only the rank and the batch dimensions are inferred.
 * Returns as gather_output_shape: an error means that no input
 * that fits could be legal. Batch dimensions of data and indices are intersected. Source: shape inference of ONNX
 * (onnx/defs/tensor/defs.cc) and of OpenVINO (gather_base.hpp, gather_elements). Since 0.1. */
GATHER_API GATHER_CHECKED gather_status gather_infer_shape(const gather_op *op, const gather_shape *data,
                                                           const gather_shape *indices, const gather_options *options,
                                                           gather_shape *out, gather_error *error);

/* Where a dimension of the output comes from: the dimension of data and the dimension of indices that it runs along; -1 = none. It
 * runs along both where an element of the output and its index have the same coordinate: batch dimensions, and those off the axis of
 * GatherElements. */
typedef struct gather_dim_source {
  int32_t data, indices;
} gather_dim_source;

/* Where each dimension of the output comes from. The dimensions of data that no dimension of the output names are those that the index
 * selects on: the axis.
 * data_rank, indices_rank: 0 to GATHER_MAX_RANK; options: NULL = defaults; sources: room for GATHER_MAX_RANK; rank: how many were
 * written, which is the rank of the output. Works without memory from the heap. Returns as gather_output_shape of tensors with these
 * ranks; GATHER_USAGE for a rank that is not in range. Since 0.1. */
GATHER_API GATHER_CHECKED gather_status gather_output_sources(const gather_op *op, int32_t data_rank,
                                                              int32_t indices_rank, const gather_options *options,
                                                              gather_dim_source *sources, int32_t *rank,
                                                              gather_error *error);

/* The same as a formula in one line: "out[i, j] = data[idx[i], j]". text: room for `bytes`, at least 1; what does not fit is cut off, and the
 * text ends with 0. Returns as gather_output_sources; then the text is empty. Since 0.1. */
GATHER_API GATHER_CHECKED gather_status gather_output_formula(const gather_op *op, int32_t data_rank,
                                                              int32_t indices_rank, const gather_options *options,
                                                              char *text, size_t bytes, gather_error *error);

/* The value of a gather whose data is a computed shape (Shape, then Gather): each element of data is an interval or a symbol,
 * the indices are constants. data: a row-major opaque tensor of gather_dim elements (item_bytes = sizeof(gather_dim));
 * out: likewise, of the output's shape. Works for every axis, keeps the rank of the indices, and follows the operator's index
 * rule: an index out of range is an error, or the length 0 under rules that fill with zeros. Same returns as gather_apply.
 * Source: data propagation of ONNX (onnx/defs/data_propagators.h), bounds propagation of OpenVINO. Since 0.1. */
GATHER_API GATHER_CHECKED gather_status gather_infer_value(const gather_op *op, const gather_tensor *data,
                                                           const gather_tensor *indices, const gather_tensor *out,
                                                           const gather_options *options, gather_error *error);

/* ---- 9 one call ------------------------------------------------------------------------------------------------------ */

/* Gathers. Where a bad index is an error, every index is checked before the first byte of the output is written.
 *
 * op: which rules; NULL is GATHER_USAGE.
 * data: rank r >= 1, any type, any strides. Not written.
 * indices: any integer type, any strides, read as they are. Not written.
 * out: type and byte order of data (opaque: the same item_bytes), the shape gather_output_shape gives; strides that nest: in
 *     some order of the dimensions, each steps over all that the finer ones span (row-major, transposed and sliced outputs do).
 *     It must not overlap data or indices: where the bytes they span meet, that is GATHER_USAGE.
 *     Packed outputs in row-major order from packed_offset 0 get zeros in the bits after the last element; the bits round any
 *     other packed view stay as they are.
 * options: NULL = axis 0 and the document's own index rule.
 *
 * Returns GATHER_OK; the returns of gather_output_shape; GATHER_TYPE_MISMATCH (out); GATHER_SHAPE_MISMATCH (out);
 * GATHER_INDEX_OUT_OF_RANGE with position, value, range and count, also where clamp or wrap cannot repair because the axis has
 * length 0. Then `out` is as it was before, unless options->fresh_output allows it to hold anything.
 * Threads: options->executor, else the calling thread. Memory: none from the heap, with one exception: elements of 1, 2, 4 or 8
 * bytes by at least radix_block indices (section 11) from a table of at least radix_bytes may be put into parts. That takes up to
 * 4 bytes per index of a block, 8 for elements of 8 bytes, for one block per thread, at most scratch_bytes in all, until the call
 * returns. Where there is no memory, or scratch_bytes is 0, the call takes longer and gives the same. Since 0.1. */
GATHER_API GATHER_CHECKED gather_status gather_apply(const gather_op *op, const gather_tensor *data,
                                                     const gather_tensor *indices, const gather_tensor *out,
                                                     const gather_options *options, gather_error *error);

/* gather_apply with the rules of ONNX Gather-13 (negative indices count from the end, a bad index is an error). Since 0.1. */
GATHER_API GATHER_CHECKED gather_status gather_take(const gather_tensor *data, const gather_tensor *indices,
                                                    int64_t axis, const gather_tensor *out, gather_error *error);
/* gather_apply with the rules of ONNX GatherElements-13. Since 0.1. */
GATHER_API GATHER_CHECKED gather_status gather_elements(const gather_tensor *data, const gather_tensor *indices,
                                                        int64_t axis, const gather_tensor *out, gather_error *error);

/* ---- 10 plans -------------------------------------------------------------------------------------------------------- */

/* A gather with everything decided but the memory it works on. Immutable: many threads may run one plan at once. */
typedef struct gather_plan gather_plan;

/* Decides. op, options and the types, shapes, strides and flags of the tensors are as for gather_apply and are copied;
 * `data` pointers are ignored. out may be NULL: row-major, of the shape the rules give.
 * Memory: one heap object; gather_plan_destroy frees it. Returns as gather_apply, and GATHER_OUT_OF_MEMORY. Since 0.1. */
GATHER_API GATHER_CHECKED gather_status gather_plan_create(const gather_op *op, const gather_tensor *data,
                                                           const gather_tensor *indices, const gather_tensor *out,
                                                           const gather_options *options, gather_plan **plan,
                                                           gather_error *error);
/* Frees a plan; NULL does nothing. Since 0.1. */
GATHER_API void gather_plan_destroy(gather_plan *plan);

/* What a plan runs on. Start from GATHER_RUN_INIT. */
typedef struct gather_run {
  size_t size;      /* sizeof(gather_run) */
  const void *data; /* as gather_tensor.data of the three tensors */
  const void *indices;
  void *out;
  const gather_executor *executor; /* NULL = the calling thread */
  int64_t *bad_count;              /* receives how many indices were out of range and repaired; may be NULL */
  /* What becomes of the output when an index is out of range and that is an error. false: it stays as it was, for which all
   * indices are read before the first row moves, and once more as rows move. true: it may hold anything afterwards, as memory may
   * that was just made and will be thrown away. Then many indices are read once only, which takes up to a third off the time where
   * they come from memory and the rows from a cache. The error is the same. */
  bool fresh_output;
} gather_run;

#define GATHER_RUN_INIT \
  { sizeof(gather_run), NULL, NULL, NULL, NULL, NULL, false }

/* Runs a plan: as gather_apply, with the same promises. Memory: as gather_apply. Since 0.1. */
GATHER_API GATHER_CHECKED gather_status gather_plan_run(const gather_plan *plan, const gather_run *run,
                                                        gather_error *error);
/* Checks the indices as gather_plan_run would, and writes nothing: data and out of `run` are ignored. Since 0.1. */
GATHER_API GATHER_CHECKED gather_status gather_plan_check(const gather_plan *plan, const gather_run *run,
                                                          gather_error *error);
/* Writes the plan as one line, as snprintf does: at most `bytes` with the terminator; returns the length it has or would have.
 * The words are for people and may change. Since 0.1. */
GATHER_API size_t gather_plan_print(const gather_plan *plan, char *text, size_t bytes);
/* The shape of the output: `shape` has room for GATHER_MAX_RANK lengths; returns the rank. Since 0.1. */
GATHER_API int32_t gather_plan_shape(const gather_plan *plan, int64_t *shape);

/* ---- 11 the machine -------------------------------------------------------------------------------------------------- */

/* The CPUs that this process may use (its affinity mask), at least 1. Since 0.1. */
GATHER_API int32_t gather_cpu_count(void);
/* The CPU features that were found, words with a space between ("sse2 avx2 avx512f"). Static memory. Since 0.1. */
GATHER_API const char *gather_cpu_features(void);
/* The name of the instruction set whose kernels run ("portable"). Since 0.1. */
GATHER_API const char *gather_isa_name(void);
/* A number that decides how gathers run, never what they give. */
typedef struct gather_tuning {
  const char *name;
  int64_t initial;
  const char *meaning;
} gather_tuning;

/* Number i of the tuning numbers; NULL behind the last. Static memory. Since 0.1. */
GATHER_API const gather_tuning *gather_tuning_at(int32_t i);
/* The value in force, for the whole process. Returns GATHER_NAME_NOT_FOUND. Threads: any, at any time. Since 0.1. */
GATHER_API GATHER_CHECKED gather_status gather_tuning_get(const char *name, int64_t *value, gather_error *error);
/* Changes it. Plans that stand keep what they decided. Returns GATHER_NAME_NOT_FOUND. Threads: any, at any time. Since 0.1. */
GATHER_API GATHER_CHECKED gather_status gather_tuning_set(const char *name, int64_t value, gather_error *error);
/* Asks the system to keep memory in huge pages, best before it is first touched. It costs nothing and never changes what the
 * memory holds. Worth it for tables that are gathered from at random: from 64 MiB up gathers of short rows took 1.1 to 2.8 times
 * as long in pages of 4 KiB, since each of them looks up an address that no cache of addresses holds. Most systems give huge
 * pages to programs that ask only; what the library itself allocates is asked for so.
 * memory, bytes: memory of the caller; the pages that lie in it whole are advised. Returns GATHER_OK; GATHER_UNSUPPORTED where
 * the system has no such advice or refuses it. Threads: any. Memory: none. Since 0.1. */
GATHER_API gather_status gather_advise_huge_pages(void *memory, size_t bytes);
/* What the built-in pool is made of: "pthreads", or "none" where the system has no threads that the library knows. Since 0.1. */
GATHER_API const char *gather_pool_library(void);

#ifdef __cplusplus
}
#endif

#endif
