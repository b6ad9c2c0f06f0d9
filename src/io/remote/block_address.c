/* SPDX-License-Identifier: MIT
 *
 * block_address.c: what of a URL names a file, for the keys of cached blocks.
 *
 * A query may choose the file, and then it is a part of its name. A query may also be a signature, which is a secret and is another one
 * each time: what signatures consist of is left out, if there is one.
 */
#include <string.h>

#include "io/remote/block_cache.h"

typedef struct parameter {
  const char *at;
  size_t name, bytes; /* of the name; of all of it */
} parameter;

static bool next(const char **query, parameter *p) {
  while (**query == '&') ++*query;
  if (!**query) return false;
  p->at = *query;
  p->bytes = strcspn(*query, "&");
  p->name = 0;
  while (p->name < p->bytes && p->at[p->name] != '=') p->name++;
  *query += p->bytes;
  return true;
}

static bool is(const parameter *p, const char *name) {
  return strlen(name) == p->name && memcmp(p->at, name, p->name) == 0;
}

static bool begins(const parameter *p, const char *start) {
  return p->name >= strlen(start) && memcmp(p->at, start, strlen(start)) == 0;
}

/* S3 and those who speak its protocol, Google's and Azure's storage, and CloudFront. */
static bool is_signature(const parameter *p) {
  return is(p, "X-Amz-Signature") || is(p, "X-Goog-Signature") || is(p, "Signature") || is(p, "sig");
}

static bool is_of_signature(const parameter *p) {
  static const char *const NAMES[] = {
      "AWSAccessKeyId", "GoogleAccessId", "Expires", "Key-Pair-Id", "Policy", "sv", "se", "st", "sp", "sr", "spr",
      "skoid",          "sktid",          "skt",     "ske",         "sks",    "skv"};
  for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
    if (is(p, NAMES[i])) return true;
  return is_signature(p) || begins(p, "X-Amz-") || begins(p, "X-Goog-");
}

void gather_block_address_add(gather_sha256 *hash, const char *url) {
  size_t name = strcspn(url, "?#");
  const char *query = url[name] == '?' ? url + name + 1 : "";
  bool is_signed = false;
  parameter p;
  for (const char *at = query; next(&at, &p);) is_signed = is_signed || is_signature(&p);
  gather_sha256_add(hash, url, name);
  for (const char *at = query; next(&at, &p);) {
    if (is_signed && is_of_signature(&p)) continue;
    gather_sha256_add(hash, "&", 1);
    gather_sha256_add(hash, p.at, p.bytes);
  }
  gather_sha256_add(hash, "", 1); /* its zero: no other list of addresses has the same text */
}
