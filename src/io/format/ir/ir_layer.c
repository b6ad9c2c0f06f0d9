/* SPDX-License-Identifier: MIT
 *
 * ir_layer.c: what a layer of an IR says: its operator, attributes, types and shapes, and the tensor of a constant.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/compiler.h"
#include "core/base/error.h"
#include "core/base/tensor.h"
#include "io/format/ir/ir.h"

/* ---- numbers, types, shapes and operator names as OpenVINO IR writes them */

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

static const char *skip_blanks(const char *text) {
  while (is_blank(*text)) text++;
  return text;
}

/* Reads the number at *text and advances *text past it. */
static bool take_integer(const char **text, int64_t *value) {
  const char *start = skip_blanks(*text);
  char *end = NULL;
  errno = 0;
  long long number = strtoll(start, &end, 10);
  if (end == start || errno == ERANGE) return false;
  *value = number;
  *text = skip_blanks(end);
  return true;
}

bool gather_ir_integer(const char *text, int64_t *value) { return take_integer(&text, value) && *text == '\0'; }

/* ---- operators */

static char lower(char c) { return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c); }

static bool same_letters(const char *a, const char *b) {
  while (*a && lower(*a) == lower(*b)) a++, b++;
  return lower(*a) == lower(*b);
}

const char *gather_ir_op(const ir_layer *layer) {
  static const char *const OLD_AND_NEW[][2] = {{"Const", "Constant"}, {"ReLU", "Relu"}, {"PReLU", "PRelu"}, {"SoftMax", "Softmax"}};
  for (size_t i = 0; i < sizeof OLD_AND_NEW / sizeof *OLD_AND_NEW; i++)
    if (strcmp(layer->type, OLD_AND_NEW[i][0]) == 0) return OLD_AND_NEW[i][1];
  return layer->type;
}

bool gather_ir_is(const ir_layer *layer, const char *op) {
  return same_letters(gather_ir_op(layer), op) || (strcmp(op, "Constant") == 0 && same_letters(layer->type, "Const"));
}

/* ---- types */

gather_type gather_ir_type(const char *name, bool *known) {
  static const char *const NONE[] = {"", "dynamic", "undefined", "UNSPECIFIED"};
  *known = true;
  for (size_t i = 0; i < sizeof NONE / sizeof *NONE; i++)
    if (strcmp(name, NONE[i]) == 0) return GATHER_TYPE_NONE;
  for (int number = 1;; number++) {
    const gather_type_info *info = gather_type_get((gather_type)number);
    if (!info) break;
    if (!info->openvino_name) continue;
    if (strcmp(name, info->openvino_name) == 0 || strcmp(name, info->openvino_precision) == 0) return info->type;
  }
  *known = false;
  return GATHER_TYPE_NONE;
}

/* ---- shapes */

/* "5", "-1", "?", "2..5", "2..", "..5"; advances *at past it and the blanks after it. */
static bool take_dim(const char **at, gather_dim *dim) {
  *dim = (gather_dim){.min = 0, .max = GATHER_DIM_UNBOUNDED};
  *at = skip_blanks(*at);
  if (**at == '?') {
    *at = skip_blanks(*at + 1);
    return true;
  }
  bool has_low = strncmp(*at, "..", 2) != 0;
  if (has_low && !take_integer(at, &dim->min)) return false;
  if (dim->min == -1) {
    dim->min = 0;
    return strncmp(*at, "..", 2) != 0;
  }
  if (strncmp(*at, "..", 2) != 0) {
    dim->max = dim->min;
    return dim->min >= 0;
  }
  *at = skip_blanks(*at + 2);
  bool has_high = **at != ',' && **at != '\0';
  if (has_high && !take_integer(at, &dim->max)) return false;
  return dim->min >= 0 && dim->max >= dim->min;
}

bool gather_ir_shape(const char *text, gather_shape *shape) {
  const char *at = skip_blanks(text);
  shape->rank = 0;
  if (*at == '\0') return true;
  if (strncmp(at, "...", 3) == 0) {
    shape->rank = -1;
    return *skip_blanks(at + 3) == '\0';
  }
  for (;; at++) {
    if (shape->rank == GATHER_MAX_RANK || !take_dim(&at, &shape->dims[shape->rank++])) return false;
    if (*at != ',') return *at == '\0';
  }
}

/* ---- the tensors of Const layers. Their elements are views of the .bin, at any offset; strings are decoded, because the file stores their
 * offsets apart from their bytes. */

#define FAIL(reader, layer, ...) GATHER_IR_FAIL(reader, GATHER_FILE_MALFORMED, (layer)->offset, __VA_ARGS__)

/* The elements of "folder/model.xml" are in "model.bin" in the same folder. */
static gather_status open_bin(ir_reader *reader, const ir_layer *layer, gather_file_tensor *tensor) {
  gather_file *file = reader->file;
  const char *base = gather_file_base(file), *dot = base ? strrchr(base, '.') : NULL;
  if (!base) return GATHER_IR_NO_MEMORY(reader);
  size_t length = dot && dot != base ? (size_t)(dot - base) : strlen(base);
  char *location = gather_arena_take(&file->arena, (int64_t)length + 5, 1);
  if (!location) return GATHER_IR_NO_MEMORY(reader);
  memcpy(location, base, length);
  memcpy(location + length, ".bin", 5);
  return gather_file_sibling(file, location, layer->offset, layer->name, tensor, &reader->bin, reader->error);
}

static gather_status read_number(ir_reader *reader, const ir_layer *layer, const char *name, int64_t *value) {
  const char *text = gather_ir_attribute(layer, name);
  if (!text) return FAIL(reader, layer, "the constant '%.100s' has no %s", layer->name, name);
  if (!gather_ir_integer(text, value) || *value < 0)
    return FAIL(reader, layer, "invalid %s '%.40s' of the constant '%.100s'", name, text, layer->name);
  return GATHER_OK;
}

/* An error of the .bin: the model is valid, only this tensor cannot be read. */
#define UNREADABLE(reader, layer, tensor, ...)                                                                  \
  (gather_fail_file(&(reader)->why, GATHER_FILE_MALFORMED, (reader)->file->name, (layer)->offset, __VA_ARGS__), \
   gather_file_unreadable((reader)->file, &(reader)->why, tensor, (reader)->error))

/* The name of the .bin; a model in memory has none. */
static const char *bin_name(const ir_reader *reader) {
  const gather_sibling *sibling = reader->file->siblings;
  while (sibling && &sibling->map != reader->bin) sibling = sibling->next;
  return sibling ? sibling->location : "the .bin";
}

/* Finds its bytes and checks that the .bin has them. */
static gather_status find_bytes(ir_reader *reader, const ir_layer *layer, gather_file_tensor *tensor, int64_t *size) {
  int64_t offset;
  GATHER_TRY(read_number(reader, layer, "offset", &offset));
  GATHER_TRY(read_number(reader, layer, "size", size));
  tensor->offset = offset;
  bool is_string = tensor->tensor.type == GATHER_TYPE_STRING; /* whose elements are not in the file */
  if (!is_string && tensor->bytes > *size)
    return FAIL(reader, layer, "the constant '%.100s' has %" PRId64 " bytes, its shape needs %" PRId64, layer->name, *size, tensor->bytes);
  if (tensor->bytes == 0) return GATHER_OK;
  if (!reader->bin) GATHER_TRY(open_bin(reader, layer, tensor));
  if (!reader->bin) return GATHER_OK;
  if (offset > reader->bin->size || *size > reader->bin->size - offset)
    return UNREADABLE(reader, layer, tensor, "the constant '%.100s' needs bytes %" PRId64 " to %" PRIu64 " of '%.100s', which has %" PRId64,
                      layer->name, offset, (uint64_t)offset + (uint64_t)*size, bin_name(reader), reader->bin->size);
  if (is_string) { /* they are decoded now */
    GATHER_TRY(gather_map_need(reader->bin, offset, *size, reader->error));
    tensor->tensor.data = (void *)(uintptr_t)(reader->bin->bytes + offset);
    return GATHER_OK;
  }
  return gather_file_point(reader->file, reader->bin, offset, tensor, reader->error);
}

/* ---- strings: count, offset of each, end of the last, all 32 bits; then the text */

static int64_t read_int32(const uint8_t *bytes) {
  uint32_t number = (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
  return number > INT32_MAX ? (int64_t)number - ((int64_t)1 << 32) : (int64_t)number;
}

static gather_status read_strings(ir_reader *reader, const ir_layer *layer, gather_file_tensor *tensor, int64_t len, int64_t size) {
  const uint8_t *bytes = tensor->tensor.data;
  tensor->tensor.data = NULL;
  if (len == 0) return GATHER_OK;
  if (len > INT32_MAX || size < 8 + 4 * len || read_int32(bytes) != len)
    return UNREADABLE(reader, layer, tensor, "the constant '%.100s' has no table of %" PRId64 " strings in its %" PRId64 " bytes",
                      layer->name, len, size);
  gather_string *strings = gather_arena_take(&reader->file->arena, len, (int64_t)sizeof *strings);
  if (!strings) return GATHER_IR_NO_MEMORY(reader);
  const uint8_t *table = bytes + 4, *text = table + 4 * (len + 1);
  int64_t room = size - 8 - 4 * len, start = read_int32(table);
  for (int64_t i = 0; i < len; i++) {
    int64_t end = read_int32(table + 4 * (i + 1));
    if (start < 0 || end < start || end > room)
      return UNREADABLE(reader, layer, tensor, "string %" PRId64 " of the constant '%.100s' extends past its bytes", i, layer->name);
    strings[i] = (gather_string){(const char *)text + start, (size_t)(end - start)};
    start = end;
  }
  tensor->tensor.data = strings;
  return GATHER_OK;
}

/* ---- type and shape */

static gather_status read_type(ir_reader *reader, const ir_layer *layer, gather_file_tensor *tensor) {
  const char *name = gather_ir_attribute(layer, "element_type");
  if (!name) return FAIL(reader, layer, "the constant '%.100s' has no element_type", layer->name);
  bool known;
  tensor->tensor.type = gather_ir_type(name, &known);
  if (tensor->tensor.type == GATHER_TYPE_NONE)
    return FAIL(reader, layer, "invalid element_type '%.40s' of the constant '%.100s'", name, layer->name);
  const gather_type_info *info = gather_type_get(tensor->tensor.type);
  tensor->type_name = info->name;
  tensor->tensor.flags = GATHER_FILE_VIEW;
  bool is_number = info->type != GATHER_TYPE_STRING && info->bits > 8;
  if (GATHER_BIG_ENDIAN && is_number) tensor->tensor.flags |= GATHER_TENSOR_BYTE_SWAPPED;
  return GATHER_OK;
}

static gather_status read_shape(ir_reader *reader, const ir_layer *layer, gather_file_tensor *tensor) {
  const char *text = gather_ir_attribute(layer, "shape");
  if (!text) return FAIL(reader, layer, "the constant '%.100s' has no shape", layer->name);
  gather_shape shape;
  if (!gather_ir_shape(text, &shape) || shape.rank < 0)
    return FAIL(reader, layer, "invalid shape '%.80s' of the constant '%.100s'", text, layer->name);
  int64_t *lengths = gather_arena_take(&reader->file->arena, shape.rank, (int64_t)sizeof *lengths);
  if (!lengths) return GATHER_IR_NO_MEMORY(reader);
  for (int32_t d = 0; d < shape.rank; d++) {
    lengths[d] = shape.dims[d].min;
    if (shape.dims[d].max != lengths[d])
      return FAIL(reader, layer, "the constant '%.100s' has the shape '%.80s', which is not static", layer->name, text);
  }
  tensor->tensor.rank = shape.rank;
  tensor->tensor.shape = lengths;
  return GATHER_OK;
}

gather_status gather_ir_constant(ir_reader *reader, const ir_layer *layer, gather_file_tensor *tensor) {
  *tensor = (gather_file_tensor){.name = ""};
  GATHER_TRY(read_type(reader, layer, tensor));
  GATHER_TRY(read_shape(reader, layer, tensor));
  int64_t len, size;
  bool fits = gather_shape_len(tensor->tensor.rank, tensor->tensor.shape, &len);
  bool is_string = tensor->tensor.type == GATHER_TYPE_STRING;
  if (!fits || gather_type_bytes(tensor->tensor.type, 0, len, &tensor->bytes) != GATHER_OK || tensor->bytes > GATHER_OFFSET_MAX)
    return FAIL(reader, layer, "the constant '%.100s' has too many elements", layer->name);
  GATHER_TRY(find_bytes(reader, layer, tensor, &size));
  if (is_string && !tensor->unreadable) GATHER_TRY(read_strings(reader, layer, tensor, len, size));
  /* Lengths like (0, 2^62) overflow. */
  if (gather_tensor_check(&tensor->tensor, NULL) != GATHER_OK)
    return FAIL(reader, layer, "the constant '%.100s' has too many elements", layer->name);
  return GATHER_OK;
}
