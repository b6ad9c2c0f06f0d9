/* SPDX-License-Identifier: MIT
 *
 * s3_address.c: the address of an object of S3.
 *
 * A key is any bytes, and all of them are encoded: "a b" and "a%20b" are two keys, "//" and ".." are parts of a key like others, and so
 * are "?" and "#".
 */
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/error.h"
#include "io/remote/origin.h"
#include "io/remote/remote_url.h"

enum { MOST_BUCKET = 255, MOST_KEY = 1024, MOST_REGION = 64 };

static bool given(const char *text) { return text && text[0]; }

const char *gather_s3_region(const gather_remote_options *options) {
  return given(options->region) ? options->region : "us-east-1";
}

/* The characters that a host name or a signature's scope may have. */
static bool is_label(const char *text, size_t bytes, const char *others) {
  for (size_t i = 0; i < bytes; i++) {
    char c = text[i];
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (!letter && !(c && strchr(others, c))) return false;
  }
  return bytes > 0;
}

static gather_status check_options(const gather_remote_options *options, gather_error *error) {
  const char *region = gather_s3_region(options);
  if (!is_label(region, strlen(region), "-_") || strlen(region) > MOST_REGION)
    return gather_fail(error, GATHER_USAGE, "invalid region of S3: letters, digits and '-', at most %d", MOST_REGION);
  if (given(options->endpoint) && !gather_remote_is_base(options->endpoint))
    return gather_fail(error, GATHER_USAGE, "invalid endpoint of S3: write https://HOST or https://HOST:PORT");
  if (given(options->key_id) != given(options->secret))
    return gather_fail(error, GATHER_USAGE, "credentials of S3 are a key id and a secret: the %s is missing",
                       given(options->key_id) ? "secret" : "key id");
  return GATHER_OK;
}

/* A bucket can be part of a host name if no certificate forbids it: those for *.s3.REGION.amazonaws.com cover one label. */
static bool in_host(const gather_remote_options *options, const char *bucket, size_t bytes) {
  bool plain = given(options->endpoint) && options->endpoint[4] == ':';
  return options->virtual_host && (plain || !memchr(bucket, '.', bytes)) && !memchr(bucket, '_', bytes);
}

static void add_base(const gather_remote_options *options, const char *bucket, size_t bytes, gather_growing *url) {
  const char *region = gather_s3_region(options);
  bool host = in_host(options, bucket, bytes);
  if (!given(options->endpoint)) {
    gather_growing_text(url, "https://");
    if (host) gather_growing_write(url, bucket, bytes), gather_growing_char(url, '.');
    gather_growing_print(url, "s3.%s.amazonaws.com%s", region, strncmp(region, "cn-", 3) == 0 ? ".cn" : "");
  } else {
    const char *authority = strstr(options->endpoint, "://") + 3;
    size_t left = strlen(authority);
    while (left > 0 && authority[left - 1] == '/') left--;
    gather_growing_write(url, options->endpoint, (size_t)(authority - options->endpoint));
    if (host) gather_growing_write(url, bucket, bytes), gather_growing_char(url, '.');
    gather_growing_write(url, authority, left);
  }
  gather_growing_char(url, '/');
  if (!host) gather_percent_encode(url, bucket, bytes, false), gather_growing_char(url, '/');
}

gather_status gather_s3_address(const gather_remote_options *options, const char *text, gather_remote_origin *origin,
                                gather_error *error) {
  size_t bucket = strcspn(text, "/");
  const char *key = text[bucket] ? text + bucket + 1 : "";
  if (!is_label(text, bucket, "-._") || bucket > MOST_BUCKET || text[0] == '.' || text[0] == '-')
    return gather_fail(error, GATHER_USAGE, "invalid bucket: write s3://BUCKET/KEY");
  if (strlen(key) > MOST_KEY)
    return gather_fail(error, GATHER_USAGE, "the key of an object of S3 has at most %d bytes, this one %zu", MOST_KEY,
                       strlen(key));
  GATHER_TRY(check_options(options, error));
  gather_growing url = {0}, name = {0};
  add_base(options, text, bucket, &url);
  gather_percent_encode(&url, key, strlen(key), true);
  gather_growing_print(&name, "s3://%.*s/", (int)bucket, text);
  gather_growing_text(&name, key);
  origin->bucket = gather_remote_copy(text, bucket);
  origin->key = gather_remote_copy(key, strlen(key));
  gather_status status = gather_growing_finish(&url, "a URL", &origin->url, NULL, error);
  gather_status named = gather_growing_finish(&name, "a URL", &origin->name, NULL, error);
  if (status == GATHER_OK && named == GATHER_OK && origin->bucket && origin->key) return GATHER_OK;
  return gather_fail(error, GATHER_OUT_OF_MEMORY, "no memory for a URL");
}
