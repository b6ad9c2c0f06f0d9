/* SPDX-License-Identifier: MIT
 *
 * zip_name.c: the names of a zip file's members as UTF-8. Without the UTF-8 flag, a name is in code page 437 (MS-DOS).
 */
#include <string.h>

#include "core/base/error.h"
#include "io/format/npy/zip.h"
#include "io/format/text/text.h"

/* The characters 128 to 255. Source: the mapping of code page 437 that the Unicode Consortium publishes. */
static const uint16_t CODE_PAGE_437[128] = {
    0x00c7, 0x00fc, 0x00e9, 0x00e2, 0x00e4, 0x00e0, 0x00e5, 0x00e7, 0x00ea, 0x00eb, 0x00e8, 0x00ef, 0x00ee,
    0x00ec, 0x00c4, 0x00c5, 0x00c9, 0x00e6, 0x00c6, 0x00f4, 0x00f6, 0x00f2, 0x00fb, 0x00f9, 0x00ff, 0x00d6,
    0x00dc, 0x00a2, 0x00a3, 0x00a5, 0x20a7, 0x0192, 0x00e1, 0x00ed, 0x00f3, 0x00fa, 0x00f1, 0x00d1, 0x00aa,
    0x00ba, 0x00bf, 0x2310, 0x00ac, 0x00bd, 0x00bc, 0x00a1, 0x00ab, 0x00bb, 0x2591, 0x2592, 0x2593, 0x2502,
    0x2524, 0x2561, 0x2562, 0x2556, 0x2555, 0x2563, 0x2551, 0x2557, 0x255d, 0x255c, 0x255b, 0x2510, 0x2514,
    0x2534, 0x252c, 0x251c, 0x2500, 0x253c, 0x255e, 0x255f, 0x255a, 0x2554, 0x2569, 0x2566, 0x2560, 0x2550,
    0x256c, 0x2567, 0x2568, 0x2564, 0x2565, 0x2559, 0x2558, 0x2552, 0x2553, 0x256b, 0x256a, 0x2518, 0x250c,
    0x2588, 0x2584, 0x258c, 0x2590, 0x2580, 0x03b1, 0x00df, 0x0393, 0x03c0, 0x03a3, 0x03c3, 0x00b5, 0x03c4,
    0x03a6, 0x0398, 0x03a9, 0x03b4, 0x221e, 0x03c6, 0x03b5, 0x2229, 0x2261, 0x00b1, 0x2265, 0x2264, 0x2320,
    0x2321, 0x00f7, 0x2248, 0x00b0, 0x2219, 0x00b7, 0x221a, 0x207f, 0x00b2, 0x25a0, 0x00a0};

/* Writes a character below 0x10000 as UTF-8; returns its length in bytes. */
static int64_t put(char *target, unsigned character) {
  if (character < 0x80) {
    target[0] = (char)character;
    return 1;
  }
  if (character < 0x800) {
    target[0] = (char)(unsigned char)(0xc0 | character >> 6);
    target[1] = (char)(unsigned char)(0x80 | (character & 0x3f));
    return 2;
  }
  target[0] = (char)(unsigned char)(0xe0 | character >> 12);
  target[1] = (char)(unsigned char)(0x80 | (character >> 6 & 0x3f));
  target[2] = (char)(unsigned char)(0x80 | (character & 0x3f));
  return 3;
}

gather_status gather_zip_name(gather_file *file, gather_zip_member *member, gather_error *error) {
  const uint8_t *raw = member->raw_name, *zero = memchr(raw, 0, (size_t)member->raw_name_bytes);
  int64_t bytes = zero ? zero - raw : member->raw_name_bytes;
  if (member->is_utf8) {
    int64_t wrong = gather_utf8_check((const char *)raw, bytes);
    if (wrong >= 0)
      return gather_fail_file(error, GATHER_FILE_MALFORMED, file->name, raw - file->map.bytes + wrong,
                              "the name of a zip member is not UTF-8");
    member->name = gather_arena_text(&file->arena, (const char *)raw, (size_t)bytes);
  } else {
    char *name = gather_arena_take(&file->arena, 3 * bytes + 1, 1);
    int64_t used = 0;
    for (int64_t i = 0; name && i < bytes; i++)
      used += put(name + used, raw[i] < 0x80 ? raw[i] : CODE_PAGE_437[raw[i] - 0x80]);
    member->name = name;
  }
  if (member->name) return GATHER_OK;
  return gather_fail_file(error, GATHER_OUT_OF_MEMORY, file->name, -1, "no memory for its directory");
}
