/* SPDX-License-Identifier: MIT
 *
 * output_arg.c: an output as named on the command line.
 */
#define _POSIX_C_SOURCE 200809L
#include "output_arg.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "fail.h"
#include "gather/remote.h"
#include "separators.h"

static const char SEVERAL[] = "safetensors", NAMED[] = ".safetensors:";

bool gather_cli_out_holds_several(const char *format) { return strcmp(format, SEVERAL) == 0; }

/* Whether a blank-separated list has that word. */
static bool has_word(const char *list, const char *word) {
  const size_t len = strlen(word);
  for (const char *p = list; (p = strstr(p, word)); p += len)
    if ((p == list || p[-1] == ' ') && (p[len] == ' ' || p[len] == 0)) return true;
  return false;
}

static gather_status fail_extension(const char *argument, const char *option, gather_error *error) {
  char known[200] = "";
  for (size_t i = 0; gather_format_at(i); i++) {
    const size_t len = strlen(known);
    if (has_word(gather_format_at(i)->abilities, "write"))
      (void)snprintf(known + len, sizeof known - len, "%s%s", len ? ", " : "", gather_format_at(i)->extensions);
  }
  return gather_cli_fail(error, GATHER_USAGE, "%s %.200s: the extension selects the format; supported are %s", option, argument, known);
}

gather_status gather_cli_out_read(const char *argument, const char *option, gather_cli_out *out, gather_error *error) {
  const char *named = strstr(argument, NAMED);
  if (gather_remote_is_url(argument))
    return gather_cli_fail(error, GATHER_UNSUPPORTED, "%s names a URL, but only local files are written", option);
  size_t len = named ? (size_t)(named - argument) + sizeof NAMED - 2 : strlen(argument);
  out->path = calloc(len + 1, 1);
  if (!out->path) return gather_cli_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for a file's name");
  memcpy(out->path, argument, len);
  out->name = named ? named + sizeof NAMED - 1 : NULL;
  if (out->name && !*out->name)
    return gather_cli_fail(error, GATHER_USAGE, "%s %.200s: the tensor's name is missing after the colon", option, argument);
  const char *slash = gather_cli_slash(out->path), *dot = strrchr(slash ? slash : out->path, '.');
  const gather_format_info *format;
  for (size_t i = 0; dot && !out->format && (format = gather_format_at(i)) != NULL; i++)
    if (has_word(format->abilities, "write") && has_word(format->extensions, dot)) out->format = format->name;
  return out->format ? GATHER_OK : fail_extension(argument, option, error);
}

/* The file, or, if there is none, its folder; false: neither. */
static bool identify(const char *path, bool folder, struct stat *about) {
  char name[PATH_MAX + 2] = ".";
  if (!folder) return stat(path, about) == 0;
  const char *slash = gather_cli_slash(path);
  const size_t bytes = slash ? (size_t)(slash - path) + 1 : 0;
  if (bytes >= sizeof name) return false;
  if (bytes) memcpy(name, path, bytes), name[bytes] = '\0';
  return stat(name, about) == 0;
}

static const char *base_of(const char *path) {
  const char *slash = gather_cli_slash(path);
  return slash ? slash + 1 : path;
}

bool gather_cli_out_same(const gather_cli_out *a, const gather_cli_out *b) {
  struct stat one, other;
  const bool exists = identify(a->path, false, &one), other_exists = identify(b->path, false, &other);
  if (exists != other_exists || (!exists && strcmp(base_of(a->path), base_of(b->path)) != 0)) return false;
  if (!exists && (!identify(a->path, true, &one) || !identify(b->path, true, &other))) return false;
  return one.st_ino == other.st_ino && one.st_dev == other.st_dev;
}

void gather_cli_out_clear(gather_cli_out *out) {
  free(out->path);
  memset(out, 0, sizeof *out);
}
