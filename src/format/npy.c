/* SPDX-License-Identifier: MIT
 *
 * npy.c: reading .npy, versions 1.0, 2.0 and 3.0.
 * Source: numpy.lib.format and the enhancement proposals that it names.
 */
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/tensor.h"
#include "format/format.h"
#include "format/text.h"

static const char MAGIC[] = "\x93NUMPY";
enum { MAGIC_BYTES = 6, VERSION_AT = 6, LENGTH_AT = 8 };

/* What a header says, and where it says it, from the file's first byte. */
typedef struct npy_header {
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

/* A file that ends within the magic bytes is one as well: "cut short" helps more than "not known". */
bool gather_npy_recognise(const uint8_t *bytes, int64_t size) {
  return size > 0 && memcmp(bytes, MAGIC, size < MAGIC_BYTES ? (size_t)size : MAGIC_BYTES) == 0;
}

static gather_status cut_short(const gather_file *file, int64_t needed, gather_error *error) {
  return gather_fail_file(error, GATHER_FILE_MALFORMED, file->name, file->map.size,
                          "it is cut short: the header takes %" PRId64 " bytes, it has %" PRId64 " in all", needed,
                          file->map.size);
}

static gather_status read_frame(const gather_file *file, npy_header *header, gather_error *error) {
  const uint8_t *bytes = file->map.bytes;
  if (file->map.size < LENGTH_AT + 2) return cut_short(file, LENGTH_AT + 2, error);
  uint8_t major = bytes[VERSION_AT], minor = bytes[VERSION_AT + 1];
  if (major < 1 || major > 3 || minor != 0)
    return gather_fail_file(error, GATHER_UNSUPPORTED, file->name, VERSION_AT,
                            "version %d.%d of .npy is not known; 1.0, 2.0 and 3.0 are", major, minor);
  int64_t length_bytes = major == 1 ? 2 : 4, length = 0;
  header->text_at = LENGTH_AT + length_bytes;
  if (file->map.size < header->text_at) return cut_short(file, header->text_at, error);
  for (int64_t i = length_bytes - 1; i >= 0; i--) length = length << 8 | bytes[LENGTH_AT + i];
  header->data_at = header->text_at + length;
  if (file->map.size < header->data_at) return cut_short(file, header->data_at, error);
  header->is_utf8 = major == 3;
  gather_literal_init(&header->literal, (const char *)bytes + header->text_at, length);
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

/* Which key a text is; -1. */
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
    return gather_literal_fail(literal, GATHER_FILE_MALFORMED, start, "the key '%.*s' does not belong in the header",
                               key.bytes > 40 ? 40 : (int)key.bytes, key.text);
  seen[k] = true; /* where a key stands twice, the last counts, as in Python */
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
  return gather_literal_fail(literal, GATHER_FILE_MALFORMED, literal->at, "something stands behind the header");
}

static bool check_text(npy_header *header) {
  const char *text = header->literal.text, *zero = memchr(text, 0, (size_t)header->literal.end);
  if (zero)
    return gather_literal_fail(&header->literal, GATHER_FILE_MALFORMED, zero - text, "a zero byte in the header");
  if (!header->is_utf8) return true;
  int64_t wrong = gather_utf8_check(header->literal.text, header->literal.end);
  return wrong < 0 || gather_literal_fail(&header->literal, GATHER_FILE_MALFORMED, wrong, "the header is no UTF-8");
}

/* The steps of column-major elements; row-major ones need none. */
static void set_strides(gather_single *single, const npy_header *header) {
  gather_tensor *tensor = &single->tensor.tensor;
  if (!header->fortran_order || header->rank < 2 || single->tensor.bytes == 0) return;
  int64_t step = header->descr.item_bytes;
  for (int32_t d = 0; d < header->rank; d++) {
    single->strides[d] = step;
    step *= header->shape[d]; /* at most the size of the tensor, which fits */
  }
  tensor->strides = single->strides;
}

static void set_type(gather_single *single, const npy_header *header) {
  gather_tensor *tensor = &single->tensor.tensor;
  const gather_descr *descr = &header->descr;
  tensor->type = descr->type;
  tensor->item_bytes = descr->item_bytes;
  if (descr->swapped) tensor->flags |= GATHER_TENSOR_BYTE_SWAPPED;
  tensor->rank = header->rank;
  memcpy(single->shape, header->shape, sizeof single->shape);
}

static gather_status set_size(const gather_file *file, gather_single *single, const npy_header *header,
                              gather_error *error) {
  int64_t len;
  if (gather_shape_len(header->rank, header->shape, &len) &&
      gather_mul(len, header->descr.item_bytes, &single->tensor.bytes))
    return GATHER_OK;
  return gather_fail_file(error, GATHER_FILE_MALFORMED, file->name, header->text_at + header->shape_start,
                          "the size of the array does not fit in 64 bits");
}

/* Keeps the descr as the file has it, and for types without a name that text for people. */
static void set_texts(gather_single *single, const npy_header *header) {
  const gather_literal *literal = &header->literal;
  const char *text = literal->text + header->descr_start;
  int64_t bytes = header->descr_end - header->descr_start;
  int64_t used = gather_descr_copy(single->text, text, bytes, header->is_utf8);
  single->tensor.descr = single->text;
  single->tensor.type_name = single->text;
  if (header->descr.type != GATHER_TYPE_OPAQUE) {
    single->tensor.type_name = gather_type_get(header->descr.type)->name;
  } else if (!header->descr.structured) {
    int64_t quote = single->text[0] == '\'' || single->text[0] == '"' ? 1 : 2; /* behind u, where there is one */
    char *plain = single->text + used + 1;
    memcpy(plain, single->text + quote, (size_t)(used - quote - 1));
    single->tensor.type_name = plain;
  }
}

static gather_status build(gather_file *file, const npy_header *header, gather_error *error) {
  gather_single *single;
  /* Twice the text, as a name and as UTF-8 of Latin-1, and their ends. */
  GATHER_TRY(gather_single_create(file, 4 * (header->descr_end - header->descr_start) + 2, &single, error));
  set_texts(single, header);
  set_type(single, header);
  GATHER_TRY(set_size(file, single, header, error));
  set_strides(single, header);
  return gather_single_place(file, single, header->data_at, error);
}

gather_status gather_npy_open(gather_file *file, gather_error *error) {
  npy_header header = {0};
  GATHER_TRY(read_frame(file, &header, error));
  if (!check_text(&header) || !read_dictionary(&header))
    return gather_fail_file(error, header.literal.status, file->name, header.text_at + header.literal.wrong_at, "%s",
                            header.literal.message);
  return build(file, &header, error);
}
