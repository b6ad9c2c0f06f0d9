/* SPDX-License-Identifier: MIT
 *
 * format_table.c: the table of formats.
 */
#include <string.h>

#include "core/base/path.h"
#include "io/format/format.h"

static const gather_format FORMATS[] = {
#define GATHER_FORMAT(name, abilities, extensions, recognise, open, carries, header, headers) \
  {name, abilities, extensions, recognise, open, carries, header, headers},
#include "io/format/format.def"
#undef GATHER_FORMAT
};

enum { FORMAT_COUNT = sizeof FORMATS / sizeof *FORMATS };

size_t gather_format_count(void) { return FORMAT_COUNT; }
const gather_format *gather_format_at(size_t i) { return i < FORMAT_COUNT ? &FORMATS[i] : NULL; }
const char *gather_format_name(size_t i) { return i < FORMAT_COUNT ? FORMATS[i].name : NULL; }
const char *gather_format_abilities(size_t i) { return i < FORMAT_COUNT ? FORMATS[i].abilities : NULL; }
const char *gather_format_extensions(size_t i) { return i < FORMAT_COUNT ? FORMATS[i].extensions : NULL; }

const gather_format *gather_format_named(const char *name) {
  for (size_t i = 0; i < FORMAT_COUNT; i++)
    if (FORMATS[i].carries && strcmp(FORMATS[i].name, name) == 0) return &FORMATS[i];
  return NULL;
}

/* Whether the word is in a space-separated list. */
static bool lists(const char *list, const char *word) {
  size_t length = strlen(word);
  for (const char *at = list; length > 0 && (at = strstr(at, word)) != NULL; at++)
    if ((at == list || at[-1] == ' ') && (at[length] == '\0' || at[length] == ' ')) return true;
  return false;
}

const gather_format *gather_format_for_path(const char *path) {
  const char *slash = gather_path_slash(path);
  const char *dot = strrchr(slash ? slash : path, '.');
  if (!dot || strchr(dot, ' ')) return NULL;
  for (size_t i = 0; i < FORMAT_COUNT; i++)
    if (FORMATS[i].carries && lists(FORMATS[i].extensions, dot)) return &FORMATS[i];
  return NULL;
}
