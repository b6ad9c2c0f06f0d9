/* SPDX-License-Identifier: MIT
 *
 * fuzz_s3.c: any bytes as a URL and what S3 or the hub answers for it: a URL and a zero byte, header lines and a zero byte, then the
 * body. Read as a listing of a bucket and of a repository, and as a refusal.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"

#include "io/remote/listing.c"
#include "io/remote/origin.c"

static char *cut(const uint8_t **bytes, size_t *size) {
  const uint8_t *end = *size ? memchr(*bytes, 0, *size) : NULL;
  size_t length = end ? (size_t)(end - *bytes) : 0;
  char *text = malloc(length + 1);
  if (!text) abort();
  if (length) memcpy(text, *bytes, length);
  text[length] = '\0';
  if (end) *bytes += length + 1, *size -= length + 1;
  return text;
}

static void check_listing(gather_status status, gather_remote_listing *listing, const gather_error *error) {
  fuzz_check(status == GATHER_OK || (error->status == status && error->message[0]), "the error says what is wrong");
  for (int64_t i = 0; i < listing->count; i++) {
    fuzz_check(listing->entries[i].name[0] != '\0', "an entry has a name");
    fuzz_check(listing->entries[i].bytes >= 0, "an entry has a size");
  }
  gather_remote_listing_clear(listing);
}

static void check_lists(const gather_remote_origin *origin, const char *body, size_t size) {
  gather_remote_listing listing = {NULL, 0, false, 0};
  gather_error error;
  char *token = NULL;
  if (origin->scheme == GATHER_REMOTE_S3) {
    gather_status status = s3_list_read(origin, body, size, &listing, &token, &error);
    gather_growing address = {0};
    if (status == GATHER_OK) s3_list_address(origin, token, 1000, &address);
    fuzz_check(status != GATHER_OK || strlen(address.text) == address.bytes, "an address has no zero byte");
    gather_growing_clear(&address);
    gather_text_free(token);
    check_listing(status, &listing, &error);
  }
  if (origin->scheme == GATHER_REMOTE_HUB) check_listing(hub_list_read(origin, body, size, &listing, &error), &listing, &error);
}

static void check_refusal(const gather_remote_origin *origin, const gather_remote_options *options, const char *headers, const char *body,
                          size_t size) {
  gather_remote_notes notes;
  gather_growing words = {0};
  memset(&notes, 0, sizeof notes);
  for (const char *at = headers; *at;) {
    size_t line = strcspn(at, "\n"), name = 0;
    while (name < line && at[name] != ':') name++;
    if (name < line) gather_remote_notes_header(&notes, at, name, at + name + 1, line - name - 1);
    at += line + (at[line] == '\n');
  }
  size_t kept = size < GATHER_REMOTE_BODY ? size : GATHER_REMOTE_BODY;
  const int again = gather_remote_origin_refusal(origin, options, 403, &notes, body, kept, 1440938160, &words);
  fuzz_check(again >= -1 && again <= 1, "a refusal is final, or it is not");
  for (size_t i = 0; i < words.bytes; i++)
    fuzz_check((unsigned char)words.text[i] >= ' ' && words.text[i] != 0x7f, "a message has no control characters of a server");
  gather_growing_clear(&words);
}

static void check_origin(gather_remote_origin *origin, const gather_remote_options *options, const char *headers) {
  gather_growing lines = {0};
  gather_remote_origin *again = NULL;
  gather_error error;
  add_proof(origin, options, origin->url, 1440938160, &lines);
  gather_growing_clear(&lines);
  if (pin(origin, options, headers, &error) != GATHER_OK) abort();
  if (origin->scheme != GATHER_REMOTE_S3 && origin->scheme != GATHER_REMOTE_HUB) return;
  fuzz_check(gather_remote_origin_create(options, origin->name, &again, &error) == GATHER_OK, "a name is a URL");
  fuzz_check(strcmp(again->url, origin->url) == 0, "a name is the name of its URL");
  gather_remote_origin_destroy(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  gather_remote_options options = GATHER_REMOTE_OPTIONS_INIT;
  gather_remote_origin *origin;
  gather_error error;
  char *url = cut(&bytes, &size), *headers = cut(&bytes, &size);
  options.bearer = options.key_id = options.secret = options.session_token = "secret";
  gather_status status = gather_remote_origin_create(&options, url, &origin, &error);
  if (status == GATHER_OK) {
    check_lists(origin, (const char *)bytes, size);
    check_refusal(origin, &options, headers, (const char *)bytes, size);
    check_origin(origin, &options, headers);
    gather_remote_origin_destroy(origin);
  } else {
    fuzz_check(error.status == status && error.message[0], "the error says what is wrong");
  }
  free(url);
  free(headers);
  return 0;
}
