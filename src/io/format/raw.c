/* SPDX-License-Identifier: MIT
 *
 * raw.c: bytes without a header; the caller gives type and shape.
 */
#include <inttypes.h>
#include <string.h>

#include "core/base/checked.h"
#include "core/base/error.h"
#include "core/base/tensor.h"
#include "io/format/format_open.h"

/* "<f4": a plain descr; "[('a', '<i4')]": a list of fields. */
static bool is_descr(const char *type) { return type[0] != '\0' && strchr("<>|=[", type[0]) != NULL; }

static gather_status read_descr(const char *type, gather_descr *descr, gather_error *error) {
  gather_literal literal;
  gather_literal_text text = {type, (int64_t)strlen(type)};
  gather_literal_init(&literal, type, text.bytes);
  bool good = type[0] == '[' ? gather_descr_parse(&literal, descr) : gather_descr_plain(&literal, 0, text, descr);
  if (good && type[0] == '[' && gather_literal_peek(&literal) != '\0')
    good = gather_literal_fail(&literal, GATHER_FILE_MALFORMED, literal.at, "unexpected text after the list");
  if (good) return GATHER_OK;
  bool objects = strncmp(literal.message, "Python", 6) == 0;
  return gather_fail(error, objects ? GATHER_UNSUPPORTED : GATHER_USAGE, "the type '%.100s': %s", type,
                     literal.message);
}

/* Raw elements are little-endian unless the descr says otherwise. */
static gather_status read_type(const char *type, gather_descr *descr, gather_error *error) {
  if (!type) return gather_fail(error, GATHER_USAGE, "raw bytes need a type");
  if (is_descr(type)) return read_descr(type, descr, error);
  const gather_type_info *info = gather_type_get(gather_type_parse(type));
  if (!info)
    return gather_fail(error, GATHER_USAGE,
                       "unknown type '%.100s'; write a name (float32, FLOAT, f32) or a NumPy descr (<f4, |S5)", type);
  if (!gather_raw_carries(info))
    return gather_fail(error, GATHER_UNSUPPORTED, "strings cannot be raw bytes, which have no lengths of strings");
  *descr = (gather_descr){.type = info->type,
                          .item_bytes = info->bits / 8,
                          .unit_bytes = 1,
                          .swapped = GATHER_BIG_ENDIAN && info->bits > 8};
  return GATHER_OK;
}

static gather_status check_raw(const gather_raw *raw, gather_descr *descr, int64_t *bytes, gather_error *error) {
  if (!raw) return gather_fail(error, GATHER_USAGE, "raw is NULL: raw bytes need a type and a shape");
  GATHER_TRY(read_type(raw->type, descr, error));
  if (raw->rank < 0 || (raw->rank > 0 && !raw->shape))
    return gather_fail(error, GATHER_USAGE, "raw bytes need a shape");
  if (raw->rank > GATHER_MAX_RANK)
    return gather_fail(error, GATHER_UNSUPPORTED, "rank %" PRId32 ": more than %d dimensions are not supported",
                       raw->rank, GATHER_MAX_RANK);
  for (int32_t d = 0; d < raw->rank; d++)
    if (raw->shape[d] < 0)
      return gather_fail(error, GATHER_USAGE, "invalid length %" PRId64 " in the shape", raw->shape[d]);
  if (raw->offset < 0) return gather_fail(error, GATHER_USAGE, "the offset %" PRId64 " is negative", raw->offset);
  int64_t len;
  if (!gather_shape_len(raw->rank, raw->shape, &len) ||
      gather_type_bytes(descr->type, descr->item_bytes, len, bytes) != GATHER_OK)
    return gather_fail(error, GATHER_OVERFLOW, "the size of the tensor does not fit in 64 bits");
  return GATHER_OK;
}

/* Keeps the text of a type without a name: a plain descr also in quotes, for writing .npy. */
static void set_texts(gather_single *single, const gather_raw *raw, const gather_descr *descr) {
  gather_file_tensor *tensor = &single->tensor;
  size_t length = strlen(raw->type);
  if (descr->type != GATHER_TYPE_OPAQUE) {
    tensor->type_name = gather_type_get(descr->type)->name;
    return;
  }
  char *plain = single->text, *quoted = plain + length + 1;
  memcpy(plain, raw->type, length);
  tensor->type_name = tensor->descr = plain;
  if (descr->structured) return;
  quoted[0] = quoted[length + 1] = '\'';
  memcpy(quoted + 1, raw->type, length);
  tensor->descr = quoted;
}

/* Giving a type and a shape for a file that has its own is probably a mistake. */
static gather_status check_content(const gather_file *file, const gather_raw *raw, gather_error *error) {
  char unknown[sizeof error->message];
  if (raw->as_is) return GATHER_OK;
  const char *format = gather_format_looks(file, unknown, sizeof unknown);
  if (format)
    return gather_fail_file(error, GATHER_USAGE, file->name, -1,
                            "it is not raw bytes but a file of format %s, which has its own types and shapes", format);
  if (!*unknown) return GATHER_OK;
  return gather_fail_file(error, GATHER_USAGE, file->name, -1, "it is not raw bytes: %s", unknown);
}

static gather_status open_raw(gather_file *file, const gather_raw *raw, gather_error *error) {
  gather_descr descr;
  int64_t bytes;
  gather_single *single;
  GATHER_TRY(check_raw(raw, &descr, &bytes, error));
  GATHER_TRY(check_content(file, raw, error));
  file->format = "raw";
  GATHER_TRY(gather_single_create(file, 2 * (int64_t)strlen(raw->type) + 4, &single, error));
  set_texts(single, raw, &descr);
  gather_tensor *tensor = &single->tensor.tensor;
  tensor->type = descr.type;
  tensor->item_bytes = descr.item_bytes;
  tensor->rank = raw->rank;
  if (raw->rank > 0) memcpy(single->shape, raw->shape, (size_t)raw->rank * sizeof *raw->shape);
  if (descr.swapped) tensor->flags |= GATHER_TENSOR_BYTE_SWAPPED;
  single->tensor.bytes = bytes;
  return gather_single_place(file, single, raw->offset, error);
}

/* A failure to read the file comes before everything that follows from it. */
static gather_status open_settled(gather_file *file, const gather_raw *raw, gather_error *error) {
  gather_error failed;
  gather_status status = open_raw(file, raw, error), settled = gather_file_settle(file, &failed);
  if (settled == GATHER_OK) return status;
  if (error) *error = failed;
  return settled;
}

gather_status gather_file_open_raw(const char *path, const gather_raw *raw, gather_file **file, gather_error *error) {
  return gather_file_open_raw_with(path, raw, NULL, file, error);
}

gather_status gather_file_open_raw_with(const char *path, const gather_raw *raw, const gather_file_options *options,
                                        gather_file **file, gather_error *error) {
  gather_file_options full;
  if (!file) return gather_fail(error, GATHER_USAGE, "gather_file_open_raw: file is NULL");
  *file = NULL;
  if (!path) return gather_fail(error, GATHER_USAGE, "gather_file_open_raw: path is NULL");
  GATHER_TRY(gather_file_options_read(options, &full, error));
  gather_file *made = NULL;
  GATHER_TRY(gather_file_make(path, &made, error));
  gather_status status = gather_file_use_path(made, path, &full, error);
  if (status == GATHER_OK) status = open_settled(made, raw, error);
  return gather_file_finish(status, made, file);
}

/* The length of a row, from its type and the other lengths. */
static gather_status row_bytes_of(const gather_raw *raw, int64_t *bytes, gather_error *error) {
  int64_t shape[GATHER_MAX_RANK];
  gather_descr descr;
  gather_raw one = *raw;
  if (raw->rank > GATHER_MAX_RANK) return check_raw(raw, &descr, bytes, error);
  memcpy(shape, raw->shape, (size_t)raw->rank * sizeof *shape);
  shape[0] = 1;
  one.shape = shape;
  return check_raw(&one, &descr, bytes, error);
}

/* As many rows as the file has after the offset. */
static gather_status open_counted(gather_file *file, const gather_raw *raw, gather_error *error) {
  int64_t shape[GATHER_MAX_RANK], bytes = 0;
  gather_raw counted = *raw;
  if (raw->rank < 1 || !raw->shape || raw->shape[0] != -1) return open_settled(file, raw, error);
  GATHER_TRY(row_bytes_of(raw, &bytes, error));
  memcpy(shape, raw->shape, (size_t)raw->rank * sizeof *shape);
  shape[0] = bytes > 0 && raw->offset < file->map.size ? (file->map.size - raw->offset) / bytes : 0;
  counted.shape = shape;
  return open_settled(file, &counted, error);
}

gather_status gather_file_open_raw_by(gather_remote_client *client, const char *url, const gather_raw *raw,
                                      const gather_file_options *options, gather_file **file, gather_error *error) {
  gather_file *made = NULL;
  *file = NULL;
  GATHER_TRY(gather_file_make(url, &made, error));
  gather_status status = gather_file_use_client(made, client, url, options, error);
  if (status == GATHER_OK) status = open_counted(made, raw, error);
  return gather_file_finish(status, made, file);
}

gather_status gather_file_raw_from_memory(const void *memory, size_t bytes, const char *name, const gather_raw *raw,
                                          gather_file **file, gather_error *error) {
  if (!file) return gather_fail(error, GATHER_USAGE, "gather_file_raw_from_memory: file is NULL");
  *file = NULL;
  gather_file *made = NULL;
  GATHER_TRY(gather_file_make(name ? name : "memory", &made, error));
  gather_status status = gather_file_use_memory(made, memory, bytes, error);
  if (status == GATHER_OK) status = open_raw(made, raw, error);
  return gather_file_finish(status, made, file);
}
