/* SPDX-License-Identifier: MIT
 *
 * listing.c: the entries of a folder of a bucket or of a repository: lists of S3 and of the hub, answer by answer.
 */
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/error.h"
#include "io/remote/origin.h"
#include "io/remote/remote_client.h"

#ifdef GATHER_HAVE_JANSSON
#include <jansson.h>
#endif

/* ---- entries in memory */

static bool make_room(gather_remote_listing *listing) {
  if (listing->count < listing->room) return true;
  gather_remote_entry *entries = gather_alloc_grown(listing->entries, (int64_t)sizeof *entries, &listing->room);
  if (!entries) return false;
  listing->entries = entries;
  return true;
}

/* Adds an entry. name: copied. Returns false if out of memory. */
static bool add_entry(gather_remote_listing *listing, const char *name, size_t name_bytes, int64_t bytes, bool folder) {
  if (!make_room(listing)) return false;
  char *copy = gather_alloc((int64_t)name_bytes + 1);
  if (!copy) return false;
  memcpy(copy, name, name_bytes);
  listing->entries[listing->count++] = (gather_remote_entry){.name = copy, .bytes = bytes, .folder = folder};
  return true;
}

void gather_remote_listing_clear(gather_remote_listing *listing) {
  if (!listing) return;
  for (int64_t i = 0; i < listing->count; i++) gather_free((char *)(uintptr_t)listing->entries[i].name);
  gather_free(listing->entries);
  memset(listing, 0, sizeof *listing);
}

/* ---- S3: ListObjectsV2. Keys arrive percent-encoded (encoding-type=url), because XML cannot have every byte of a key */

/* Appends the address of a listing of the objects whose keys begin with the origin's: at most `most` of them (1 to 1000), those with a
 * "/" after the prefix as one folder. token: where the last answer ended; "" = from the start. */
static void s3_list_address(const gather_remote_origin *origin, const char *token, int64_t most, gather_growing *address) {
  size_t key = strlen(origin->key), base = strlen(origin->url);
  /* The address of the bucket: that of the object, without the encoded key. */
  gather_growing encoded = {0};
  gather_percent_encode(&encoded, origin->key, key, true);
  if (encoded.failed) address->failed = true;
  gather_growing_write(address, origin->url, base - (encoded.failed ? base : encoded.bytes));
  gather_growing_clear(&encoded);
  /* Sorted by name, as the signature wants them. */
  gather_growing_char(address, '?');
  if (token[0]) {
    gather_growing_text(address, "continuation-token=");
    gather_percent_encode(address, token, strlen(token), false);
    gather_growing_char(address, '&');
  }
  gather_growing_print(address, "delimiter=%%2F&encoding-type=url&list-type=2&max-keys=%lld&prefix=", (long long)most);
  gather_percent_encode(address, origin->key, key, false);
}

typedef struct list_reader {
  const gather_remote_origin *origin;
  gather_remote_listing *listing;
  gather_status status;
  const char *why;
  bool is_list, more;
  /* The <Contents> that is open. */
  gather_growing key;
  int64_t bytes;
  bool has_key, has_bytes;
  gather_growing token;
} list_reader;

static bool stop_reading(list_reader *reader, gather_status status, const char *why) {
  reader->status = status;
  reader->why = why;
  return false;
}

static bool set_key(list_reader *reader, const char *text) {
  gather_growing_clear(&reader->key);
  if (!gather_percent_decode(&reader->key, text, strlen(text), true))
    return stop_reading(reader, GATHER_FILE_MALFORMED, "a key that is not percent-encoded");
  reader->has_key = true;
  return !reader->key.failed || stop_reading(reader, GATHER_OUT_OF_MEMORY, NULL);
}

static bool set_bytes(list_reader *reader, const char *text) {
  int64_t number = 0;
  size_t digits = strspn(text, "0123456789");
  if (digits == 0 || text[digits] || digits > 18) return stop_reading(reader, GATHER_FILE_MALFORMED, "an invalid size");
  for (const char *at = text; *at; at++) number = number * 10 + (*at - '0');
  reader->bytes = number;
  reader->has_bytes = true;
  return true;
}

/* Adds the key that was read, without the prefix that was asked for. */
static bool add_key(list_reader *reader, bool folder) {
  size_t prefix = strlen(reader->origin->key);
  const char *key = reader->key.text ? reader->key.text : "";
  bool good = reader->has_key && (folder || reader->has_bytes);
  if (!good) return stop_reading(reader, GATHER_FILE_MALFORMED, "an object without a key or a size");
  if (strncmp(key, reader->origin->key, prefix) != 0)
    return stop_reading(reader, GATHER_FILE_MALFORMED, "a key without the requested prefix");
  /* An object of the folder's own name is how consoles make folders. */
  bool itself = key[prefix] == '\0';
  if (!itself && !add_entry(reader->listing, key + prefix, strlen(key + prefix), folder ? 0 : reader->bytes, folder))
    return stop_reading(reader, GATHER_OUT_OF_MEMORY, NULL);
  reader->has_key = reader->has_bytes = false;
  return true;
}

static bool read_result(list_reader *reader, const char *name, const char *text) {
  if (strcmp(name, "Contents") == 0) return add_key(reader, false);
  if (strcmp(name, "CommonPrefixes") == 0) return add_key(reader, true);
  if (strcmp(name, "IsTruncated") == 0) reader->more = strcmp(text, "true") == 0;
  if (strcmp(name, "NextContinuationToken") == 0) {
    gather_growing_clear(&reader->token);
    gather_growing_text(&reader->token, text);
    if (reader->token.failed) return stop_reading(reader, GATHER_OUT_OF_MEMORY, NULL);
  }
  return true;
}

static bool read_element(void *context, const char *parent, const char *name, const char *text) {
  list_reader *reader = context;
  if (strcmp(parent, "ListBucketResult") == 0) return read_result(reader, name, text);
  if (parent[0] == '\0') reader->is_list = strcmp(name, "ListBucketResult") == 0;
  if (strcmp(parent, "Contents") == 0 && strcmp(name, "Key") == 0) return set_key(reader, text);
  if (strcmp(parent, "Contents") == 0 && strcmp(name, "Size") == 0) return set_bytes(reader, text);
  if (strcmp(parent, "CommonPrefixes") == 0 && strcmp(name, "Prefix") == 0) return set_key(reader, text);
  return true;
}

static gather_status parse_list(list_reader *reader, const char *body, size_t bytes, gather_error *error) {
  const char *name = reader->origin->name;
  gather_xml_result result = gather_remote_xml(body, bytes, true, read_element, reader);
  if (result == GATHER_XML_NO_MEMORY || reader->status == GATHER_OUT_OF_MEMORY)
    return gather_fail_file(error, GATHER_OUT_OF_MEMORY, name, -1, "out of memory for the listing");
  if (result != GATHER_XML_OK || !reader->is_list)
    return gather_fail_file(error, GATHER_FILE_MALFORMED, name, -1, "the server's listing is malformed: %s",
                            reader->why               ? reader->why
                            : result != GATHER_XML_OK ? "malformed XML"
                                                      : "not a listing");
  if (reader->more && reader->token.bytes == 0)
    return gather_fail_file(error, GATHER_FILE_MALFORMED, name, -1,
                            "the server's listing is malformed: it is truncated, but has no NextContinuationToken");
  return GATHER_OK;
}

/* Adds the objects and folders of an answer to a listing, and sets *token (on the heap, for gather_text_free) to where the next answer
 * begins; "" = it was the last. Names are without the origin's prefix. file: for errors. Returns GATHER_FILE_MALFORMED,
 * GATHER_OUT_OF_MEMORY, GATHER_UNSUPPORTED (a build without expat). */
static gather_status s3_list_read(const gather_remote_origin *origin, const char *body, size_t bytes, gather_remote_listing *listing,
                                  char **token, gather_error *error) {
  *token = NULL;
#ifndef GATHER_HAVE_EXPAT
  (void)body, (void)bytes, (void)listing;
  return gather_fail_file(error, GATHER_UNSUPPORTED, origin->name, -1, "listings of S3 are not supported in this build: it has no expat");
#endif
  list_reader reader = {.origin = origin, .listing = listing};
  gather_status status = parse_list(&reader, body, bytes, error);
  if (!reader.more) gather_growing_clear(&reader.token);
  if (status == GATHER_OK) status = gather_growing_finish(&reader.token, "a listing", token, NULL, error);
  gather_growing_clear(&reader.key);
  gather_growing_clear(&reader.token);
  return status;
}

/* ---- the hub: an array of JSON, [{"type": "file", "path": "a/b", "size": 1}, ...] */

/* Appends the address of a listing of the origin's folder ("" = the whole repository's top), at most 1000 entries. */
static void hub_list_address(const gather_remote_origin *origin, const gather_remote_options *options, gather_growing *address) {
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

static gather_status add_item(const gather_remote_origin *origin, const json_t *item, gather_remote_listing *listing, gather_error *error) {
  const char *type = json_string_value(json_object_get(item, "type"));
  const char *path = json_string_value(json_object_get(item, "path"));
  const json_t *size = json_object_get(item, "size");
  if (!type || !path) return malformed(origin, "an entry without type or path", error);
  const char *name = name_within(origin, path);
  bool folder = strcmp(type, "directory") == 0;
  if (!name) return malformed(origin, "a path outside the folder", error);
  if (!folder && (!json_is_integer(size) || json_integer_value(size) < 0)) return malformed(origin, "a file without a size", error);
  gather_growing text = {0};
  gather_growing_text(&text, name);
  if (folder) gather_growing_char(&text, '/');
  bool added = !text.failed && add_entry(listing, text.text, text.bytes, folder ? 0 : (int64_t)json_integer_value(size), folder);
  gather_growing_clear(&text);
  return added ? GATHER_OK : gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for the listing");
}

/* Adds the files and folders of an answer to a listing. Names are without the origin's folder. Returns GATHER_FILE_MALFORMED,
 * GATHER_OUT_OF_MEMORY, GATHER_UNSUPPORTED (a build without Jansson). */
static gather_status hub_list_read(const gather_remote_origin *origin, const char *body, size_t bytes, gather_remote_listing *listing,
                                   gather_error *error) {
  json_error_t why;
  json_t *root = json_loadb(body, bytes, JSON_REJECT_DUPLICATES, &why);
  if (!root && json_error_code(&why) == json_error_out_of_memory)
    return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for the listing");
  gather_status status = json_is_array(root) ? GATHER_OK : malformed(origin, "not a list", error);
  for (size_t i = 0; status == GATHER_OK && i < json_array_size(root); i++)
    status = add_item(origin, json_array_get(root, i), listing, error);
  json_decref(root);
  return status;
}
#else
static gather_status hub_list_read(const gather_remote_origin *origin, const char *body, size_t bytes, gather_remote_listing *listing,
                                   gather_error *error) {
  (void)body, (void)bytes, (void)listing;
  return gather_fail_file(error, GATHER_UNSUPPORTED, origin->name, -1,
                          "listings of the hub are not supported in this build: it has no Jansson");
}
#endif

/* ---- answer by answer */

/* An answer about 1000 keys of 1024 bytes, each encoded as three, is below 8 MiB. */
enum { MOST_ANSWER = 8 << 20, MOST_ENTRIES = 1000 };

static gather_status ask(gather_remote_client *client, const char *url, gather_growing *address, char **text, int64_t *bytes,
                         gather_error *error) {
  gather_status status = GATHER_OK;
  if (address->failed) status = gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for a URL");
  if (status == GATHER_OK) status = gather_remote_document(client, url, address->text, MOST_ANSWER, text, bytes, error);
  gather_growing_clear(address);
  return status;
}

static gather_status list_s3(gather_remote_client *client, const gather_remote_origin *origin, const char *url, int64_t most,
                             gather_remote_listing *listing, gather_error *error) {
  char *token = NULL;
  gather_status status = GATHER_OK;
  do {
    gather_growing address = {0};
    char *text = NULL;
    int64_t bytes = 0, left = most - listing->count;
    s3_list_address(origin, token ? token : "", left < MOST_ENTRIES ? left : MOST_ENTRIES, &address);
    gather_text_free(token);
    token = NULL;
    status = ask(client, url, &address, &text, &bytes, error);
    if (status == GATHER_OK) status = s3_list_read(origin, text, (size_t)bytes, listing, &token, error);
    gather_free(text);
  } while (status == GATHER_OK && token[0] && listing->count < most);
  listing->more = status == GATHER_OK && token[0];
  gather_text_free(token);
  return status;
}

/* The hub answers with at most 1000 entries, and does not say in its body whether there are more. */
static gather_status list_hub(gather_remote_client *client, const gather_remote_options *options, const gather_remote_origin *origin,
                              const char *url, gather_remote_listing *listing, gather_error *error) {
  gather_growing address = {0};
  char *text = NULL;
  int64_t bytes = 0;
  hub_list_address(origin, options, &address);
  GATHER_TRY(ask(client, url, &address, &text, &bytes, error));
  gather_status status = hub_list_read(origin, text, (size_t)bytes, listing, error);
  listing->more = status == GATHER_OK && listing->count >= MOST_ENTRIES;
  gather_free(text);
  return status;
}

/* More than was asked for is left out: servers may ignore the number. */
static void shorten(gather_remote_listing *listing, int64_t most) {
  for (; listing->count > most; listing->count--) {
    gather_free((char *)(uintptr_t)listing->entries[listing->count - 1].name);
    listing->more = true;
  }
}

static gather_status list(gather_remote_client *client, const gather_remote_options *options, const char *url, int64_t most,
                          gather_remote_listing *listing, gather_error *error) {
  gather_remote_origin *origin;
  GATHER_TRY(gather_remote_origin_create(options, url, &origin, error));
  gather_status status = origin->scheme == GATHER_REMOTE_S3 ? list_s3(client, origin, url, most, listing, error)
                                                            : list_hub(client, options, origin, url, listing, error);
  gather_remote_origin_destroy(origin);
  return status;
}

gather_status gather_remote_listing_read(const char *url, const gather_remote_options *options, int64_t most,
                                         gather_remote_listing *listing, gather_error *error) {
  static const gather_remote_options DEFAULTS = GATHER_REMOTE_OPTIONS_INIT;
  gather_remote_client *client;
  *listing = (gather_remote_listing){NULL, 0, false, 0};
  bool folder;
  GATHER_TRY(gather_remote_find_folder(url, &folder, error));
  if (!folder)
    return gather_fail(error, GATHER_USAGE,
                       "only folders can be listed: s3://BUCKET, s3://BUCKET/FOLDER/, hf://OWNER/REPO and "
                       "hf://OWNER/REPO/FOLDER/");
  if (most < 1) return gather_fail(error, GATHER_USAGE, "the number of entries to list must be at least 1");
  GATHER_TRY(gather_remote_client_create(options, &client, error));
  gather_status status = list(client, options ? options : &DEFAULTS, url, most, listing, error);
  gather_remote_client_release(client);
  if (status == GATHER_OK)
    shorten(listing, most);
  else
    gather_remote_listing_clear(listing);
  return status;
}
