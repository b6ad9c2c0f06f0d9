/* SPDX-License-Identifier: MIT
 *
 * descr.c: NumPy's description of a type: the size and byte order of its elements; and the Python literals in which it is written.
 * Source: numpy.lib.format.descr_to_dtype and the array interface protocol.
 */
#include "io/format/npy/descr.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/base/checked.h"
#include "core/base/error.h"
#include "core/base/tensor.h"

/* ---- Python literals: blanks, strings, numbers, tuples of lengths */

bool gather_literal_fail(gather_literal *literal, gather_status status, int64_t at, const char *format, ...) {
  if (literal->status != GATHER_OK) return false;
  literal->status = status;
  literal->wrong_at = at;
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(literal->message, sizeof literal->message, format, arguments);
  va_end(arguments);
  /* Quoted input may contain any bytes; messages must suit terminals and JSON. */
  for (char *c = literal->message; *c != '\0'; c++)
    if (*c < ' ' || *c > '~') *c = '?';
  return false;
}

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f'; }

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

static char look(const gather_literal *literal, int64_t ahead) {
  return literal->end - literal->at > ahead ? literal->text[literal->at + ahead] : '\0';
}

char gather_literal_peek(gather_literal *literal) {
  while (literal->at < literal->end) {
    char c = literal->text[literal->at];
    if (c == '#') {
      while (literal->at < literal->end && literal->text[literal->at] != '\n') literal->at++;
    } else if (is_blank(c)) {
      literal->at++;
    } else {
      return c;
    }
  }
  return '\0';
}

bool gather_literal_expect(gather_literal *literal, char c) {
  if (gather_literal_accept(literal, c)) return true;
  const char *end = literal->at == literal->end ? ", but the header ends here" : "";
  return gather_literal_fail(literal, GATHER_FILE_MALFORMED, literal->at, "expected '%c'%s", c, end);
}

bool gather_literal_word(gather_literal *literal, const char *word) {
  (void)gather_literal_peek(literal);
  int64_t length = (int64_t)strlen(word);
  if (literal->end - literal->at < length || memcmp(literal->text + literal->at, word, (size_t)length) != 0) return false;
  char next = look(literal, length);
  if (is_letter(next) || is_digit(next)) return false;
  literal->at += length;
  return true;
}

static int digit_value(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return 99;
}

/* Consumes the escape after a backslash. Its value is not needed, but Python must accept it. */
static bool take_escape(gather_literal *literal) {
  char c = look(literal, 0);
  int digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
  int64_t start = literal->at - 1, value = 0;
  if (literal->at == literal->end) return gather_literal_fail(literal, GATHER_FILE_MALFORMED, start, "a string is not closed");
  if (c == 'N') return gather_literal_fail(literal, GATHER_UNSUPPORTED, start, "\\N{...} escapes are not supported");
  if (digits > 0 || c == '\\' || c == '\'' || c == '"') literal->at++;
  for (; digits > 0; digits--, literal->at++) {
    int digit = digit_value(look(literal, 0));
    value = value * 16 + digit;
    if (digit > 15 || value > 0x10ffff) return gather_literal_fail(literal, GATHER_FILE_MALFORMED, start, "an invalid escape");
  }
  return true;
}

bool gather_literal_string(gather_literal *literal, gather_literal_text *string) {
  if (!gather_literal_at_string(literal)) return gather_literal_fail(literal, GATHER_FILE_MALFORMED, literal->at, "expected a string");
  if (is_letter(look(literal, 0))) literal->at++;
  char quote = literal->text[literal->at++];
  int64_t start = literal->at;
  while (literal->at < literal->end) {
    unsigned char c = (unsigned char)literal->text[literal->at++];
    if (c == (unsigned char)quote) {
      string->text = literal->text + start;
      string->bytes = literal->at - 1 - start;
      return true;
    }
    if ((c < 0x20 && c != '\t') || c == 0x7f)
      return gather_literal_fail(literal, GATHER_FILE_MALFORMED, literal->at - 1, "a control character in a string");
    if (c == '\\' && !take_escape(literal)) return false;
  }
  return gather_literal_fail(literal, GATHER_FILE_MALFORMED, start - 1, "a string is not closed");
}

/* The base of the next number; consumes its prefix. */
static int take_base(gather_literal *literal) {
  if (look(literal, 0) != '0') return 10;
  char c = look(literal, 1);
  int base = c == 'x' || c == 'X' ? 16 : c == 'o' || c == 'O' ? 8 : c == 'b' || c == 'B' ? 2 : 10;
  if (base != 10) literal->at += 2;
  return base;
}

bool gather_literal_int(gather_literal *literal, int64_t *value) {
  char sign = gather_literal_peek(literal);
  int64_t start = literal->at;
  if (sign == '-' || sign == '+') literal->at++;
  int base = take_base(literal);
  if (digit_value(look(literal, 0)) >= base)
    return gather_literal_fail(literal, GATHER_FILE_MALFORMED, literal->at, "expected a whole number");
  *value = 0;
  for (;; literal->at++) {
    char c = look(literal, 0);
    if (c == '_' && digit_value(look(literal, 1)) < base) continue;
    int digit = digit_value(c);
    if (digit >= base) break;
    if (!gather_mul(*value, base, value) || !gather_add(*value, sign == '-' ? -digit : digit, value))
      return gather_literal_fail(literal, GATHER_FILE_MALFORMED, start, "a number does not fit in 64 bits");
  }
  if (base == 10 && *value != 0 && look(literal, start + (sign == '-' || sign == '+') - literal->at) == '0')
    return gather_literal_fail(literal, GATHER_FILE_MALFORMED, start, "a number begins with 0");
  if (look(literal, 0) == 'L') literal->at++;
  if (is_letter(look(literal, 0)) || is_digit(look(literal, 0)) || look(literal, 0) == '.')
    return gather_literal_fail(literal, GATHER_FILE_MALFORMED, literal->at, "expected a whole number");
  return true;
}

bool gather_literal_shape(gather_literal *literal, int64_t *shape, int32_t *rank) {
  *rank = 0;
  if (!gather_literal_expect(literal, '(')) return false;
  bool comma = true;
  while (!gather_literal_accept(literal, ')')) {
    if (!comma) return gather_literal_expect(literal, ',');
    (void)gather_literal_peek(literal);
    int64_t start = literal->at, length;
    if (!gather_literal_int(literal, &length)) return false;
    if (length < 0) return gather_literal_fail(literal, GATHER_FILE_MALFORMED, start, "invalid length %" PRId64 " in the shape", length);
    if (*rank == GATHER_MAX_RANK)
      return gather_literal_fail(literal, GATHER_UNSUPPORTED, start, "more than %d dimensions are not supported", GATHER_MAX_RANK);
    shape[(*rank)++] = length;
    comma = gather_literal_accept(literal, ',');
  }
  if (*rank == 1 && !comma) /* (3) is a number, not a tuple */
    return gather_literal_fail(literal, GATHER_FILE_MALFORMED, literal->at - 1, "expected ',' in a tuple of one");
  return true;
}

/* ---- descriptions */

/* Nesting deeper than this is refused: every level is a call, and real files have fewer than ten. */
enum { DEPTH_LIMIT = 64 };

/* What the letter of a plain description means. */
typedef struct letter_row {
  char letter;
  bool sized;      /* any size may follow */
  bool unit_later; /* a [unit] may follow: datetime64, timedelta64 */
  int64_t scale;   /* bytes for each unit of the size */
  int64_t parts;   /* parts of an element that have a byte order; 0 = none */
  int sizes[5];    /* the allowed sizes, if not any */
} letter_row;

/* Sizes above 8 (f) and 16 (c) are some machine's long double. */
static const letter_row LETTERS[] = {
    {'b', false, false, 1, 0, {1}},
    {'i', false, false, 1, 1, {1, 2, 4, 8}},
    {'u', false, false, 1, 1, {1, 2, 4, 8}},
    {'f', false, false, 1, 1, {2, 4, 8, 12, 16}},
    {'c', false, false, 1, 2, {8, 16, 24, 32}},
    {'M', false, true, 1, 1, {8}},
    {'m', false, true, 1, 1, {8}},
    {'S', true, false, 1, 0, {0}},
    {'a', true, false, 1, 0, {0}},
    {'V', true, false, 1, 0, {0}},
    {'U', true, false, 4, 0, {0}},
};

/* Letters without a size, among them this machine's C types, and what they mean. */
static const struct {
  char letter, means;
  int bytes;
} ALONE[] = {
    {'?', 'b', 1},
    {'b', 'i', 1},
    {'B', 'u', 1},
    {'h', 'i', (int)sizeof(short)},
    {'H', 'u', (int)sizeof(short)},
    {'i', 'i', (int)sizeof(int)},
    {'I', 'u', (int)sizeof(int)},
    {'l', 'i', (int)sizeof(long)},
    {'L', 'u', (int)sizeof(long)},
    {'q', 'i', 8},
    {'Q', 'u', 8},
    {'e', 'f', 2},
    {'f', 'f', 4},
    {'d', 'f', 8},
    {'g', 'f', (int)sizeof(long double)},
    {'F', 'c', 8},
    {'D', 'c', 16},
    {'G', 'c', 2 * (int)sizeof(long double)},
    {'M', 'M', 8},
    {'m', 'm', 8},
    {'c', 'S', 1},
    {'S', 'S', 0},
    {'V', 'V', 0},
    {'U', 'U', 0},
};

static const letter_row *find_letter(char letter) {
  for (size_t i = 0; i < sizeof LETTERS / sizeof *LETTERS; i++)
    if (LETTERS[i].letter == letter) return &LETTERS[i];
  return NULL;
}

static bool has_size(const letter_row *row, int64_t size) {
  if (row->sized) return true;
  for (size_t i = 0; i < sizeof row->sizes / sizeof *row->sizes; i++)
    if (row->sizes[i] != 0 && row->sizes[i] == size) return true;
  return false;
}

/* "[ns]", "[25s]", "[generic]": the unit of a time. */
static bool is_time_unit(const char *text, int64_t bytes) {
  static const char *const UNITS[] = {"Y", "M", "W", "D", "h", "m", "s", "ms", "us", "\xc2\xb5s", "ns", "ps", "fs", "as", "generic"};
  if (bytes < 3 || text[0] != '[' || text[bytes - 1] != ']') return false;
  int64_t at = 1;
  while (text[at] >= '0' && text[at] <= '9') at++;
  size_t left = (size_t)(bytes - 1 - at);
  for (size_t i = 0; i < sizeof UNITS / sizeof *UNITS; i++)
    if (strlen(UNITS[i]) == left && memcmp(UNITS[i], text + at, left) == 0) return true;
  return false;
}

/* The type of this letter and size, by the table of types. */
static gather_type find_type(char letter, int64_t size) {
  char name[16];
  if (size > 99) return GATHER_TYPE_OPAQUE;
  (void)snprintf(name, sizeof name, "%c%d", letter, (int)size);
  for (int number = 1; gather_type_get((gather_type)number); number++) {
    const gather_type_info *info = gather_type_get((gather_type)number);
    if (info->npy && strcmp(info->npy, name) == 0) return info->type;
  }
  return GATHER_TYPE_OPAQUE;
}

static bool refuse(gather_literal *literal, int64_t at, gather_literal_text text) {
  int shown = text.bytes > 60 ? 60 : (int)text.bytes;
  return gather_literal_fail(literal, GATHER_UNSUPPORTED, at, "unknown type '%.*s'", shown, text.text);
}

static bool refuse_objects(gather_literal *literal, int64_t at) {
  return gather_literal_fail(literal, GATHER_UNSUPPORTED, at,
                             "Python objects are refused: they are stored as a pickle, which can run any code when "
                             "it is read; save the array with a dtype of fixed size");
}

/* Consumes the next number in text and advances *at; *size is -1 if there is none; false if it does not fit. */
static bool take_size(gather_literal_text text, int64_t *at, int64_t *size) {
  int64_t start = *at;
  *size = 0;
  for (; *at < text.bytes && text.text[*at] >= '0' && text.text[*at] <= '9'; ++*at)
    if (!gather_mul(*size, 10, size) || !gather_add(*size, text.text[*at] - '0', size)) return false;
  if (*at == start) *size = -1;
  return true;
}

static bool resolve_alone(char *letter, int64_t *size) {
  for (size_t i = 0; i < sizeof ALONE / sizeof *ALONE; i++)
    if (ALONE[i].letter == *letter) {
      *letter = ALONE[i].means;
      *size = ALONE[i].bytes;
      return true;
    }
  return false;
}

/* NumPy reads full names ("float32"), though it never writes them. */
static bool resolve_name(gather_literal_text text, char *letter, int64_t *size) {
  for (int number = 1; gather_type_get((gather_type)number); number++) {
    const gather_type_info *info = gather_type_get((gather_type)number);
    if (!info->npy || strlen(info->name) != (size_t)text.bytes) continue;
    if (memcmp(info->name, text.text, (size_t)text.bytes) != 0) continue;
    *letter = info->npy[0];
    *size = info->bits / 8;
    return true;
  }
  return false;
}

static bool describe(gather_descr *descr, const letter_row *row, int64_t size, char order) {
  if (!gather_mul(size, row->scale, &descr->item_bytes)) return false;
  descr->type = find_type(row->letter, size);
  descr->unit_bytes = row->parts ? size / row->parts : row->scale;
  descr->structured = false;
  bool big = order == '>' || (order != '<' && GATHER_BIG_ENDIAN);
  descr->big_endian = big && descr->unit_bytes > 1;
  descr->swapped = descr->unit_bytes > 1 && big != (GATHER_BIG_ENDIAN != 0);
  return true;
}

bool gather_descr_plain(gather_literal *literal, int64_t where, gather_literal_text text, gather_descr *descr) {
  int64_t at = 0, size;
  char order = text.bytes > 0 ? text.text[0] : '\0';
  bool has_order = order == '<' || order == '>' || order == '|' || order == '=';
  if (has_order) at++;
  if (at == text.bytes) return refuse(literal, where, text);
  char letter = text.text[at++];
  bool whole_word = text.bytes - at == 5 && memcmp(text.text + at, "bject", 5) == 0;
  if (letter == 'O' || (letter == 'o' && whole_word)) return refuse_objects(literal, where);
  if (!has_order && resolve_name(text, &letter, &size))
    at = text.bytes;
  else if (!take_size(text, &at, &size))
    return refuse(literal, where, text);
  if (size < 0 && !resolve_alone(&letter, &size)) return refuse(literal, where, text);
  const letter_row *row = find_letter(letter);
  if (!row || !has_size(row, size)) return refuse(literal, where, text);
  if (row->unit_later && at < text.bytes && is_time_unit(text.text + at, text.bytes - at)) at = text.bytes;
  if (at < text.bytes || !describe(descr, row, size, has_order ? order : '=')) return refuse(literal, where, text);
  return true;
}

static bool parse_value(gather_literal *literal, gather_descr *descr, int depth);

/* Makes descr an array of the shape that follows, a tuple or a single length. */
static bool parse_sub_array(gather_literal *literal, gather_descr *descr) {
  int64_t shape[GATHER_MAX_RANK], len;
  int32_t rank = 1;
  char next = gather_literal_peek(literal);
  int64_t start = literal->at;
  if (descr->item_bytes == 0 && !descr->structured) /* NumPy takes the length as the element size then, or fails */
    return gather_literal_fail(literal, GATHER_UNSUPPORTED, start, "arrays of elements of size 0 are not supported");
  if (next == '(' ? !gather_literal_shape(literal, shape, &rank) : !gather_literal_int(literal, shape)) return false;
  if (shape[0] < 0 && rank == 1) return gather_literal_fail(literal, GATHER_FILE_MALFORMED, start, "a field has a negative length");
  if (!gather_shape_len(rank, shape, &len) || !gather_mul(descr->item_bytes, len, &descr->item_bytes))
    return gather_literal_fail(literal, GATHER_FILE_MALFORMED, start, "the size of a field does not fit in 64 bits");
  return true;
}

/* A field's name: a string, or (title, name). */
static bool parse_name(gather_literal *literal) {
  gather_literal_text ignored;
  if (!gather_literal_accept(literal, '(')) return gather_literal_string(literal, &ignored);
  if (!gather_literal_string(literal, &ignored) || !gather_literal_expect(literal, ',')) return false;
  if (!gather_literal_string(literal, &ignored)) return false;
  (void)gather_literal_accept(literal, ',');
  return gather_literal_expect(literal, ')');
}

/* (name, descr) or (name, descr, shape) */
static bool parse_field(gather_literal *literal, gather_descr *field, int depth) {
  if (!gather_literal_expect(literal, '(') || !parse_name(literal)) return false;
  if (!gather_literal_expect(literal, ',') || !parse_value(literal, field, depth)) return false;
  bool comma = gather_literal_accept(literal, ',');
  if (comma && gather_literal_peek(literal) != ')') {
    if (!parse_sub_array(literal, field)) return false;
    (void)gather_literal_accept(literal, ',');
  }
  return gather_literal_expect(literal, ')');
}

static bool parse_fields(gather_literal *literal, gather_descr *descr, int depth) {
  *descr = (gather_descr){.type = GATHER_TYPE_OPAQUE, .unit_bytes = 1, .structured = true};
  bool comma = true;
  while (!gather_literal_accept(literal, ']')) {
    if (!comma) return gather_literal_expect(literal, ',');
    (void)gather_literal_peek(literal);
    int64_t start = literal->at;
    gather_descr field;
    if (!parse_field(literal, &field, depth)) return false;
    if (!gather_add(descr->item_bytes, field.item_bytes, &descr->item_bytes))
      return gather_literal_fail(literal, GATHER_FILE_MALFORMED, start, "the fields' size does not fit in 64 bits");
    if (field.unit_bytes != 1) descr->unit_bytes = 0;
    descr->big_endian = descr->big_endian || field.big_endian;
    comma = gather_literal_accept(literal, ',');
  }
  return true;
}

/* (descr, shape): an array as a field's type */
static bool parse_tuple(gather_literal *literal, gather_descr *descr, int depth) {
  if (!parse_value(literal, descr, depth) || !gather_literal_expect(literal, ',')) return false;
  if (!parse_sub_array(literal, descr)) return false;
  (void)gather_literal_accept(literal, ',');
  return gather_literal_expect(literal, ')');
}

static bool parse_value(gather_literal *literal, gather_descr *descr, int depth) {
  if (gather_literal_at_string(literal)) {
    gather_literal_text text;
    int64_t start = literal->at;
    if (!gather_literal_string(literal, &text)) return false;
    return gather_descr_plain(literal, start, text, descr);
  }
  if (depth == DEPTH_LIMIT)
    return gather_literal_fail(literal, GATHER_UNSUPPORTED, literal->at, "the type is nested deeper than %d levels", DEPTH_LIMIT);
  if (gather_literal_accept(literal, '[')) return parse_fields(literal, descr, depth + 1);
  if (depth > 0 && gather_literal_accept(literal, '(')) return parse_tuple(literal, descr, depth + 1);
  return gather_literal_fail(literal, GATHER_FILE_MALFORMED, literal->at, "expected a string or a list of fields");
}

bool gather_descr_parse(gather_literal *literal, gather_descr *descr) { return parse_value(literal, descr, 0); }

/* ---- the type of raw bytes: a name, or a description */

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
  return gather_fail(error, objects ? GATHER_UNSUPPORTED : GATHER_USAGE, "the type '%.100s': %s", type, literal.message);
}

/* Raw elements are little-endian unless the descr says otherwise. */
static gather_status read_type(const char *type, gather_descr *descr, gather_error *error) {
  if (!type) return gather_fail(error, GATHER_USAGE, "raw bytes need a type");
  if (is_descr(type)) return read_descr(type, descr, error);
  const gather_type_info *info = gather_type_get(gather_type_parse(type));
  if (!info)
    return gather_fail(error, GATHER_USAGE, "unknown type '%.100s'; write a name (float32, FLOAT, f32) or a NumPy descr (<f4, |S5)", type);
  if (info->kind == GATHER_KIND_STRING)
    return gather_fail(error, GATHER_UNSUPPORTED, "strings cannot be raw bytes, which have no lengths of strings");
  *descr =
      (gather_descr){.type = info->type, .item_bytes = info->bits / 8, .unit_bytes = 1, .swapped = GATHER_BIG_ENDIAN && info->bits > 8};
  return GATHER_OK;
}

gather_status gather_raw_check(const gather_raw *raw, gather_descr *descr, int64_t *bytes, gather_error *error) {
  if (!raw) return gather_fail(error, GATHER_USAGE, "raw is NULL: raw bytes need a type and a shape");
  GATHER_TRY(read_type(raw->type, descr, error));
  if (raw->rank < 0 || (raw->rank > 0 && !raw->shape)) return gather_fail(error, GATHER_USAGE, "raw bytes need a shape");
  if (raw->rank > GATHER_MAX_RANK)
    return gather_fail(error, GATHER_UNSUPPORTED, "rank %" PRId32 ": more than %d dimensions are not supported", raw->rank,
                       GATHER_MAX_RANK);
  for (int32_t d = 0; d < raw->rank; d++)
    if (raw->shape[d] < 0) return gather_fail(error, GATHER_USAGE, "invalid length %" PRId64 " in the shape", raw->shape[d]);
  if (raw->offset < 0) return gather_fail(error, GATHER_USAGE, "the offset %" PRId64 " is negative", raw->offset);
  int64_t len;
  if (!gather_shape_len(raw->rank, raw->shape, &len) || gather_type_bytes(descr->type, descr->item_bytes, len, bytes) != GATHER_OK)
    return gather_fail(error, GATHER_OVERFLOW, "the size of the tensor does not fit in 64 bits");
  return GATHER_OK;
}

void gather_raw_name(const gather_raw *raw, const gather_descr *descr, char *room, const char **type_name, const char **text) {
  const size_t length = strlen(raw->type);
  char *plain = room, *quoted = plain + length + 1;
  *text = NULL;
  if (descr->type != GATHER_TYPE_OPAQUE) {
    *type_name = gather_type_get(descr->type)->name;
    return;
  }
  memcpy(plain, raw->type, length + 1);
  *type_name = *text = plain;
  if (descr->structured) return;
  quoted[0] = quoted[length + 1] = '\'', quoted[length + 2] = '\0';
  memcpy(quoted + 1, raw->type, length);
  *text = quoted;
}
