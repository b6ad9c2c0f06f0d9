/* SPDX-License-Identifier: MIT
 *
 * s3_list.c: reads ListBucketResult. Keys arrive percent-encoded (encoding-type=url), because XML cannot have every byte of a key.
 */
#include "io/remote/s3_list.h"

#include <string.h>

#include "core/base/alloc.h"
#include "core/base/error.h"
#include "io/remote/remote_url.h"
#include "io/remote/remote_xml.h"

void gather_s3_list_address(const gather_remote_origin *origin, const char *token, int64_t most,
                            gather_growing *address) {
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

static bool stop(list_reader *reader, gather_status status, const char *why) {
  reader->status = status;
  reader->why = why;
  return false;
}

static bool set_key(list_reader *reader, const char *text) {
  gather_growing_clear(&reader->key);
  if (!gather_percent_decode(&reader->key, text, strlen(text), true))
    return stop(reader, GATHER_FILE_MALFORMED, "a key that is not percent-encoded");
  reader->has_key = true;
  return !reader->key.failed || stop(reader, GATHER_OUT_OF_MEMORY, NULL);
}

static bool set_bytes(list_reader *reader, const char *text) {
  int64_t number = 0;
  size_t digits = strspn(text, "0123456789");
  if (digits == 0 || text[digits] || digits > 18) return stop(reader, GATHER_FILE_MALFORMED, "an invalid size");
  for (const char *at = text; *at; at++) number = number * 10 + (*at - '0');
  reader->bytes = number;
  reader->has_bytes = true;
  return true;
}

/* Adds the key that was read, without the prefix that was asked for. */
static bool add(list_reader *reader, bool folder) {
  size_t prefix = strlen(reader->origin->key);
  const char *key = reader->key.text ? reader->key.text : "";
  bool good = reader->has_key && (folder || reader->has_bytes);
  if (!good) return stop(reader, GATHER_FILE_MALFORMED, "an object without a key or a size");
  if (strncmp(key, reader->origin->key, prefix) != 0)
    return stop(reader, GATHER_FILE_MALFORMED, "a key that does not begin with what was asked for");
  /* An object of the folder's own name is how consoles make folders. */
  bool itself = key[prefix] == '\0';
  if (!itself && !gather_remote_listing_add(reader->listing, key + prefix, strlen(key + prefix),
                                            folder ? 0 : reader->bytes, folder))
    return stop(reader, GATHER_OUT_OF_MEMORY, NULL);
  reader->has_key = reader->has_bytes = false;
  return true;
}

static bool read_result(list_reader *reader, const char *name, const char *text) {
  if (strcmp(name, "Contents") == 0) return add(reader, false);
  if (strcmp(name, "CommonPrefixes") == 0) return add(reader, true);
  if (strcmp(name, "IsTruncated") == 0) reader->more = strcmp(text, "true") == 0;
  if (strcmp(name, "NextContinuationToken") == 0) {
    gather_growing_clear(&reader->token);
    gather_growing_text(&reader->token, text);
    if (reader->token.failed) return stop(reader, GATHER_OUT_OF_MEMORY, NULL);
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

static gather_status parse(list_reader *reader, const char *body, size_t bytes, gather_error *error) {
  const char *name = reader->origin->name;
  gather_xml_result result = gather_remote_xml(body, bytes, true, read_element, reader);
  if (result == GATHER_XML_NO_MEMORY || reader->status == GATHER_OUT_OF_MEMORY)
    return gather_fail_file(error, GATHER_OUT_OF_MEMORY, name, -1, "no memory for the listing");
  if (result != GATHER_XML_OK || !reader->is_list)
    return gather_fail_file(error, GATHER_FILE_MALFORMED, name, -1, "the server's listing is malformed: %s",
                            reader->why               ? reader->why
                            : result != GATHER_XML_OK ? "malformed XML"
                                                      : "not a listing");
  if (reader->more && reader->token.bytes == 0)
    return gather_fail_file(error, GATHER_FILE_MALFORMED, name, -1,
                            "the server's listing is malformed: it goes on, but does not say where");
  return GATHER_OK;
}

gather_status gather_s3_list_read(const gather_remote_origin *origin, const char *body, size_t bytes,
                                  gather_remote_listing *listing, char **token, gather_error *error) {
  *token = NULL;
#ifndef GATHER_HAVE_EXPAT
  (void)body, (void)bytes, (void)listing;
  return gather_fail_file(error, GATHER_UNSUPPORTED, origin->name, -1,
                          "listings of S3 are not supported in this build: it has no expat");
#endif
  list_reader reader = {.origin = origin, .listing = listing};
  gather_status status = parse(&reader, body, bytes, error);
  if (!reader.more) gather_growing_clear(&reader.token);
  if (status == GATHER_OK) status = gather_growing_finish(&reader.token, "a listing", token, NULL, error);
  gather_growing_clear(&reader.key);
  gather_growing_clear(&reader.token);
  return status;
}
