/* SPDX-License-Identifier: MIT
 *
 * beside.c: opens bytes as the .xml of an OpenVINO model, beside a .bin of 256 bytes that stands for a file.
 */
#include <string.h>

#include "core/base/arena.h"
#include "fuzz/fuzz.h"
#include "io/format/format.h"

/* One string "ab" at byte 0, then whatever it is. */
static uint8_t bin[256] = {1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 'a', 'b', 1, 2, 3, 4, 5, 6, 7, 8};

/* "<!--missing-->" at the end: without the .bin. */
static bool says_missing(const uint8_t *bytes, size_t size) {
  static const char WORD[] = "<!--missing-->";
  size_t length = sizeof WORD - 1;
  return size > length && memcmp(bytes + size - length, WORD, length) == 0;
}

static gather_status open_as_ir(gather_file *file, gather_error *error) {
  file->format = "ir";
  return gather_ir_reader.open(file, error);
}

static gather_status open_beside(gather_file *file, const uint8_t *bytes, size_t size, gather_error *error) {
  gather_sibling *sibling = gather_arena_take(&file->arena, 1, (int64_t)sizeof *sibling);
  file->map = (gather_map){.bytes = bytes, .size = (int64_t)size};
  if (!sibling) return GATHER_OK;
  if (says_missing(bytes, size)) return open_as_ir(file, error);
  *sibling = (gather_sibling){.location = "fuzz.bin", .map = {.bytes = bin, .size = (int64_t)sizeof bin}};
  file->siblings = sibling;
  return open_as_ir(file, error);
}

bool fuzz_open_ir(const uint8_t *bytes, size_t size, gather_file **file, gather_status *status, gather_error *error) {
  gather_file *made = NULL;
  if (size == 0 || !gather_ir_reader.recognise(&(gather_map){.bytes = bytes, .size = (int64_t)size})) return false;
  *status = gather_file_make("fuzz.xml", &made, error);
  if (*status == GATHER_OK) *status = gather_file_finish(open_beside(made, bytes, size, error), made, file);
  return true;
}
