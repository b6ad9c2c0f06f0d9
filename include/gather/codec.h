/* SPDX-License-Identifier: MIT
 *
 * codec.h: quantised rows: their codecs, gathering from them, and decoding. Since 0.1.
 *
 *     A row is moved, then decoded: out[.., i.., ..] = value of data[.., indices[i..], ..], as float32, float16 or bfloat16.
 *
 * Contents: 1 codecs - 2 quantised tensors - 3 shapes - 4 gathering and decoding - 5 decoders, for rows that a caller has read
 *           6 operators of models
 *
 * Errors, threads, memory, structs and sizes: as at the beginning of gather.h.
 *
 * Values: a codec defines how a value is computed, in float32 with every operation rounded to nearest even, and none fused unless it says
 * fma. So results are the same, bit for bit, on every machine, and those of the codec's reference decoder. float16 and bfloat16 outputs are
 * that float32 rounded once more. The payload of a NaN is unspecified.
 */
#ifndef GATHER_CODEC_H
#define GATHER_CODEC_H

#include "gather/gather.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- 1 codecs -------------------------------------------------------------------------------------------------------- */

/* The numbers are in codec.def. GATHER_CODEC_NONE is not a codec. */
typedef enum gather_codec {
  GATHER_CODEC_NONE = 0,
#define GATHER_CODEC(ENUM, number, ...) GATHER_CODEC_##ENUM = number,
#include "gather/codec.def"
#undef GATHER_CODEC
} gather_codec;

typedef enum gather_codec_kind {
  GATHER_CODEC_BLOCKS = 1, /* a row is blocks, each with all that its values need (GGUF) */
  GATHER_CODEC_PACKED,     /* a row is its codes, then its scale and its bias (FBGEMM) */
  GATHER_CODEC_CODES,      /* codes; scales and the like are in other tensors */
  GATHER_CODEC_REFUSED     /* known and not decoded: `value` says why */
} gather_codec_kind;

/* The tensors beside the codes: bits of gather_codec_info.sides. Those that are neither needed nor allowed must be NULL. */
enum {
  GATHER_NEEDS_SCALE = 1,
  GATHER_MAY_SCALE = 2,
  GATHER_MAY_SCALE2 = 4,
  GATHER_MAY_ZERO_POINT = 8,
  GATHER_NEEDS_BIAS = 16,
  GATHER_NEEDS_TABLE = 32
};

/* The properties of a codec. Static memory, one per codec. */
typedef struct gather_codec_info {
  gather_codec codec;
  const char *name; /* "Q4_K", "affine" */
  gather_codec_kind kind;
  int32_t block_len;   /* elements of a block; 1 if there are none */
  int32_t block_bytes; /* BLOCKS: bytes of a block. PACKED: bytes behind the codes of a row. Else 0 */
  int32_t bits;        /* of a code; 0 = the quantised tensor says it, or codes of several widths make up a value */
  uint32_t sides;      /* GATHER_NEEDS_..., GATHER_MAY_... */
  const char *value;   /* how a value is computed; REFUSED: the reason */
  const char *source;  /* what defines the layout, and the reference decoder */
} gather_codec_info;

/* The properties of a codec, or NULL for an unknown number. Numbers have no gaps: all codecs are from 1 to the first NULL. */
GATHER_API const gather_codec_info *gather_codec_get(gather_codec codec);
/* The codec of a name ("Q4_K", "affine"). Case matters. GATHER_CODEC_NONE for any other name. */
GATHER_API gather_codec gather_codec_parse(const char *name);

/* ---- 2 quantised tensors --------------------------------------------------------------------------------------------- */

/* How codes of less than a byte are ordered in whole bytes. Tensors of a packed type (uint4) have their own order, low first. */
typedef enum gather_code_order {
  GATHER_CODE_ORDER_LOW_FIRST = 0, /* the first code in the lowest bits */
  GATHER_CODE_ORDER_HIGH_FIRST     /* the first code of a byte in its highest bits (bitsandbytes, ExecuTorch); bits 1, 2 and 4 */
} gather_code_order;

/* Describes a quantised tensor without owning it. Initialise with GATHER_QUANTIZED_INIT.
 *
 * Its shape, [n0, .., n(r-1)], is that of its values. It follows from `data`:
 *   BLOCKS  opaque elements of block_bytes bytes: the last length times block_len; or bytes (uint8, int8): the last length counts
 *           bytes, a multiple of block_bytes.
 *   PACKED  uint8: the last length counts the bytes of a row, with its scale and bias.
 *   CODES   code_type (or the type of data, if it is NONE) is the type of a code: an integer, or a float of 8 bits or less. If data has
 *           that type, an element is a code. Otherwise data is a container: integers of 8 to 64 bits, whose bytes hold codes of code_bits
 *           bits in the order `order`. Words of several bytes hold their codes from the lowest bits up. Only the last axis is packed.
 *
 * Side tensors have one number for each group of elements: their dimension d has ceil(n_d / groups[d]) numbers, or 1, which all groups
 * share. Trailing dimensions with one group may be missing, and a single number always fits (rank 0, or one element). Numbers may have any
 * float type and any integer type of 8 bits or more, in either byte order, and packed types (uint4). Element i of dimension d belongs to
 * group i / groups[d], so the last group may be short.
 *
 * Strides of data: any for codes of whole bytes and for packed types. For others each row is without gaps. BYTE_SWAPPED: words of a
 * container, and numbers, are in the other byte order. Blocks are always little-endian, as in files: the flag has no effect. */
typedef struct gather_quantized {
  size_t size; /* sizeof(gather_quantized) */
  gather_codec codec;
  gather_type code_type;     /* CODES: what a code is; NONE = the type of data */
  int32_t code_bits;         /* CODES in a container: bits of one, 1 to 8 and at most those of code_type; 0 = those of code_type */
  gather_code_order order;   /* CODES and PACKED in containers */
  const gather_tensor *data; /* the codes or blocks */
  /* The shape of the values if data is flat (bitsandbytes) or its rows are padded to whole bytes. rank 0: it follows from data.
   * Otherwise there are two cases. Data has these lengths except for the last, and each row holds at least as many codes. Or data has a
   * different shape, is in row-major order without gaps, and holds at least that many codes, row after row, with no padding between
   * rows. */
  int32_t rank;
  const int64_t *shape;
  /* Groups. groups: a length for each dimension of the values, 0 = the whole dimension. NULL = group_len along group_axis (0 = the whole
   * axis), 1 along all others. flat_groups: groups of group_len elements of the whole tensor in row-major order, across rows. Then side
   * tensors have ceil(elements / group_len) numbers, in any shape, without gaps. */
  const int64_t *groups;
  int64_t group_axis; /* in [-r, r-1]; default -1 */
  int64_t group_len;
  bool flat_groups;
  /* Side tensors; NULL = absent. The memory is read when rows are decoded. */
  const gather_tensor *scale;      /* absent: 1 */
  const gather_tensor *zero_point; /* absent: 0 */
  const gather_tensor *bias;
  const gather_tensor *table;  /* 2^bits numbers */
  const gather_tensor *scale2; /* multiplies the scale before use: (scale * scale2); broadcasts to the groups as the scale does */
  bool scale2_divides;         /* (scale / scale2) instead (compressed-tensors) */
  gather_type scale_type;      /* what an element of scale is; NONE = its own type. E.g. FLOAT8_E8M0FNU in a uint8 tensor */
  gather_type zero_point_type; /* likewise. A type of 2 or 4 bits in a uint8 tensor: packed along the last axis, low first, each
                                  row padded to whole bytes (ONNX Runtime) */
  int32_t code_offset;         /* subtracted from each code first: the zero point if there is no tensor (ONNX Runtime: 2^(bits-1) for uint8;
                                  ExecuTorch: 8) */
  /* Scales that are themselves quantised (bitsandbytes' nested absmax): number i of scale, counted in row-major order, is
   * (scale_table[scale[i]] * scale_scale[i / scale_group_len]) + scale_offset. scale is uint8 without gaps. NULL = they are not. */
  const gather_tensor *scale_table; /* 256 numbers */
  const gather_tensor *scale_scale; /* ceil(scales / scale_group_len) numbers */
  int64_t scale_group_len;          /* at least 1 */
  float scale_offset;
} gather_quantized;

#define GATHER_QUANTIZED_INIT                                                                                                         \
  {                                                                                                                                   \
    sizeof(gather_quantized), GATHER_CODEC_NONE, GATHER_TYPE_NONE, 0, GATHER_CODE_ORDER_LOW_FIRST, NULL, 0, NULL, NULL, -1, 0, false, \
        NULL, NULL, NULL, NULL, NULL, false, GATHER_TYPE_NONE, GATHER_TYPE_NONE, 0, NULL, NULL, 0, 0.0f                               \
  }

/* ---- 3 shapes -------------------------------------------------------------------------------------------------------- */

/* Checks the whole description and gives the shape of the values. Reads no element.
 * shape: room for GATHER_MAX_RANK lengths. rank: how many were written. Either may be NULL.
 * Returns GATHER_USAGE (an invalid field, a missing tensor, or one that the codec does not use), GATHER_UNSUPPORTED (a codec that cannot be
 * decoded, with the reason), GATHER_TYPE_UNSUPPORTED, GATHER_RANK_MISMATCH, GATHER_SHAPE_MISMATCH, GATHER_AXIS_OUT_OF_RANGE,
 * GATHER_OVERFLOW. error->input names the tensor: "data", "scale", "zero_point", "bias", "table", "scale2", "scale_table",
 * "scale_scale". */
GATHER_API GATHER_CHECKED gather_status gather_quantized_shape(const gather_quantized *quantized, int64_t *shape, int32_t *rank,
                                                               gather_error *error);

/* ---- 4 gathering and decoding ---------------------------------------------------------------------------------------- */

/* Gathers from a quantised tensor and decodes: as gather_apply on the decoded tensor, which is never made. Transactional, as gather_apply.
 *
 * op: an operator version whose indices select whole rows (Gather). NULL: that of gather_take (ONNX Gather-13).
 * indices: any integer type, any strides.
 * out: float32, float16 or bfloat16, of the shape that gather_output_shape gives for data of the values' shape; strides and byte
 *     order as in gather_apply. It must not overlap data, the indices or a side tensor.
 * options: as gather_apply; any axis, batch_dims, every policy. fill is one element of the output's type.
 * Rows along the first axes are read once and written once, each straight to its place. Along the last axis each element is decoded
 * separately (a block codec decodes its block).
 *
 * Returns as gather_quantized_shape and gather_apply; GATHER_TYPE_UNSUPPORTED (the output's type).
 * Threads: options->executor, else the calling thread. Memory: none from the heap, except a copy of indices that are SHARED. */
GATHER_API GATHER_CHECKED gather_status gather_take_quantized(const gather_op *op, const gather_quantized *quantized,
                                                              const gather_tensor *indices, const gather_tensor *out,
                                                              const gather_options *options, gather_error *error);

/* Decodes a whole tensor. out: float32, float16 or bfloat16, of the shape of the values, as above. executor: NULL = the calling
 * thread. Returns, threads, memory: as gather_take_quantized. */
GATHER_API GATHER_CHECKED gather_status gather_dequantize(const gather_quantized *quantized, const gather_tensor *out,
                                                          const gather_executor *executor, gather_error *error);

/* ---- 5 decoders ------------------------------------------------------------------------------------------------------ */

/* A quantised tensor whose rows along its first axis are decoded as they arrive, e.g. read from a file. Immutable: several threads
 * may use one at once. */
typedef struct gather_decoder gather_decoder;

/* Creates a decoder. quantized: copied with its shapes and strides. `data->data` may be NULL. Its side tensors' memory must live as long as
 * the decoder. out_type: GATHER_TYPE_FLOAT32, _FLOAT16 or _BFLOAT16. Rows must begin on whole bytes and be contiguous (else
 * GATHER_UNSUPPORTED). Returns also as gather_quantized_shape (rank at least 1), GATHER_TYPE_UNSUPPORTED (out_type), GATHER_OUT_OF_MEMORY.
 * Memory: one heap object, freed by gather_decoder_destroy. */
GATHER_API GATHER_CHECKED gather_status gather_decoder_create(const gather_quantized *quantized, gather_type out_type,
                                                              gather_decoder **decoder, gather_error *error);
/* Frees a decoder. NULL does nothing. */
GATHER_API void gather_decoder_destroy(gather_decoder *decoder);
/* The rows, the bytes of a packed row, and the elements of a decoded one. Each pointer may be NULL. */
GATHER_API void gather_decoder_sizes(const gather_decoder *decoder, int64_t *rows, int64_t *row_bytes, int64_t *row_len);
/* Decodes `count` rows. packed: row j is row_bytes bytes at packed + j * packed_step, of any alignment. Nothing else is read.
 * rows: their numbers, each in [0, rows). They select the groups. May be NULL only for codecs without side tensors.
 * out: row j goes to out + j * out_step, in this machine's byte order, of any alignment. The call cannot fail. */
GATHER_API void gather_decoder_rows(const gather_decoder *decoder, const void *packed, int64_t packed_step, const int64_t *rows,
                                    int64_t count, void *out, int64_t out_step);

/* ---- 6 operators of models ------------------------------------------------------------------------------------------- */

/* The attributes of a com.microsoft GatherBlockQuantized-1 node. Initialise with GATHER_BLOCK_QUANTIZED_INIT: the defaults of its
 * schema. */
typedef struct gather_block_quantized {
  size_t size;           /* sizeof(gather_block_quantized) */
  int64_t bits;          /* 2, 4 or 8 for uint8 data; 4 for int4 and uint4; ignored for floats */
  int64_t block_size;    /* a power of two of at least 16; for floats also 0: one block along the whole axis */
  int64_t quantize_axis; /* in [-r, r-1]; uint8 data: the last one */
  int64_t gather_axis;   /* likewise; uint8 data: the first one */
} gather_block_quantized;

#define GATHER_BLOCK_QUANTIZED_INIT \
  { sizeof(gather_block_quantized), 4, 128, 1, 0 }

/* Describes the inputs of a GatherBlockQuantized node as a quantised tensor, after checking them by the rules of the operator's
 * schema. The node is then gather_take_quantized with the operator gather_op_find("GatherBlockQuantized", "microsoft-1"), gather_axis as
 * options.axis, and an output of the type of the scales. Negative indices count from the end, and an index out of range gives zeros.
 *
 * data: rank r >= 1. int4, uint4, float4_e2m1fn and the float8 types have their logical shape. uint8 data has 8 / bits elements in each
 *     byte, low bits first, so the last length of the values is 8 / bits times as large.
 * scales: float32, float16 or bfloat16, of rank r: as data, with ceil(n / block_size) along quantize_axis, n = its length in elements.
 *     For float data a length of 1 off quantize_axis is one scale for the whole dimension.
 * zero_points: NULL = 0, or 2^(bits-1) for uint8 data. Otherwise the type of data, not float, and the shape of scales. For uint8 data they
 *     are packed as data is, each row in separate bytes.
 * attributes: NULL = the defaults.
 * quantized: refers to the three tensors, which must live as long.
 * Returns GATHER_USAGE (an attribute, no scales, zero points of float data), GATHER_TYPE_UNSUPPORTED, GATHER_TYPE_MISMATCH (of
 * zero_points), GATHER_RANK_MISMATCH, GATHER_SHAPE_MISMATCH, GATHER_AXIS_OUT_OF_RANGE, GATHER_OVERFLOW. error->input is "data",
 * "scales", "zero_points" or "axis". Reads no element. Memory: none. Threads: any.
 * Source: the schema of ONNX Runtime 1.32, and docs/extend/readings.md for what it leaves open. */
GATHER_API GATHER_CHECKED gather_status gather_block_quantized_describe(const gather_tensor *data, const gather_tensor *scales,
                                                                        const gather_tensor *zero_points,
                                                                        const gather_block_quantized *attributes,
                                                                        gather_quantized *quantized, gather_error *error);

#ifdef __cplusplus
}
#endif

#endif
