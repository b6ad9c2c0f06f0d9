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
#include "core/base/struct.h"
#include "core/base/tensor.h"
#include "gather/remote.h"
#include "io/format/format.h"
#include "io/format/zarr/zarr.h"

/* ---- the steps */

/* Checks a source, and fills in the defaults of fields that the caller does not know. */
static gather_status read_source(const gather_file_source *given, gather_file_source *source, gather_error *error) {
  *source = (gather_file_source)GATHER_FILE_SOURCE_INIT;
  if (!given) return gather_fail(error, GATHER_USAGE, "gather_file_open: source is NULL");
  GATHER_TRY(gather_struct_read(source, sizeof *source, given, "gather_file_source", "GATHER_FILE_SOURCE_INIT", error));
  if ((source->path != NULL) == (source->memory != NULL))
    return gather_fail(error, GATHER_USAGE, "gather_file_source needs a path or memory, and not both");
  if (source->raw && source->text) return gather_fail(error, GATHER_USAGE, "gather_file_source has both `raw` and `text`");
  if (source->download_bytes >= 0) return GATHER_OK;
  return gather_fail(error, GATHER_USAGE, "gather_file_source.download_bytes is negative");
}

/* The name without the query of a URL, which may be a secret. */
static gather_status rename_file(gather_file *file, const char *name, gather_error *error) {
  size_t length = strlen(name);
  char *copy = gather_alloc((int64_t)length + 1);
  if (!copy) return gather_fail_file(error, GATHER_OUT_OF_MEMORY, name, -1, "out of memory while opening it");
  memcpy(copy, name, length);
  gather_free(file->name);
  file->name = copy;
  return GATHER_OK;
}

static void use_settings(gather_file *file, const gather_file_source *source) {
  file->no_links = source->no_links;
  file->text_column = source->text_column;
  if (source->download_bytes > 0) file->download_bytes = source->download_bytes;
}

/* Maps a URL by a client, which gets one more owner. */
static gather_status use_client(gather_file *file, gather_remote_client *client, const char *url, gather_error *error) {
  file->client = gather_remote_client_hold(client);
  const gather_status status = gather_map_open_url(client, url, &file->map, error);
  if (status != GATHER_OK) {
    gather_substitute_advise(url, error);
    return status;
  }
  return rename_file(file, gather_remote_object_name(gather_map_object(&file->map)), error);
}

static bool is_url(const gather_file_source *source) { return source->remote && source->path && gather_remote_is_url(source->path); }

static bool is_store_url(const gather_file_source *source) {
  return source->path && !source->raw && !source->text && gather_zarr_is_url(source->path);
}

/* A store is read here, too. */
static gather_status use_url(gather_file *file, const gather_file_source *source, gather_error *error) {
  gather_remote_client *client = NULL;
  GATHER_TRY(gather_remote_client_create(source->remote, &client, error));
  gather_status status =
      is_store_url(source) ? gather_zarr_open_url(file, client, source->path, error) : use_client(file, client, source->path, error);
  gather_remote_client_release(client);
  return status;
}

static gather_status use_memory(gather_file *file, const gather_file_source *source, gather_error *error) {
  if (source->bytes > PTRDIFF_MAX) return gather_fail_file(error, GATHER_OVERFLOW, file->name, -1, "its size does not fit");
  file->map = (gather_map){.bytes = source->memory, .size = (int64_t)source->bytes};
  return GATHER_OK;
}

/* Maps a path, or a URL if the source allows it; or takes the memory. */
static gather_status use_source(gather_file *file, const gather_file_source *source, gather_error *error) {
  if (source->memory) return use_memory(file, source, error);
  return is_url(source) ? use_url(file, source, error) : gather_map_open(source->path, &file->map, error);
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

/* What a file is. What is read for that is in a few places. */
static gather_status find_format(gather_file *file, bool *is_text, const gather_format **format, gather_error *error) {
  enum { TEXT_HEAD = 4096 };
  *is_text = false;
  GATHER_TRY(gather_substitute_refuse(&file->map, file->name, file->client != NULL, error));
  if (file->text_column) {
    const int64_t head = file->map.size < TEXT_HEAD ? file->map.size : TEXT_HEAD;
    GATHER_TRY(gather_map_need(&file->map, 0, head, error));
    if ((*is_text = gather_file_is_text(file->map.bytes, (size_t)head))) return GATHER_OK;
  }
  GATHER_TRY(gather_map_need(&file->map, 0, GATHER_FORMAT_HEAD, error));
  return gather_format_recognise(file, format, error);
}

static gather_status read_content(gather_file *file, gather_error *error) {
  const gather_format *format = NULL;
  bool is_text;
  gather_map_read_ahead(&file->map, false);
  const gather_status status = find_format(file, &is_text, &format, error);
  gather_map_read_ahead(&file->map, true);
  GATHER_TRY(status);
  if (is_text) return gather_text_open(file, NULL, file->text_column, error);
  file->format = format->info.name;
  return format->reader->open(file, error);
}

static gather_status open_by_content(gather_file *file, gather_error *error) {
  gather_error failed;
  gather_status status = read_content(file, error), settled = settle(file, &failed);
  if (settled == GATHER_OK) return status;
  if (error) *error = failed;
  return settled;
}

gather_status gather_file_from_source(const gather_map_source *source, const char *name, gather_file **file, gather_error *error) {
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

/* ---- every source */

/* Whether a path that could not be mapped is a directory that is read as one. */
static bool is_store(const gather_file_source *source, const gather_error *why) {
  return why->system_error == EISDIR && !source->memory && !source->raw && gather_zarr_is_store(source->path);
}

/* A local text is read block by block: it may be a pipe. */
static gather_status open_text(gather_file *file, const gather_file_source *source, gather_error *error) {
  if (source->path && !is_url(source)) return gather_text_open(file, source->path, source->text_column, error);
  GATHER_TRY(use_source(file, source, error));
  return gather_text_open(file, NULL, source->text_column, error);
}

static gather_status open_any(gather_file *file, const gather_file_source *source, gather_error *error) {
  use_settings(file, source);
  if (source->text) return open_text(file, source, error);
  gather_error why;
  if (is_url(source) && is_store_url(source)) return use_url(file, source, error);
  const gather_status status = use_source(file, source, &why);
  if (status != GATHER_OK && is_store(source, &why)) return gather_zarr_open(file, error);
  if (status != GATHER_OK && error) *error = why;
  GATHER_TRY(status);
  return source->raw ? open_settled(file, source->raw, error) : open_by_content(file, error);
}

gather_status gather_file_open(const gather_file_source *source, gather_file **file, gather_error *error) {
  gather_file_source full;
  gather_file *made = NULL;
  if (!file) return gather_fail(error, GATHER_USAGE, "gather_file_open: file is NULL");
  *file = NULL;
  GATHER_TRY(read_source(source, &full, error));
  GATHER_TRY(gather_file_make(full.path ? full.path : full.name ? full.name : "memory", &made, error));
  return gather_file_finish(open_any(made, &full, error), made, file);
}

gather_status gather_file_open_by(gather_remote_client *client, const gather_file_source *source, gather_file **file, gather_error *error) {
  gather_file *made = NULL;
  *file = NULL;
  GATHER_TRY(gather_file_make(source->path, &made, error));
  use_settings(made, source);
  if (is_store_url(source)) return gather_file_finish(gather_zarr_open_url(made, client, source->path, error), made, file);
  gather_status status = use_client(made, client, source->path, error);
  if (status == GATHER_OK) status = source->raw ? open_counted(made, source->raw, error) : open_by_content(made, error);
  return gather_file_finish(status, made, file);
}

/* ---- FILE:TENSOR and URL:TENSOR. The command, tables and the Python package all split names here. */

/* A tensor's name follows a file's name, and file names in URLs usually end so. Formats that this build cannot read count, too. */
static const char *const EXTENSIONS[] = {".npy", ".npz",  ".safetensors", ".onnx", ".gguf", ".arrow", ".feather", ".parquet", ".csv",
                                         ".tsv", ".txt",  ".json",        ".pb",   ".xml",  ".bin",   ".raw",     ".pt",      ".pth",
                                         ".h5",  ".hdf5", ".h5ad",        ".nc",   ".nwb",  ".mat",   ".zarr"};

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

/* Whether a file, or a directory that is read as one, has that path. *failed: an errno if the system cannot tell; another split must not
 * be tried then. */
static bool is_file(const char *path, int *failed) {
  struct stat about;
  if (stat(path, &about) == 0) return !S_ISDIR(about.st_mode) || gather_zarr_is_store(path);
  if (errno != ENOENT && errno != ENOTDIR && errno != EACCES && errno != ENAMETOOLONG && errno != ELOOP) *failed = errno;
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
