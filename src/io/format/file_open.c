/* SPDX-License-Identifier: MIT
 *
 * file_open.c: opens files: by their content, as text, as raw bytes; from a path, a URL or memory. And splits FILE:TENSOR.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "core/base/alloc.h"
#include "core/base/checked.h"
#include "core/base/error.h"
#include "core/base/tensor.h"
#include "gather/remote.h"
#include "io/format/format.h"

/* ---- the steps */

/* Checks options, and fills in the defaults of fields that the caller does not know. NULL: the defaults. */
/* Fields that this version does not know must be zero; fields that the program does not know get their defaults. */
static gather_status read_options(const gather_file_options *given, gather_file_options *options, gather_error *error) {
  *options = (gather_file_options)GATHER_FILE_OPTIONS_INIT;
  if (!given) return GATHER_OK;
  size_t known = given->size < sizeof *options ? given->size : sizeof *options;
  if (known < sizeof given->size)
    return gather_fail(error, GATHER_USAGE, "options.size is %zu; start from GATHER_FILE_OPTIONS_INIT", given->size);
  for (size_t i = sizeof *options; i < given->size; i++)
    if (((const char *)given)[i] != 0)
      return gather_fail(error, GATHER_USAGE, "the options have a field that this version does not support");
  memcpy(options, given, known);
  if (options->download_bytes >= 0) return GATHER_OK;
  return gather_fail(error, GATHER_USAGE, "options.download_bytes is negative");
}

/* The name without the query of a URL, which may be a secret. */
static gather_status rename_file(gather_file *file, const char *name, gather_error *error) {
  size_t length = strlen(name);
  char *copy = gather_alloc((int64_t)length + 1);
  if (!copy) return gather_fail_file(error, GATHER_OUT_OF_MEMORY, name, -1, "no memory to open it");
  memcpy(copy, name, length);
  gather_free(file->name);
  file->name = copy;
  return GATHER_OK;
}

static void use_options(gather_file *file, const gather_file_options *options) {
  file->no_links = options->no_links;
  file->text_column = options->text_column;
  if (options->download_bytes > 0) file->download_bytes = options->download_bytes;
}

/* Maps a URL by a client, which gets one more owner. */
static gather_status use_client(gather_file *file, gather_remote_client *client, const char *url,
                                const gather_file_options *options, gather_error *error) {
  use_options(file, options);
  file->client = gather_remote_client_hold(client);
  const gather_status status = gather_map_open_url(client, url, &file->map, error);
  if (status != GATHER_OK) {
    gather_substitute_advise(url, error);
    return status;
  }
  return rename_file(file, gather_remote_object_name(gather_map_object(&file->map)), error);
}

/* Maps a path, or a URL if the options allow it. */
static gather_status use_path(gather_file *file, const char *path, const gather_file_options *options,
                              gather_error *error) {
  gather_remote_client *client = NULL;
  use_options(file, options);
  if (!options->remote || !gather_remote_is_url(path)) return gather_map_open(path, &file->map, error);
  GATHER_TRY(gather_remote_client_create(options->remote, &client, error));
  gather_status status = use_client(file, client, path, options, error);
  gather_remote_client_release(client);
  return status;
}

static gather_status use_memory(gather_file *file, const void *memory, size_t bytes, gather_error *error) {
  if (bytes > PTRDIFF_MAX) return gather_fail_file(error, GATHER_OVERFLOW, file->name, -1, "its size does not fit");
  if (bytes > 0 && !memory) return gather_fail_file(error, GATHER_USAGE, file->name, -1, "memory is NULL");
  file->map = (gather_map){.bytes = memory, .size = (int64_t)bytes};
  return GATHER_OK;
}

/* Loads what was noted while the file was read. Fails if any of its needs failed, whatever the reader made of it. */
static gather_status settle(gather_file *file, gather_error *error) {
  GATHER_TRY(gather_map_load_later(&file->map, error));
  GATHER_TRY(gather_map_failure(&file->map, error));
  for (const gather_sibling *sibling = file->siblings; sibling; sibling = sibling->next) {
    GATHER_TRY(gather_map_load_later(&sibling->map, error));
    GATHER_TRY(gather_map_failure(&sibling->map, error));
  }
  return GATHER_OK;
}

/* ---- by its content */

static gather_status read_content(gather_file *file, gather_error *error) {
  enum { TEXT_HEAD = 4096 };
  GATHER_TRY(gather_substitute_refuse(&file->map, file->name, file->client != NULL, error));
  if (file->text_column) {
    const int64_t head = file->map.size < TEXT_HEAD ? file->map.size : TEXT_HEAD;
    GATHER_TRY(gather_map_need(&file->map, 0, head, error));
    if (gather_file_is_text(file->map.bytes, (size_t)head))
      return gather_text_open(file, NULL, file->text_column, error);
  }
  GATHER_TRY(gather_map_need(&file->map, 0, GATHER_FORMAT_HEAD, error));
  const gather_format *format = NULL;
  GATHER_TRY(gather_format_recognise(file, &format, error));
  file->format = format->name;
  return format->reader->open(file, error);
}

static gather_status open_by_content(gather_file *file, gather_error *error) {
  gather_error failed;
  gather_status status = read_content(file, error), settled = settle(file, &failed);
  if (settled == GATHER_OK) return status;
  if (error) *error = failed;
  return settled;
}

gather_status gather_file_open(const char *path, gather_file **file, gather_error *error) {
  return gather_file_open_with(path, NULL, file, error);
}

gather_status gather_file_open_with(const char *path, const gather_file_options *options, gather_file **file,
                                    gather_error *error) {
  gather_file_options full;
  if (!file) return gather_fail(error, GATHER_USAGE, "gather_file_open: file is NULL");
  *file = NULL;
  if (!path) return gather_fail(error, GATHER_USAGE, "gather_file_open: path is NULL");
  GATHER_TRY(read_options(options, &full, error));
  gather_file *made = NULL;
  GATHER_TRY(gather_file_make(path, &made, error));
  gather_status status = use_path(made, path, &full, error);
  if (status == GATHER_OK) status = open_by_content(made, error);
  return gather_file_finish(status, made, file);
}

gather_status gather_file_open_by(gather_remote_client *client, const char *url, const gather_file_options *options,
                                  gather_file **file, gather_error *error) {
  gather_file *made = NULL;
  *file = NULL;
  GATHER_TRY(gather_file_make(url, &made, error));
  gather_status status = use_client(made, client, url, options, error);
  if (status == GATHER_OK) status = open_by_content(made, error);
  return gather_file_finish(status, made, file);
}

gather_status gather_file_from_source(const gather_map_source *source, const char *name, gather_file **file,
                                      gather_error *error) {
  gather_file *made = NULL;
  *file = NULL;
  gather_status status = gather_file_make(name, &made, error);
  if (status != GATHER_OK) {
    source->close(source->context);
    return status;
  }
  status = gather_map_open_source(source, name, &made->map, error);
  if (status == GATHER_OK) status = open_by_content(made, error);
  return gather_file_finish(status, made, file);
}

gather_status gather_file_from_memory(const void *memory, size_t bytes, const char *name, gather_file **file,
                                      gather_error *error) {
  if (!file) return gather_fail(error, GATHER_USAGE, "gather_file_from_memory: file is NULL");
  *file = NULL;
  gather_file *made = NULL;
  GATHER_TRY(gather_file_make(name ? name : "memory", &made, error));
  gather_status status = use_memory(made, memory, bytes, error);
  if (status == GATHER_OK) status = open_by_content(made, error);
  return gather_file_finish(status, made, file);
}

/* ---- as text */

/* The text of a URL is downloaded first. */
static gather_status open_url(gather_file *file, const char *path, const char *column,
                              const gather_file_options *options, gather_error *error) {
  GATHER_TRY(use_path(file, path, options, error));
  return gather_text_open(file, NULL, column, error);
}

gather_status gather_file_open_text(const char *path, const char *column, gather_file **file, gather_error *error) {
  return gather_file_open_text_with(path, column, NULL, file, error);
}

gather_status gather_file_open_text_with(const char *path, const char *column, const gather_file_options *options,
                                         gather_file **file, gather_error *error) {
  gather_file_options full;
  if (!file) return gather_fail(error, GATHER_USAGE, "gather_file_open_text: file is NULL");
  *file = NULL;
  if (!path) return gather_fail(error, GATHER_USAGE, "gather_file_open_text: path is NULL");
  GATHER_TRY(read_options(options, &full, error));
  gather_file *made = NULL;
  GATHER_TRY(gather_file_make(path, &made, error));
  const bool is_url = full.remote && gather_remote_is_url(path);
  gather_status status =
      is_url ? open_url(made, path, column, &full, error) : gather_text_open(made, path, column, error);
  return gather_file_finish(status, made, file);
}

gather_status gather_file_text_from_memory(const void *memory, size_t bytes, const char *name, const char *column,
                                           gather_file **file, gather_error *error) {
  if (!file) return gather_fail(error, GATHER_USAGE, "gather_file_text_from_memory: file is NULL");
  *file = NULL;
  gather_file *made = NULL;
  GATHER_TRY(gather_file_make(name ? name : "memory", &made, error));
  gather_status status = use_memory(made, memory, bytes, error);
  if (status == GATHER_OK) status = gather_text_open(made, NULL, column, error);
  return gather_file_finish(status, made, file);
}

/* ---- as raw bytes, without a header; the caller gives type and shape */

/* Giving a type and a shape for a file that has its own is probably a mistake. */
static gather_status check_content(const gather_file *file, const gather_raw *raw, gather_error *error) {
  char unknown[sizeof error->message];
  if (raw->as_is) return GATHER_OK;
  const char *format = gather_format_looks(file, unknown, sizeof unknown);
  if (format)
    return gather_fail_file(error, GATHER_USAGE, file->name, -1,
                            "it is not raw bytes but a file of format %s, which has its own types and shapes", format);
  if (!*unknown) return GATHER_OK;
  return gather_fail_file(error, GATHER_USAGE, file->name, -1, "it is not raw bytes: %s", unknown);
}

static gather_status open_raw(gather_file *file, const gather_raw *raw, gather_error *error) {
  gather_descr descr;
  int64_t bytes;
  gather_single *single;
  GATHER_TRY(gather_raw_check(raw, &descr, &bytes, error));
  GATHER_TRY(check_content(file, raw, error));
  file->format = "raw";
  GATHER_TRY(gather_single_create(file, GATHER_RAW_TEXT(raw), &single, error));
  gather_raw_name(raw, &descr, single->text, &single->tensor.type_name, &single->tensor.descr);
  gather_tensor *tensor = &single->tensor.tensor;
  tensor->type = descr.type;
  tensor->item_bytes = descr.item_bytes;
  tensor->rank = raw->rank;
  if (raw->rank > 0) memcpy(single->shape, raw->shape, (size_t)raw->rank * sizeof *raw->shape);
  if (descr.swapped) tensor->flags |= GATHER_TENSOR_BYTE_SWAPPED;
  single->tensor.bytes = bytes;
  return gather_single_place(file, single, raw->offset, error);
}

/* A failure to read the file comes before everything that follows from it. */
static gather_status open_settled(gather_file *file, const gather_raw *raw, gather_error *error) {
  gather_error failed;
  gather_status status = open_raw(file, raw, error), settled = settle(file, &failed);
  if (settled == GATHER_OK) return status;
  if (error) *error = failed;
  return settled;
}

gather_status gather_file_open_raw(const char *path, const gather_raw *raw, gather_file **file, gather_error *error) {
  return gather_file_open_raw_with(path, raw, NULL, file, error);
}

gather_status gather_file_open_raw_with(const char *path, const gather_raw *raw, const gather_file_options *options,
                                        gather_file **file, gather_error *error) {
  gather_file_options full;
  if (!file) return gather_fail(error, GATHER_USAGE, "gather_file_open_raw: file is NULL");
  *file = NULL;
  if (!path) return gather_fail(error, GATHER_USAGE, "gather_file_open_raw: path is NULL");
  GATHER_TRY(read_options(options, &full, error));
  gather_file *made = NULL;
  GATHER_TRY(gather_file_make(path, &made, error));
  gather_status status = use_path(made, path, &full, error);
  if (status == GATHER_OK) status = open_settled(made, raw, error);
  return gather_file_finish(status, made, file);
}

/* The length of a row, from its type and the other lengths. */
static gather_status row_bytes_of(const gather_raw *raw, int64_t *bytes, gather_error *error) {
  int64_t shape[GATHER_MAX_RANK];
  gather_descr descr;
  gather_raw one = *raw;
  if (raw->rank > GATHER_MAX_RANK) return gather_raw_check(raw, &descr, bytes, error);
  memcpy(shape, raw->shape, (size_t)raw->rank * sizeof *shape);
  shape[0] = 1;
  one.shape = shape;
  return gather_raw_check(&one, &descr, bytes, error);
}

/* As many rows as the file has after the offset. */
static gather_status open_counted(gather_file *file, const gather_raw *raw, gather_error *error) {
  int64_t shape[GATHER_MAX_RANK], bytes = 0;
  gather_raw counted = *raw;
  if (raw->rank < 1 || !raw->shape || raw->shape[0] != -1) return open_settled(file, raw, error);
  GATHER_TRY(row_bytes_of(raw, &bytes, error));
  memcpy(shape, raw->shape, (size_t)raw->rank * sizeof *shape);
  shape[0] = bytes > 0 && raw->offset < file->map.size ? (file->map.size - raw->offset) / bytes : 0;
  counted.shape = shape;
  return open_settled(file, &counted, error);
}

gather_status gather_file_open_raw_by(gather_remote_client *client, const char *url, const gather_raw *raw,
                                      const gather_file_options *options, gather_file **file, gather_error *error) {
  gather_file *made = NULL;
  *file = NULL;
  GATHER_TRY(gather_file_make(url, &made, error));
  gather_status status = use_client(made, client, url, options, error);
  if (status == GATHER_OK) status = open_counted(made, raw, error);
  return gather_file_finish(status, made, file);
}

gather_status gather_file_raw_from_memory(const void *memory, size_t bytes, const char *name, const gather_raw *raw,
                                          gather_file **file, gather_error *error) {
  if (!file) return gather_fail(error, GATHER_USAGE, "gather_file_raw_from_memory: file is NULL");
  *file = NULL;
  gather_file *made = NULL;
  GATHER_TRY(gather_file_make(name ? name : "memory", &made, error));
  gather_status status = use_memory(made, memory, bytes, error);
  if (status == GATHER_OK) status = open_raw(made, raw, error);
  return gather_file_finish(status, made, file);
}

/* ---- FILE:TENSOR and URL:TENSOR. The command, tables and the Python package all split names here. */

/* A tensor's name follows a file's name, and file names in URLs usually end so. Formats that this build cannot read count, too. */
static const char *const EXTENSIONS[] = {".npy",     ".npz",     ".safetensors", ".onnx", ".gguf", ".arrow",
                                         ".feather", ".parquet", ".csv",         ".tsv",  ".txt",  ".json",
                                         ".pb",      ".xml",     ".bin",         ".raw",  ".pt",   ".pth"};

/* Whether the text up to `end` ends in one of them. */
static bool has_extension(const char *begin, const char *end) {
  for (size_t i = 0; i < sizeof EXTENSIONS / sizeof *EXTENSIONS; i++) {
    const size_t bytes = strlen(EXTENSIONS[i]);
    if ((size_t)(end - begin) > bytes && strncasecmp(end - bytes, EXTENSIONS[i], bytes) == 0) return true;
  }
  return false;
}

/* Where the path of a URL ends: a key of s3:// and the name of a file of the hub are plain bytes, without a query. */
static const char *end_of(const char *url) {
  const bool plain = strncasecmp(url, "s3://", 5) == 0 || strncasecmp(url, "hf://", 5) == 0;
  return url + (plain ? strlen(url) : strcspn(url, "?#"));
}

/* The colon of URL:TENSOR; NULL if there is none. No server is asked whether a longer name exists. */
static const char *colon_of(const char *url, const char *end) {
  const char *host = strstr(url, "://"), *last = NULL;
  const char *path = host ? host + 3 + strcspn(host + 3, "/?#") : end;
  if (path >= end || *path != '/') return NULL;
  for (const char *at = path; at < end; at++) {
    if (*at == '/') last = NULL;
    if (*at == ':' && has_extension(path, at)) return at;
    if (*at == ':' && !last) last = at;
  }
  return has_extension(path, end) ? NULL : last; /* 13:51.npy is a file */
}

/* Whether a file has that path. *failed: an errno if the system cannot tell; another split must not be tried then. */
static bool is_file(const char *path, int *failed) {
  struct stat about;
  if (stat(path, &about) == 0) return !S_ISDIR(about.st_mode);
  if (errno != ENOENT && errno != ENOTDIR && errno != EACCES && errno != ENAMETOOLONG && errno != ELOOP)
    *failed = errno;
  return false;
}

static gather_status split_local(char *file, const char **name, gather_error *error) {
  int failed = 0;
  if (is_file(file, &failed)) return GATHER_OK;
  for (char *colon = strchr(file, ':'); colon && !failed; colon = strchr(colon + 1, ':')) {
    *colon = 0;
    if (is_file(file, &failed)) {
      *name = colon + 1;
      return GATHER_OK;
    }
    if (failed) return gather_fail_system(error, file, failed, "open it");
    *colon = ':';
  }
  return failed ? gather_fail_system(error, file, failed, "open it") : GATHER_OK; /* no such file: opening says so */
}

gather_status gather_file_split(const char *path, bool urls, char *file, const char **name, gather_error *error) {
  *name = NULL;
  memcpy(file, path, strlen(path) + 1);
  if (!urls || !gather_remote_is_url(path)) return split_local(file, name, error);
  const char *end = end_of(path), *colon = colon_of(path, end);
  if (!colon) return GATHER_OK;
  const size_t before = (size_t)(colon - path), bytes = (size_t)(end - colon) - 1, query = strlen(end);
  memcpy(file + before, end, query + 1);
  memcpy(file + before + query + 1, colon + 1, bytes);
  file[before + query + 1 + bytes] = 0;
  *name = file + before + query + 1;
  return GATHER_OK;
}
