/* SPDX-License-Identifier: MIT
 *
 * sigv4.c: the canonical request, the string to sign, and the signature.
 */
#include "io/remote/sigv4.h"

#include <stdio.h>
#include <string.h>

enum { DATE_BYTES = 8 };

static void signed_names(const gather_sigv4 *request, gather_growing *growing) {
  for (int32_t i = 0; i < request->header_count; i++) {
    if (i > 0) gather_growing_char(growing, ';');
    gather_growing_text(growing, request->headers[i].name);
  }
}

void gather_sigv4_canonical(const gather_sigv4 *request, gather_growing *growing) {
  gather_growing_print(growing, "%s\n", request->method);
  gather_growing_text(growing, request->path);
  gather_growing_char(growing, '\n');
  gather_growing_text(growing, request->query);
  gather_growing_char(growing, '\n');
  for (int32_t i = 0; i < request->header_count; i++) {
    gather_growing_text(growing, request->headers[i].name);
    gather_growing_char(growing, ':');
    gather_growing_text(growing, request->headers[i].value);
    gather_growing_char(growing, '\n');
  }
  gather_growing_char(growing, '\n');
  signed_names(request, growing);
  gather_growing_char(growing, '\n');
  gather_growing_text(growing, request->payload);
}

/* "20150830/us-east-1/s3/aws4_request" */
static void scope(const gather_sigv4 *request, gather_growing *growing) {
  gather_growing_write(growing, request->time, DATE_BYTES);
  gather_growing_char(growing, '/');
  gather_growing_text(growing, request->region);
  gather_growing_char(growing, '/');
  gather_growing_text(growing, request->service);
  gather_growing_text(growing, "/aws4_request");
}

void gather_sigv4_string(const gather_sigv4 *request, gather_growing *growing) {
  gather_growing canonical = {0};
  uint8_t digest[GATHER_SHA256_BYTES];
  char hex[GATHER_SHA256_HEX];
  gather_sigv4_canonical(request, &canonical);
  if (canonical.failed) growing->failed = true;
  gather_sha256_of(canonical.text, canonical.text ? canonical.bytes : 0, digest);
  /* A security token is in it. */
  if (canonical.text) gather_wipe(canonical.text, canonical.bytes);
  gather_growing_clear(&canonical);
  gather_growing_print(growing, "AWS4-HMAC-SHA256\n%s\n", request->time);
  scope(request, growing);
  gather_growing_char(growing, '\n');
  gather_growing_text(growing, gather_sha256_hex(digest, hex));
}

static void chain(uint8_t key[GATHER_SHA256_BYTES], const char *text, size_t bytes) {
  uint8_t next[GATHER_SHA256_BYTES];
  gather_hmac_sha256(key, GATHER_SHA256_BYTES, text, bytes, next);
  memcpy(key, next, sizeof next);
  gather_wipe(next, sizeof next);
}

/* The key for a day, a region and a service. Returns false if out of memory. */
static bool signing_key(const gather_sigv4 *request, uint8_t key[GATHER_SHA256_BYTES]) {
  gather_growing first = {0};
  gather_growing_text(&first, "AWS4");
  gather_growing_text(&first, request->secret);
  bool made = !first.failed;
  if (made) gather_hmac_sha256(first.text, first.bytes, request->time, DATE_BYTES, key);
  if (first.text) gather_wipe(first.text, first.bytes);
  gather_growing_clear(&first);
  if (!made) return false;
  chain(key, request->region, strlen(request->region));
  chain(key, request->service, strlen(request->service));
  chain(key, "aws4_request", strlen("aws4_request"));
  return true;
}

void gather_sigv4_authorization(const gather_sigv4 *request, gather_growing *growing) {
  gather_growing string = {0};
  uint8_t key[GATHER_SHA256_BYTES];
  char hex[GATHER_SHA256_HEX];
  gather_sigv4_string(request, &string);
  if (string.failed || !signing_key(request, key)) {
    growing->failed = true;
    gather_growing_clear(&string);
    return;
  }
  chain(key, string.text, string.bytes);
  gather_growing_clear(&string);
  gather_growing_text(growing, "AWS4-HMAC-SHA256 Credential=");
  gather_growing_text(growing, request->key_id);
  gather_growing_char(growing, '/');
  scope(request, growing);
  gather_growing_text(growing, ", SignedHeaders=");
  signed_names(request, growing);
  gather_growing_text(growing, ", Signature=");
  gather_growing_text(growing, gather_sha256_hex(key, hex));
}

/* Days since 1970 to a date of the Gregorian calendar: years of 400 repeat, and a year begins with March, so that the day that leap
 * years add is the last one. */
static void civil(int64_t days, int *year, int *month, int *day) {
  days += 719468; /* from 0000-03-01 */
  int64_t era = days / 146097, of_era = days % 146097;
  int64_t years = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
  int64_t of_year = of_era - (365 * years + years / 4 - years / 100), months = (5 * of_year + 2) / 153;
  *day = (int)(of_year - (153 * months + 2) / 5 + 1);
  *month = (int)(months < 10 ? months + 3 : months - 9);
  *year = (int)(years + era * 400 + (*month <= 2));
}

char *gather_sigv4_time(int64_t seconds, char text[GATHER_SIGV4_TIME]) {
  static const int64_t LAST = 253402300799; /* 9999-12-31T23:59:59Z */
  int year, month, day;
  seconds = seconds < 0 ? 0 : seconds > LAST ? LAST : seconds;
  civil(seconds / 86400, &year, &month, &day);
  int in_day = (int)(seconds % 86400);
  /* The compiler knows no ranges here: a longer buffer keeps it from warning. */
  char longer[96];
  (void)snprintf(longer, sizeof longer, "%04d%02d%02dT%02d%02d%02dZ", year, month, day, in_day / 3600, in_day / 60 % 60,
                 in_day % 60);
  memcpy(text, longer, GATHER_SIGV4_TIME - 1);
  text[GATHER_SIGV4_TIME - 1] = '\0';
  return text;
}
