/* SPDX-License-Identifier: MIT
 *
 * onnx_fields.c: reads fields of ONNX messages as strings and lists of numbers.
 */
#include <string.h>

#include "io/format/onnx/onnx.h"
#include "io/format/text/text.h"

#ifdef GATHER_HAVE_NANOPB

gather_status gather_onnx_next(gather_onnx *onnx, gather_proto *message, gather_proto_field *field) {
  const char *wrong = gather_proto_next(message, field);
  if (wrong) GATHER_TRY(gather_map_failure(message->map, onnx->error));
  return wrong ? GATHER_ONNX_WRONG(onnx, message->at, "%s", wrong) : GATHER_OK;
}

gather_status gather_onnx_is(gather_onnx *onnx, const gather_proto_field *field, gather_proto_wire wire) {
  if (field->wire == wire) return GATHER_OK;
  return GATHER_ONNX_WRONG(onnx, field->offset, "field %u has wire type %d; expected %d", (unsigned)field->number,
                           (int)field->wire, (int)wire);
}

gather_status gather_onnx_take(gather_onnx *onnx, int64_t count, size_t bytes, void *memory) {
  void *taken = gather_arena_take(&onnx->file->arena, count, (int64_t)bytes);
  memcpy(memory, &taken, sizeof taken);
  if (taken) return GATHER_OK;
  return gather_fail_file(onnx->error, GATHER_OUT_OF_MEMORY, onnx->file->name, -1, "no memory for what it holds");
}

static void make_utf8(char *text, int64_t bytes) {
  for (int64_t i = 0; i < bytes; i++)
    if (text[i] == '\0') text[i] = '?';
  for (int64_t at = 0, wrong; (wrong = gather_utf8_check(text + at, bytes - at)) >= 0; at += wrong + 1)
    text[at + wrong] = '?';
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

gather_status gather_onnx_domain(gather_onnx *onnx, const gather_proto_field *field, const char **text) {
  GATHER_TRY(gather_onnx_text(onnx, field, text));
  if (strcmp(*text, "ai.onnx") == 0) *text = "";
  return GATHER_OK;
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

gather_status gather_onnx_numbers(gather_onnx *onnx, const gather_proto_field *field, gather_proto_wire wire,
                                  uint64_t *values, int64_t *count) {
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

static gather_status walk_list(gather_onnx *onnx, gather_proto message, uint32_t number, gather_proto_wire wire,
                               uint64_t *values, int64_t *count) {
  *count = 0;
  for (;;) {
    gather_proto_field field;
    GATHER_TRY(gather_onnx_next(onnx, &message, &field));
    if (field.number == 0) return GATHER_OK;
    if (field.number == number) GATHER_TRY(gather_onnx_numbers(onnx, &field, wire, values, count));
  }
}

gather_status gather_onnx_list(gather_onnx *onnx, gather_proto message, uint32_t number, gather_proto_wire wire,
                               uint64_t **values, int64_t *count) {
  GATHER_TRY(walk_list(onnx, message, number, wire, NULL, count));
  GATHER_TRY(gather_onnx_take(onnx, *count, sizeof **values, values));
  return walk_list(onnx, message, number, wire, *values, count);
}

gather_status gather_onnx_strings(gather_onnx *onnx, gather_proto message, uint32_t number, gather_string **strings,
                                  int64_t *count) {
  int64_t counts[12];
  GATHER_TRY(gather_onnx_count(onnx, message, 12, counts));
  *count = 0;
  GATHER_TRY(gather_onnx_take(onnx, counts[number], sizeof **strings, strings));
  for (;;) {
    gather_proto_field field;
    GATHER_TRY(gather_onnx_next(onnx, &message, &field));
    if (field.number == 0) return GATHER_OK;
    if (field.number != number) continue;
    GATHER_TRY(gather_onnx_is(onnx, &field, GATHER_PROTO_BYTES));
    int64_t bytes = field.inner.end - field.inner.at;
    GATHER_TRY(gather_map_need(field.inner.map, field.inner.at, bytes, onnx->error));
    (*strings)[(*count)++] = (gather_string){(const char *)field.inner.map->bytes + field.inner.at, (size_t)bytes};
  }
}

#endif
