/* SPDX-License-Identifier: MIT
 *
 * ir.c: recognises and opens OpenVINO IR (.xml with its .bin). expat parses the XML; a build without expat does not
 * support the format.
 */
#include "format/ir.h"

#include <string.h>

#include "base/error.h"

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

bool gather_ir_recognise(const uint8_t *bytes, int64_t size) {
  if (size == 0) return false;
  const uint8_t *at = bytes, *end = bytes + size;
  if (begins(at, end, "\xef\xbb\xbf")) at += 3;
  for (;;) {
    const uint8_t *start = at;
    while (at < end && is_blank(*at)) at++;
    at = skip_remark(at, end);
    if (!at) return false;
    if (at == start) break;
  }
  if (begins(at, end, "<!DOCTYPE net")) return true; /* refused later, with a reason */
  return begins(at, end, "<net") && end - at > 4 && (is_blank(at[4]) || at[4] == '>' || at[4] == '/');
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
