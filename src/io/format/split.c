/* SPDX-License-Identifier: MIT
 *
 * split.c: FILE:TENSOR and URL:TENSOR. The command, tables and the Python package all split names here.
 */
#include <errno.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "gather/remote.h"
#include "io/format/format.h"

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
