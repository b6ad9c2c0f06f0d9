/* SPDX-License-Identifier: MIT
 *
 * explain_words.c: the words of a drawing: one element of a tensor as short ASCII text, and the lines around the tables. The library
 * extracts packed elements: a gather of one element puts it at the beginning of its bytes.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/float_value.h"
#include "model/explain/drawing.h"
#include "model/model_internal.h"

/* ---- elements */

static bool is_packed(const gather_type_info *info) { return info && info->packing != GATHER_PACKING_BYTES; }

static int64_t item_bytes(const gather_tensor *tensor) {
  const gather_type_info *info = gather_type_get(tensor->type);
  return tensor->type == GATHER_TYPE_OPAQUE ? tensor->item_bytes : info->bits / 8;
}

gather_tensor gather_explain_view(const gather_tensor *tensor, const int64_t *at) {
  static const int64_t ONE[1] = {1};
  gather_tensor view = *tensor;
  int64_t offset = 0;
  bool packed = is_packed(gather_type_get(tensor->type));
  if (!tensor->strides) offset = gather_explain_offset(tensor->rank, tensor->shape, at) * (packed ? 1 : item_bytes(tensor));
  for (int32_t d = 0; tensor->strides && d < tensor->rank; d++) offset += at[d] * tensor->strides[d];
  view.rank = 1;
  view.shape = ONE;
  view.strides = NULL;
  if (packed)
    view.packed_offset += offset;
  else
    view.data = (char *)tensor->data + offset;
  return view;
}

/* The bytes of one element in this machine's order; a packed one as its number. */
static int64_t element_bytes(const gather_tensor *view, unsigned char *bytes, int64_t room) {
  const gather_type_info *info = gather_type_get(view->type);
  int64_t size = is_packed(info) ? info->group_bytes : item_bytes(view);
  if (size > room) size = room;
  if (!is_packed(info)) {
    if (size > 0) memcpy(bytes, view->data, (size_t)size);
    return size;
  }
  static const int64_t zero = 0;
  gather_tensor first = {.data = (void *)(uintptr_t)&zero, .type = GATHER_TYPE_INT64, .rank = 1, .shape = view->shape};
  gather_tensor out = *view;
  out.data = bytes;
  out.packed_offset = 0;
  out.flags = view->flags & GATHER_TENSOR_BYTE_SWAPPED;
  if (gather_take(view, &first, 0, &out, NULL) != GATHER_OK) return 0;
  if (info->packing == GATHER_PACKING_HIGH_FIRST) bytes[0] = (unsigned char)(bytes[0] >> (8 - info->bits));
  if (info->packing == GATHER_PACKING_SPLIT_3) bytes[0] = (unsigned char)(bytes[0] >> 6 | (bytes[2] >> 7) << 2);
  if (info->packing == GATHER_PACKING_SPLIT_6) bytes[0] = (unsigned char)(bytes[0] >> 4 | (bytes[2] >> 6) << 4);
  bytes[0] = (unsigned char)(bytes[0] & ((1u << info->bits) - 1));
  return 1;
}

static void swap(unsigned char *bytes, int64_t size) {
  for (int64_t i = 0; i < size / 2; i++) {
    unsigned char byte = bytes[i];
    bytes[i] = bytes[size - 1 - i];
    bytes[size - 1 - i] = byte;
  }
}

static uint64_t whole(const unsigned char *bytes, int64_t size) {
  uint8_t one;
  uint16_t two;
  uint32_t four;
  uint64_t eight;
  switch (size) {
    case 1:
      memcpy(&one, bytes, 1);
      return one;
    case 2:
      memcpy(&two, bytes, 2);
      return two;
    case 4:
      memcpy(&four, bytes, 4);
      return four;
    default:
      memcpy(&eight, bytes, 8);
      return eight;
  }
}

static void put_real(double number, char *text, size_t bytes) {
  if (isnan(number))
    snprintf(text, bytes, "nan");
  else
    gather_double_text(number, 4, text, bytes);
}

static void put_hex(const unsigned char *element, int64_t size, int64_t shown, char *text, size_t bytes) {
  size_t used = (size_t)snprintf(text, bytes, "0x");
  for (int64_t i = 0; i < size && i < shown; i++) used += (size_t)snprintf(text + used, bytes - used, "%02x", element[i]);
  if (size > shown) snprintf(text + used, bytes - used, "..");
}

/* Characters that every terminal and picture can show; others become dots. */
static void put_string(const gather_string *string, char *text, size_t bytes) {
  size_t used = (size_t)snprintf(text, bytes, "\""), shown = string->bytes > 10 ? 8 : string->bytes;
  for (size_t i = 0; i < shown; i++) {
    unsigned char c = (unsigned char)string->text[i];
    used += (size_t)snprintf(text + used, bytes - used, "%c", c >= 0x20 && c < 0x7f ? c : '.');
  }
  snprintf(text + used, bytes - used, shown < string->bytes ? "..\"" : "\"");
}

static void put_integer(const gather_type_info *info, uint64_t bits, char *text, size_t bytes) {
  uint64_t sign = (uint64_t)1 << (info->bits - 1);
  if (info->kind == GATHER_KIND_INT)
    snprintf(text, bytes, "%" PRId64, (int64_t)((bits ^ sign) - sign));
  else
    snprintf(text, bytes, "%" PRIu64, bits);
}

static void put_complex(gather_type type, const unsigned char *element, bool swapped, char *text, size_t bytes) {
  gather_type part = type == GATHER_TYPE_COMPLEX64 ? GATHER_TYPE_FLOAT32 : GATHER_TYPE_FLOAT64;
  int64_t size = type == GATHER_TYPE_COMPLEX64 ? 4 : 8;
  unsigned char halves[16];
  double numbers[2] = {0, 0};
  memcpy(halves, element, (size_t)(2 * size));
  for (int i = 0; i < 2; i++) {
    if (swapped) swap(halves + i * size, size);
    (void)gather_float_read(part, halves + i * size, &numbers[i]);
  }
  char parts[2][32];
  for (int i = 0; i < 2; i++) gather_double_text(numbers[i], 3, parts[i], sizeof parts[i]);
  bool sign = parts[1][0] == '-' || parts[1][0] == '+';
  snprintf(text, bytes, "%s%s%sj", parts[0], sign ? "" : "+", parts[1]);
}

/* An extracted element. string: if it is a string. */
static void put_element(const gather_tensor *tensor, const gather_string *string, unsigned char *element, int64_t size, char *text,
                        size_t bytes) {
  double number;
  const gather_type_info *info = gather_type_get(tensor->type);
  bool swapped = (tensor->flags & GATHER_TENSOR_BYTE_SWAPPED) != 0;
  if (info->kind == GATHER_KIND_STRING) {
    put_string(string, text, bytes);
  } else if (info->kind == GATHER_KIND_OPAQUE) {
    put_hex(element, tensor->item_bytes, 4, text, bytes);
  } else if (info->kind == GATHER_KIND_COMPLEX) {
    put_complex(tensor->type, element, swapped, text, bytes);
  } else {
    if (swapped) swap(element, size);
    if (info->kind == GATHER_KIND_BOOL)
      snprintf(text, bytes, "%s", element[0] ? "true" : "false");
    else if (gather_float_read(tensor->type, element, &number))
      put_real(number, text, bytes);
    else
      put_integer(info, whole(element, size), text, bytes);
  }
}

void gather_explain_value(const gather_tensor *tensor, const int64_t *at, char *text, size_t bytes) {
  unsigned char element[16] = {0};
  gather_string string = {NULL, 0};
  gather_tensor view = gather_explain_view(tensor, at);
  if (tensor->type == GATHER_TYPE_STRING) memcpy(&string, view.data, sizeof string);
  int64_t size = element_bytes(&view, element, (int64_t)sizeof element);
  put_element(tensor, &string, element, size, text, bytes);
}

void gather_explain_fill(const gather_tensor *tensor, const void *fill, char *text, size_t bytes) {
  unsigned char element[16] = {0};
  gather_string string = {NULL, 0};
  int64_t size = is_packed(gather_type_get(tensor->type)) ? 1 : item_bytes(tensor);
  if (size > (int64_t)sizeof element) size = (int64_t)sizeof element;
  if (size > 0) memcpy(element, fill, (size_t)size);
  if (tensor->type == GATHER_TYPE_STRING) memcpy(&string, fill, sizeof string);
  put_element(tensor, &string, element, size, text, bytes);
}

int gather_explain_fit(const char *text, int most) {
  int len = (int)strlen(text);
  if (len <= most) return len;
  for (len = most; len > 0 && ((unsigned char)text[len] & 0xc0) == 0x80;) len--;
  return len;
}

/* ---- lines */

/* Adds to text, as much as fits. */
static void append(char *text, size_t bytes, const char *more) {
  size_t used = strlen(text);
  snprintf(text + used, bytes - used, "%s", more);
}

void gather_explain_rules(const gather_explain *ex, char *text, size_t bytes) {
  const char *policy = ex->on_bad == GATHER_ON_BAD_ERROR   ? "is an error"
                       : ex->on_bad == GATHER_ON_BAD_CLAMP ? "is clamped to the nearest end"
                       : ex->on_bad == GATHER_ON_BAD_WRAP  ? "wraps around"
                       : ex->writes                        ? "is skipped"
                       : ex->on_bad == GATHER_ON_BAD_ZERO  ? "gives zeros"
                                                           : "gives ";
  if (ex->promised) policy = "is not checked";
  const char *fill = ex->on_bad == GATHER_ON_BAD_FILL ? ex->fill_text : "";
  snprintf(text, bytes, "%s: an index below 0 %s, one out of range %s%.*s", ex->op->rules ? ex->op->rules : "without a document",
           ex->negative ? "counts from the end" : "is out of range", policy, gather_explain_fit(fill, 40), fill);
}

static void batches(const gather_explain *ex, char *text, size_t bytes) {
  static const char *const LETTERS[] = {"", "i", "i, j", "i, j, k", "i, j, k, l", "i, j, k, l, ..."};
  const char *group = LETTERS[ex->batch < 5 ? ex->batch : 5];
  snprintf(text, bytes, "batch_dims %d: idx[%s] gathers only from data[%s], batch by batch%s", (int)ex->batch, group, group,
           ex->op->fused_batch && ex->batch > 1 ? "; in out they are one dimension" : "");
}

void gather_explain_shorten(const char *name, char *text, size_t bytes) {
  enum { LONGEST = 60 };
  size_t len = strlen(name), from = len > LONGEST ? len - LONGEST : 0;
  while (from && ((unsigned char)name[from] & 0xc0) == 0x80) from++; /* whole UTF-8 characters */
  snprintf(text, bytes, "%s%.60s", from ? "..." : "", name + from);
}

/* Where the gather is in the model, and the names of its operands. */
static void place(const gather_explain *ex, char *text, size_t bytes) {
  char where[1024], names[4][80];
  const gather_model_node *n = ex->node;
  (void)gather_model_node_path(n, where, sizeof where);
  gather_explain_shorten(where, names[0], sizeof names[0]);
  gather_explain_shorten(n->data.name, names[1], sizeof names[1]);
  gather_explain_shorten(n->indices.name, names[2], sizeof names[2]);
  gather_explain_shorten(n->output.name, names[3], sizeof names[3]);
  snprintf(text, bytes, "%s of %s: data is %s, idx is %s, out is %s", names[0], ex->model_name, names[1], names[2], names[3]);
}

/* What the colours of an operator that writes mean. */
static void writing_note(const gather_explain *ex, char *text, size_t bytes) {
  const bool replaces = ex->scatter.reduction == GATHER_REDUCTION_NONE;
  snprintf(
      text, bytes, "out is a copy of data. Each cell of updates %s the cell of the place with its colour, in row-major order%s%s.%s",
      replaces ? "replaces" : "is combined with", replaces ? "; of several, the last remains" : "",
      ex->scatter.neutral ? "; the first is combined with the neutral number instead" : "",
      ex->updates.data || gather_tensor_len(&ex->updates) == 0 ? "" : " The values of updates are not known: each cell shows its number.");
}

/* "idx[2] selects the same place as idx[0]". */
static void repeated_note(const gather_explain *ex, char *text, size_t bytes) {
  const gather_error *repeat = &ex->repeat;
  char at[128], first[128];
  const int32_t rank = repeat->position_rank - ex->tuples; /* a tuple is one index */
  gather_shape_text(at, sizeof at, rank, repeat->position);
  gather_shape_text(first, sizeof first, rank, repeat->first_position);
  snprintf(text, bytes, "* marks an index whose place other updates also go to: idx%s selects the same place as idx%s.", at, first);
}

bool gather_explain_note(const gather_explain *ex, int i, char *text, size_t bytes) {
  if (ex->writes && i-- == 0) {
    writing_note(ex, text, bytes);
    return true;
  }
  if (ex->any_repeated && i-- == 0) {
    repeated_note(ex, text, bytes);
    return true;
  }
  if (ex->node && i-- == 0) {
    place(ex, text, bytes);
    return true;
  }
  if (ex->node && gather_op_is_quantized(ex->node->rules) && i-- == 0) {
    snprintf(text, bytes, "The cells show data as it is stored%s; the model decodes it with its scales.",
             ex->node->data.type == GATHER_TYPE_UINT8 ? ", a byte each" : "");
    return true;
  }
  if (ex->node && ex->node->not_executed && i-- == 0) {
    snprintf(text, bytes, "In the model it is %s", ex->node->reason);
    return true;
  }
  if (ex->batch && i-- == 0) {
    batches(ex, text, bytes);
    return true;
  }
  gather_error why;
  bool cannot_read =
      ex->node && ex->made_up && ex->node->data.unreadable && gather_file_tensor_check(ex->node->data.unreadable, &why) != GATHER_OK;
  if (cannot_read && i-- == 0) {
    snprintf(text, bytes, "The data cannot be read: %s", why.message);
    return true;
  }
  if (ex->node && ex->made_up && i-- == 0) {
    snprintf(text, bytes, "The values of data are not known: each cell shows its number in row-major order.");
    return true;
  }
  return false;
}

/* "axis 0: down, axis 1: across", behind text. */
static void append_axes(const gather_explain *ex, gather_explain_part part, const char *before, char *text, size_t bytes) {
  const gather_explain_table *table = &ex->table[part];
  if (part != GATHER_EXPLAIN_DATA) return;
  for (int32_t axis = ex->axis; axis < ex->axis + ex->selected; axis++) {
    char one[80];
    snprintf(one, sizeof one, "%saxis %d: %s", axis > ex->axis ? ", " : before, (int)axis,
             axis == table->rank - 1   ? "across"
             : axis == table->rank - 2 ? "down"
                                       : "over the slices");
    append(text, bytes, one);
  }
}

void gather_explain_name_text(const gather_explain *ex, gather_explain_part part, char *text, size_t bytes) {
  snprintf(text, bytes, "%s", ex->table[part].name);
  append_axes(ex, part, ", ", text, bytes);
}

void gather_explain_type_text(const gather_explain *ex, gather_explain_part part, char *text, size_t bytes) {
  const gather_explain_table *table = &ex->table[part];
  char shape[128];
  gather_shape_text(shape, sizeof shape, table->rank, table->shape);
  snprintf(text, bytes, "%.40s %s", part == GATHER_EXPLAIN_INDICES ? ex->indices_type : ex->data_type, shape);
  for (char *p = text; *p; p++)
    if ((unsigned char)*p < 0x20 || (unsigned char)*p >= 0x7f) *p = '.';
}

void gather_explain_title(const gather_explain *ex, gather_explain_part part, char *text, size_t bytes) {
  char type[256];
  gather_explain_type_text(ex, part, type, sizeof type);
  snprintf(text, bytes, "%s  %s", ex->table[part].name, type);
  append_axes(ex, part, "  ", text, bytes);
}

void gather_explain_slice_text(const gather_explain_table *table, const int64_t *at, char *text, size_t bytes) {
  snprintf(text, bytes, "%s[", table->name);
  for (int32_t d = 0; d + 2 < table->rank; d++) {
    char number[32];
    snprintf(number, sizeof number, "%" PRId64 ", ", at[d]);
    append(text, bytes, number);
  }
  append(text, bytes, ":, :]");
}
