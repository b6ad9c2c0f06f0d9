/* SPDX-License-Identifier: MIT
 *
 * ir.c: recognises and opens OpenVINO IR (.xml with its .bin). expat parses the XML; a build without expat does not
 * support the format.
 */
#include "io/format/ir/ir.h"

#include <string.h>

#include "core/base/error.h"

static const uint8_t *find(const uint8_t *at, const uint8_t *end, const char *text) {
  size_t length = strlen(text);
  for (; (size_t)(end - at) >= length; at++) {
    at = memchr(at, text[0], (size_t)(end - at));
    if (!at || (size_t)(end - at) < length) return NULL;
    if (memcmp(at, text, length) == 0) return at;
  }
  return NULL;
}

static bool begins(const uint8_t *at, const uint8_t *end, const char *text) {
  size_t length = strlen(text);
  return (size_t)(end - at) >= length && memcmp(at, text, length) == 0;
}

static bool is_blank(uint8_t c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

/* The end of a comment or <?...?> at `at`; NULL if it does not end, `at` if there is none. */
static const uint8_t *skip_remark(const uint8_t *at, const uint8_t *end) {
  const char *last = begins(at, end, "<?") ? "?>" : begins(at, end, "<!--") ? "-->" : NULL;
  if (!last) return at;
  const uint8_t *found = find(at, end, last);
  return found ? found + strlen(last) : NULL;
}

/* Whether only blanks or a tag are at the start, so that it is worth reading on. */
static bool may_be_xml(const uint8_t *bytes, int64_t size) {
  int64_t at = size >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
  while (at < size && is_blank(bytes[at])) at++;
  return at == size || bytes[at] == '<';
}

/* *cut: more bytes could change the answer. */
static bool is_net(const uint8_t *bytes, int64_t size, bool *cut) {
  const uint8_t *at = bytes, *end = bytes + size;
  *cut = true;
  if (begins(at, end, "\xef\xbb\xbf")) at += 3;
  for (;;) {
    const uint8_t *start = at;
    while (at < end && is_blank(*at)) at++;
    at = skip_remark(at, end);
    if (!at) return false;
    if (at == start) break;
  }
  if (begins(at, end, "<!DOCTYPE net")) return true; /* refused later, with a reason */
  *cut = end - at < (int64_t)sizeof "<!DOCTYPE net";
  return begins(at, end, "<net") && end - at > 4 && (is_blank(at[4]) || at[4] == '>' || at[4] == '/');
}

bool gather_ir_recognise(const gather_map *map) {
  enum { FIRST = 1 << 12, MOST = 1 << 24 }; /* remote: remarks before the root element may be so long */
  bool cut, found;
  int64_t size = map->remote && map->size > GATHER_FORMAT_HEAD ? GATHER_FORMAT_HEAD : map->size;
  if (size == 0) return false;
  for (;;) {
    if (gather_map_need(map, 0, size, NULL) != GATHER_OK) return false;
    found = is_net(map->bytes, size, &cut);
    if (!cut || size == map->size || size >= MOST || !may_be_xml(map->bytes, size)) return found;
    size = size < FIRST ? FIRST : 8 * size;
    if (size > map->size) size = map->size;
  }
}

#ifdef GATHER_HAVE_EXPAT
static gather_status build(ir_reader *reader) {
  gather_file *file = reader->file;
  gather_graph_file *made = gather_arena_take(&file->arena, 1, (int64_t)sizeof *made);
  file->tensors = gather_arena_take(&file->arena, reader->constant_count, (int64_t)sizeof *file->tensors);
  reader->plain_names = gather_arena_take(&file->arena, reader->constant_count, (int64_t)sizeof *reader->plain_names);
  if (!made || !file->tensors || !reader->plain_names) return GATHER_IR_NO_MEMORY(reader);
  *made = (gather_graph_file){.dialect = "openvino", .version = reader->version};
  GATHER_TRY(gather_ir_build(reader, reader->net, "", NULL, &made->graph));
  file->graph = made;
  file->plain_names = reader->plain_names;
  file->len = reader->tensor_count;
  return GATHER_OK;
}

gather_status gather_ir_open(gather_file *file, gather_error *error) {
  ir_reader reader = {.file = file, .error = error};
  gather_status status = gather_ir_parse(&reader);
  if (status == GATHER_OK) status = build(&reader);
  gather_arena_clear(&reader.tree);
  return status;
}
#endif
