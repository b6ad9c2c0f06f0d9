/* SPDX-License-Identifier: MIT
 *
 * npy.c: reads .npy, versions 1.0, 2.0 and 3.0: a whole file, or part of one; and writes its header, byte for byte as numpy.save does.
 * Source: numpy.lib.format and the enhancement proposals that it names.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/checked.h"
#include "core/base/error.h"
#include "core/base/tensor.h"
#include "io/format/format.h"
#include "io/format/text/utf8.h"

/* ---- text in headers: versions 1.0 and 2.0 are Latin-1, 3.0 is UTF-8; inside, all text is UTF-8 */

static int64_t put(char *target, int64_t at, unsigned char c, bool is_utf8) {
  if (c < 0x80 || is_utf8) {
    target[at] = (char)c;
    return at + 1;
  }
  target[at] = (char)(0xc0 | c >> 6);
  target[at + 1] = (char)(0x80 | (c & 0x3f));
  return at + 2;
}

/* Writes a descr's text as UTF-8, terminated, and returns its length: at most twice `bytes`. Outside strings,
 * comments, newlines and the L of Python 2 integers are dropped, so that every reader understands the text. */
static int64_t descr_copy(char *target, const char *text, int64_t bytes, bool is_utf8) {
  int64_t at = 0;
  char quote = '\0';
  for (int64_t i = 0; i < bytes; i++) {
    char c = text[i];
    if (quote) {
      if (c == '\\' && i + 1 < bytes)
        at = put(target, at, (unsigned char)text[i++], is_utf8);
      else if (c == quote)
        quote = '\0';
      at = put(target, at, (unsigned char)text[i], is_utf8);
    } else if (c == '#') {
      while (i + 1 < bytes && text[i + 1] != '\n') i++;
    } else if (c != 'L' && c != '\n' && c != '\r' && c != '\f') {
      if (c == '\'' || c == '"') quote = c;
      at = put(target, at, (unsigned char)c, is_utf8);
    }
  }
  target[at] = '\0';
  return at;
}

/* Converts UTF-8 to Latin-1 in place; returns the new length, -1 if it cannot be converted. */
static int64_t latin1_from_utf8(char *text, int64_t bytes) {
  for (int64_t i = 0; i < bytes; i++)
    if ((unsigned char)text[i] > 0xc3) return -1; /* lead bytes of characters above U+00FF */
  int64_t at = 0;
  for (int64_t i = 0; i < bytes; i++) {
    unsigned char c = (unsigned char)text[i];
    if (c >= 0xc2 && i + 1 < bytes) c = (unsigned char)((c & 3) << 6 | ((unsigned char)text[++i] & 0x3f));
    text[at++] = (char)c;
  }
  return at;
}

/* ---- reading */

enum { VERSION_AT = 6, LENGTH_AT = 8 };

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
static bool recognise(const gather_map *map) { return gather_npy_begins(map->bytes, map->size); }

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
    if (!seen[k]) return gather_literal_fail(literal, GATHER_FILE_MALFORMED, literal->at - 1, "the header has no '%s'", KEYS[k].key);
  (void)gather_literal_peek(literal);
  if (literal->at == literal->end) return true;
  return gather_literal_fail(literal, GATHER_FILE_MALFORMED, literal->at, "unexpected text after the header");
}

static bool check_text(npy_header *header) {
  const char *text = header->literal.text, *zero = memchr(text, 0, (size_t)header->literal.end);
  if (zero) return gather_literal_fail(&header->literal, GATHER_FILE_MALFORMED, zero - text, "the header contains a zero byte");
  if (!header->is_utf8) return true;
  int64_t wrong = gather_utf8_check(header->literal.text, header->literal.end);
  return wrong < 0 || gather_literal_fail(&header->literal, GATHER_FILE_MALFORMED, wrong, "the header is not UTF-8");
}

static gather_status no_memory(const gather_file *file, gather_error *error) {
  return gather_fail_file(error, GATHER_OUT_OF_MEMORY, file->name, -1, "out of memory for its header");
}

static gather_status set_shape(gather_file *file, const npy_header *header, gather_tensor *tensor, gather_error *error) {
  size_t rank = (size_t)header->rank;
  int64_t *shape = gather_arena_take(&file->arena, header->rank, sizeof *shape);
  if (!shape) return no_memory(file, error);
  memcpy(shape, header->shape, rank * sizeof *shape);
  tensor->rank = header->rank;
  tensor->shape = shape;
  return GATHER_OK;
}

/* The strides of column-major elements; row-major ones need none. */
static gather_status set_strides(gather_file *file, const npy_header *header, gather_file_tensor *tensor, gather_error *error) {
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

static gather_status set_size(const gather_file *file, const npy_header *header, gather_file_tensor *tensor, gather_error *error) {
  int64_t len;
  if (gather_shape_len(header->rank, header->shape, &len) && gather_mul(len, header->descr.item_bytes, &tensor->bytes)) return GATHER_OK;
  return gather_fail_file(error, GATHER_FILE_MALFORMED, file->name, header->text_at + header->shape_start,
                          "the size of the array does not fit in 64 bits");
}

/* Keeps the descr as stored, and a readable form for types without a name. */
static gather_status set_texts(gather_file *file, const npy_header *header, gather_file_tensor *tensor, gather_error *error) {
  const gather_literal *literal = &header->literal;
  int64_t bytes = header->descr_end - header->descr_start;
  /* The text twice, each up to twice as long (Latin-1 as UTF-8) and terminated. */
  char *text = gather_arena_take(&file->arena, 4 * bytes + 2, 1);
  if (!text) return no_memory(file, error);
  int64_t used = descr_copy(text, literal->text + header->descr_start, bytes, header->is_utf8);
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

static gather_status set_place(gather_file *file, const npy_header *header, gather_file_tensor *tensor, gather_error *error) {
  tensor->offset = header->data_at;
  if (tensor->bytes > header->end - header->data_at)
    return gather_fail_file(error, GATHER_FILE_MALFORMED, file->name, header->end,
                            "the file is truncated: %" PRId64 " bytes are needed at byte %" PRId64 ", it has %" PRId64 " bytes in all",
                            tensor->bytes, header->data_at - header->start, header->end - header->start);
  return gather_file_point(file, &file->map, header->data_at, tensor, error);
}

gather_status gather_npy_read(gather_file *file, int64_t start, int64_t end, gather_file_tensor *tensor, gather_error *error) {
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

static gather_status open_file(gather_file *file, gather_error *error) {
  gather_file_tensor *tensor = gather_arena_take(&file->arena, 1, sizeof *tensor);
  if (!tensor) return no_memory(file, error);
  file->tensors = tensor;
  file->len = 1;
  return gather_npy_read(file, 0, file->map.size, tensor, error);
}

/* ---- writing */

/* Data begins at a multiple of ALIGN; the first length has space to grow to GROWTH digits in place (both as in
 * NumPy). */
enum { ALIGN = 64, MOST_ALIGNED = 8192, GROWTH = 21, PREFIX_V1 = 10, PREFIX_V2 = 12, SHAPE_BYTES = GATHER_MAX_RANK * 22 + 8 };

static bool carries(const gather_type_info *type) { return type->npy || type->type == GATHER_TYPE_OPAQUE; }

/* Checks the caller's descr against the type. Opaque elements may have any descr of their size: Arrow's dates of 32 bits are '<i4'. */
static gather_status check_descr(const gather_writing *what, gather_error *error) {
  gather_literal literal;
  gather_descr descr;
  gather_literal_init(&literal, what->descr, (int64_t)strlen(what->descr));
  if (!gather_descr_parse(&literal, &descr))
    return gather_fail_input(error, literal.status == GATHER_UNSUPPORTED ? GATHER_UNSUPPORTED : GATHER_USAGE, "output",
                             "the descr %.100s: %s", what->descr, literal.message);
  if (literal.at != literal.end || gather_utf8_check(literal.text, literal.end) >= 0)
    return gather_fail_input(error, GATHER_USAGE, "output", "the descr %.100s is not one literal", what->descr);
  const bool opaque = what->type == GATHER_TYPE_OPAQUE;
  bool same = opaque ? descr.item_bytes == what->item_bytes : descr.type == what->type;
  if (same && !opaque) same = descr.unit_bytes <= 1 || descr.swapped == what->byte_swapped;
  if (same) return GATHER_OK;
  return gather_fail_input(error, GATHER_USAGE, "output", "the descr %.100s has another type, size or byte order", what->descr);
}

/* The default descr of a type. */
static void own_descr(const gather_writing *what, char *text, size_t bytes) {
  const gather_type_info *type = gather_type_get(what->type);
  bool big = what->byte_swapped != (GATHER_BIG_ENDIAN != 0);
  if (what->type == GATHER_TYPE_OPAQUE)
    (void)snprintf(text, bytes, "'|V%" PRId64 "'", what->item_bytes);
  else
    (void)snprintf(text, bytes, "'%c%s'", type->bits == 8 ? '|' : big ? '>' : '<', type->npy);
}

static void shape_text(const gather_writing *what, char *text, size_t bytes) {
  size_t at = (size_t)snprintf(text, bytes, "(");
  for (int32_t d = 0; d < what->rank; d++) at += (size_t)snprintf(text + at, bytes - at, d ? ", %" PRId64 : "%" PRId64, what->shape[d]);
  (void)snprintf(text + at, bytes - at, what->rank == 1 ? ",)" : ")");
}

/* Data begins at a multiple of it. */
static int64_t align_of(int64_t align_bytes) { return align_bytes > ALIGN ? align_bytes : ALIGN; }

/* The dictionary as text of `*size` bytes, with blanks to grow into; space for the padding follows it. */
static char *dictionary(const gather_writing *what, int64_t align, int64_t *size) {
  char own[40], shape[SHAPE_BYTES], first[24] = "";
  own_descr(what, own, sizeof own);
  shape_text(what, shape, sizeof shape);
  if (what->rank > 0) (void)snprintf(first, sizeof first, "%" PRId64, what->shape[0]);
  const char *descr = what->descr ? what->descr : own;
  size_t room = strlen(descr) + sizeof shape + 128 + GROWTH + (size_t)align;
  char *text = gather_alloc((int64_t)room + PREFIX_V2);
  if (!text) return NULL;
  int blanks = what->rank > 0 ? GROWTH - (int)strlen(first) : 0;
  *size = snprintf(text, room, "{'descr': %s, 'fortran_order': False, 'shape': %s, }%*s", descr, shape, blanks, "");
  return text;
}

/* Puts magic, version and length before the text, padding and a newline after it. */
static void frame(gather_header *header, int version, int64_t align) {
  int64_t prefix = version == 1 ? PREFIX_V1 : PREFIX_V2;
  int64_t padding = align - (prefix + header->size + 1) % align, length = header->size + padding + 1;
  memmove(header->bytes + prefix, header->bytes, (size_t)header->size);
  memcpy(header->bytes, "\x93NUMPY", 6);
  header->bytes[6] = (char)version;
  header->bytes[7] = 0;
  for (int64_t i = 8; i < prefix; i++) header->bytes[i] = (char)(unsigned char)(length >> (8 * (i - 8)) & 0xff);
  memset(header->bytes + prefix + header->size, ' ', (size_t)padding);
  header->bytes[prefix + length - 1] = '\n';
  header->size = prefix + length;
}

/* The longest text whose length, padded, fits in the two bytes of version 1.0. */
static bool fits_version_1(int64_t size, int64_t align) { return size + 1 + align - (PREFIX_V1 + size + 1) % align <= UINT16_MAX; }

/* NumPy refuses to load headers of more than 10,000 bytes, unless told otherwise. */
static gather_status check_aligned(int64_t align_bytes, const gather_header *header, gather_error *error) {
  if (align_bytes <= ALIGN || header->size <= MOST_ALIGNED) return GATHER_OK;
  return gather_fail_input(error, GATHER_UNSUPPORTED, "output",
                           "elements aligned to %" PRId64 " bytes need a header of .npy of %" PRId64
                           " bytes, and NumPy reads at most 10000; use at most %d, or safetensors or raw",
                           align_bytes, header->size, MOST_ALIGNED);
}

static gather_status make_header(const gather_writing *what, int64_t align_bytes, int64_t data_bytes, gather_header *header,
                                 gather_error *error) {
  (void)data_bytes;
  const int64_t align = align_of(align_bytes);
  const gather_header aligned = {.size = align};
  GATHER_TRY(check_aligned(align_bytes, &aligned, error));
  if (what->descr) {
    GATHER_TRY(check_descr(what, error));
    if (strlen(what->descr) > INT32_MAX / 2)
      return gather_fail_input(error, GATHER_UNSUPPORTED, "output", "the descr is too long for a header");
  }
  header->bytes = dictionary(what, align, &header->size);
  if (!header->bytes) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for the file's header");
  int64_t latin1 = latin1_from_utf8(header->bytes, header->size);
  if (latin1 >= 0) header->size = latin1;
  frame(header, latin1 < 0 ? 3 : fits_version_1(header->size, align) ? 1 : 2, align);
  return check_aligned(align_bytes, header, error);
}

const gather_format_reader gather_npy_reader = {recognise, open_file};
const gather_format_writer gather_npy_writer = {carries, make_header, NULL};
