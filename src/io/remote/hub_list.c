/* SPDX-License-Identifier: MIT
 *
 * hub_list.c: reads the hub's list of a folder, an array of JSON: [{"type": "file", "path": "a/b", "size": 1}, ...].
 */
#include "io/remote/hub_list.h"

#include <string.h>

#include "core/base/error.h"
#include "io/remote/remote_url.h"

#ifdef GATHER_HAVE_JANSSON
#include <jansson.h>
#endif

void gather_hub_list_address(const gather_remote_origin *origin, const gather_remote_options *options,
                             gather_growing *address) {
  const char *hub = options->hub && options->hub[0] ? options->hub : "https://huggingface.co";
  const char *repository = origin->repository;
  size_t bytes = strlen(hub), path = strlen(origin->path);
  bool model = strncmp(repository, "datasets/", 9) != 0 && strncmp(repository, "spaces/", 7) != 0;
  while (bytes > 0 && hub[bytes - 1] == '/') bytes--;
  while (path > 0 && origin->path[path - 1] == '/') path--;
  gather_growing_write(address, hub, bytes);
  gather_growing_text(address, model ? "/api/models/" : "/api/");
  gather_percent_encode(address, repository, strlen(repository), true);
  gather_growing_text(address, "/tree/");
  gather_percent_encode(address, origin->revision, strlen(origin->revision), false);
  if (path > 0) gather_growing_char(address, '/');
  gather_percent_encode(address, origin->path, path, true);
}

#ifdef GATHER_HAVE_JANSSON
static gather_status malformed(const gather_remote_origin *origin, const char *why, gather_error *error) {
  return gather_fail_file(error, GATHER_FILE_MALFORMED, origin->name, -1, "the hub's listing is malformed: %s", why);
}

/* The name of an entry within the folder; NULL if it is not in it. */
static const char *name_within(const gather_remote_origin *origin, const char *path) {
  size_t folder = strlen(origin->path);
  while (folder > 0 && origin->path[folder - 1] == '/') folder--;
  if (folder == 0) return path[0] ? path : NULL;
  if (strncmp(path, origin->path, folder) != 0 || path[folder] != '/' || !path[folder + 1]) return NULL;
  return path + folder + 1;
}

static gather_status add(const gather_remote_origin *origin, const json_t *item, gather_remote_listing *listing,
                         gather_error *error) {
  const char *type = json_string_value(json_object_get(item, "type"));
  const char *path = json_string_value(json_object_get(item, "path"));
  const json_t *size = json_object_get(item, "size");
  if (!type || !path) return malformed(origin, "an entry without type or path", error);
  const char *name = name_within(origin, path);
  bool folder = strcmp(type, "directory") == 0;
  if (!name) return malformed(origin, "a path outside the folder", error);
  if (!folder && (!json_is_integer(size) || json_integer_value(size) < 0))
    return malformed(origin, "a file without a size", error);
  gather_growing text = {0};
  gather_growing_text(&text, name);
  if (folder) gather_growing_char(&text, '/');
  bool added = !text.failed && gather_remote_listing_add(listing, text.text, text.bytes,
                                                         folder ? 0 : (int64_t)json_integer_value(size), folder);
  gather_growing_clear(&text);
  return added ? GATHER_OK : gather_fail(error, GATHER_OUT_OF_MEMORY, "no memory for the listing");
}

gather_status gather_hub_list_read(const gather_remote_origin *origin, const char *body, size_t bytes,
                                   gather_remote_listing *listing, gather_error *error) {
  json_error_t why;
  json_t *root = json_loadb(body, bytes, JSON_REJECT_DUPLICATES, &why);
  if (!root && json_error_code(&why) == json_error_out_of_memory)
    return gather_fail(error, GATHER_OUT_OF_MEMORY, "no memory for the listing");
  gather_status status = json_is_array(root) ? GATHER_OK : malformed(origin, "not a list", error);
  for (size_t i = 0; status == GATHER_OK && i < json_array_size(root); i++)
    status = add(origin, json_array_get(root, i), listing, error);
  json_decref(root);
  return status;
}
#else
gather_status gather_hub_list_read(const gather_remote_origin *origin, const char *body, size_t bytes,
                                   gather_remote_listing *listing, gather_error *error) {
  (void)body, (void)bytes, (void)listing;
  return gather_fail_file(error, GATHER_UNSUPPORTED, origin->name, -1,
                          "listings of the hub are not supported in this build: it has no Jansson");
}
#endif
