/* SPDX-License-Identifier: MIT
 *
 * hint_file.c: hints about files that are missing, and about folders that an output cannot be written into.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gather/remote.h"
#include "hint.h"
#include "separators.h"

enum { MOST_NAMES = 4096, PATH_BYTES = 1024 };

bool gather_cli_hint_is_file(const char *argument, const gather_error *error) {
  size_t len = strlen(argument), known = strlen(error->file);
  return known > 0 && len >= known && strcmp(argument + len - known, error->file) == 0;
}

/* The file of --output: NAME=FILE for run. */
static const char *output_file(const gather_cli_args *args, int i) {
  const char *value = gather_cli_value_at(args, GATHER_CLI_OUTPUT, i), *equals = value ? strchr(value, '=') : NULL;
  return equals && args->command->id == GATHER_CLI_COMMAND_RUN ? equals + 1 : value;
}

/* The folder of a path, "." if it has none; false if it does not fit. */
static bool folder_of(const char *path, char *folder, size_t bytes) {
  const char *slash = gather_cli_slash(path);
  size_t len = slash ? (size_t)(slash - path) : 1;
  if (len >= bytes) return false;
  memcpy(folder, slash ? path : ".", len);
  if (slash == path) folder[len++] = '/';
  folder[len] = 0;
  return true;
}

bool gather_cli_hint_system(const gather_error *error, const char *file, char *text, size_t bytes) {
  char folder[PATH_BYTES];
  if (!folder_of(file, folder, sizeof folder)) return false;
  switch (error->system_error) {
    case ENOSPC:
      snprintf(text, bytes, "free space on the disk of %.100s, or write elsewhere", folder);
      return true;
    case EDQUOT:
      snprintf(text, bytes, "your quota on the disk of %.100s is used up: remove files, or write elsewhere", folder);
      return true;
    case EROFS:
      snprintf(text, bytes, "the file system of %.100s is read-only; write elsewhere", folder);
      return true;
    case EMFILE:
      snprintf(text, bytes, "raise the limit of open files: ulimit -n");
      return true;
    case ENFILE:
      snprintf(text, bytes, "the whole system has too many open files (fs.file-max): end programs that hold them");
      return true;
    case EFBIG:
      snprintf(text, bytes, "the file system of %.100s, or ulimit -f, does not allow a file of this size; write elsewhere", folder);
      return true;
    case ELOOP:
      snprintf(text, bytes, "symbolic links form a loop, or there are too many; name the file itself");
      return true;
    case ENAMETOOLONG:
      snprintf(text, bytes, "the name is too long (most systems allow 255 bytes for each part of a path)");
      return true;
    default:
      return false;
  }
}

/* A file that a path uses as a folder: FILE/NAME. */
static bool through_file(const char *path, char *file, size_t bytes, const char **rest) {
  struct stat about;
  for (const char *slash = strpbrk(path, GATHER_CLI_SEPARATORS); slash; slash = strpbrk(slash + 1, GATHER_CLI_SEPARATORS)) {
    size_t len = (size_t)(slash - path);
    if (len == 0 || len >= bytes) continue;
    memcpy(file, path, len);
    file[len] = 0;
    *rest = slash + 1;
    if (stat(file, &about) == 0 && S_ISREG(about.st_mode)) return true;
  }
  return false;
}

/* What is in the place of an output, or of its folder: for errors of the library, which have no number. */
static bool hint_kind(const char *file, char *folder, size_t room, char *text, size_t bytes) {
  struct stat about;
  const char *rest;
  if (stat(file, &about) == 0 && !S_ISREG(about.st_mode))
    snprintf(text, bytes, "%.100s is not a regular file; name another output", file);
  else if (through_file(file, folder, room, &rest))
    snprintf(text, bytes, "%.100s is a file, not a folder", folder);
  else
    return false;
  return true;
}

static bool hint_missing_output(const char *file, const char *folder, char *text, size_t bytes) {
  struct stat about;
  if (stat(folder, &about) != 0)
    snprintf(text, bytes, "no such folder: %.100s; create it with mkdir -p", folder);
  else if (lstat(file, &about) == 0 && S_ISLNK(about.st_mode)) /* and what it points to does not exist */
    snprintf(text, bytes, "%.100s is a link to a file that does not exist; remove the link, or name its target", file);
  else
    return false;
  return true;
}

/* The output that an error is about, as the line names it; a shuffle works in a folder beside it. NULL: another error. */
static const char *failed_output(const gather_cli_args *args, const gather_error *error) {
  const char *slash = gather_cli_slash(error->file), *base = slash ? slash + 1 : error->file, *file;
  const bool works = args->command->id == GATHER_CLI_COMMAND_SHUFFLE && strncmp(base, ".gather-shuffle-", 16) == 0;
  for (int i = 0; (file = output_file(args, i)) != NULL; i++)
    if (works || gather_cli_hint_is_file(file, error)) break;
  return file;
}

bool gather_cli_hint_output(const gather_cli_args *args, const gather_error *error, char *text, size_t bytes) {
  char folder[PATH_BYTES];
  if (error->status != GATHER_FILE_NOT_FOUND && error->status != GATHER_IO_ERROR) return false;
  const char *file = failed_output(args, error);
  if (!file) return false;
  if (gather_cli_hint_system(error, file, text, bytes)) return true;
  if (!folder_of(file, folder, sizeof folder)) return false;
  switch (error->system_error) {
    case EACCES:
    case EPERM:
      snprintf(text, bytes, "the folder %.100s is not writable; write elsewhere", folder);
      return true;
    case ENOENT:
      return hint_missing_output(file, folder, text, bytes);
    case 0:
    case EISDIR:
    case ENOTDIR:
      return hint_kind(file, folder, sizeof folder, text, bytes);
    default:
      return false;
  }
}

typedef struct names {
  char *at[MOST_NAMES];
  int count;
} names;

static const char *name_at(const void *context, int i) { return ((const names *)context)->at[i]; }

/* The name in the folder of `path` that is nearest to its own, judged without the extension's length; "" if none is near. */
static void nearest_file(const char *path, char *text, size_t bytes) {
  char folder[PATH_BYTES];
  names all = {.count = 0};
  const struct dirent *entry;
  const char *slash = gather_cli_slash(path), *base = slash ? slash + 1 : path;
  text[0] = 0;
  DIR *directory = folder_of(path, folder, sizeof folder) ? opendir(folder) : NULL;
  if (!directory) return;
  while (all.count < MOST_NAMES && (entry = readdir(directory)) != NULL)
    if (entry->d_name[0] != '.' && (all.at[all.count] = strdup(entry->d_name)) != NULL) all.count++;
  const char *nearest = gather_cli_nearest(base, all.count, name_at, &all);
  int stem = (int)strcspn(base, "."), most = stem < 3 ? 0 : 1 + stem / 4;
  if (nearest && gather_cli_distance(base, nearest) <= most) snprintf(text, bytes, "%.*s%s", (int)(base - path), path, nearest);
  for (int i = 0; i < all.count; i++) free(all.at[i]);
  (void)closedir(directory);
}

/* Numbers that are not a literal: 1,2 or (1, 2) or 1.5. */
static const char *numbers_hint(const char *argument) {
  if (argument[strspn(argument, "0123456789+-.,;:()[]{} eE")] != 0 || !strpbrk(argument, "0123456789")) return NULL;
  return strpbrk(argument, ",;: ") ? "write several indices as a list: '[0, 2]'" : "indices are integers: 3, or '[0, 2]'";
}

/* Whether a file is in the folder of --test-data, or that folder. */
static bool is_test_data(const gather_cli_args *args, const char *file) {
  const char *folder = args->value[GATHER_CLI_TEST_DATA];
  return folder && strncmp(file, folder, strlen(folder)) == 0;
}

/* Whether the line itself names the file: as FILE, in NAME=FILE or FILE:NAME, or by a folder of test data. */
static bool is_on_line(const gather_cli_args *args, const char *file) {
  for (int i = 0; i < args->argument_count; i++)
    if (strstr(args->argument[i], file)) return true;
  for (int i = 0; i < args->given_count; i++)
    if (strstr(args->given[i].value, file)) return true;
  return is_test_data(args, file);
}

/* A file that another file refers to: the weights of a model, a shard. */
static void beside_hint(const char *file, char *text, size_t bytes) {
  size_t len = strlen(file);
  if (len > 4 && strcmp(file + len - 4, ".bin") == 0)
    snprintf(text, bytes, "the weights are in a file beside the model (.bin beside .xml): copy %.100s into its folder", file);
  else
    snprintf(text, bytes, "it contains data of a file that refers to it: copy %.100s beside it", file);
}

static void forms_hint(const gather_cli_args *args, const gather_error *error, bool model, bool is_model, char *text, size_t bytes) {
  const bool folder = is_test_data(args, error->file), explains = args->command->id == GATHER_CLI_COMMAND_EXPLAIN;
  bool indices = error->input && strcmp(error->input, "indices") == 0;
  snprintf(text, bytes, "%s",
           is_model              ? "MODEL is an ONNX model, or an OpenVINO IR file (.xml beside its .bin)"
           : folder              ? "--test-data takes a folder with input_N.pb and output_N.pb, or with folders test_data_set_*"
           : model               ? "--input takes NAME=FILE, NAME=FILE:TENSOR, or a literal such as NAME='[0, 2]'"
           : indices && explains ? "INDICES is a file, FILE:NAME, or a literal such as '[0, 2]'; a node of a model is --node NAME"
           : indices             ? "INDICES is a file, FILE:NAME, - (standard input), or a literal such as '[0, 2]'"
                                 : "name a tensor as FILE, FILE:NAME, or - (standard input)");
}

/* Nothing is known about other files of its server, but a folder may have been meant. */
static void url_hint(const gather_cli_args *args, const char *url, char *text, size_t bytes) {
  const bool in_folders = strncasecmp(url, "s3://", 5) == 0 || strncasecmp(url, "hf://", 5) == 0;
  if (in_folders && args->command->id == GATHER_CLI_COMMAND_INFO && !gather_remote_is_folder(url))
    snprintf(text, bytes, "a folder has a slash at its end: gather info %.200s/ lists it", url);
}

void gather_cli_hint_missing(const gather_cli_args *args, const gather_error *error, bool model, char *text, size_t bytes) {
  char near[PATH_BYTES];
  const char *rest, *numbers = NULL;
  struct stat about;
  bool is_model = model && args->argument_count > 0 && gather_cli_hint_is_file(args->argument[0], error);
  if (!*error->file) {
    snprintf(text, bytes, "the file name is empty");
    return;
  }
  if (gather_remote_is_url(error->file)) {
    url_hint(args, error->file, text, bytes);
    return;
  }
  if (strstr(error->message, "URLs that are read") || strstr(error->message, "it is a link") || strstr(error->message, "git-annex"))
    return; /* the message says what to do */
  if (error->input && strcmp(error->input, "indices") == 0) numbers = numbers_hint(error->file);
  if (!numbers && !is_on_line(args, error->file)) {
    beside_hint(error->file, text, bytes);
    return;
  }
  if (numbers) {
    snprintf(text, bytes, "%s", numbers);
    return;
  }
  if (through_file(error->file, near, sizeof near, &rest)) {
    snprintf(text, bytes, "%.100s is a file; a tensor in it is named %.100s:%.40s", near, near, rest);
    return;
  }
  if (gather_cli_slash(error->file) && folder_of(error->file, near, sizeof near) && stat(near, &about) != 0) {
    snprintf(text, bytes, "no such folder: %.200s", near);
    return;
  }
  nearest_file(error->file, near, sizeof near);
  if (*near)
    snprintf(text, bytes, "did you mean %.200s?", near);
  else
    forms_hint(args, error, model, is_model, text, bytes);
}
