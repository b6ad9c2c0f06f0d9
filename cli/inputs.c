/* SPDX-License-Identifier: MIT
 *
 * inputs.c: the files that the line reads.
 */
#include "inputs.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "fail.h"
#include "gather/remote.h"
#include "hint.h"
#include "separators.h"

typedef struct identity {
  uint64_t device, number;
} identity;

static identity *noted;
static size_t count, room;

static identity identity_of(const struct stat *about) {
  return (identity){(uint64_t)about->st_dev, (uint64_t)about->st_ino};
}

static bool is_same(const identity *one, const identity *other) {
  return one->device == other->device && one->number == other->number;
}

static bool is_noted(const identity *id) {
  for (size_t i = 0; i < count; i++)
    if (is_same(&noted[i], id)) return true;
  return false;
}

void gather_cli_inputs_note(const char *path) {
  struct stat about;
  if (gather_remote_is_url(path) || stat(path, &about) != 0 || !S_ISREG(about.st_mode)) return;
  const identity id = identity_of(&about);
  if (is_noted(&id)) return;
  if (count == room) {
    const size_t more = room ? 2 * room : 16;
    identity *grown = realloc(noted, more * sizeof *grown);
    if (!grown) abort(); /* without the note, a table could be lost */
    noted = grown;
    room = more;
  }
  noted[count++] = id;
}

gather_status gather_cli_inputs_refuse(const char *output, gather_error *error) {
  gather_status status = gather_cli_fail_file(error, GATHER_FILE_EXISTS, output, -1,
                                              "the output is one of the files that are read, which is kept");
  (void)gather_cli_hint_set(error, "name another output: -f does not replace an input");
  return status;
}

gather_status gather_cli_inputs_keep(const char *output, const gather_file *file, gather_error *error) {
  struct stat about;
  if (!output || stat(output, &about) != 0) return GATHER_OK;
  const identity id = identity_of(&about);
  return is_noted(&id) || gather_file_uses(file, output) ? gather_cli_inputs_refuse(output, error) : GATHER_OK;
}

/* ---- two outputs */

/* The folder of a path, and the name in it. */
static const char *folder_of(const char *path, struct stat *folder) {
  const char *slash = gather_cli_slash(path);
  char *text = strdup(slash ? path : ".");
  bool found = text != NULL;
  if (found && slash) text[slash - path + 1] = 0;
  found = found && stat(text, folder) == 0;
  free(text);
  return !found ? NULL : slash ? slash + 1 : path;
}

bool gather_cli_is_same_output(const char *one, const char *other) {
  struct stat a, b;
  if (strcmp(one, other) == 0) return true;
  if (stat(one, &a) == 0 && stat(other, &b) == 0) return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
  const char *name = folder_of(one, &a), *name_of_other = folder_of(other, &b);
  return name && name_of_other && a.st_dev == b.st_dev && a.st_ino == b.st_ino && strcmp(name, name_of_other) == 0;
}
