/* SPDX-License-Identifier: MIT
 *
 * hub_address.c: the address of a file of the Hugging Face hub, "hf://[datasets/|spaces/]OWNER/REPO[@REVISION]/FILE".
 *
 * The hub's resolve address redirects to storage, and names the commit that a branch or a tag is at (X-Repo-Commit).
 */
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/error.h"
#include "io/remote/origin.h"
#include "io/remote/remote_url.h"

enum { MOST_TEXT = 4096, MOST_COMMIT = 64, LEAST_COMMIT = 40 };

static bool given(const char *text) { return text && text[0]; }

static gather_status fail_name(gather_error *error) {
  return gather_fail(error, GATHER_USAGE,
                     "invalid name of a file of the hub: write hf://OWNER/REPO/FILE, hf://datasets/OWNER/REPO/FILE or "
                     "hf://OWNER/REPO@REVISION/FILE");
}

/* The bytes of the next part of a path; 0 if it is empty, "." or "..", also as "%2e": a server behind the hub may decode once more. */
static size_t part(const char *text, const char *until) {
  const size_t bytes = strcspn(text, until);
  size_t at = 0, dots = 0;
  for (; at < bytes; dots++) {
    const bool escaped = text[at] == '%' && bytes - at >= 3 && text[at + 1] == '2' && (text[at + 2] | 0x20) == 'e';
    if (text[at] != '.' && !escaped) return bytes;
    at += escaped ? 3 : 1;
  }
  return dots > 2 ? bytes : 0;
}

/* The bytes of a revision: up to the next "/", but those of pull requests and of the hub's own conversions have two more. */
static size_t revision_bytes(const char *text) {
  size_t bytes = strcspn(text, "/");
  if (strncmp(text, "refs/pr/", 8) == 0) return 8 + strcspn(text + 8, "/");
  if (strncmp(text, "refs/convert/", 13) == 0) return 13 + strcspn(text + 13, "/");
  return bytes;
}

static bool plain_text(const char *text) {
  for (; *text; text++)
    if ((unsigned char)*text < ' ' || *text == 0x7f) return false;
  return true;
}

/* No part of the path is empty, "." or "..": those name other files, or none. */
static bool good_path(const char *path) {
  while (*path) {
    size_t bytes = part(path, "/");
    if (bytes == 0) return false;
    path += bytes;
    if (*path == '/') path++; /* a folder's name ends with one */
  }
  return true;
}

/* Makes url and name from the parts. */
static gather_status spell(const gather_remote_options *options, gather_remote_origin *origin, gather_error *error) {
  const char *hub = given(options->hub) ? options->hub : "https://huggingface.co";
  size_t bytes = strlen(hub);
  while (bytes > 0 && hub[bytes - 1] == '/') bytes--;
  gather_growing url = {0}, name = {0};
  gather_growing_write(&url, hub, bytes);
  gather_growing_char(&url, '/');
  gather_percent_encode(&url, origin->repository, strlen(origin->repository), true);
  gather_growing_text(&url, "/resolve/");
  gather_percent_encode(&url, origin->revision, strlen(origin->revision), false);
  gather_growing_char(&url, '/');
  gather_percent_encode(&url, origin->path, strlen(origin->path), true);
  gather_growing_text(&name, "hf://");
  gather_growing_text(&name, origin->repository);
  if (strcmp(origin->revision, "main") != 0) {
    gather_growing_char(&name, '@');
    /* Read again, the name must give the same revision: a "/" in one that is not refs/... is encoded. */
    bool slash = revision_bytes(origin->revision) != strlen(origin->revision);
    gather_percent_encode(&name, origin->revision, strlen(origin->revision), !slash);
  }
  gather_growing_char(&name, '/');
  gather_growing_text(&name, origin->path);
  char *new_url = NULL, *new_name = NULL;
  gather_status status = gather_growing_finish(&url, "a URL", &new_url, NULL, error);
  gather_status named = gather_growing_finish(&name, "a URL", &new_name, NULL, error);
  if (status != GATHER_OK || named != GATHER_OK) {
    gather_free(new_url);
    gather_free(new_name);
    return gather_fail(error, GATHER_OUT_OF_MEMORY, "no memory for a URL");
  }
  gather_free(origin->url);
  gather_free(origin->name);
  origin->url = new_url;
  origin->name = new_name;
  return GATHER_OK;
}

/* The revision as bytes: "%2F" stands for a slash. Like a path it has no part that is empty, "." or "..", however that is written: the
 * address would be that of another file. */
static gather_status read_revision(const char *text, size_t bytes, gather_remote_origin *origin, gather_error *error) {
  gather_growing revision = {0};
  if (!gather_percent_decode(&revision, text, bytes, false) || revision.bytes == 0) {
    gather_growing_clear(&revision);
    return fail_name(error);
  }
  GATHER_TRY(gather_growing_finish(&revision, "a URL", &origin->revision, NULL, error));
  const size_t length = strlen(origin->revision);
  const bool good = length > 0 && plain_text(origin->revision) && good_path(origin->revision) &&
                    origin->revision[length - 1] != '/' && !strchr(origin->revision, '\\');
  return good ? GATHER_OK : fail_name(error);
}

gather_status gather_hub_address(const gather_remote_options *options, const char *text, gather_remote_origin *origin,
                                 gather_error *error) {
  const char *at = text;
  if (strlen(text) > MOST_TEXT || !plain_text(text)) return fail_name(error);
  if (given(options->hub) && !gather_remote_is_base(options->hub))
    return gather_fail(error, GATHER_USAGE, "invalid hub: write https://HOST");
  if (strncmp(at, "datasets/", 9) == 0)
    at += 9;
  else if (strncmp(at, "spaces/", 7) == 0)
    at += 7;
  size_t owner = part(at, "/@");
  if (owner == 0 || at[owner] != '/') return fail_name(error);
  size_t repository = part(at + owner + 1, "/@");
  if (repository == 0) return fail_name(error);
  const char *end = at + owner + 1 + repository;
  origin->repository = gather_remote_copy(text, (size_t)(end - text));
  if (*end == '@') {
    size_t bytes = revision_bytes(end + 1);
    GATHER_TRY(read_revision(end + 1, bytes, origin, error));
    end += 1 + bytes;
  } else {
    origin->revision = gather_remote_copy("main", 4);
  }
  if (*end == '/') end++;
  if (!good_path(end)) return fail_name(error);
  origin->path = gather_remote_copy(end, strlen(end));
  if (!origin->repository || !origin->revision || !origin->path)
    return gather_fail(error, GATHER_OUT_OF_MEMORY, "no memory for a URL");
  return spell(options, origin, error);
}

static bool is_commit(const char *text) {
  size_t bytes = strspn(text, "0123456789abcdef");
  return text[bytes] == '\0' && bytes >= LEAST_COMMIT && bytes <= MOST_COMMIT;
}

gather_status gather_remote_origin_pin(gather_remote_origin *origin, const gather_remote_options *options,
                                       const char *commit, gather_error *error) {
  if (origin->scheme != GATHER_REMOTE_HUB || !is_commit(commit) || strcmp(origin->revision, commit) == 0)
    return GATHER_OK;
  char *pinned = gather_remote_copy(commit, strlen(commit)), *before = origin->revision;
  if (!pinned) return gather_fail(error, GATHER_OUT_OF_MEMORY, "no memory for a URL");
  origin->revision = pinned;
  gather_status status = spell(options, origin, error);
  if (status != GATHER_OK) origin->revision = before;
  gather_free(status == GATHER_OK ? before : pinned);
  return status;
}
