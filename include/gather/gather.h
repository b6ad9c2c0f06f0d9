/* SPDX-License-Identifier: MIT
 *
 * gather.h: gathers rows or elements of a tensor by index. Since 0.1.
 *
 *     ONNX Gather 1, 11, 13, GatherElements 11, 13 and GatherND 11, 12, 13; com.microsoft GatherND 1; OpenVINO Gather 1, 7, 8,
 *     GatherElements 6 and GatherND 5, 8. tree.h: OpenVINO GatherTree 1. StableHLO gather.
 *
 * I want to ...
 *   take rows, elements or tuples by index          gather_take, gather_elements, gather_nd; by other rules gather_apply
 *   do so often, for shapes known in advance        gather_plan_create, gather_plan_run
 *   use several threads                             gather_pool_create, or a gather_executor of my own
 *   only check indices, or repair them              gather_plan_check; gather_options.on_bad
 *   know the shape of the output                    gather_output_shape; for unknown lengths gather_infer_shape
 *   take rows of a quantised table                  gather_take_quantized, gather_decoder_create (codec.h)
 *   follow the beams of a beam search               gather_tree (tree.h)
 *   write rows or elements by index, sum them       gather_scatter, gather_scatter_elements, gather_scatter_nd (scatter.h)
 *   compute the gradient of a gather                gather_backward (scatter.h)
 *   sum rows of embedding bags                      gather_embedding_bag (scatter.h)
 *   use tensors of NumPy, PyTorch, JAX              gather_tensor_from_dlpack (dlpack.h)
 *   read tensors of a file, ids of a text           gather_file_open, gather_file_find (file.h)
 *   write a file                                    gather_writer_create (file.h)
 *   take rows of a file larger than memory          gather_table_open, gather_table_take (table.h); by a URL remote.h
 *   reorder the rows of a file                      gather_shuffle_create (shuffle.h)
 *   check or run the gathers of a model             gather_model_open, gather_model_check, gather_model_run (model.h)
 *   see where each cell comes from                  gather_explain_create (explain.h)
 * docs/embed/guide.md and docs/embed/calls.md have programs that call every function.
 *
 * Contents: 1 version and linkage - 2 status and error - 3 element types - 4 tensors - 5 operators - 6 options
 *           7 threads - 8 shapes - 9 one call - 10 plans - 11 the machine
 *
 * The whole header:
 *   Errors   A function that can fail returns a gather_status and takes a gather_error *, which may be NULL. On failure the error is filled
 *            in completely. On success it is not touched.
 *   Threads  Every function may be called by many threads at once on different objects. const arguments may be shared.
 *   Memory   The library keeps no pointer to the caller's memory and allocates nothing, unless the function's comment states it.
 *   Structs  that begin with `size` must be initialised with their ..._INIT, which sets it. So a program also works with later versions
 *            of the library. If size is smaller (an older header), the missing fields have their defaults. A larger size (a newer header)
 *            is accepted if all bytes after the known fields are zero. Otherwise the call returns GATHER_USAGE and names the struct. A size
 *            that no header has is GATHER_USAGE too: 0, above 4096, or not a multiple of size_t's alignment.
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
#define GATHER_VERSION_MINOR 2
#define GATHER_VERSION_PATCH 0

/* An exported function. Programs that link the static library need no macro; the library itself sets GATHER_BUILDING. */
#if defined(__MINGW32__) /* the DLL's export list decides what is exported; gcc's `printf` means that of the old msvcrt */
#define GATHER_API
#define GATHER_CHECKED __attribute__((warn_unused_result))
#if defined(__clang__)
#define GATHER_PRINTF_LIKE(text, first) __attribute__((format(printf, text, first)))
#else
#define GATHER_PRINTF_LIKE(text, first) __attribute__((format(gnu_printf, text, first)))
#endif
#elif defined(__GNUC__)
#if defined(GATHER_HIDDEN) /* the library is part of a module that exports nothing of it */
#define GATHER_API
#else
#define GATHER_API __attribute__((visibility("default")))
#endif
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

/* The version of the linked library, "0.2.0". Static memory. */
GATHER_API const char *gather_version(void);

/* ---- 2 status and error ---------------------------------------------------------------------------------------------- */

/* The numbers are in status.def and never change their meaning. Each row also has a short description and the exit code of the command (0
 * to 4). A program gets them if it defines GATHER_STATUS and includes the file, as here. */
typedef enum gather_status {
#define GATHER_STATUS(ENUM, number, name, exit_code, sentence) GATHER_##ENUM = number,
#include "gather/status.def"
#undef GATHER_STATUS
} gather_status;

/* The name of a status in JSON ("index_out_of_range"), or "unknown" for any other number. */
GATHER_API const char *gather_status_name(gather_status status);

/* Why a function failed: one sentence, and fields for programs. The caller owns it; it need not be initialised.
 * Fields that do not apply are NULL, "", 0 or -1, as given below. Strings are static, except the arrays. */
typedef struct gather_error {
  gather_status status;
  char message[512];   /* one sentence without a line break, always terminated */
  const char *op;      /* "Gather"; NULL if no operator is involved */
  const char *rules;   /* "onnx-13"; or NULL */
  const char *input;   /* which argument: "data", "indices", "axis", "output" (of gather_tree: "parent_ids" ...); NULL */
  char file[256];      /* the file's name (the end of a longer one; a URL without user, password and query); "" */
  int64_t file_offset; /* byte of the error in that file; -1 */
  int64_t row;         /* of a table (table.h): the row that could not be read; -1 */
  /* The rest is set only with GATHER_INDEX_OUT_OF_RANGE, and in part with GATHER_INDEX_REPEATED. */
  int32_t axis; /* the indexed one, from 0; of GatherND batch_dims plus the component; of StableHLO start_index_map[component]; -1 */
  int32_t position_rank; /* rank of the indices; -1 */
  /* Coordinates of the first index out of range, in row-major order. With a repair policy: of the first one that it cannot repair, on an
   * axis of length 0. For GatherND the last coordinate is the component: which number of the tuple. */
  int64_t position[GATHER_MAX_RANK];
  bool value_is_unsigned; /* the index type is unsigned: read `value` as uint64_t */
  int16_t system_error;   /* of every status: the errno of the system that is the reason (ENOSPC, EACCES ...); 0 */
  int64_t value;          /* the index out of range */
  int64_t low, high;      /* the valid range, both ends included; low > high if no index is valid */
  int64_t bad_count;      /* how many indices are out of range; of GatherND the numbers of all tuples are counted */
  /* GATHER_INDEX_REPEATED (scatter.h) also sets axis, position_rank, position and value: those of the first index that selects the same
   * place as an earlier one. These are the coordinates of the earlier one. For tuples they are those of the first number. */
  int64_t first_position[GATHER_MAX_RANK];
} gather_error;

/* Fills in an error, for programs and bindings that report their own failures in the same way.
 * The message is formatted as by printf and truncated to its array. It should be one sentence without a line break. Every other
 * field is reset: op, rules and input to NULL, file to "", file_offset, row, axis and position_rank to -1, the rest to 0. Set the
 * fields that apply afterwards.
 * error: NULL does nothing. The format's arguments must not point into *error.
 * Returns `status`, for `return gather_error_set(error, GATHER_USAGE, "...")`. Threads: any. Memory: none. */
GATHER_API GATHER_PRINTF_LIKE(3, 4) gather_status gather_error_set(gather_error *error, gather_status status, const char *format, ...);
/* The same, and sets `input`: the invalid argument, a string in static memory ("data", "indices", "axis", "output"), or NULL. */
GATHER_API GATHER_PRINTF_LIKE(4, 5) gather_status
    gather_error_set_input(gather_error *error, gather_status status, const char *input, const char *format, ...);
/* The same for a file: sets `file` (the end of a longer name; a URL without user, password and query) and file_offset. The message is
 * "FILE: SENTENCE", followed by " (at byte N)" if offset is at least 0. A sentence that is too long is truncated. */
GATHER_API GATHER_PRINTF_LIKE(5, 6) gather_status
    gather_error_set_file(gather_error *error, gather_status status, const char *file, int64_t offset, const char *format, ...);

/* Frees a text that the library returned (explain.h, model.h). NULL does nothing. */
GATHER_API void gather_text_free(char *text);

/* ---- 3 element types ------------------------------------------------------------------------------------------------- */

/* The numbers are in type.def. GATHER_TYPE_NONE is not a type. */
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
  GATHER_PACKING_LOW_FIRST,  /* several per byte, the first in the lowest bits */
  GATHER_PACKING_HIGH_FIRST, /* several per byte, the first in the highest bits */
  GATHER_PACKING_SPLIT_3,    /* eight in three bytes: two planes of low bit pairs, one of high bits, first value in the highest bits */
  GATHER_PACKING_SPLIT_6,    /* four in three bytes: two bytes of low nibbles, one of high bit pairs, first value in the highest bits */
  GATHER_PACKING_STREAM      /* four in three bytes, one little-endian number of 24 bits: the first in its lowest bits */
} gather_packing;

/* The properties of an element type. Static memory, one per type. */
typedef struct gather_type_info {
  gather_type type;
  const char *name; /* "float32": NumPy's or ml_dtypes' spelling */
  gather_kind kind;
  int32_t bits; /* of one element; 0 for opaque types; of a gather_string for strings */
  gather_packing packing;
  int32_t group_len, group_bytes;                 /* packed types: group_len elements share group_bytes bytes; else 1 and the size */
  int32_t onnx;                                   /* TensorProto.DataType; 0 if ONNX has no such type */
  const char *onnx_name;                          /* "FLOAT"; NULL */
  int32_t onnxruntime;                            /* ONNXTensorElementDataType; 0 */
  const char *openvino_name, *openvino_precision; /* "f32", "FP32"; NULL */
  const char *npy;                                /* "f4", without byte order; NULL if .npy cannot store it */
  int32_t dlpack;                                 /* DLDataTypeCode; -1 */
  const char *safetensors;                        /* "F32"; NULL */
} gather_type_info;

/* The properties of `type`, or NULL for an unknown number. */
GATHER_API const gather_type_info *gather_type_get(gather_type type);
/* The type of a name: NumPy's and ml_dtypes' ("float32"), ONNX's ("FLOAT") or OpenVINO's ("f32", "FP32"). Case matters. GATHER_TYPE_NONE
 * for any other name, "opaque" included. */
GATHER_API gather_type gather_type_parse(const char *name);
/* The value of one element of a float type (GATHER_KIND_FLOAT), which a double represents exactly.
 * element: its bytes in this machine's byte order, of any alignment. For packed types: one byte with the value in its low bits.
 * Returns false, and does not write *number, for any other type. Threads: any. Memory: none. */
GATHER_API bool gather_float_read(gather_type type, const void *element, double *number);
/* The bytes of `len` elements in row-major order without gaps. Packed types are rounded up to whole groups.
 * type: any. item_bytes: bytes of one opaque element (ignored for other types). len: at least 0. bytes: the result.
 * Returns GATHER_OVERFLOW if that does not fit 63 bits, GATHER_TYPE_UNSUPPORTED for an unknown type. */
GATHER_API GATHER_CHECKED gather_status gather_type_bytes(gather_type type, int64_t item_bytes, int64_t len, int64_t *bytes);

/* An element of a GATHER_TYPE_STRING tensor: a view of text without a terminator. All bits zero is the empty
 * string. Gathering copies these views, never the text. The text must live as long as the output is used. */
typedef struct gather_string {
  const char *text;
  size_t bytes;
} gather_string;

/* ---- 4 tensors ------------------------------------------------------------------------------------------------------- */

enum {
  GATHER_TENSOR_READ_ONLY = 1, /* must not be written: not accepted as an output */
  GATHER_TENSOR_BYTE_SWAPPED =
      2, /* elements are not in the byte order of this machine. Indices are swapped when they are read. Data is moved unchanged */
  GATHER_TENSOR_SHARED = 4 /* others may write the elements during a call: a mapped file, memory shared by processes. See below */
};

/* Memory that others write while the library reads it:
 *
 * data     A row that is written during the call comes out old, new or mixed. Nothing else depends on it. If another thread of the
 *          program writes ordinary memory, this is a data race as C defines it.
 * indices  must not change during a call: they are validated and then read again, so a changed index may address memory outside data.
 *          With GATHER_TENSOR_SHARED they may change: each index is read once, into private memory, and is validated and used there.
 *          However the indices change, nothing outside the tensors is accessed, and each row of the output belongs to an index as it was
 *          read. The tensors of files (file.h) have this flag. Cost: the indices are copied. With fresh_output or a repair policy, they are
 *          copied in blocks of 8 KiB, without heap memory. This takes a few per cent more time, up to 50% more for rows of a few bytes in
 *          cache. Otherwise all indices are copied, on the heap from 16 KiB on, which takes up to twice the time. If that fails:
 *          GATHER_OUT_OF_MEMORY. With GATHER_ON_BAD_PROMISE, indices out of range are clamped.
 * others   The flag has no effect on data and outputs. */

/* Describes a tensor without owning it. It may be unaligned, strided (strides may be 0 or negative) and read-only. An all-zero
 * gather_tensor with a type and a data pointer is a valid 0-D tensor. */
typedef struct gather_tensor {
  void *data;             /* the element with all coordinates 0; inputs are never written; may be NULL if there are no elements */
  gather_type type;       /* GATHER_TYPE_... */
  int32_t rank;           /* 0 to GATHER_MAX_RANK */
  int64_t item_bytes;     /* opaque types: bytes of one element, at least 0; others: ignored */
  const int64_t *shape;   /* `rank` lengths, each at least 0; may be NULL at rank 0 */
  const int64_t *strides; /* `rank` steps, NULL = row-major; in bytes, for packed types (under 8 bits) in elements */
  int64_t packed_offset;  /* packed types: number of the first element, counted from `data`: a view may begin within a byte */
  uint32_t flags;         /* GATHER_TENSOR_... */
} gather_tensor;

/* Checks the description of a tensor: type, rank, lengths, and that all sizes and offsets fit 63 bits. Reads no element. */
GATHER_API GATHER_CHECKED gather_status gather_tensor_check(const gather_tensor *tensor, gather_error *error);
/* The number of elements of a tensor that gather_tensor_check accepts. */
GATHER_API int64_t gather_tensor_len(const gather_tensor *tensor);
/* The bytes of its elements in row-major order without gaps (its strides are ignored). */
GATHER_API int64_t gather_tensor_bytes(const gather_tensor *tensor);

/* ---- 5 operators ----------------------------------------------------------------------------------------------------- */

/* A family: operators that differ only in their row of the operator table. The numbers are in family.def.
 * GATHER_FAMILY_GATHER: out[b][o][i][:] = data[b][o][indices[b][i]][:]
 * GATHER_FAMILY_ELEMENTS: out[..i..] = data[.. indices[..i..] at the axis ..]
 * GATHER_FAMILY_ND: out[b][i][:] = data[b][indices[b][i][0]][indices[b][i][1]]..[:]
 * GATHER_FAMILY_STABLEHLO: a window of data per tuple of indices, by dimension numbers
 * GATHER_FAMILY_TREE: sequences of a beam search (tree.h)
 * GATHER_FAMILY_SCATTER and the others: operators that write, and embedding bags (scatter.h) */
typedef enum gather_family {
#define GATHER_FAMILY(ENUM, number, file, name, whole_rows) GATHER_FAMILY_##ENUM = number,
#define GATHER_FAMILY_OWN(ENUM, number, name, function) GATHER_FAMILY_##ENUM = number,
#include "gather/family.def"
#undef GATHER_FAMILY
} gather_family;

typedef struct gather_family_info {
  gather_family family;
  const char *name; /* "Gather", "GatherElements" or "GatherND" */
  bool whole_rows;  /* each index is one number that selects a whole row of data; false: a single element, or an index is a tuple */
  /* The function that applies these operators ("gather_tree"): gather_apply, plans and the functions for shapes below refuse them
   * with GATHER_UNSUPPORTED. NULL: these functions accept them. */
  const char *function;
} gather_family_info;

/* The properties of a family, in static memory, or NULL for an unknown number. */
GATHER_API const gather_family_info *gather_family_get(gather_family family);

/* The repair policy: what happens to an index out of range. */
typedef enum gather_on_bad {
  GATHER_ON_BAD_DEFAULT = 0, /* as the operator's document says */
  GATHER_ON_BAD_ERROR,       /* the call fails and leaves the output unchanged */
  GATHER_ON_BAD_CLAMP,       /* the first row below the range, the last row above it */
  GATHER_ON_BAD_WRAP,        /* the index modulo the length of the axis, always in range */
  GATHER_ON_BAD_ZERO,        /* all bits zero (the empty string) */
  GATHER_ON_BAD_FILL,        /* the element that gather_options.fill points to */
  /* Unchecked: the caller guarantees that all indices are in range. Otherwise the behaviour is undefined. For indices with
   * GATHER_TENSOR_SHARED it is GATHER_ON_BAD_CLAMP. */
  GATHER_ON_BAD_PROMISE,
  GATHER_ON_BAD_SKIP /* scatter.h only: nothing is written */
} gather_on_bad;

typedef enum gather_negative {
  GATHER_NEGATIVE_DEFAULT = 0, /* as the operator's document says */
  GATHER_NEGATIVE_ON,          /* an index in [-n, -1] counts from the end of the axis of length n */
  GATHER_NEGATIVE_OFF          /* every negative index is out of range */
} gather_negative;

typedef enum gather_off_axis {
  GATHER_OFF_AXIS_NONE = 1, /* no rule (Gather) */
  GATHER_OFF_AXIS_EQUAL,    /* off the axis, indices and data have equal lengths (OpenVINO) */
  GATHER_OFF_AXIS_AT_MOST   /* off the axis, indices are at most as long as data (ONNX, as its runtimes interpret it) */
} gather_off_axis;

/* Where an operator has its axis. */
typedef enum gather_axis_source {
  GATHER_AXIS_SOURCE_ATTRIBUTE = 0,
  GATHER_AXIS_SOURCE_INPUT, /* a tensor of one element (OpenVINO's Gather) */
  GATHER_AXIS_SOURCE_NONE   /* it has none (GatherND: its tuples select on the dimensions after the batch dimensions) */
} gather_axis_source;

/* Whether the last dimension of indices has the numbers of a tuple, one component for each of several axes of data. */
typedef enum gather_tuples {
  GATHER_TUPLES_NONE = 0, /* no: each number of indices is an index */
  GATHER_TUPLES_NONEMPTY, /* tuples of at least one number (ONNX GatherND) */
  GATHER_TUPLES_ANY       /* tuples may have no number: then each selects the whole of data (or of the batch's part) */
} gather_tuples;

/* An operator version: a row of the operator table, in static memory. A binding with its own rules may define one (with rules NULL), which
 * must live as long as the plans and errors that refer to it. */
typedef struct gather_op {
  const char *rules;   /* "onnx-13"; NULL = of no document: errors and plans give only the operator */
  const char *dialect; /* "onnx", "microsoft" (the domain com.microsoft of ONNX models), "openvino" or "stablehlo" */
  const char *name;    /* "Gather", "GatherElements" or "GatherND" */
  int32_t version;     /* the first opset that has this version */
  gather_family family;
  bool negative;        /* negative indices count from the end */
  gather_on_bad on_bad; /* never GATHER_ON_BAD_DEFAULT */
  bool batch_dims;      /* the operator has this attribute */
  gather_off_axis off_axis;
  gather_axis_source axis_source;
  uint64_t types;       /* bit t is set if the document lists type number t; other types work too */
  uint64_t index_types; /* the same for indices; every integer type works */
  const char *document; /* "ONNX Gather-13" */
  gather_tuples tuples; /* of the indices */
  bool fused_batch;     /* the batch dimensions are one dimension of the output, of the product of their lengths (GatherND-5) */
} gather_op;

/* Operator version number i, or NULL after the last. */
GATHER_API const gather_op *gather_op_at(size_t i);
/* The version named by operator ("Gather", "GatherElements", "GatherND") and rules ("onnx-13"); NULL if there is none. */
GATHER_API const gather_op *gather_op_find(const char *name, const char *rules);
/* The version of an operator in a model of a given opset: the latest that is not newer than the opset.
 * dialect: "onnx", "microsoft" or "openvino". Returns NULL if there is none. */
GATHER_API const gather_op *gather_op_for_opset(const char *dialect, const char *name, int64_t opset);

/* ---- 6 options ------------------------------------------------------------------------------------------------------- */

struct gather_executor;

/* The axis for gather_infer_shape if it is unknown. */
#define GATHER_AXIS_UNKNOWN INT64_MIN

/* The dimension numbers of StableHLO's gather, by their names there. Initialise with GATHER_DIMENSION_NUMBERS_INIT: no dimension in
 * any list. A list of count 0 may be NULL. Every dimension counts from 0; none counts from the end.
 * Source: StableHLO, "gather", constraints C1 to C22. */
typedef struct gather_dimension_numbers {
  size_t size;                /* sizeof(gather_dimension_numbers) */
  const int64_t *offset_dims; /* dimensions of the output along the window, ascending; the others follow the indices */
  int64_t offset_dims_count;
  const int64_t *collapsed_slice_dims; /* dimensions of data that the output lacks, ascending: the window has one element there */
  int64_t collapsed_slice_dims_count;
  const int64_t *operand_batching_dims; /* dimensions of data, ascending, each paired with one of indices */
  int64_t operand_batching_dims_count;
  const int64_t *start_indices_batching_dims; /* the dimensions of indices that they are paired with */
  int64_t start_indices_batching_dims_count;
  const int64_t *start_index_map; /* the dimension of data that each number of a tuple selects on */
  int64_t start_index_map_count;
  int64_t index_vector_dim;   /* the dimension of indices with the numbers of the tuples; their rank: each number is a tuple */
  const int64_t *slice_sizes; /* the lengths of the window, one per dimension of data */
  int64_t slice_sizes_count;
} gather_dimension_numbers;

#define GATHER_DIMENSION_NUMBERS_INIT \
  { sizeof(gather_dimension_numbers), NULL, 0, NULL, 0, NULL, 0, NULL, 0, NULL, 0, 0, NULL, 0 }

/* Attributes and policy of one gather. Initialise with GATHER_OPTIONS_INIT. NULL in a call means the defaults. */
typedef struct gather_options {
  size_t size;  /* sizeof(gather_options) */
  int64_t axis; /* in [-r, r-1], r = rank of data; default 0, which is the only value for operators without an axis */
  /* Leading dimensions that data and indices share. Below 0 it counts from the rank of indices (not for GatherND: it has none below 0).
   * Default 0. */
  int64_t batch_dims;
  gather_on_bad on_bad;     /* default: the operator's */
  gather_negative negative; /* default: the operator's */
  /* GATHER_ON_BAD_FILL: one element as stored in data, in its byte order. For packed types: one byte with the value in its low bits. */
  const void *fill;
  /* One-call functions only. executor: runs the tasks; NULL = the calling thread. bad_count: receives how many indices were out of
   * range and repaired; may be NULL. It is 0 for an output without elements: then no index is read unless the policy is error. */
  const struct gather_executor *executor;
  int64_t *bad_count;
  bool fresh_output; /* one-call functions only: as in gather_run */
  /* StableHLO's gather needs them, other operators ignore them. A plan does not refer to them. With them, the n of `negative` and of the
   * policies is the number of places of the window along a dimension: the dimension's length - the window's + 1. */
  const gather_dimension_numbers *numbers;
} gather_options;

#define GATHER_OPTIONS_INIT \
  { sizeof(gather_options), 0, 0, GATHER_ON_BAD_DEFAULT, GATHER_NEGATIVE_DEFAULT, NULL, NULL, NULL, false, NULL }

/* Reads the axis, the third input of OpenVINO's Gather: a tensor of any integer type with exactly one element (0-D or any
 * shape of ones). Returns GATHER_TYPE_UNSUPPORTED, GATHER_SHAPE_MISMATCH, GATHER_AXIS_OUT_OF_RANGE (does not fit int64). Source:
 * OpenVINO Gather-7, input 3. */
GATHER_API GATHER_CHECKED gather_status gather_axis_read(const gather_tensor *axis, int64_t *value, gather_error *error);

/* ---- 7 threads ------------------------------------------------------------------------------------------------------- */

/* Runs the tasks of a gather. parallel_for calls task(argument, i) once for each i in [0, count), in any order, on any
 * threads, and returns when all calls have returned. The result is the same, bit for bit, with any executor. */
typedef struct gather_executor {
  void *context;
  void (*parallel_for)(void *context, int64_t count, void (*task)(void *argument, int64_t i), void *argument);
  int32_t threads; /* how many tasks may run at once; at least 1 */
} gather_executor;

/* The built-in thread pool. */
typedef struct gather_pool gather_pool;

/* Creates a pool. threads: their number, the calling thread included; 0 = the CPUs that this process may use. If the system refuses
 * a thread (process limit, no memory for its stack), the pool has fewer, in the worst case only the calling thread. The executor's
 * `threads` is the actual number. Its threads block all signals except SIGBUS, SIGSEGV, SIGFPE and SIGILL. After fork() the child's copy of
 * a pool runs everything on the calling thread. Its threads sleep between gathers. If gathers follow each other within some microseconds,
 * they spin (tuning parameter spin_ns), unless the pool has more threads than this process has CPUs.
 * Memory: one heap object and the threads' stacks, freed by gather_pool_destroy. Returns GATHER_USAGE (threads below 0 or
 * above 4096), GATHER_OUT_OF_MEMORY. */
GATHER_API GATHER_CHECKED gather_status gather_pool_create(int32_t threads, gather_pool **pool, gather_error *error);
/* Ends the pool's threads and frees the pool. Nothing may be running on it. NULL does nothing. */
GATHER_API void gather_pool_destroy(gather_pool *pool);
/* The pool as an executor, valid as long as the pool. Several threads may use it at once. Their calls run one after the other. */
GATHER_API const gather_executor *gather_pool_executor(const gather_pool *pool);

/* ---- 8 shapes -------------------------------------------------------------------------------------------------------- */

/* A length that may be unknown: it is in [min, max]. */
#define GATHER_DIM_UNBOUNDED INT64_MAX
typedef struct gather_dim {
  int64_t min, max;   /* 0 <= min <= max; max GATHER_DIM_UNBOUNDED = no upper bound; min == max = known */
  const char *symbol; /* the name of the length ("N"), or NULL. The pointer is copied. Names are compared as text */
} gather_dim;

/* A shape with a possibly unknown rank and unknown dimensions. */
typedef struct gather_shape {
  int32_t rank; /* -1 = unknown */
  gather_dim dims[GATHER_MAX_RANK];
} gather_shape;

/* The shape of the output for known input shapes.
 * data, indices: only their types, ranks and shapes are read. options: NULL = defaults. shape: room for GATHER_MAX_RANK lengths. rank: how
 * many were written.
 * Returns the first of these errors: GATHER_TYPE_UNSUPPORTED (indices are not integers), GATHER_RANK_MISMATCH,
 * GATHER_AXIS_OUT_OF_RANGE, GATHER_BATCH_DIMS_OUT_OF_RANGE, GATHER_SHAPE_MISMATCH, GATHER_UNSUPPORTED (the output's
 * rank is above GATHER_MAX_RANK; for tuples of two or more numbers: the rank of data plus that of indices is above
 * GATHER_MAX_RANK + 1 + batch_dims), GATHER_OVERFLOW. Source: the shape rule of each document. */
GATHER_API GATHER_CHECKED gather_status gather_output_shape(const gather_op *op, const gather_tensor *data, const gather_tensor *indices,
                                                            const gather_options *options, int64_t *shape, int32_t *rank,
                                                            gather_error *error);

/* The shape of the output if something is unknown: ranks may be -1, lengths intervals, options->axis GATHER_AXIS_UNKNOWN.
 * out: a shape that contains every valid output. If the axis is unknown, only the rank and the batch dimensions are inferred.
 * The rank of a GatherND's output is unknown if the length of its tuples is, unless only one length is valid.
 * Returns as gather_output_shape: an error means that no input of these shapes is valid. Batch dimensions of data and indices are
 * intersected. Source: shape inference of ONNX (onnx/defs/tensor/defs.cc) and of OpenVINO (gather_base.hpp, gather_elements,
 * gather_nd). */
GATHER_API GATHER_CHECKED gather_status gather_infer_shape(const gather_op *op, const gather_shape *data, const gather_shape *indices,
                                                           const gather_options *options, gather_shape *out, gather_error *error);

/* The source of a dimension of the output: the dimension of data and the dimension of indices that it follows; -1 = none. Batch
 * dimensions, and the dimensions of GatherElements off the axis, follow both. */
typedef struct gather_dim_source {
  int32_t data, indices;
  /* How many dimensions, from these on, are this one dimension of the output, in row-major order: 1, except for the batch dimensions of
   * GatherND-5. */
  int32_t count;
} gather_dim_source;

/* The sources of all dimensions of the output. The dimension of data that is not a source is the axis. For GatherND these are the
 * dimensions that a tuple selects on. The last dimension of its indices is not a source either: it has the numbers of the tuples.
 * StableHLO's gather has windows, so a dimension of data may be a source although an index selects on it.
 * data_rank, indices_rank: 0 to GATHER_MAX_RANK. tuple_len: the last length of indices for an operator with tuples (GatherND), else
 * ignored. options: NULL = defaults. sources: room for GATHER_MAX_RANK. rank: how many were written, the rank of the output.
 * Memory: none. Returns as gather_output_shape for tensors of these ranks; GATHER_USAGE for a rank out of range. */
GATHER_API GATHER_CHECKED gather_status gather_output_sources(const gather_op *op, int32_t data_rank, int32_t indices_rank,
                                                              int64_t tuple_len, const gather_options *options, gather_dim_source *sources,
                                                              int32_t *rank, gather_error *error);

/* The value of a gather from a computed shape (Shape, then Gather): each element of data is an interval or a symbol, the
 * indices are constants. data: a row-major opaque tensor of gather_dim elements (item_bytes = sizeof(gather_dim)). out: likewise, of the
 * output's shape. Supports every axis, and keeps the rank of the indices. Under the operator's index rule, an index out of range is an
 * error, or the length 0 if the rule fills with zeros. Returns as gather_apply.
 * Source: data propagation of ONNX (onnx/defs/data_propagators.h), bounds propagation of OpenVINO. */
GATHER_API GATHER_CHECKED gather_status gather_infer_value(const gather_op *op, const gather_tensor *data, const gather_tensor *indices,
                                                           const gather_tensor *out, const gather_options *options, gather_error *error);

/* ---- 9 one call ------------------------------------------------------------------------------------------------------ */

/* Gathers. It is transactional: a call that fails leaves the output unchanged (unless fresh_output is set).
 *
 * op: the rules; NULL is GATHER_USAGE.
 * data: rank r >= 1, any type, any strides. Not written.
 * indices: any integer type, any strides. Not written.
 * out: type and byte order of data (opaque: the same item_bytes), the shape that gather_output_shape gives. The strides must
 *     nest: in some order of the dimensions, each step is at least the span of the finer ones (true for row-major, transposed and
 *     sliced outputs). It must not overlap data or indices: if the spans of their bytes overlap, that is GATHER_USAGE.
 *     In packed outputs in row-major order from packed_offset 0, the bits after the last element become 0. In other packed views the bits
 *     around the elements do not change.
 * options: NULL = axis 0 and the index rule of the operator's document.
 *
 * Returns GATHER_OK; the returns of gather_output_shape; GATHER_TYPE_MISMATCH (out); GATHER_SHAPE_MISMATCH (out);
 * GATHER_INDEX_OUT_OF_RANGE with position, value, range and count, also for clamp and wrap if the axis has length 0. Then `out` is
 * unchanged. With options->fresh_output it may hold anything.
 * Threads: options->executor, else the calling thread. Memory: none from the heap, with two exceptions during the call. Radix partitioning
 * may be used for elements of 1, 2, 4 or 8 bytes, at least radix_block indices (section 11) and a table of at least radix_bytes. It takes
 * up to 4 bytes per index of a block (8 for elements of 8 bytes), for one block per thread, at most scratch_bytes in all. Rows of at most a
 * quarter of their indices' bytes may first be gathered into memory as large as the output, at most staged_bytes, if the indices exceed a
 * core's private cache. If there is no memory, or these numbers are 0, the call takes longer. The result is the same. */
GATHER_API GATHER_CHECKED gather_status gather_apply(const gather_op *op, const gather_tensor *data, const gather_tensor *indices,
                                                     const gather_tensor *out, const gather_options *options, gather_error *error);

/* gather_apply with the rules of ONNX Gather-13 (negative indices count from the end, an index out of range is an error). */
GATHER_API GATHER_CHECKED gather_status gather_take(const gather_tensor *data, const gather_tensor *indices, int64_t axis,
                                                    const gather_tensor *out, gather_error *error);
/* gather_apply with the rules of ONNX GatherElements-13. */
GATHER_API GATHER_CHECKED gather_status gather_elements(const gather_tensor *data, const gather_tensor *indices, int64_t axis,
                                                        const gather_tensor *out, gather_error *error);
/* gather_apply with the rules of ONNX GatherND-13: out[t, ...] = data[indices[t, 0], indices[t, 1], ..., ...]. batch_dims: leading
 * dimensions that data and indices share, at least 0. */
GATHER_API GATHER_CHECKED gather_status gather_nd(const gather_tensor *data, const gather_tensor *indices, int64_t batch_dims,
                                                  const gather_tensor *out, gather_error *error);

/* ---- 10 plans -------------------------------------------------------------------------------------------------------- */

/* A gather with every decision made, except for the memory. Immutable: several threads may run one plan at once. */
typedef struct gather_plan gather_plan;

/* Creates a plan. op, options and the types, shapes, strides and flags of the tensors are as for gather_apply and are copied. `data`
 * pointers are ignored. out may be NULL: row-major, of the shape that the rules give.
 * Memory: one heap object, freed by gather_plan_destroy. Returns as gather_apply, and GATHER_OUT_OF_MEMORY. */
GATHER_API GATHER_CHECKED gather_status gather_plan_create(const gather_op *op, const gather_tensor *data, const gather_tensor *indices,
                                                           const gather_tensor *out, const gather_options *options, gather_plan **plan,
                                                           gather_error *error);
/* Frees a plan. NULL does nothing. */
GATHER_API void gather_plan_destroy(gather_plan *plan);

/* The memory and threads of one run of a plan. Initialise with GATHER_RUN_INIT. */
typedef struct gather_run {
  size_t size;      /* sizeof(gather_run) */
  const void *data; /* as gather_tensor.data of the three tensors */
  const void *indices;
  void *out;
  const gather_executor *executor; /* NULL = the calling thread */
  int64_t *bad_count;              /* receives how many indices were out of range and repaired; may be NULL */
  /* The output after an index out of range that is an error. false: unchanged. For this, all indices are validated before the first row is
   * moved. true: it may hold anything, as is fine for new memory that will be discarded. Then validation may be deferred: many indices are
   * read only once. This saves up to a third of the time if indices come from memory and rows from a cache. The error is the same. */
  bool fresh_output;
} gather_run;

#define GATHER_RUN_INIT \
  { sizeof(gather_run), NULL, NULL, NULL, NULL, NULL, false }

/* Runs a plan, as gather_apply. Memory: as gather_apply. */
GATHER_API GATHER_CHECKED gather_status gather_plan_run(const gather_plan *plan, const gather_run *run, gather_error *error);
/* Validates the indices as gather_plan_run does, and writes nothing. `data` and `out` of `run` are ignored. */
GATHER_API GATHER_CHECKED gather_status gather_plan_check(const gather_plan *plan, const gather_run *run, gather_error *error);
/* Writes the plan as one line, as snprintf does: at most `bytes` with the terminator. Returns the length without truncation. The wording
 * may change. After a calibration run (large gathers), the line ends with the fastest variant for each order of indices that was seen, and
 * how much faster it was than the next. */
GATHER_API size_t gather_plan_print(const gather_plan *plan, char *text, size_t bytes);
/* The shape of the output: `shape` has room for GATHER_MAX_RANK lengths. Returns the rank. */
GATHER_API int32_t gather_plan_shape(const gather_plan *plan, int64_t *shape);

/* ---- 11 the machine -------------------------------------------------------------------------------------------------- */

/* The machine as the library sees it. Texts are in static memory. */
typedef struct gather_machine {
  size_t size;              /* sizeof(gather_machine) */
  int32_t cpus;             /* that this process may use (its affinity mask), at least 1 */
  int64_t usable_memory;    /* bytes that this process may use: those of the machine, or the least limit of its control groups */
  const char *cpu_features; /* the detected ones, separated by spaces ("sse4.2 avx2 avx512") */
  const char *isa;          /* the name of the strongest instruction set in use ("portable") */
  const char *pool;         /* the thread library of the built-in pool: "pthreads"; "none" if this build has none */
} gather_machine;

#define GATHER_MACHINE_INIT \
  { sizeof(gather_machine), 0, 0, NULL, NULL, NULL }

/* Describes the machine as it is now. machine: initialised with GATHER_MACHINE_INIT. Threads: any. Memory: none. */
GATHER_API void gather_machine_describe(gather_machine *machine);
/* A tuning parameter: a number that decides how gathers run, never their result. */
typedef struct gather_tuning {
  const char *name;
  int64_t initial;
  const char *meaning;
} gather_tuning;

/* Tuning parameter number i, or NULL after the last. Static memory. */
GATHER_API const gather_tuning *gather_tuning_at(int32_t i);
/* Its current value, for the whole process. Returns GATHER_NAME_NOT_FOUND, GATHER_USAGE (value is NULL). Threads: any, at any time. */
GATHER_API GATHER_CHECKED gather_status gather_tuning_get(const char *name, int64_t *value, gather_error *error);
/* Changes it. Existing plans do not change. Returns GATHER_NAME_NOT_FOUND. Threads: any, at any time. */
GATHER_API GATHER_CHECKED gather_status gather_tuning_set(const char *name, int64_t value, gather_error *error);
/* Asks the system to use huge pages for memory, best before the first access. It never changes the content. Useful for tables with random
 * access. From 64 MiB on, gathers of short rows took 1.1 to 2.8 times as long with pages of 4 KiB, because of TLB misses. Most systems give
 * huge pages only to programs that ask. The library asks for its own memory.
 * memory, bytes: memory of the caller. Only whole pages in it are advised. Returns GATHER_OK, or GATHER_UNSUPPORTED if the system has no
 * such advice or refuses it. Threads: any. Memory: none. */
GATHER_API gather_status gather_advise_huge_pages(void *memory, size_t bytes);
#ifdef __cplusplus
}
#endif

#endif
