/* SPDX-License-Identifier: MIT
 *
 * layout_file.c: how files store quantised tensors: recognises one by its type and its side tensors (layout.def), and checks what its
 * layout asks of types and shapes. The functions of layout.def (shapes_...) set the codec, the decoded shape, and how rows and scales lie.
 */
#include "table/layout_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/checked.h"
#include "core/base/error.h"
#include "core/base/tensor.h"
#include "io/format/chunks.h"
#include "io/format/safetensors/quant_state.h"

/* ---- where a tensor is stored */

/* The elements of a tensor on another machine, which are downloaded. */
static gather_status fetch(const gather_stored *stored, const void **elements, gather_error *error) {
  const gather_map *map = stored->load_from;
  GATHER_TRY(gather_map_fetch(map, stored->offset, stored->bytes, error));
  *elements = map->bytes + stored->offset;
  return GATHER_OK;
}

/* The elements of a tensor in chunks, all of which are decoded. */
static gather_status decode(const gather_stored *stored, const void **elements, gather_error *error) {
  (void)elements;
  return gather_fail_file(error, GATHER_UNSUPPORTED, stored->file, -1, "'%.100s' is needed as a whole, but is stored in chunks",
                          stored->name);
}

/* The file that chunks are in, unless their store has a file for each. */
static void place_chunks(const gather_chunks *chunks, gather_stored *stored) {
  const gather_map *map = chunks->map;
  stored->path = chunks->files_most == 0 ? stored->file : NULL;
  stored->load = decode;
  if (!stored->path) return;
  stored->device = map->device, stored->inode = map->inode, stored->size = map->size;
  stored->object = gather_map_object(map);
  if (stored->object) stored->size = gather_remote_object_size(stored->object);
}

void gather_stored_find(const gather_file *file, const gather_file_tensor *tensor, gather_stored *stored) {
  const gather_map *map;
  *stored = (gather_stored){.file = file->name,
                            .format = gather_file_format(file),
                            .name = tensor->name,
                            .descr = tensor->descr,
                            .type_name = tensor->type_name,
                            .tensor = tensor->tensor,
                            .bytes = tensor->bytes,
                            .path = file->name,
                            .offset = tensor->offset};
  if (tensor->bytes == 0) return;
  stored->chunks = gather_file_chunks_of(tensor);
  if (stored->chunks) {
    place_chunks(stored->chunks, stored);
    return;
  }
  stored->path = gather_file_place(file, tensor, &map, &stored->offset);
  if (!stored->path) return;
  stored->device = map->device, stored->inode = map->inode, stored->size = map->size;
  stored->object = gather_map_object(map);
  if (!stored->object) return;
  stored->size = gather_remote_object_size(stored->object);
  if (gather_file_is_remote(tensor)) stored->load = fetch, stored->load_from = map;
}

/* ---- what a layout asks */

static gather_status want_shape(const gather_layout *found, gather_side_role role, int32_t rank, const int64_t *shape,
                                gather_error *error) {
  char wanted[200];
  const gather_stored *side = &found->side[role];
  if (side->tensor.rank == rank && memcmp(side->tensor.shape, shape, (size_t)rank * sizeof *shape) == 0) return GATHER_OK;
  return gather_layout_fail_shape(found, side, gather_shape_text(wanted, sizeof wanted, rank, shape), error);
}

/* Any shape of so many elements. */
static gather_status want_len(const gather_layout *found, gather_side_role role, int64_t len, gather_error *error) {
  char wanted[64];
  const gather_stored *side = &found->side[role];
  if (gather_tensor_len(&side->tensor) == len) return GATHER_OK;
  (void)snprintf(wanted, sizeof wanted, "%" PRId64 " element%s", len, len == 1 ? "" : "s");
  return gather_layout_fail_shape(found, side, wanted, error);
}

/* types: of element, ended by 0. */
static gather_status want_type(const gather_layout *found, gather_side_role role, const gather_type *types, gather_error *error) {
  const gather_stored *side = &found->side[role];
  char wanted[100] = "";
  for (int i = 0; types[i]; i++) {
    if (side->tensor.type == types[i]) return GATHER_OK;
    const size_t used = strlen(wanted);
    (void)snprintf(wanted + used, sizeof wanted - used, "%s%s", used ? " or " : "", gather_type_get(types[i])->name);
  }
  return gather_fail_file(error, GATHER_TYPE_MISMATCH, found->data.file, -1, "the side tensor '%.100s' is %.40s, but %s needs %s",
                          side->name, side->type_name, found->name, wanted);
}

static const gather_type BYTES[] = {GATHER_TYPE_UINT8, 0};

static const gather_type E8M0[] = {GATHER_TYPE_UINT8, GATHER_TYPE_FLOAT8_E8M0FNU, 0};

static const gather_type E4M3[] = {GATHER_TYPE_FLOAT8_E4M3FN, 0};

static const gather_type FLOAT[] = {GATHER_TYPE_FLOAT32, 0};

static const gather_type FLOATS[] = {GATHER_TYPE_FLOAT32, GATHER_TYPE_FLOAT16, GATHER_TYPE_BFLOAT16, 0};

/* ---- GGUF */

/* A row of blocks of GGUF: the codec is named like the type. */
static gather_status shapes_gguf(gather_layout *found, const char *codec, gather_error *error) {
  const gather_tensor *data = &found->data.tensor;
  const gather_codec named = gather_codec_parse(found->data.type_name);
  int64_t len;
  found->name = "GGUF";
  GATHER_TRY(gather_layout_want_rows(found, 2, error));
  if (named == GATHER_CODEC_NONE)
    return gather_fail_file(error, GATHER_UNSUPPORTED, found->data.file, -1,
                            "the tensor%s%.100s%s has the type %.40s, for which there is no codec", GATHER_CALLED(found->data.name),
                            found->data.type_name);
  GATHER_TRY(gather_layout_use_codec(found, codec, named, error));
  if (found->from->blocks_swapped)
    return gather_fail_file(error, GATHER_UNSUPPORTED, found->data.file, -1,
                            "the tensor%s%.100s%s has blocks in big-endian byte order, which are not decoded",
                            GATHER_CALLED(found->data.name));
  if (!gather_mul(data->shape[data->rank - 1], found->codec->block_len, &len)) len = INT64_MAX;
  gather_layout_set_shape(found, data->rank, len);
  return gather_layout_measure(found, 0, error);
}

static bool is_gguf(const gather_file *file, const gather_file_tensor *tensor) {
  return tensor->tensor.type == GATHER_TYPE_OPAQUE && strcmp(gather_file_format(file), "gguf") == 0;
}

/* ---- 4-bit floats with a scale for each 16 or 32 */

/* Bytes [.., G, 16] and scales [.., G]: 32 elements a group. The decoded tensor is [.., 32 G]. */
static gather_status shapes_mxfp4(gather_layout *found, const char *codec, gather_error *error) {
  enum { GROUP = 32, GROUP_BYTES = 16 };
  const gather_tensor *data = &found->data.tensor;
  int64_t len;
  GATHER_TRY(gather_layout_use_codec(found, codec, GATHER_CODEC_FLOAT, error));
  found->code_type = GATHER_TYPE_FLOAT4_E2M1FN;
  found->scale_type = GATHER_TYPE_FLOAT8_E8M0FNU;
  GATHER_TRY(gather_layout_want_rows(found, 3, error));
  if (data->shape[data->rank - 1] != GROUP_BYTES) return gather_layout_fail_shape(found, &found->data, "a last length of 16", error);
  GATHER_TRY(want_type(found, GATHER_SIDE_SCALE, E8M0, error));
  GATHER_TRY(want_shape(found, GATHER_SIDE_SCALE, data->rank - 1, data->shape, error));
  if (!gather_mul(data->shape[data->rank - 2], GROUP, &len)) len = INT64_MAX;
  gather_layout_set_shape(found, data->rank - 1, len);
  return gather_layout_measure(found, GROUP, error);
}

/* Bytes [.., K/2], scales [.., K/16], and a scale of the whole tensor. */
static gather_status shapes_nvfp4(gather_layout *found, const char *codec, gather_error *error) {
  enum { GROUP = 16 };
  const gather_tensor *data = &found->data.tensor;
  const gather_side_role factor = found->side[GATHER_SIDE_FACTOR].file ? GATHER_SIDE_FACTOR : GATHER_SIDE_DIVISOR;
  int64_t len, wanted[GATHER_MAX_RANK];
  GATHER_TRY(gather_layout_use_codec(found, codec, GATHER_CODEC_FLOAT, error));
  found->code_type = GATHER_TYPE_FLOAT4_E2M1FN;
  GATHER_TRY(gather_layout_want_rows(found, 2, error));
  if (!gather_mul(data->shape[data->rank - 1], 2, &len)) len = INT64_MAX;
  if (len % GROUP != 0) return gather_layout_fail_shape(found, &found->data, "a last length that is a multiple of 8", error);
  gather_layout_set_shape(found, data->rank, len);
  memcpy(wanted, found->shape, (size_t)data->rank * sizeof *wanted);
  wanted[data->rank - 1] = len / GROUP;
  GATHER_TRY(want_type(found, GATHER_SIDE_SCALE, E4M3, error));
  GATHER_TRY(want_shape(found, GATHER_SIDE_SCALE, data->rank, wanted, error));
  GATHER_TRY(want_type(found, factor, FLOAT, error));
  GATHER_TRY(want_len(found, factor, 1, error));
  return gather_layout_measure(found, GROUP, error);
}

/* ---- 8-bit floats */

/* Scales for the whole tensor ([] or [1]), for each row ([N] or [N, 1]), or for blocks of 128 x 128. */
static gather_status shapes_fp8(gather_layout *found, const char *codec, gather_error *error) {
  enum { BLOCK = 128 };
  const gather_tensor *data = &found->data.tensor, *scale = &found->side[GATHER_SIDE_SCALE].tensor;
  GATHER_TRY(gather_layout_use_codec(found, codec, GATHER_CODEC_FLOAT, error));
  GATHER_TRY(want_type(found, GATHER_SIDE_SCALE, FLOATS, error));
  GATHER_TRY(gather_layout_want_rows(found, 2, error));
  if (data->rank != 2) return gather_layout_fail_shape(found, &found->data, "rank 2", error);
  gather_layout_set_shape(found, 2, data->shape[1]);
  const int64_t rows = data->shape[0], len = data->shape[1];
  const int64_t blocks[2] = {rows / BLOCK + (rows % BLOCK != 0), len / BLOCK + (len % BLOCK != 0)};
  const bool blocked = scale->rank == 2 && scale->shape[0] == blocks[0] && scale->shape[1] == blocks[1];
  const bool for_rows = scale->rank >= 1 && scale->rank <= 2 && scale->shape[0] == rows && (scale->rank == 1 || scale->shape[1] == 1);
  found->rows_per_scale = gather_tensor_len(scale) == 1 ? 0 : for_rows ? 1 : BLOCK;
  if (found->rows_per_scale == BLOCK && !blocked) {
    char wanted[200];
    (void)snprintf(wanted, sizeof wanted, "one scale, one a row, or [%" PRId64 ", %" PRId64 "] for blocks of 128 x 128", blocks[0],
                   blocks[1]);
    return gather_layout_fail_shape(found, &found->side[GATHER_SIDE_SCALE], wanted, error);
  }
  return gather_layout_measure(found, found->rows_per_scale == BLOCK ? BLOCK : len > 0 ? len : 1, error);
}

/* ---- bitsandbytes */

/* Scales that are codes themselves, with scales of their own. */
static gather_status nested_scales(gather_layout *found, const gather_quant_state *state, int64_t blocks, gather_error *error) {
  enum { CODES = 256 };
  static const gather_side_role ROLES[] = {GATHER_SIDE_OUTER, GATHER_SIDE_OUTER_TABLE};
  for (int i = 0; i < 2; i++)
    if (!found->side[ROLES[i]].file)
      return gather_fail_file(error, GATHER_NAME_NOT_FOUND, found->data.file, -1,
                              "the tensor%s%.100s%s has nested scales, but its side tensor '%.100s.nested_%s' is missing",
                              GATHER_CALLED(found->data.name), found->data.name, i == 0 ? "absmax" : "quant_map");
  found->outer_len = state->nested_block_len;
  found->outer_offset = state->nested_offset;
  GATHER_TRY(want_type(found, GATHER_SIDE_SCALE, BYTES, error));
  GATHER_TRY(want_type(found, GATHER_SIDE_OUTER, FLOAT, error));
  GATHER_TRY(want_len(found, GATHER_SIDE_OUTER, blocks / found->outer_len + (blocks % found->outer_len != 0), error));
  GATHER_TRY(want_type(found, GATHER_SIDE_OUTER_TABLE, FLOAT, error));
  return want_len(found, GATHER_SIDE_OUTER_TABLE, CODES, error);
}

/* Flat bytes, two elements each; groups count through the whole tensor. The state has the shape. */
static gather_status four_bits(gather_layout *found, const char *given, gather_codec codec, gather_error *error) {
  enum { CODES = 16 };
  gather_quant_state state;
  char wanted[64];
  int64_t len = 0;
  GATHER_TRY(gather_layout_use_codec(found, given, codec, error));
  found->code_type = GATHER_TYPE_UINT4;
  found->order = GATHER_CODE_ORDER_HIGH_FIRST;
  GATHER_TRY(gather_quant_state_read(found->from, gather_file_named(found->from, found->side[GATHER_SIDE_STATE].name), found->codec->name,
                                     &state, error));
  if (!gather_shape_len(state.rank, state.shape, &len)) len = INT64_MAX; /* it fits */
  (void)snprintf(wanted, sizeof wanted, "%" PRId64 " bytes, according to its state", len / 2 + len % 2);
  if (found->data.bytes != len / 2 + len % 2) return gather_layout_fail_shape(found, &found->data, wanted, error);
  const int64_t blocks = len / state.block_len + (len % state.block_len != 0);
  GATHER_TRY(want_type(found, GATHER_SIDE_TABLE, FLOAT, error));
  GATHER_TRY(want_len(found, GATHER_SIDE_TABLE, CODES, error));
  GATHER_TRY(want_len(found, GATHER_SIDE_SCALE, blocks, error));
  if (state.nested_block_len > 0)
    GATHER_TRY(nested_scales(found, &state, blocks, error));
  else
    GATHER_TRY(want_type(found, GATHER_SIDE_SCALE, FLOAT, error));
  if (state.rank < 2)
    return gather_fail_file(error, GATHER_RANK_MISMATCH, found->data.file, -1,
                            "the tensor%s%.100s%s had %d dimension before it was quantised, which has no rows",
                            GATHER_CALLED(found->data.name), (int)state.rank);
  found->rank = state.rank;
  memcpy(found->shape, state.shape, (size_t)state.rank * sizeof *state.shape);
  GATHER_TRY(gather_layout_measure(found, state.block_len, error));
  found->row_bytes = found->row_len / 2;
  found->across = found->row_len % state.block_len != 0;
  if (found->row_len % 2 == 0) return GATHER_OK;
  return gather_fail_file(error, GATHER_UNSUPPORTED, found->data.file, -1,
                          "rows of %" PRId64 " elements of 4 bits do not end on a whole byte", found->row_len);
}

static gather_status shapes_nf4(gather_layout *found, const char *codec, gather_error *error) {
  return four_bits(found, codec, GATHER_CODEC_NF4, error);
}

static gather_status shapes_fp4(gather_layout *found, const char *codec, gather_error *error) {
  return four_bits(found, codec, GATHER_CODEC_FP4, error);
}

/* ---- MLX */

/* Words of 32 bits with codes, and a scale and a bias for each group of a row. The shapes tell bits * group length only: a group of
 * 64 codes of 4 bits takes as many words as one of 32 codes of 8 bits. */
static gather_status choose_bits(gather_layout *found, const char *codec, int64_t group_bits, gather_error *error) {
  static const int8_t BITS[] = {2, 4, 8};
  static const int16_t LENGTHS[] = {32, 64, 128};
  char fits[100] = "";
  int32_t given = 0, count = 0;
  const bool named = codec && strncmp(codec, "biased:", 7) == 0 && strlen(codec) == 8;
  if (named) given = codec[7] - '0';
  for (size_t i = 0; i < sizeof BITS; i++)
    for (size_t k = 0; k < sizeof LENGTHS / sizeof *LENGTHS; k++) {
      if ((int64_t)BITS[i] * LENGTHS[k] != group_bits || (named && BITS[i] != given)) continue;
      const size_t used = strlen(fits);
      (void)snprintf(fits + used, sizeof fits - used, "%sbiased:%d", used ? " or " : "", (int)BITS[i]);
      found->code_bits = BITS[i];
      count++;
    }
  if (count == 1) return GATHER_OK;
  if (count > 1)
    return gather_fail_file(error, GATHER_USAGE, found->data.file, -1,
                            "the shapes of the tensor%s%.100s%s do not determine the bits of a code: give the codec as "
                            "%s",
                            GATHER_CALLED(found->data.name), fits);
  return gather_fail_file(error, GATHER_UNSUPPORTED, found->data.file, -1,
                          "the tensor%s%.100s%s has groups of %" PRId64
                          " bits; codes of 2, 4 and 8 bits in groups of 32, 64 and 128 are decoded",
                          GATHER_CALLED(found->data.name), group_bits);
}

static gather_status shapes_affine(gather_layout *found, const char *codec, gather_error *error) {
  const gather_tensor *data = &found->data.tensor;
  const gather_tensor *scale = &found->side[GATHER_SIDE_SCALE].tensor;
  const bool bits_given = codec && strncmp(codec, "biased:", 7) == 0;
  int64_t row_bits, wanted[GATHER_MAX_RANK];
  GATHER_TRY(gather_layout_use_codec(found, bits_given ? NULL : codec, GATHER_CODEC_BIASED, error));
  GATHER_TRY(gather_layout_want_rows(found, 2, error));
  GATHER_TRY(want_type(found, GATHER_SIDE_SCALE, FLOATS, error));
  GATHER_TRY(want_type(found, GATHER_SIDE_BIAS, FLOATS, error));
  memcpy(wanted, data->shape, (size_t)data->rank * sizeof *wanted);
  wanted[data->rank - 1] = scale->rank == data->rank ? scale->shape[data->rank - 1] : 1;
  const int64_t groups = wanted[data->rank - 1];
  GATHER_TRY(want_shape(found, GATHER_SIDE_SCALE, data->rank, wanted, error));
  GATHER_TRY(want_shape(found, GATHER_SIDE_BIAS, data->rank, wanted, error));
  if (!gather_mul(data->shape[data->rank - 1], 32, &row_bits)) row_bits = INT64_MAX;
  if (groups == 0 || row_bits % groups != 0)
    return gather_layout_fail_shape(found, &found->side[GATHER_SIDE_SCALE], "a last length that divides the words of a row", error);
  GATHER_TRY(choose_bits(found, codec, row_bits / groups, error));
  found->code_type = GATHER_TYPE_UINT8;
  gather_layout_set_shape(found, data->rank, row_bits / found->code_bits);
  return gather_layout_measure(found, row_bits / groups / found->code_bits, error);
}

/* ---- refused */

static gather_status shapes_gptq(gather_layout *found, const char *codec, gather_error *error) {
  return gather_layout_use_codec(found, codec, GATHER_CODEC_GPTQ, error);
}

static gather_status shapes_awq(gather_layout *found, const char *codec, gather_error *error) {
  return gather_layout_use_codec(found, codec, GATHER_CODEC_AWQ, error);
}

/* ---- the layouts */

enum { NAME_BYTES = 512 };

typedef enum need { NOT_USED = 0, OPTIONAL, NEEDED, MARK } need;

typedef struct side_row {
  const char *ending;
  need need;
} side_row;

typedef struct layout_row {
  gather_status (*shapes)(gather_layout *found, const char *codec, gather_error *error);
  const char *name, *ending;
  gather_type type;
  bool by_name;
  side_row side[GATHER_SIDE_COUNT];
} layout_row;

#define SIDE(role, ending, need) [GATHER_SIDE_##role] = {ending, need}

static const layout_row LAYOUTS[] = {
#define GATHER_LAYOUT(function, name, ending, type, by_name, ...) \
  {shapes_##function, name, ending, GATHER_TYPE_##type, by_name, {__VA_ARGS__}},
#include "table/layout.def"
#undef GATHER_LAYOUT
};

enum { LAYOUT_COUNT = sizeof LAYOUTS / sizeof *LAYOUTS };

/* ---- names of side tensors */

/* The name of a side tensor: that of the data with another ending. False: too long to exist here. */
static bool side_name(const gather_stored *data, const layout_row *row, const side_row *side, char *name) {
  const size_t stem = strlen(data->name) - strlen(row->ending);
  const int written = snprintf(name, NAME_BYTES, "%.*s%s", (int)stem, data->name, side->ending);
  return written >= 0 && written < NAME_BYTES;
}

static const gather_file_tensor *find_side(const gather_layout *found, const layout_row *row, int role) {
  char name[NAME_BYTES];
  if (row->side[role].need == NOT_USED || !side_name(&found->data, row, &row->side[role], name)) return NULL;
  return gather_file_named(found->from, name);
}

static bool has_ending(const char *name, const char *ending) {
  const size_t length = strlen(name), tail = strlen(ending);
  return length < NAME_BYTES && length >= tail && strcmp(name + length - tail, ending) == 0;
}

static bool fits(const gather_layout *found, const layout_row *row) {
  if (found->data.tensor.type != row->type || !has_ending(found->data.name, row->ending)) return false;
  bool marked = row->by_name;
  for (int role = 0; role < GATHER_SIDE_COUNT && !marked; role++)
    marked = row->side[role].need == MARK && find_side(found, row, role) != NULL;
  return marked;
}

static const layout_row *find_layout(const gather_layout *found) {
  for (size_t i = 0; i < LAYOUT_COUNT; i++)
    if (fits(found, &LAYOUTS[i])) return &LAYOUTS[i];
  return NULL;
}

/* ---- side tensors */

static gather_status check_side(const gather_layout *found, const gather_file_tensor *side, gather_error *error) {
  GATHER_TRY(gather_file_rows_check(side, error));
  if (gather_tensor_is_row_major(&side->tensor)) return GATHER_OK;
  return gather_fail_file(error, GATHER_UNSUPPORTED, found->data.file, -1, "the side tensor '%.100s' is not in row-major order",
                          side->name);
}

static gather_status find_sides(gather_layout *found, const layout_row *row, gather_error *error) {
  char name[NAME_BYTES];
  for (int role = 0; role < GATHER_SIDE_COUNT; role++) {
    const gather_file_tensor *side = find_side(found, row, role);
    if (side) {
      GATHER_TRY(check_side(found, side, error));
      gather_stored_find(found->from, side, &found->side[role]);
    }
    if (side || row->side[role].need < NEEDED) continue;
    (void)side_name(&found->data, row, &row->side[role], name);
    return gather_fail_file(error, GATHER_NAME_NOT_FOUND, found->data.file, -1,
                            "the tensor%s%.100s%s is quantised as %s, but its side tensor '%.100s' is missing",
                            GATHER_CALLED(found->data.name), row->name, name);
  }
  return GATHER_OK;
}

/* ---- the whole */

static gather_status check_data(const gather_file *file, const gather_file_tensor *data, gather_error *error) {
  GATHER_TRY(gather_file_rows_check(data, error));
  if (gather_tensor_is_row_major(&data->tensor)) return GATHER_OK;
  return gather_fail_file(error, GATHER_UNSUPPORTED, file->name, -1,
                          "the tensor%s%.100s%s is not in row-major order: its quantised rows are not contiguous",
                          GATHER_CALLED(data->name));
}

gather_status gather_layout_find(const gather_file *file, const gather_file_tensor *tensor, const char *codec, gather_layout *found,
                                 gather_error *error) {
  *found = (gather_layout){.from = file, .rows_per_scale = 1};
  GATHER_TRY(check_data(file, tensor, error));
  gather_stored_find(file, tensor, &found->data);
  const layout_row *row = find_layout(found);
  if (is_gguf(file, tensor)) {
    GATHER_TRY(shapes_gguf(found, codec, error));
  } else if (row) {
    found->name = row->name;
    GATHER_TRY(find_sides(found, row, error));
    GATHER_TRY(row->shapes(found, codec, error));
  } else {
    GATHER_TRY(gather_layout_of_rows(found, codec, error));
  }
  return gather_layout_check_sizes(found, error);
}

bool gather_file_is_quantised(const gather_file *file, const gather_file_tensor *tensor) {
  if (!file || !tensor) return false;
  gather_layout about = {.from = file};
  if (tensor->tensor.type == GATHER_TYPE_OPAQUE) return is_gguf(file, tensor);
  about.data = (gather_stored){.file = file->name, .name = tensor->name, .tensor = tensor->tensor};
  return find_layout(&about) != NULL;
}

gather_status gather_file_codec_find(const gather_file *file, const gather_file_tensor *tensor, const char *codec, gather_file_codec *found,
                                     gather_error *error) {
  gather_layout layout;
  if (!file || !tensor || !found) return gather_fail(error, GATHER_USAGE, "gather_file_codec_find: file, tensor or found is NULL");
  GATHER_TRY(gather_layout_find(file, tensor, codec, &layout, error));
  *found = (gather_file_codec){.codec = layout.codec->name, .layout = layout.name, .rank = layout.rank};
  memcpy(found->shape, layout.shape, (size_t)layout.rank * sizeof *found->shape);
  return GATHER_OK;
}
