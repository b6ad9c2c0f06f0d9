/* SPDX-License-Identifier: MIT
 *
 * table_decode_scratch.c: hands out scratch memory to takes with decoded rows; the memory limit bounds how many there are. And makes the
 * decoders that read it.
 */
#include "core/base/error.h"
#include "core/system/condition.h"
#include "table/table_decode.h"

/* The longest wait between two checks for cancellation. */
enum { WAIT_NANOSECONDS = 20000000 };

/* An idle one, or the right to create one (NULL); false if there is neither, after waiting for some time. */
static bool claim(gather_table *table, gather_scratch **scratch) {
  gather_decoded *decoding = table->decoding;
  const struct timespec end = gather_condition_end(WAIT_NANOSECONDS);
  (void)pthread_mutex_lock(&table->lock);
  bool waiting = true;
  while (waiting && !decoding->idle && decoding->scratch_count >= decoding->scratch_most)
    waiting = gather_table_wait_until(table, &end);
  *scratch = decoding->idle;
  bool claimed = *scratch || decoding->scratch_count < decoding->scratch_most;
  if (*scratch)
    decoding->idle = (*scratch)->next;
  else if (claimed)
    decoding->scratch_count++;
  (void)pthread_mutex_unlock(&table->lock);
  return claimed;
}

gather_status gather_scratch_get(const gather_taking *taking, gather_scratch **scratch, gather_error *error) {
  gather_table *table = taking->table;
  gather_decoded *decoding = table->decoding;
  while (!claim(table, scratch)) GATHER_TRY(gather_taking_go_on(taking, error));
  if (*scratch) return GATHER_OK;
  *scratch = gather_scratch_create(decoding);
  if (*scratch) {
    gather_table_count_memory(table, gather_scratch_bytes(decoding, decoding->block_rows));
    return GATHER_OK;
  }
  (void)pthread_mutex_lock(&table->lock);
  decoding->scratch_count--;
  (void)pthread_cond_broadcast(&table->changed);
  (void)pthread_mutex_unlock(&table->lock);
  return gather_fail(error, GATHER_OUT_OF_MEMORY, "no memory to decode rows");
}

void gather_scratch_put(gather_table *table, gather_scratch *scratch) {
  (void)pthread_mutex_lock(&table->lock);
  scratch->next = table->decoding->idle;
  table->decoding->idle = scratch;
  (void)pthread_cond_broadcast(&table->changed);
  (void)pthread_mutex_unlock(&table->lock);
}

/* ---- decoders */

/* What a decoder is told, with all that it points to. */
typedef struct gather_description {
  gather_quantized quantized;
  gather_tensor data, side[GATHER_SIDE_COUNT];
  int64_t data_shape[2];
} gather_description;

/* The elements of a row, of which several may be in a byte. */
static int64_t row_elements(const gather_layout *layout) {
  const gather_tensor *from = &layout->data->tensor;
  if (from->type == GATHER_TYPE_OPAQUE) return layout->row_bytes / from->item_bytes;
  const int bits = gather_type_get(from->type)->bits;
  return bits < 8 ? layout->row_len : layout->row_bytes / (bits / 8); /* those of packed types are the values */
}

/* Rows of what the file has: bytes, words, or floats. */
static void describe_data(const gather_piece *piece, int64_t rows, gather_description *about) {
  const gather_tensor *from = &piece->layout.data->tensor;
  gather_tensor *data = &about->data;
  *data = (gather_tensor){.type = from->type, .item_bytes = from->item_bytes, .rank = 2, .shape = about->data_shape};
  data->flags = from->flags & GATHER_TENSOR_BYTE_SWAPPED;
  about->data_shape[0] = rows;
  about->data_shape[1] = row_elements(&piece->layout);
}

/* Its elements: a constant, or the rows of a block in scratch memory. */
static const gather_tensor *describe_side(const gather_piece *piece, const gather_scratch *scratch,
                                          gather_side_role role, gather_description *about) {
  const gather_decode_side *side = &piece->side[role];
  gather_tensor *tensor = &about->side[role];
  if (!side->table && !side->constant) return NULL;
  *tensor = side->tensor;
  tensor->shape = side->shape;
  tensor->data = side->constant ? side->constant : (int)role < GATHER_ROW_SIDES ? scratch->side[role] : NULL;
  if (role != GATHER_SIDE_SCALE || !side->table || piece->layout.outer_len == 0) return tensor;
  tensor->type = GATHER_TYPE_FLOAT32;
  tensor->data = scratch->scales;
  return tensor;
}

static void describe(const gather_piece *piece, const gather_scratch *scratch, int64_t rows,
                     gather_description *about) {
  static const gather_quantized INIT = GATHER_QUANTIZED_INIT;
  const gather_layout *layout = &piece->layout;
  gather_quantized *q = &about->quantized;
  *q = INIT;
  describe_data(piece, rows, about);
  q->codec = layout->codec->codec;
  q->code_type = layout->code_type, q->code_bits = layout->code_bits, q->order = layout->order;
  q->scale_type = layout->scale_type;
  q->data = &about->data;
  q->group_len = layout->group_len, q->flat_groups = layout->across;
  q->scale = describe_side(piece, scratch, GATHER_SIDE_SCALE, about);
  q->bias = describe_side(piece, scratch, GATHER_SIDE_BIAS, about);
  q->scale2 = describe_side(piece, scratch, GATHER_SIDE_FACTOR, about);
  if (layout->side[GATHER_SIDE_DIVISOR]) {
    q->scale2 = describe_side(piece, scratch, GATHER_SIDE_DIVISOR, about);
    q->scale2_divides = true;
  }
  if (layout->outer_len == 0 || !layout->across) return;
  q->scale_scale = describe_side(piece, scratch, GATHER_SIDE_OUTER, about);
  q->scale_table = describe_side(piece, scratch, GATHER_SIDE_OUTER_TABLE, about);
  q->scale_group_len = layout->outer_len, q->scale_offset = layout->outer_offset;
}

gather_status gather_scratch_decoder(const gather_table *table, gather_scratch *scratch, int32_t number,
                                     const gather_decoder **decoder, gather_error *error) {
  const gather_piece *piece = &table->decoding->pieces[number];
  gather_description about;
  if (!scratch->decoders[number]) {
    describe(piece, scratch, piece->layout.across ? piece->rows : table->decoding->block_rows, &about);
    GATHER_TRY(gather_decoder_create(&about.quantized, table->options.decode_as, &scratch->decoders[number], error));
  }
  *decoder = scratch->decoders[number];
  return GATHER_OK;
}
