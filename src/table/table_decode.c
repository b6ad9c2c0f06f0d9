/* SPDX-License-Identifier: MIT
 *
 * table_decode.c: one take of decoded rows, block by block: the quantised rows and the numbers that belong to them are read through their
 * tables into scratch memory, and decoded into the output. Rows in Fortran order are assembled from their elements in the same way.
 */
#include "table/table_decode.h"

#include <string.h>

#include "core/base/error.h"
#include "core/plan/plan.h"
#include "core/plan/tasks.h"
#include "core/system/condition.h"

/* ---- scratch memory: the memory limit bounds how many takes have some */

/* The longest wait between two checks for cancellation. */
enum { WAIT_NANOSECONDS = 20000000 };

/* An idle one, or the right to create one (NULL); false if there is neither, after waiting for some time. */
static bool claim(gather_table *table, gather_scratch **scratch) {
  gather_decoded *decoding = table->decoding;
  const struct timespec end = gather_condition_end(WAIT_NANOSECONDS);
  (void)pthread_mutex_lock(&table->lock);
  bool waiting = true;
  while (waiting && !decoding->idle && decoding->scratch_count >= decoding->scratch_most)
    waiting = gather_condition_wait(&table->changed, &table->lock, &end);
  *scratch = decoding->idle;
  bool claimed = *scratch || decoding->scratch_count < decoding->scratch_most;
  if (*scratch)
    decoding->idle = (*scratch)->next;
  else if (claimed)
    decoding->scratch_count++;
  (void)pthread_mutex_unlock(&table->lock);
  return claimed;
}

/* Gets an idle scratch, or creates one; waits until there is one or the take is cancelled. */
static gather_status get_scratch(const gather_taking *taking, gather_scratch **scratch, gather_error *error) {
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
  return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory while decoding rows");
}

static void put_scratch(gather_table *table, gather_scratch *scratch) {
  (void)pthread_mutex_lock(&table->lock);
  scratch->next = table->decoding->idle;
  table->decoding->idle = scratch;
  (void)pthread_cond_broadcast(&table->changed);
  (void)pthread_mutex_unlock(&table->lock);
}

/* ---- decoders */

/* What a decoder is told, with all that it points to. */
typedef struct description {
  gather_quantized quantized;
  gather_tensor data, side[GATHER_SIDE_COUNT];
  int64_t data_shape[2];
} description;

/* The elements of a row, of which several may be in a byte. */
static int64_t row_elements(const gather_layout *layout) {
  const gather_tensor *from = &layout->data.tensor;
  if (from->type == GATHER_TYPE_OPAQUE) return layout->row_bytes / from->item_bytes;
  const int bits = gather_type_get(from->type)->bits;
  return bits < 8 ? layout->row_len : layout->row_bytes / (bits / 8); /* those of packed types are the values */
}

/* Rows of what the file has: bytes, words, or floats. */
static void describe_data(const gather_piece *piece, int64_t rows, description *about) {
  const gather_tensor *from = &piece->layout.data.tensor;
  gather_tensor *data = &about->data;
  *data = (gather_tensor){.type = from->type, .item_bytes = from->item_bytes, .rank = 2, .shape = about->data_shape};
  data->flags = from->flags & GATHER_TENSOR_BYTE_SWAPPED;
  about->data_shape[0] = rows;
  about->data_shape[1] = row_elements(&piece->layout);
}

/* Its elements: a constant, or the rows of a block in scratch memory. */
static const gather_tensor *describe_side(const gather_piece *piece, const gather_scratch *scratch, gather_side_role role,
                                          description *about) {
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

static void describe(const gather_piece *piece, const gather_scratch *scratch, int64_t rows, description *about) {
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
  if (layout->side[GATHER_SIDE_DIVISOR].file) {
    q->scale2 = describe_side(piece, scratch, GATHER_SIDE_DIVISOR, about);
    q->scale2_divides = true;
  }
  if (layout->outer_len == 0 || !layout->across) return;
  q->scale_scale = describe_side(piece, scratch, GATHER_SIDE_OUTER, about);
  q->scale_table = describe_side(piece, scratch, GATHER_SIDE_OUTER_TABLE, about);
  q->scale_group_len = layout->outer_len, q->scale_offset = layout->outer_offset;
}

/* The decoder of a piece for a block in this scratch. */
static gather_status find_decoder(const gather_table *table, gather_scratch *scratch, int32_t number, const gather_decoder **decoder,
                                  gather_error *error) {
  const gather_piece *piece = &table->decoding->pieces[number];
  description about;
  if (!scratch->decoders[number]) {
    describe(piece, scratch, piece->layout.across ? piece->rows : table->decoding->block_rows, &about);
    GATHER_TRY(gather_decoder_create(&about.quantized, table->options.decode_as, &scratch->decoders[number], error));
  }
  *decoder = scratch->decoders[number];
  return GATHER_OK;
}

/* ---- one take */

/* The state of one take. */
typedef struct decoded_take {
  const gather_taking *taking;
  gather_decoded *decoding;
  gather_scratch *scratch;
  gather_rows_count rows;
  int64_t bytes_useful;
} decoded_take;

/* Rows of one piece, to be decoded. */
typedef struct decoded_rows {
  const decoded_take *take;
  const gather_decoder *decoder;
  const int64_t *numbers; /* what the decoder calls the rows */
  int64_t packed_bytes;
} decoded_rows;

/* ---- reading */

/* Takes rows through one of the tables. An index within the program cannot be out of range: only reading can fail. */
static gather_status take_rows(decoded_take *take, gather_table *table, int64_t *ids, int64_t count, char *out, gather_rows_count *rows,
                               gather_error *error) {
  const gather_table_info *info = &table->info;
  const int64_t ids_shape[1] = {count}, out_shape[2] = {count, info->row_bytes};
  gather_table_take_options options = GATHER_TABLE_TAKE_INIT;
  const gather_tensor indices = {.data = ids, .type = GATHER_TYPE_INT64, .rank = 1, .shape = ids_shape};
  const gather_tensor to = {.data = out, .type = GATHER_TYPE_UINT8, .rank = 2, .shape = out_shape};
  gather_table_take_options full;
  gather_taking taking;
  options.executor = take->taking->executor;
  gather_table_enter(table);
  GATHER_TRY(gather_taking_prepare(&taking, table, &indices, &to, &options, &full, error));
  taking.executor = take->taking->executor;
  taking.cancel = take->taking->cancel;
  const gather_status status = gather_taking_run(&taking, rows, error);
  gather_plan_destroy(taking.plan);
  GATHER_TRY(status);
  take->bytes_useful += count * info->row_bytes;
  return GATHER_OK;
}

/* The scales of a row are codes themselves: number i is table[code] * outer[i / outer_len] + offset, each operation rounded. */
static void decode_scales(const decoded_take *take, const gather_piece *piece, int64_t count) {
  const gather_layout *layout = &piece->layout;
  const float *outer = piece->side[GATHER_SIDE_OUTER].constant, *table = piece->side[GATHER_SIDE_OUTER_TABLE].constant;
  const uint8_t *codes = (const uint8_t *)take->scratch->side[GATHER_SIDE_SCALE];
  float *scales = take->scratch->scales;
  for (int64_t j = 0; j < count; j++) {
    const int64_t first = take->scratch->rows[j] * layout->groups;
    for (int64_t g = 0; g < layout->groups; g++, codes++, scales++) {
      volatile float scaled = table[*codes] * outer[(first + g) / layout->outer_len]; /* no fused operation */
      *scales = scaled + layout->outer_offset;
    }
  }
}

static gather_status take_sides(decoded_take *take, const gather_piece *piece, int64_t count, gather_error *error) {
  gather_scratch *scratch = take->scratch;
  const int64_t each = piece->layout.rows_per_scale;
  gather_rows_count unused;
  for (int role = 0; role < GATHER_ROW_SIDES; role++) {
    if (!piece->side[role].table) continue;
    for (int64_t j = 0; j < count; j++) scratch->wanted[j] = scratch->rows[j] / each;
    GATHER_TRY(take_rows(take, piece->side[role].table, scratch->wanted, count, scratch->side[role], &unused, error));
  }
  if (piece->layout.outer_len > 0 && !piece->layout.across) decode_scales(take, piece, count);
  return GATHER_OK;
}

/* ---- decoding */

/* Rows [first, last): those whose places in the output follow each other are decoded together. */
static void decode_rows(void *argument, int64_t first, int64_t last) {
  const decoded_rows *r = argument;
  const gather_taking *taking = r->take->taking;
  const int64_t *positions = r->take->scratch->positions, row_bytes = taking->table->info.row_bytes;
  for (int64_t j = first, end; j < last; j = end) {
    for (end = j + 1; end < last && positions[end] == positions[end - 1] + 1;) end++;
    gather_decoder_rows(r->decoder, r->take->scratch->packed + j * r->packed_bytes, r->packed_bytes, r->numbers + j, end - j,
                        taking->out + positions[j] * row_bytes, row_bytes);
  }
}

/* The number of a column among those of the file: element `c` of a row counts its dimensions from the last, the file from the second. */
static int64_t column_of(const gather_layout *layout, int64_t c) {
  int64_t column = 0, stride = layout->row_len;
  if (layout->rank == 2) return c;
  for (int32_t d = layout->rank - 1; d > 0; d--) {
    stride /= layout->shape[d];
    column += c % layout->shape[d] * stride;
    c /= layout->shape[d];
  }
  return column;
}

/* Sorts rows, and their places with them (Shell's sort, without memory). */
static void sort_rows(int64_t *rows, int64_t *places, int64_t count) {
  int64_t gap = 1;
  while (gap < count / 3) gap = gap * 3 + 1;
  for (; gap > 0; gap /= 3)
    for (int64_t i = gap; i < count; i++) {
      const int64_t row = rows[i], place = places[i];
      int64_t j = i;
      for (; j >= gap && rows[j - gap] > row; j -= gap) rows[j] = rows[j - gap], places[j] = places[j - gap];
      rows[j] = row, places[j] = place;
    }
}

/* The elements of rows: of a file by columns one column after the other, so that neighbours follow each other; else one row after the
 * other. rows: numbers in the piece, of rows that are divided into `fold` each. */
static void find_elements(const gather_piece *piece, int64_t fold, const int64_t *rows, int64_t count, int64_t *elements) {
  const int64_t all = piece->layout.row_len, len = all / fold;
  for (int64_t c = 0; c < len; c++)
    for (int64_t j = 0; j < count; j++) {
      const int64_t row = rows[j] / fold, first = rows[j] % fold * len;
      if (piece->by_columns)
        elements[c * count + j] = column_of(&piece->layout, first + c) * piece->rows + row;
      else
        elements[j * len + c] = row * all + first + c;
    }
}

/* Copies elements to the places of their rows. */
static void place_elements(const decoded_take *take, bool by_columns, int64_t count, int64_t len) {
  const gather_scratch *scratch = take->scratch;
  const int64_t row_bytes = take->taking->row_bytes, bytes = len > 0 ? row_bytes / len : 0;
  char *out = take->taking->out;
  if (!by_columns)
    for (int64_t j = 0; j < count; j++) memcpy(out + scratch->positions[j] * row_bytes, scratch->packed + j * row_bytes, (size_t)row_bytes);
  for (int64_t j = 0; by_columns && j < count; j++)
    for (int64_t c = 0; c < len; c++)
      memcpy(out + scratch->positions[j] * row_bytes + c * bytes, scratch->packed + (c * count + j) * bytes, (size_t)bytes);
}

/* Takes the elements of rows, and copies the rows to their places. */
static gather_status take_elements(decoded_take *take, const gather_piece *piece, int64_t count, gather_error *error) {
  const gather_taking *taking = take->taking;
  gather_scratch *scratch = take->scratch;
  const int64_t len = piece->layout.row_len / taking->fold;
  gather_rows_count elements = {0};
  if (piece->by_columns) sort_rows(scratch->rows, scratch->positions, count);
  find_elements(piece, taking->fold, scratch->rows, count, scratch->wanted);
  GATHER_TRY(take_rows(take, piece->data, scratch->wanted, count * len, scratch->packed, &elements, error));
  place_elements(take, piece->by_columns, count, len);
  /* A row counts as read if one of its elements was. */
  const int64_t read = (elements.read + len - 1) / len, cached = (elements.cached + len - 1) / len;
  take->rows.read += read < count ? read : count;
  take->rows.cached += cached < count - read ? cached : count - read;
  take->rows.resident += read + cached < count ? count - read - cached : 0;
  return GATHER_OK;
}

static gather_status take_piece(decoded_take *take, int32_t number, int64_t count, gather_error *error) {
  const gather_taking *taking = take->taking;
  const gather_piece *piece = &take->decoding->pieces[number];
  gather_scratch *scratch = take->scratch;
  gather_rows_count rows = {0};
  if (piece->is_elements) return take_elements(take, piece, count, error);
  decoded_rows decoded = {.take = take, .packed_bytes = piece->layout.row_bytes};
  decoded.numbers = piece->layout.across ? scratch->rows : scratch->numbers;
  GATHER_TRY(find_decoder(taking->table, scratch, number, &decoded.decoder, error));
  GATHER_TRY(take_rows(take, piece->data, scratch->rows, count, scratch->packed, &rows, error));
  GATHER_TRY(take_sides(take, piece, count, error));
  gather_split(taking->executor, count, taking->table->info.row_bytes, 1, decode_rows, &decoded);
  take->rows.resident += rows.resident, take->rows.cached += rows.cached, take->rows.read += rows.read;
  return GATHER_OK;
}

/* ---- the blocks */

/* The rows of the block that are in this piece. */
static int64_t choose_rows(decoded_take *take, int32_t number, int64_t first, int64_t count) {
  const gather_piece *piece = &take->decoding->pieces[number];
  const int64_t fold = take->taking->fold;
  int64_t found = 0;
  for (int64_t j = 0; j < count; j++) {
    const int64_t row = take->scratch->resolved[j] - piece->first * fold;
    if (take->scratch->resolved[j] == GATHER_ROW_FILL || row < 0 || row >= piece->rows * fold) continue;
    take->scratch->rows[found] = row;
    take->scratch->positions[found++] = first + j;
  }
  return found;
}

static void fill_rows(const decoded_take *take, int64_t first, int64_t count) {
  const int64_t row_bytes = take->taking->row_bytes;
  for (int64_t j = 0; j < count; j++)
    if (take->scratch->resolved[j] == GATHER_ROW_FILL) gather_taking_fill(take->taking, take->taking->out + (first + j) * row_bytes);
}

static gather_status take_block(decoded_take *take, int64_t first, int64_t count, gather_error *error) {
  const gather_taking *taking = take->taking;
  gather_bad bad;
  gather_bad_init(&bad);
  GATHER_TRY(gather_taking_go_on(taking, error));
  gather_ids_rows(taking->plan, taking->row_bytes, taking->indices, first, count, take->scratch->resolved, &bad);
  if (gather_bad_count(&bad) > 0) return gather_plan_blame(taking->plan, error, bad.position, bad.value, bad.count);
  fill_rows(take, first, count);
  for (int32_t i = 0; i < take->decoding->count; i++) {
    const int64_t found = choose_rows(take, i, first, count);
    if (found > 0) GATHER_TRY(take_piece(take, i, found, error));
  }
  return GATHER_OK;
}

static gather_status take_blocks(decoded_take *take, gather_error *error) {
  const gather_taking *taking = take->taking;
  const int64_t all = taking->count, most = take->decoding->block_rows;
  GATHER_TRY(get_scratch(taking, &take->scratch, error));
  gather_status status = GATHER_OK;
  for (int64_t first = 0; first < all && status == GATHER_OK; first += most)
    status = take_block(take, first, all - first < most ? all - first : most, error);
  put_scratch(taking->table, take->scratch);
  return status;
}

gather_status gather_decoding_run(const gather_taking *taking, gather_rows_count *rows, int64_t *bytes_useful, gather_error *error) {
  decoded_take take = {.taking = taking, .decoding = taking->table->decoding};
  const gather_status status = take_blocks(&take, error);
  *rows = take.rows;
  *bytes_useful = take.bytes_useful;
  return status;
}
