/* SPDX-License-Identifier: MIT
 *
 * layout.c: recognises quantised tensors in files and finds their side tensors by name (layout.def).
 */
#include "table/layout.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/checked.h"
#include "core/base/error.h"
#include "core/base/tensor.h"
#include "io/format/format.h"
#include "table/layout_shapes.h"

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
  {gather_shapes_##function, name, ending, GATHER_TYPE_##type, by_name, {__VA_ARGS__}},
#include "table/layout.def"
#undef GATHER_LAYOUT
};
enum { LAYOUT_COUNT = sizeof LAYOUTS / sizeof *LAYOUTS };

/* ---- names */

/* The name of a side tensor: that of the data with another ending. False: too long to exist here. */
static bool side_name(const gather_file_tensor *data, const layout_row *row, const side_row *side, char *name) {
  const size_t stem = strlen(data->name) - strlen(row->ending);
  const int written = snprintf(name, NAME_BYTES, "%.*s%s", (int)stem, data->name, side->ending);
  return written >= 0 && written < NAME_BYTES;
}

static const gather_file_tensor *find_side(const gather_layout *found, const layout_row *row, int role) {
  char name[NAME_BYTES];
  if (row->side[role].need == NOT_USED || !side_name(found->data, row, &row->side[role], name)) return NULL;
  return gather_file_named(found->file, name);
}

static bool has_ending(const char *name, const char *ending) {
  const size_t length = strlen(name), tail = strlen(ending);
  return length < NAME_BYTES && length >= tail && strcmp(name + length - tail, ending) == 0;
}

static bool fits(const gather_layout *found, const layout_row *row) {
  if (found->data->tensor.type != row->type || !has_ending(found->data->name, row->ending)) return false;
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
  return gather_fail_file(error, GATHER_UNSUPPORTED, found->file->name, -1,
                          "the side tensor '%.100s' is not in row-major order", side->name);
}

static gather_status find_sides(gather_layout *found, const layout_row *row, gather_error *error) {
  char name[NAME_BYTES];
  for (int role = 0; role < GATHER_SIDE_COUNT; role++) {
    found->side[role] = find_side(found, row, role);
    if (found->side[role]) GATHER_TRY(check_side(found, found->side[role], error));
    if (found->side[role] || row->side[role].need < NEEDED) continue;
    (void)side_name(found->data, row, &row->side[role], name);
    return gather_fail_file(error, GATHER_NAME_NOT_FOUND, found->file->name, -1,
                            "the tensor%s%.100s%s is quantised as %s, but its side tensor '%.100s' is missing",
                            GATHER_CALLED(found->data->name), row->name, name);
  }
  return GATHER_OK;
}

/* ---- the whole */

static gather_status check_data(const gather_layout *found, gather_error *error) {
  GATHER_TRY(gather_file_rows_check(found->data, error));
  if (gather_tensor_is_row_major(&found->data->tensor)) return GATHER_OK;
  return gather_fail_file(error, GATHER_UNSUPPORTED, found->file->name, -1,
                          "the tensor%s%.100s%s is not in row-major order: its quantised rows are not contiguous",
                          GATHER_CALLED(found->data->name));
}

/* Lengths of the decoded rows and of the decoded tensor. */
static gather_status check_sizes(const gather_layout *found, gather_error *error) {
  int64_t len, bytes;
  if (gather_shape_len(found->rank, found->shape, &len) && gather_mul(len, 8, &bytes)) return GATHER_OK;
  return gather_fail_file(error, GATHER_OVERFLOW, found->file->name, -1,
                          "the size of the decoded tensor%s%.100s%s does not fit in 63 bits",
                          GATHER_CALLED(found->data->name));
}

gather_status gather_layout_find(const gather_file *file, const gather_file_tensor *tensor, const char *codec,
                                 gather_layout *found, gather_error *error) {
  const bool given = codec && codec[0];
  *found = (gather_layout){.file = file, .data = tensor, .rows_per_scale = 1};
  GATHER_TRY(check_data(found, error));
  if (tensor->tensor.type == GATHER_TYPE_OPAQUE && strcmp(gather_file_format(file), "gguf") == 0) {
    GATHER_TRY(gather_shapes_gguf(found, codec, error));
    return check_sizes(found, error);
  }
  const layout_row *row = find_layout(found);
  if (row) {
    found->name = row->name;
    GATHER_TRY(find_sides(found, row, error));
    GATHER_TRY(row->shapes(found, codec, error));
  } else if (gather_layout_is_float(tensor)) {
    GATHER_TRY(gather_shapes_float(found, codec, error));
  } else if (given) {
    GATHER_TRY(gather_shapes_given(found, codec, error));
  } else {
    return gather_fail_file(error, GATHER_UNSUPPORTED, file->name, -1,
                            "the tensor%s%.100s%s (%.40s) is not quantised in a way that its file tells; the codec "
                            "may be given by its name",
                            GATHER_CALLED(tensor->name), tensor->type_name);
  }
  return check_sizes(found, error);
}

bool gather_file_is_quantised(const gather_file *file, const gather_file_tensor *tensor) {
  if (!file || !tensor) return false;
  const gather_layout about = {.file = file, .data = tensor};
  if (tensor->tensor.type == GATHER_TYPE_OPAQUE) return strcmp(gather_file_format(file), "gguf") == 0;
  return find_layout(&about) != NULL;
}

gather_status gather_file_codec_find(const gather_file *file, const gather_file_tensor *tensor, const char *codec,
                                     gather_file_codec *found, gather_error *error) {
  gather_layout layout;
  if (!file || !tensor || !found)
    return gather_fail(error, GATHER_USAGE, "gather_file_codec_find: file, tensor or found is NULL");
  GATHER_TRY(gather_layout_find(file, tensor, codec, &layout, error));
  *found = (gather_file_codec){.codec = layout.codec->name, .layout = layout.name, .rank = layout.rank};
  memcpy(found->shape, layout.shape, (size_t)layout.rank * sizeof *found->shape);
  return GATHER_OK;
}
