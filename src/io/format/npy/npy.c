/* SPDX-License-Identifier: MIT
 *
 * npy.c: reads .npy, versions 1.0, 2.0 and 3.0: a whole file, or part of one.
 * Source: numpy.lib.format and the enhancement proposals that it names.
 */
#include <inttypes.h>
#include <string.h>

#include "core/base/checked.h"
#include "core/base/error.h"
#include "core/base/tensor.h"
#include "io/format/npy/npy.h"
#include "io/format/text/text.h"

static const char MAGIC[] = "\x93NUMPY";
enum { MAGIC_BYTES = 6, VERSION_AT = 6, LENGTH_AT = 8 };

/* A parsed header, and the positions of its parts. */
typedef struct npy_header {
  int64_t start, end;     /* the bytes of the file that are the .npy */
  gather_literal literal; /* the dictionary's text */
  int64_t text_at, data_at;
  bool is_utf8;
  bool fortran_order;
  gather_descr descr;
  int64_t descr_start, descr_end; /* in the literal */
  int64_t shape_start;            /* likewise */
  int32_t rank;
  int64_t shape[GATHER_MAX_RANK];
} npy_header;

/* A file that ends within the magic bytes also counts: "truncated" helps more than "unknown format". */
bool gather_npy_recognise(const gather_map *map) { return gather_npy_begins(map->bytes, map->size); }

bool gather_npy_begins(const uint8_t *bytes, int64_t size) {
  return size > 0 && memcmp(bytes, MAGIC, size < MAGIC_BYTES ? (size_t)size : MAGIC_BYTES) == 0;
}

static gather_status cut_short(const gather_file *file, const npy_header *header, int64_t needed, gather_error *error) {
  return gather_fail_file(error, GATHER_FILE_MALFORMED, file->name, header->end,
                          "the file is truncated: the header needs %" PRId64 " bytes, the file has %" PRId64, needed,
                          header->end - header->start);
}

static gather_status read_frame(const gather_file *file, npy_header *header, gather_error *error) {
  const uint8_t *bytes = file->map.bytes + header->start;
  int64_t size = header->end - header->start;
  GATHER_TRY(gather_map_need(&file->map, header->start, LENGTH_AT + 4, error));
  if (size < LENGTH_AT + 2) return cut_short(file, header, LENGTH_AT + 2, error);
  uint8_t major = bytes[VERSION_AT], minor = bytes[VERSION_AT + 1];
  if (major < 1 || major > 3 || minor != 0)
    return gather_fail_file(error, GATHER_UNSUPPORTED, file->name, header->start + VERSION_AT,
                            "version %d.%d of .npy is not supported; 1.0, 2.0 and 3.0 are", major, minor);
  int64_t length_bytes = major == 1 ? 2 : 4, text_at = LENGTH_AT + length_bytes, length = 0;
  if (size < text_at) return cut_short(file, header, text_at, error);
  for (int64_t i = length_bytes - 1; i >= 0; i--) length = length << 8 | bytes[LENGTH_AT + i];
  if (size < text_at + length) return cut_short(file, header, text_at + length, error);
  GATHER_TRY(gather_map_need(&file->map, header->start + text_at, length, error));
  header->text_at = header->start + text_at;
  header->data_at = header->text_at + length;
  header->is_utf8 = major == 3;
  gather_literal_init(&header->literal, (const char *)bytes + text_at, length);
  return GATHER_OK;
}

static bool read_descr(npy_header *header) {
  (void)gather_literal_peek(&header->literal);
  header->descr_start = header->literal.at;
  if (!gather_descr_parse(&header->literal, &header->descr)) return false;
  header->descr_end = header->literal.at;
  return true;
}

static bool read_order(npy_header *header) {
  header->fortran_order = gather_literal_word(&header->literal, "True");
  if (header->fortran_order || gather_literal_word(&header->literal, "False")) return true;
  return gather_literal_fail(&header->literal, GATHER_FILE_MALFORMED, header->literal.at, "expected True or False");
}

static bool read_shape(npy_header *header) {
  (void)gather_literal_peek(&header->literal);
  header->shape_start = header->literal.at;
  return gather_literal_shape(&header->literal, header->shape, &header->rank);
}

static const struct {
  const char *key;
  bool (*read)(npy_header *header);
} KEYS[] = {{"descr", read_descr}, {"fortran_order", read_order}, {"shape", read_shape}};
enum { KEY_COUNT = sizeof KEYS / sizeof *KEYS };

/* The index of a key; -1 if unknown. */
static int find_key(gather_literal_text text) {
  for (int k = 0; k < KEY_COUNT; k++)
    if (strlen(KEYS[k].key) == (size_t)text.bytes && memcmp(KEYS[k].key, text.text, (size_t)text.bytes) == 0) return k;
  return -1;
}

static bool read_entry(npy_header *header, bool seen[KEY_COUNT]) {
  gather_literal *literal = &header->literal;
  gather_literal_text key;
  (void)gather_literal_peek(literal);
  int64_t start = literal->at;
  if (!gather_literal_string(literal, &key)) return false;
  int k = find_key(key);
  if (k < 0)
    return gather_literal_fail(literal, GATHER_FILE_MALFORMED, start, "unknown key '%.*s' in the header",
                               key.bytes > 40 ? 40 : (int)key.bytes, key.text);
  seen[k] = true; /* of a repeated key the last counts, as in Python */
  return gather_literal_expect(literal, ':') && KEYS[k].read(header);
}

static bool read_dictionary(npy_header *header) {
  gather_literal *literal = &header->literal;
  bool seen[KEY_COUNT] = {false}, comma = true;
  if (!gather_literal_expect(literal, '{')) return false;
  while (!gather_literal_accept(literal, '}')) {
    if (!comma) return gather_literal_expect(literal, ',');
    if (!read_entry(header, seen)) return false;
    comma = gather_literal_accept(literal, ',');
  }
  for (int k = 0; k < KEY_COUNT; k++)
    if (!seen[k])
      return gather_literal_fail(literal, GATHER_FILE_MALFORMED, literal->at - 1, "the header has no '%s'",
                                 KEYS[k].key);
  (void)gather_literal_peek(literal);
  if (literal->at == literal->end) return true;
  return gather_literal_fail(literal, GATHER_FILE_MALFORMED, literal->at, "unexpected text after the header");
}

static bool check_text(npy_header *header) {
  const char *text = header->literal.text, *zero = memchr(text, 0, (size_t)header->literal.end);
  if (zero)
    return gather_literal_fail(&header->literal, GATHER_FILE_MALFORMED, zero - text, "the header contains a zero byte");
  if (!header->is_utf8) return true;
  int64_t wrong = gather_utf8_check(header->literal.text, header->literal.end);
  return wrong < 0 || gather_literal_fail(&header->literal, GATHER_FILE_MALFORMED, wrong, "the header is not UTF-8");
}

static gather_status no_memory(const gather_file *file, gather_error *error) {
  return gather_fail_file(error, GATHER_OUT_OF_MEMORY, file->name, -1, "no memory for its header");
}

static gather_status set_shape(gather_file *file, const npy_header *header, gather_tensor *tensor,
                               gather_error *error) {
  size_t rank = (size_t)header->rank;
  int64_t *shape = gather_arena_take(&file->arena, header->rank, sizeof *shape);
  if (!shape) return no_memory(file, error);
  memcpy(shape, header->shape, rank * sizeof *shape);
  tensor->rank = header->rank;
  tensor->shape = shape;
  return GATHER_OK;
}

/* The strides of column-major elements; row-major ones need none. */
static gather_status set_strides(gather_file *file, const npy_header *header, gather_file_tensor *tensor,
                                 gather_error *error) {
  if (!header->fortran_order || header->rank < 2 || tensor->bytes == 0) return GATHER_OK;
  int64_t *strides = gather_arena_take(&file->arena, header->rank, sizeof *strides), step = header->descr.item_bytes;
  if (!strides) return no_memory(file, error);
  for (int32_t d = 0; d < header->rank; d++) {
    strides[d] = step;
    step *= header->shape[d]; /* at most the size of the tensor, which fits */
  }
  tensor->tensor.strides = strides;
  return GATHER_OK;
}

static void set_type(const npy_header *header, gather_tensor *tensor) {
  const gather_descr *descr = &header->descr;
  tensor->type = descr->type;
  tensor->item_bytes = descr->item_bytes;
  tensor->flags = GATHER_FILE_VIEW;
  if (descr->swapped) tensor->flags |= GATHER_TENSOR_BYTE_SWAPPED;
}

static gather_status set_size(const gather_file *file, const npy_header *header, gather_file_tensor *tensor,
                              gather_error *error) {
  int64_t len;
  if (gather_shape_len(header->rank, header->shape, &len) && gather_mul(len, header->descr.item_bytes, &tensor->bytes))
    return GATHER_OK;
  return gather_fail_file(error, GATHER_FILE_MALFORMED, file->name, header->text_at + header->shape_start,
                          "the size of the array does not fit in 64 bits");
}

/* Keeps the descr as stored, and a readable form for types without a name. */
static gather_status set_texts(gather_file *file, const npy_header *header, gather_file_tensor *tensor,
                               gather_error *error) {
  const gather_literal *literal = &header->literal;
  int64_t bytes = header->descr_end - header->descr_start;
  /* The text twice, each up to twice as long (Latin-1 as UTF-8) and terminated. */
  char *text = gather_arena_take(&file->arena, 4 * bytes + 2, 1);
  if (!text) return no_memory(file, error);
  int64_t used = gather_descr_copy(text, literal->text + header->descr_start, bytes, header->is_utf8);
  tensor->descr = text;
  tensor->type_name = text;
  if (header->descr.type != GATHER_TYPE_OPAQUE) {
    tensor->type_name = gather_type_get(header->descr.type)->name;
  } else if (!header->descr.structured) {
    int64_t quote = text[0] == '\'' || text[0] == '"' ? 1 : 2; /* after the prefix u, if any */
    char *plain = text + used + 1;
    memcpy(plain, text + quote, (size_t)(used - quote - 1));
    tensor->type_name = plain;
  }
  return GATHER_OK;
}

static gather_status set_place(gather_file *file, const npy_header *header, gather_file_tensor *tensor,
                               gather_error *error) {
  tensor->offset = header->data_at;
  if (tensor->bytes > header->end - header->data_at)
    return gather_fail_file(error, GATHER_FILE_MALFORMED, file->name, header->end,
                            "the file is truncated: %" PRId64 " bytes are needed at byte %" PRId64 ", it has %" PRId64
                            " bytes in all",
                            tensor->bytes, header->data_at - header->start, header->end - header->start);
  return gather_file_point(file, &file->map, header->data_at, tensor, error);
}

gather_status gather_npy_read(gather_file *file, int64_t start, int64_t end, gather_file_tensor *tensor,
                              gather_error *error) {
  npy_header header = {.start = start, .end = end};
  GATHER_TRY(read_frame(file, &header, error));
  if (!check_text(&header) || !read_dictionary(&header))
    return gather_fail_file(error, header.literal.status, file->name, header.text_at + header.literal.wrong_at, "%s",
                            header.literal.message);
  *tensor = (gather_file_tensor){.name = ""};
  set_type(&header, &tensor->tensor);
  GATHER_TRY(set_size(file, &header, tensor, error));
  GATHER_TRY(set_place(file, &header, tensor, error));
  GATHER_TRY(set_texts(file, &header, tensor, error));
  GATHER_TRY(set_shape(file, &header, &tensor->tensor, error));
  return set_strides(file, &header, tensor, error);
}

gather_status gather_npy_open(gather_file *file, gather_error *error) {
  gather_file_tensor *tensor = gather_arena_take(&file->arena, 1, sizeof *tensor);
  if (!tensor) return no_memory(file, error);
  file->tensors = tensor;
  file->len = 1;
  return gather_npy_read(file, 0, file->map.size, tensor, error);
}
