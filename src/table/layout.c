/* SPDX-License-Identifier: MIT
 *
 * layout.c: quantised rows that contain all that their values need, and floats: the codec, the decoded shape, and how the rows lie. What a
 * layout asks of types and shapes. layout_file.c knows those whose scales are tensors of their own.
 */
#include "table/layout.h"

#include <inttypes.h>
#include <string.h>

#include "core/base/checked.h"
#include "core/base/error.h"
#include "core/base/tensor.h"

/* ---- errors */

gather_status gather_layout_fail_shape(const gather_layout *found, const gather_stored *tensor, const char *wanted, gather_error *error) {
  char shape[200];
  return gather_fail_file(error, GATHER_SHAPE_MISMATCH, found->data.file, -1, "the tensor%s%.100s%s has the shape %s, but %s needs %s",
                          GATHER_CALLED(tensor->name), gather_shape_text(shape, sizeof shape, tensor->tensor.rank, tensor->tensor.shape),
                          found->name, wanted);
}

/* ---- codecs */

/* The codec of a layout. A caller may name it, too, and must not name another. */
gather_status gather_layout_use_codec(gather_layout *found, const char *given, gather_codec codec, gather_error *error) {
  found->codec = gather_codec_get(codec);
  const char *name = found->codec->name;
  if (given && given[0] && strcmp(given, name) != 0)
    return gather_fail_file(error, GATHER_USAGE, found->data.file, -1,
                            "the tensor%s%.100s%s is quantised as %s (codec %s), not with the codec '%.60s'",
                            GATHER_CALLED(found->data.name), found->name, name, given);
  if (found->codec->kind != GATHER_CODEC_REFUSED) return GATHER_OK;
  if (!found->data.name[0]) /* of a file with one tensor; the codec is the caller's */
    return gather_fail_file(error, GATHER_UNSUPPORTED, found->data.file, -1, "rows that are quantised as %s are not decoded: %s", name,
                            found->codec->value);
  return gather_fail_file(error, GATHER_UNSUPPORTED, found->data.file, -1,
                          "the tensor%s%.100s%s is quantised as %s, which is not decoded: %s", GATHER_CALLED(found->data.name), name,
                          found->codec->value);
}

/* The decoded tensor has the shape of the data, except for the last length. */
void gather_layout_set_shape(gather_layout *found, int32_t rank, int64_t last) {
  found->rank = rank;
  memcpy(found->shape, found->data.tensor.shape, (size_t)rank * sizeof *found->shape);
  found->shape[rank - 1] = last;
}

/* Rows are along axis 0. */
gather_status gather_layout_want_rows(const gather_layout *found, int32_t rank, gather_error *error) {
  if (found->data.tensor.rank >= rank) return GATHER_OK;
  return gather_layout_fail_shape(found, &found->data,
                                  rank == 3   ? "rank 3 or more"
                                  : rank == 2 ? "rank 2 or more"
                                              : "rank 1 or more",
                                  error);
}

/* Sets the lengths of a row; the groups of a row are whole unless the codec says otherwise. */
gather_status gather_layout_measure(gather_layout *found, int64_t group_len, gather_error *error) {
  const gather_tensor *data = &found->data.tensor;
  int64_t len;
  if (!gather_shape_len(found->rank - 1, found->shape + 1, &found->row_len) || !gather_shape_len(data->rank - 1, data->shape + 1, &len) ||
      !gather_tensor_len_bytes(data, len, &found->row_bytes))
    return gather_fail_file(error, GATHER_OVERFLOW, found->data.file, -1,
                            "the length of a row of the tensor%s%.100s%s does not fit in 63 bits", GATHER_CALLED(found->data.name));
  found->group_len = group_len;
  found->groups = group_len > 0 ? found->row_len / group_len + (found->row_len % group_len != 0) : 0;
  return GATHER_OK;
}

/* ---- rows whose codec the caller names */

/* A row with all that its values need: blocks, or codes with their scale behind them. */
static gather_status shapes_given(gather_layout *found, const char *codec, gather_error *error) {
  const gather_tensor *data = &found->data.tensor;
  const gather_codec named = gather_codec_parse(codec);
  gather_error why;
  found->name = "rows of a codec that the caller gave";
  if (named == GATHER_CODEC_NONE) return gather_fail_file(error, GATHER_USAGE, found->data.file, -1, "no such codec: '%.60s'", codec);
  GATHER_TRY(gather_layout_use_codec(found, codec, named, error));
  if (found->codec->kind == GATHER_CODEC_CODES)
    return gather_fail_file(error, GATHER_UNSUPPORTED, found->data.file, -1,
                            "the codec %s needs side tensors, and the names in the file do not show which belong to the "
                            "tensor%s%.100s%s",
                            found->codec->name, GATHER_CALLED(found->data.name));
  GATHER_TRY(gather_layout_want_rows(found, 2, error));
  if (found->codec->kind == GATHER_CODEC_PACKED && data->rank != 2) return gather_layout_fail_shape(found, &found->data, "rank 2", error);
  gather_quantized about = GATHER_QUANTIZED_INIT;
  about.codec = named, about.data = data;
  const gather_status status = gather_quantized_shape(&about, found->shape, &found->rank, &why);
  if (status != GATHER_OK)
    return gather_fail_file(error, status, found->data.file, -1, "the tensor%s%.100s%s as %s: %s", GATHER_CALLED(found->data.name),
                            found->codec->name, why.message);
  return gather_layout_measure(found, 0, error);
}

/* ---- floats, which are values already */

static bool is_float(const gather_stored *stored) {
  const gather_type_info *type = gather_type_get(stored->tensor.type);
  return type && type->kind == GATHER_KIND_FLOAT && type->bits <= 64 && type->packing != GATHER_PACKING_SPLIT_3 &&
         type->packing != GATHER_PACKING_SPLIT_6;
}

/* Floats of 8 bits or less usually have scales, perhaps in another file: only the caller knows that there are none. */
static gather_status shapes_float(gather_layout *found, const char *codec, gather_error *error) {
  const gather_tensor *data = &found->data.tensor;
  found->name = "floats";
  GATHER_TRY(gather_layout_use_codec(found, codec, GATHER_CODEC_FLOAT, error));
  GATHER_TRY(gather_layout_want_rows(found, 1, error));
  if (gather_type_get(data->type)->bits <= 8 && !(codec && codec[0]))
    return gather_fail_file(error, GATHER_UNSUPPORTED, found->data.file, -1,
                            "the file does not describe how the tensor%s%.100s%s (%.40s) is quantised; if it has no "
                            "scales, the codec float takes its values as they are",
                            GATHER_CALLED(found->data.name), found->data.type_name);
  found->code_type = data->type;
  gather_layout_set_shape(found, data->rank, data->shape[data->rank - 1]);
  return gather_layout_measure(found, 0, error);
}

/* ---- the whole */

/* Lengths of the decoded rows and of the decoded tensor. */
gather_status gather_layout_check_sizes(const gather_layout *found, gather_error *error) {
  int64_t len, bytes;
  if (gather_shape_len(found->rank, found->shape, &len) && gather_mul(len, 8, &bytes)) return GATHER_OK;
  return gather_fail_file(error, GATHER_OVERFLOW, found->data.file, -1, "the size of the decoded tensor%s%.100s%s does not fit in 63 bits",
                          GATHER_CALLED(found->data.name));
}

gather_status gather_layout_of_rows(gather_layout *found, const char *codec, gather_error *error) {
  if (is_float(&found->data)) return shapes_float(found, codec, error);
  if (codec && codec[0]) return shapes_given(found, codec, error);
  return gather_fail_file(error, GATHER_UNSUPPORTED, found->data.file, -1,
                          "the file does not describe how the tensor%s%.100s%s (%.40s) is quantised; give the codec by "
                          "its name",
                          GATHER_CALLED(found->data.name), found->data.type_name);
}
