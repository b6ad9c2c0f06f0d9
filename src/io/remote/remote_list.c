/* SPDX-License-Identifier: MIT
 *
 * remote_list.c: lists buckets and repositories, answer by answer.
 */
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/error.h"
#include "io/remote/hub_list.h"
#include "io/remote/remote_client.h"
#include "io/remote/remote_locate.h"
#include "io/remote/s3_list.h"

/* An answer about 1000 keys of 1024 bytes, each encoded as three, is below 8 MiB. */
enum { MOST_ANSWER = 8 << 20, MOST_ENTRIES = 1000 };

static gather_status ask(gather_remote_client *client, const char *url, gather_growing *address, char **text,
                         int64_t *bytes, gather_error *error) {
  gather_status status = GATHER_OK;
  if (address->failed) status = gather_fail(error, GATHER_OUT_OF_MEMORY, "no memory for a URL");
  if (status == GATHER_OK) status = gather_remote_document(client, url, address->text, MOST_ANSWER, text, bytes, error);
  gather_growing_clear(address);
  return status;
}

static gather_status list_s3(gather_remote_client *client, const gather_remote_origin *origin, const char *url,
                             int64_t most, gather_remote_listing *listing, gather_error *error) {
  char *token = NULL;
  gather_status status = GATHER_OK;
  do {
    gather_growing address = {0};
    char *text = NULL;
    int64_t bytes = 0, left = most - listing->count;
    gather_s3_list_address(origin, token ? token : "", left < MOST_ENTRIES ? left : MOST_ENTRIES, &address);
    gather_text_free(token);
    token = NULL;
    status = ask(client, url, &address, &text, &bytes, error);
    if (status == GATHER_OK) status = gather_s3_list_read(origin, text, (size_t)bytes, listing, &token, error);
    gather_free(text);
  } while (status == GATHER_OK && token[0] && listing->count < most);
  listing->more = status == GATHER_OK && token[0];
  gather_text_free(token);
  return status;
}

/* The hub answers with at most 1000 entries, and does not say in its body whether there are more. */
static gather_status list_hub(gather_remote_client *client, const gather_remote_options *options,
                              const gather_remote_origin *origin, const char *url, gather_remote_listing *listing,
                              gather_error *error) {
  gather_growing address = {0};
  char *text = NULL;
  int64_t bytes = 0;
  gather_hub_list_address(origin, options, &address);
  GATHER_TRY(ask(client, url, &address, &text, &bytes, error));
  gather_status status = gather_hub_list_read(origin, text, (size_t)bytes, listing, error);
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

static gather_status list(gather_remote_client *client, const gather_remote_options *options, const char *url,
                          int64_t most, gather_remote_listing *listing, gather_error *error) {
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
