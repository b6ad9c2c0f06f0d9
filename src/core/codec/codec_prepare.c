/* SPDX-License-Identifier: MIT
 *
 * codec_prepare.c: the rest of a decoder: the tables that codes become numbers by, and kernels.
 */
#include <string.h>

#include "core/base/error.h"
#include "core/base/struct.h"
#include "core/codec/decoder.h"
#include "core/kernel/float_bits.h"

/* Twelve times the magnitudes of bitsandbytes' FP4 (functional.py, get_4bit_type). Bit 3 is the sign; there is no negative zero. */
static const float FP4_TIMES_12[8] = {0, 0.0625f, 8, 12, 4, 6, 2, 3};

static float fp4_value(unsigned code) {
  const float magnitude = FP4_TIMES_12[code & 7] / 12.0f;
  return code > 8 ? -magnitude : magnitude;
}

static void read_list(const gather_tensor *tensor, int64_t len, float *out) {
  gather_side side;
  memset(&side, 0, sizeof side);
  side.data = tensor->data, side.type = tensor->type;
  side.swapped = (tensor->flags & GATHER_TENSOR_BYTE_SWAPPED) != 0;
  gather_numbers_read(&side, 0, gather_tensor_item_bytes(tensor), len, out);
}

/* The value of a code before zero point, scale and bias. */
static float code_value(const gather_decoder *decoder, unsigned code, int32_t offset) {
  switch (decoder->info.codec) {
    case GATHER_CODEC_NF4:
      return gather_number_small(GATHER_TYPE_NF4, code);
    case GATHER_CODEC_FP4:
      return fp4_value(code);
    case GATHER_CODEC_FLOAT:
      return gather_number_small(decoder->code_type, code);
    default:
      return gather_minus(gather_number_small(decoder->code_type, code), (float)offset);
  }
}

static void fill_table(const gather_quantized *q, gather_decoder *decoder) {
  const gather_codec_info *info = &decoder->info;
  const bool whole = decoder->bits == 8 && gather_type_row(decoder->code_type)->kind != GATHER_KIND_FLOAT;
  decoder->has_table = true;
  if (q->table) {
    read_list(q->table, (int64_t)1 << decoder->bits, decoder->table);
    return;
  }
  if (whole && (q->code_offset == 0 || !q->zero_point || info->kind == GATHER_CODEC_PACKED)) {
    decoder->has_table = false;
    decoder->has_constant_zero = q->code_offset != 0;
    decoder->constant_zero = (float)q->code_offset;
    return;
  }
  for (unsigned code = 0; code < 1u << decoder->bits; code++)
    decoder->table[code] = code_value(decoder, code, q->code_offset);
}

int gather_decoder_kind(const gather_decoder *decoder) {
  const bool single = decoder->step != 1 || decoder->swap_bytes > 1;
  if (decoder->info.codec == GATHER_CODEC_ROWWISE8) return GATHER_CODES_F8;
  if (!decoder->has_table) return decoder->code_type == GATHER_TYPE_INT8 ? GATHER_CODES_S8 : GATHER_CODES_U8;
  if (single || decoder->bits == 8) return GATHER_CODES_T8;
  return decoder->bits == 4 ? GATHER_CODES_T4 : decoder->bits == 2 ? GATHER_CODES_T2 : GATHER_CODES_ANY;
}

static void find_kernels(gather_decoder *decoder) {
  const char *isa;
  const int type = decoder->type;
  if (decoder->info.kind == GATHER_CODEC_BLOCKS) {
    decoder->blocks = gather_kernel_blocks(decoder->info.codec, type, &isa);
    decoder->blocks_wide = gather_kernel_blocks(decoder->info.codec, GATHER_DECODE_FLOAT32, &isa);
  } else if (!decoder->wide) {
    const int kind = gather_decoder_kind(decoder);
    decoder->codes = gather_kernel_codes(kind, type, &isa);
    decoder->codes_wide = gather_kernel_codes(kind, GATHER_DECODE_FLOAT32, &isa);
  }
  decoder->narrow = gather_kernel_narrow(type, &isa);
}

gather_status gather_decoder_prepare(const gather_quantized *quantized, gather_type out_type, gather_decoder *decoder,
                                     gather_error *error) {
  gather_quantized full = GATHER_QUANTIZED_INIT;
  GATHER_TRY(gather_struct_read(&full, sizeof full, quantized, "gather_quantized", "GATHER_QUANTIZED_INIT", error));
  if (out_type != GATHER_TYPE_FLOAT32 && out_type != GATHER_TYPE_FLOAT16 && out_type != GATHER_TYPE_BFLOAT16) {
    const gather_type_info *type = gather_type_get(out_type);
    return gather_fail_input(error, GATHER_TYPE_UNSUPPORTED, "output",
                             "values can be decoded to float32, float16 or bfloat16, not to %s",
                             type ? type->name : "an unknown type");
  }
  decoder->type = out_type == GATHER_TYPE_FLOAT32   ? GATHER_DECODE_FLOAT32
                  : out_type == GATHER_TYPE_FLOAT16 ? GATHER_DECODE_FLOAT16
                                                    : GATHER_DECODE_BFLOAT16;
  decoder->out_bytes = out_type == GATHER_TYPE_FLOAT32 ? 4 : 2;
  if (decoder->info.kind != GATHER_CODEC_BLOCKS && !decoder->wide) fill_table(&full, decoder);
  if (decoder->nested) read_list(full.scale_table, 256, decoder->scale_table);
  find_kernels(decoder);
  return GATHER_OK;
}
