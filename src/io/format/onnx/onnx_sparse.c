/* SPDX-License-Identifier: MIT
 *
 * onnx_sparse.c: reads a SparseTensorProto as the dense tensor that it stands for. What cannot be made dense is a tensor of that type and
 * shape whose elements cannot be read.
 */
#include <inttypes.h>
#include <string.h>

#include "core/base/checked.h"
#include "core/base/tensor.h"
#include "io/format/onnx/onnx.h"

#ifdef GATHER_HAVE_NANOPB

enum { VALUES = 1, INDICES = 2, DIMS = 3 };
/* A few bytes of a file may stand for many zeros: all dense tensors together take at most so many times the bytes of the file, and some
 * more. */
enum { MOST_TIMES = 64, MOST_MORE = 64 << 20 };

/* The parts of one sparse tensor. */
typedef struct sparse {
  gather_file_tensor values, indices;
  bool has_values, has_indices;
  int64_t count; /* of the values */
  int64_t offset;
} sparse;

/* The elements cannot be read: the caller's message says why. */
#define UNREADABLE(onnx, tensor, status, where, ...)                               \
  do {                                                                             \
    gather_error why_;                                                             \
    (void)gather_fail_file(&why_, status, (onnx)->file->name, where, __VA_ARGS__); \
    return gather_file_unreadable((onnx)->file, &why_, tensor, (onnx)->error);     \
  } while (0)

static gather_status read_part(gather_onnx *onnx, const gather_proto_field *field, void *into) {
  sparse *s = into;
  const bool values = field->number == VALUES;
  GATHER_TRY(gather_onnx_tensor(onnx, field->inner, values ? &s->values : &s->indices));
  s->has_values = s->has_values || values;
  s->has_indices = s->has_indices || !values;
  return GATHER_OK;
}

static gather_status read_parts(gather_onnx *onnx, gather_proto message, sparse *s) {
  static const gather_onnx_row FIELDS[] = {{VALUES, GATHER_ONNX_MESSAGE, 0, read_part}, {INDICES, GATHER_ONNX_MESSAGE, 0, read_part}, {0}};
  *s = (sparse){.offset = message.at};
  GATHER_TRY(gather_onnx_read(onnx, message, FIELDS, s));
  if (!s->has_values) return GATHER_ONNX_WRONG(onnx, s->offset, "a sparse tensor has no values");
  s->count = gather_tensor_len(&s->values.tensor);
  return GATHER_OK;
}

static gather_status read_shape(gather_onnx *onnx, gather_proto message, const sparse *s, gather_file_tensor *tensor) {
  uint64_t *lengths = NULL;
  int64_t *shape = NULL, rank = 0;
  GATHER_TRY(gather_onnx_list(onnx, message, DIMS, GATHER_PROTO_VARINT, &lengths, &rank));
  if (rank > GATHER_MAX_RANK)
    return gather_fail_file(onnx->error, GATHER_UNSUPPORTED, onnx->file->name, s->offset, "more than %d dimensions", GATHER_MAX_RANK);
  GATHER_TRY(gather_onnx_take(onnx, rank, sizeof *shape, &shape));
  for (int64_t d = 0; d < rank; d++) {
    shape[d] = (int64_t)lengths[d];
    if (shape[d] < 0) return GATHER_ONNX_WRONG(onnx, s->offset, "a length is negative: %" PRId64, shape[d]);
  }
  *tensor = (gather_file_tensor){.name = s->values.name, .type_name = s->values.type_name, .offset = s->offset};
  tensor->tensor = (gather_tensor){.type = s->values.tensor.type, .rank = (int32_t)rank, .shape = shape, .flags = GATHER_FILE_VIEW};
  if (gather_tensor_check(&tensor->tensor, NULL) != GATHER_OK)
    return GATHER_ONNX_WRONG(onnx, s->offset, "the lengths of tensor '%.100s' are too large", tensor->name);
  tensor->bytes = gather_tensor_bytes(&tensor->tensor);
  return GATHER_OK;
}

/* The values are a list; the indices say for each one its number in row-major order, or its coordinates. */
static gather_status check_parts(gather_onnx *onnx, const sparse *s, const gather_file_tensor *tensor) {
  const gather_tensor *indices = &s->indices.tensor;
  if (s->values.tensor.rank != 1)
    return GATHER_ONNX_WRONG(onnx, s->offset, "the values of the sparse tensor '%.100s' have rank %" PRId32 ", not 1", tensor->name,
                             s->values.tensor.rank);
  if (!s->has_indices && s->count == 0) return GATHER_OK;
  if (!s->has_indices || indices->type != GATHER_TYPE_INT64)
    return GATHER_ONNX_WRONG(onnx, s->offset, "the sparse tensor '%.100s' has no indices of type int64", tensor->name);
  const bool numbers = indices->rank == 1 && indices->shape[0] == s->count;
  const bool places = indices->rank == 2 && indices->shape[0] == s->count && indices->shape[1] == tensor->tensor.rank;
  if (numbers || places) return GATHER_OK;
  return GATHER_ONNX_WRONG(onnx, s->offset,
                           "the indices of the sparse tensor '%.100s' do not fit its %" PRId64 " values and its %" PRId32 " dimensions",
                           tensor->name, s->count, tensor->tensor.rank);
}

static int64_t integer_at(const gather_tensor *indices, int64_t i) {
  const unsigned char *from = (const unsigned char *)indices->data + i * 8;
  unsigned char bytes[8];
  int64_t number;
  const bool swapped = (indices->flags & GATHER_TENSOR_BYTE_SWAPPED) != 0;
  for (int k = 0; k < 8; k++) bytes[k] = from[swapped ? 7 - k : k];
  memcpy(&number, bytes, sizeof number);
  return number;
}

/* Where value number i goes, in elements; false: outside of the tensor. */
static bool find_place(const sparse *s, const gather_tensor *dense, int64_t len, int64_t i, int64_t *place) {
  const gather_tensor *indices = &s->indices.tensor;
  if (indices->rank == 1) {
    *place = integer_at(indices, i);
    return *place >= 0 && *place < len;
  }
  *place = 0;
  for (int32_t d = 0; d < dense->rank; d++) {
    const int64_t at = integer_at(indices, i * dense->rank + d);
    if (at < 0 || at >= dense->shape[d]) return false;
    *place = *place * dense->shape[d] + at;
  }
  return len > 0;
}

static gather_status scatter(gather_onnx *onnx, const sparse *s, gather_file_tensor *tensor) {
  const int64_t len = gather_tensor_len(&tensor->tensor), width = gather_tensor_item_bytes(&tensor->tensor);
  char *bytes = NULL;
  GATHER_TRY(gather_onnx_take(onnx, tensor->bytes, 1, &bytes));
  for (int64_t i = 0; i < s->count; i++) {
    int64_t place;
    if (!find_place(s, &tensor->tensor, len, i, &place))
      return GATHER_ONNX_WRONG(onnx, s->offset, "index %" PRId64 " of the sparse tensor '%.100s' is outside its shape", i, tensor->name);
    memcpy(bytes + place * width, (const char *)s->values.tensor.data + i * width, (size_t)width);
  }
  tensor->tensor.data = bytes;
  tensor->tensor.flags |= s->values.tensor.flags & GATHER_TENSOR_BYTE_SWAPPED;
  return GATHER_OK;
}

/* Whether the file may be made dense by so many bytes more. */
static bool spend(gather_onnx *onnx, int64_t bytes) {
  int64_t most;
  if (!gather_mul(onnx->file->map.size, MOST_TIMES, &most) || !gather_add(most, MOST_MORE, &most)) most = INT64_MAX;
  if (bytes > most - onnx->dense_bytes) return false;
  onnx->dense_bytes += bytes;
  return true;
}

static gather_status make_dense(gather_onnx *onnx, const sparse *s, gather_file_tensor *tensor) {
  char size[32];
  if (s->values.unreadable || s->indices.unreadable) {
    tensor->unreadable = s->values.unreadable ? s->values.unreadable : s->indices.unreadable;
    return GATHER_OK;
  }
  if (onnx->file->map.remote)
    UNREADABLE(onnx, tensor, GATHER_UNSUPPORTED, s->offset,
               "'%.100s' is a sparse tensor of a remote model, which is not supported; download the file", tensor->name);
  if (gather_type_is_packed(gather_type_get(tensor->tensor.type)) || tensor->tensor.type == GATHER_TYPE_STRING)
    UNREADABLE(onnx, tensor, GATHER_UNSUPPORTED, s->offset, "'%.100s' is a sparse tensor of type %s, which is not supported", tensor->name,
               tensor->type_name);
  if (!spend(onnx, tensor->bytes))
    UNREADABLE(onnx, tensor, GATHER_UNSUPPORTED, s->offset,
               "'%.100s' is a sparse tensor: it would take %s, too much for a model of this size", tensor->name,
               gather_text_bytes(tensor->bytes, size, sizeof size));
  return scatter(onnx, s, tensor);
}

gather_status gather_onnx_sparse(gather_onnx *onnx, gather_proto message, gather_file_tensor *tensor) {
  sparse s;
  GATHER_TRY(read_parts(onnx, message, &s));
  GATHER_TRY(read_shape(onnx, message, &s, tensor));
  GATHER_TRY(check_parts(onnx, &s, tensor));
  return make_dense(onnx, &s, tensor);
}

#endif
