/* SPDX-License-Identifier: MIT
 *
 * onnx_fields.c: reads the fields of ONNX messages: numbers, strings, lists.
 */
#include <string.h>

#include "io/format/onnx/onnx.h"
#include "io/format/text/utf8.h"

#ifdef GATHER_HAVE_NANOPB

#include <pb_decode.h>

/* ---- protobuf's wire format, read with nanopb. Each step makes a new stream, so that the position is always known. */

/* NUMBER_BYTES: at most in a number or a tag, the rest of one that is too long included. */
enum { GROUPS_MAX = 64, NUMBER_BYTES = 12 };
static const char NOT_LOADED[] = "it could not be read";

/* Loads a tag or a number. */
static bool is_loaded(const gather_proto *message) {
  int64_t left = message->end - message->at;
  return gather_map_need(message->map, message->at, left < NUMBER_BYTES ? left : NUMBER_BYTES, NULL) == GATHER_OK;
}

static pb_istream_t stream_of(const gather_proto *message) {
  return pb_istream_from_buffer(message->map->bytes + message->at, (size_t)(message->end - message->at));
}

static int64_t position(const gather_proto *message, const pb_istream_t *stream) { return message->end - (int64_t)stream->bytes_left; }

static const char *take_tag(gather_proto *message, uint32_t *number, uint32_t *wire) {
  if (!is_loaded(message)) return NOT_LOADED;
  pb_istream_t stream = stream_of(message);
  pb_wire_type_t type = PB_WT_VARINT;
  bool at_end = false;
  if (!pb_decode_tag(&stream, &type, number, &at_end)) return "a field number is truncated or too large";
  if (*number == 0) return "a field has number 0";
  *wire = (uint32_t)type;
  message->at = position(message, &stream);
  return NULL;
}

static const char *take_number(gather_proto *message, uint32_t wire, uint64_t *value) {
  if (!is_loaded(message)) return NOT_LOADED;
  pb_istream_t stream = stream_of(message);
  uint32_t small = 0;
  bool good = false;
  if (wire == GATHER_PROTO_VARINT) good = pb_decode_varint(&stream, value);
  if (wire == GATHER_PROTO_FIXED64) good = pb_decode_fixed64(&stream, value);
  if (wire == GATHER_PROTO_FIXED32) {
    good = pb_decode_fixed32(&stream, &small);
    *value = small;
  }
  if (!good) return "a number is truncated or longer than 64 bits";
  message->at = position(message, &stream);
  return NULL;
}

static const char *take_bytes(gather_proto *message, gather_proto *inner) {
  if (!is_loaded(message)) return NOT_LOADED;
  pb_istream_t stream = stream_of(message), content;
  if (!pb_make_string_substream(&stream, &content)) return "a field extends past the end of its message";
  int64_t end = message->end - (int64_t)stream.bytes_left;
  *inner = (gather_proto){message->map, end - (int64_t)content.bytes_left, end};
  message->at = end;
  return NULL;
}

static const char *take_content(gather_proto *message, uint32_t wire, gather_proto_field *field) {
  if (wire == GATHER_PROTO_BYTES) return take_bytes(message, &field->inner);
  if (wire == GATHER_PROTO_VARINT || wire == GATHER_PROTO_FIXED64 || wire == GATHER_PROTO_FIXED32)
    return take_number(message, wire, &field->value);
  return "unknown wire type";
}

/* Skips a group, which ends with a tag of the same number; nanopb does not support groups. */
static const char *skip_group(gather_proto *message, uint32_t first) {
  uint32_t open[GROUPS_MAX] = {first};
  int depth = 1;
  while (depth > 0) {
    uint32_t number = 0, wire = 0;
    gather_proto_field ignored;
    const char *wrong = take_tag(message, &number, &wire);
    if (wrong) return wrong;
    if (wire == 4) {
      if (open[--depth] != number) return "a group ends without a start";
    } else if (wire == GATHER_PROTO_GROUP) {
      if (depth == GROUPS_MAX) return "groups are nested too deeply";
      open[depth++] = number;
    } else {
      wrong = take_content(message, wire, &ignored);
      if (wrong) return wrong;
    }
  }
  return NULL;
}

const char *gather_proto_next(gather_proto *message, gather_proto_field *field) {
  uint32_t wire = 0;
  *field = (gather_proto_field){.offset = message->at};
  if (message->at == message->end) return NULL;
  const char *wrong = take_tag(message, &field->number, &wire);
  if (wrong) return wrong;
  field->wire = (gather_proto_wire)wire;
  return wire == GATHER_PROTO_GROUP ? skip_group(message, field->number) : take_content(message, wire, field);
}

const char *gather_proto_packed(gather_proto *list, gather_proto_wire wire, uint64_t *value) {
  return take_number(list, (uint32_t)wire, value);
}

/* ---- fields of ONNX messages */

gather_status gather_onnx_next(gather_onnx *onnx, gather_proto *message, gather_proto_field *field) {
  const char *wrong = gather_proto_next(message, field);
  if (wrong) GATHER_TRY(gather_map_failure(message->map, onnx->error));
  return wrong ? GATHER_ONNX_WRONG(onnx, message->at, "%s", wrong) : GATHER_OK;
}

gather_status gather_onnx_is(gather_onnx *onnx, const gather_proto_field *field, gather_proto_wire wire) {
  if (field->wire == wire) return GATHER_OK;
  return GATHER_ONNX_WRONG(onnx, field->offset, "field %u has wire type %d; expected %d", (unsigned)field->number, (int)field->wire,
                           (int)wire);
}

gather_status gather_onnx_take(gather_onnx *onnx, int64_t count, size_t bytes, void *memory) {
  void *taken = gather_arena_take(&onnx->file->arena, count, (int64_t)bytes);
  memcpy(memory, &taken, sizeof taken);
  if (taken) return GATHER_OK;
  return gather_fail_file(onnx->error, GATHER_OUT_OF_MEMORY, onnx->file->name, -1, "out of memory for its contents");
}

static void make_utf8(char *text, int64_t bytes) {
  for (int64_t i = 0; i < bytes; i++)
    if (text[i] == '\0') text[i] = '?';
  for (int64_t at = 0, wrong; (wrong = gather_utf8_check(text + at, bytes - at)) >= 0; at += wrong + 1) text[at + wrong] = '?';
}

gather_status gather_onnx_text(gather_onnx *onnx, const gather_proto_field *field, const char **text) {
  GATHER_TRY(gather_onnx_is(onnx, field, GATHER_PROTO_BYTES));
  int64_t bytes = field->inner.end - field->inner.at;
  char *copy = NULL;
  GATHER_TRY(gather_onnx_take(onnx, bytes + 1, 1, &copy));
  GATHER_TRY(gather_map_need(field->inner.map, field->inner.at, bytes, onnx->error));
  memcpy(copy, field->inner.map->bytes + field->inner.at, (size_t)bytes);
  make_utf8(copy, bytes);
  *text = copy;
  return GATHER_OK;
}

static const gather_onnx_row *row_of(const gather_onnx_row *rows, uint32_t number) {
  while (rows->number != 0 && rows->number != number) rows++;
  return rows->number != 0 ? rows : NULL;
}

static gather_status use_row(gather_onnx *onnx, const gather_onnx_row *row, const gather_proto_field *field, void *into) {
  void *to = (char *)into + row->offset;
  switch (row->kind) {
    case GATHER_ONNX_TEXT:
      return gather_onnx_text(onnx, field, to);
    case GATHER_ONNX_DOMAIN:
      return gather_onnx_domain(onnx, field, to);
    case GATHER_ONNX_NUMBER:
      GATHER_TRY(gather_onnx_is(onnx, field, GATHER_PROTO_VARINT));
      memcpy(to, &field->value, sizeof field->value);
      return GATHER_OK;
    case GATHER_ONNX_FIELD:
      memcpy(to, field, sizeof *field);
      return GATHER_OK;
    case GATHER_ONNX_MESSAGE:
      GATHER_TRY(gather_onnx_is(onnx, field, GATHER_PROTO_BYTES));
      return row->use(onnx, field, into);
    case GATHER_ONNX_OTHER:
    default:
      return row->use(onnx, field, into);
  }
}

gather_status gather_onnx_read(gather_onnx *onnx, gather_proto message, const gather_onnx_row *rows, void *into) {
  for (;;) {
    gather_proto_field field;
    GATHER_TRY(gather_onnx_next(onnx, &message, &field));
    if (field.number == 0) return GATHER_OK;
    const gather_onnx_row *row = row_of(rows, field.number);
    if (row) GATHER_TRY(use_row(onnx, row, &field, into));
  }
}

gather_status gather_onnx_each(gather_onnx *onnx, gather_proto message, uint32_t number, gather_onnx_use *use, void *into) {
  const gather_onnx_row rows[] = {{number, GATHER_ONNX_MESSAGE, 0, use}, {0}};
  return gather_onnx_read(onnx, message, rows, into);
}

gather_status gather_onnx_count(gather_onnx *onnx, gather_proto message, uint32_t numbers, int64_t *counts) {
  for (uint32_t i = 0; i < numbers; i++) counts[i] = 0;
  for (;;) {
    gather_proto_field field;
    GATHER_TRY(gather_onnx_next(onnx, &message, &field));
    if (field.number == 0) return GATHER_OK;
    if (field.number < numbers) counts[field.number]++;
  }
}

gather_status gather_onnx_numbers(gather_onnx *onnx, const gather_proto_field *field, gather_proto_wire wire, uint64_t *values,
                                  int64_t *count) {
  if (field->wire != GATHER_PROTO_BYTES) {
    GATHER_TRY(gather_onnx_is(onnx, field, wire));
    if (values) values[*count] = field->value;
    (*count)++;
    return GATHER_OK;
  }
  gather_proto list = field->inner;
  while (list.at < list.end) {
    uint64_t value = 0;
    const char *wrong = gather_proto_packed(&list, wire, &value);
    if (wrong) return GATHER_ONNX_WRONG(onnx, list.at, "%s", wrong);
    if (values) values[*count] = value;
    (*count)++;
  }
  return GATHER_OK;
}

/* The numbers of a repeated field. */
typedef struct number_list {
  gather_proto_wire wire;
  uint64_t *values;
  int64_t count;
} number_list;

static gather_status add_numbers(gather_onnx *onnx, const gather_proto_field *field, void *into) {
  number_list *found = into;
  return gather_onnx_numbers(onnx, field, found->wire, found->values, &found->count);
}

gather_status gather_onnx_list(gather_onnx *onnx, gather_proto message, uint32_t number, gather_proto_wire wire, uint64_t **values,
                               int64_t *count) {
  const gather_onnx_row rows[] = {{number, GATHER_ONNX_OTHER, 0, add_numbers}, {0}};
  number_list found = {.wire = wire};
  GATHER_TRY(gather_onnx_read(onnx, message, rows, &found));
  GATHER_TRY(gather_onnx_take(onnx, found.count, sizeof **values, &found.values));
  found.count = 0;
  GATHER_TRY(gather_onnx_read(onnx, message, rows, &found));
  *values = found.values;
  *count = found.count;
  return GATHER_OK;
}

typedef struct string_list {
  gather_string *values;
  int64_t count;
} string_list;

static gather_status add_string(gather_onnx *onnx, const gather_proto_field *field, void *into) {
  string_list *found = into;
  const gather_proto *inner = &field->inner;
  GATHER_TRY(gather_map_need(inner->map, inner->at, inner->end - inner->at, onnx->error));
  found->values[found->count++] = (gather_string){(const char *)inner->map->bytes + inner->at, (size_t)(inner->end - inner->at)};
  return GATHER_OK;
}

gather_status gather_onnx_strings(gather_onnx *onnx, gather_proto message, uint32_t number, gather_string **values, int64_t *count) {
  int64_t counts[12];
  string_list found = {0};
  GATHER_TRY(gather_onnx_count(onnx, message, 12, counts));
  GATHER_TRY(gather_onnx_take(onnx, counts[number], sizeof **values, &found.values));
  GATHER_TRY(gather_onnx_each(onnx, message, number, add_string, &found));
  *values = found.values;
  *count = found.count;
  return GATHER_OK;
}

/* ---- the versions of operator sets that a model or a function imports */

static gather_status add_import(gather_onnx *onnx, const gather_proto_field *field, void *into) {
  static const gather_onnx_row FIELDS[] = {{1, GATHER_ONNX_DOMAIN, offsetof(gather_onnx_import, domain), NULL},
                                           {2, GATHER_ONNX_NUMBER, offsetof(gather_onnx_import, version), NULL},
                                           {0}};
  gather_onnx_import *rows = into, *import = &rows[onnx->imports.count++];
  *import = (gather_onnx_import){.domain = ""};
  return gather_onnx_read(onnx, field->inner, FIELDS, import);
}

gather_status gather_onnx_imports_read(gather_onnx *onnx, gather_proto message, uint32_t number) {
  int64_t counts[10];
  gather_onnx_import *rows = NULL;
  GATHER_TRY(gather_onnx_count(onnx, message, 10, counts));
  GATHER_TRY(gather_onnx_take(onnx, counts[number], sizeof *rows, &rows));
  onnx->imports = (gather_onnx_imports){rows, 0};
  return gather_onnx_each(onnx, message, number, add_import, rows);
}

#endif
