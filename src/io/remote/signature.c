/* SPDX-License-Identifier: MIT
 *
 * signature.c: SHA-256 (FIPS 180-4), HMAC (RFC 2104), and signatures of requests to S3: version 4 of AWS, by headers.
 *
 * Source of the last: "Signature Version 4 signing process" of the AWS documentation, with S3's exceptions: the path is percent-encoded
 * once, and neither "//" nor ".." in it is resolved.
 *
 * This is not another library's because libcurl's own signatures are right only in some of its releases, and each
 * libcurl brings another library of cryptography.
 */
#include "io/remote/signature.h"

#include <stdio.h>
#include <string.h>

#include "io/remote/remote_url.h"

/* Zeroes memory that contained a secret, which a compiler does not remove. */
static void wipe(void *memory, size_t bytes) {
  volatile uint8_t *at = memory;
  while (bytes-- > 0) *at++ = 0;
}

/* ---- SHA-256: byte by byte in and out, so that the machine's byte order does not matter */

enum { CHUNK = 64, ROUNDS = 64, LENGTH_AT = 56 };

static const uint32_t ROUND_CONSTANTS[ROUNDS] = {
    0x428a2f98u, 0x71374491u, 0xb5c0fbcfu, 0xe9b5dba5u, 0x3956c25bu, 0x59f111f1u, 0x923f82a4u, 0xab1c5ed5u, 0xd807aa98u, 0x12835b01u,
    0x243185beu, 0x550c7dc3u, 0x72be5d74u, 0x80deb1feu, 0x9bdc06a7u, 0xc19bf174u, 0xe49b69c1u, 0xefbe4786u, 0x0fc19dc6u, 0x240ca1ccu,
    0x2de92c6fu, 0x4a7484aau, 0x5cb0a9dcu, 0x76f988dau, 0x983e5152u, 0xa831c66du, 0xb00327c8u, 0xbf597fc7u, 0xc6e00bf3u, 0xd5a79147u,
    0x06ca6351u, 0x14292967u, 0x27b70a85u, 0x2e1b2138u, 0x4d2c6dfcu, 0x53380d13u, 0x650a7354u, 0x766a0abbu, 0x81c2c92eu, 0x92722c85u,
    0xa2bfe8a1u, 0xa81a664bu, 0xc24b8b70u, 0xc76c51a3u, 0xd192e819u, 0xd6990624u, 0xf40e3585u, 0x106aa070u, 0x19a4c116u, 0x1e376c08u,
    0x2748774cu, 0x34b0bcb5u, 0x391c0cb3u, 0x4ed8aa4au, 0x5b9cca4fu, 0x682e6ff3u, 0x748f82eeu, 0x78a5636fu, 0x84c87814u, 0x8cc70208u,
    0x90befffau, 0xa4506cebu, 0xbef9a3f7u, 0xc67178f2u};

static uint32_t rotated(uint32_t x, int by) { return (x >> by) | (x << (32 - by)); }

static void chunk(uint32_t state[8], const uint8_t *data) {
  uint32_t w[ROUNDS];
  for (int i = 0; i < 16; i++, data += 4) w[i] = (uint32_t)data[0] << 24 | (uint32_t)data[1] << 16 | (uint32_t)data[2] << 8 | data[3];
  for (int i = 16; i < ROUNDS; i++) {
    uint32_t small0 = rotated(w[i - 15], 7) ^ rotated(w[i - 15], 18) ^ (w[i - 15] >> 3);
    uint32_t small1 = rotated(w[i - 2], 17) ^ rotated(w[i - 2], 19) ^ (w[i - 2] >> 10);
    w[i] = w[i - 16] + small0 + w[i - 7] + small1;
  }
  uint32_t a = state[0], b = state[1], c = state[2], d = state[3], e = state[4], f = state[5], g = state[6], h = state[7];
  for (int i = 0; i < ROUNDS; i++) {
    uint32_t large1 = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25);
    uint32_t first = h + large1 + ((e & f) ^ (~e & g)) + ROUND_CONSTANTS[i] + w[i];
    uint32_t large0 = rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22);
    uint32_t second = large0 + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + first, d = c, c = b, b = a, a = first + second;
  }
  state[0] += a, state[1] += b, state[2] += c, state[3] += d;
  state[4] += e, state[5] += f, state[6] += g, state[7] += h;
}

void gather_sha256_add(gather_sha256 *hash, const void *data, size_t bytes) {
  const uint8_t *at = data;
  size_t held = (size_t)(hash->bytes % CHUNK);
  hash->bytes += bytes;
  if (held > 0) {
    size_t part = bytes < CHUNK - held ? bytes : CHUNK - held;
    if (part > 0) memcpy(hash->rest + held, at, part);
    if (held + part < CHUNK) return;
    chunk(hash->state, hash->rest);
    at += part, bytes -= part;
  }
  for (; bytes >= CHUNK; at += CHUNK, bytes -= CHUNK) chunk(hash->state, at);
  if (bytes > 0) memcpy(hash->rest, at, bytes);
}

void gather_sha256_end(gather_sha256 *hash, uint8_t digest[GATHER_SHA256_BYTES]) {
  static const uint8_t PADDING[CHUNK] = {0x80};
  uint64_t bits = hash->bytes * 8;
  size_t held = (size_t)(hash->bytes % CHUNK);
  uint8_t length[8];
  gather_sha256_add(hash, PADDING, held < LENGTH_AT ? LENGTH_AT - held : CHUNK + LENGTH_AT - held);
  for (int i = 0; i < 8; i++) length[i] = (uint8_t)(bits >> (56 - 8 * i));
  gather_sha256_add(hash, length, sizeof length);
  for (int i = 0; i < GATHER_SHA256_BYTES; i++) digest[i] = (uint8_t)(hash->state[i / 4] >> (24 - 8 * (i % 4)));
  wipe(hash, sizeof *hash);
}

/* The digest of one text. */
static void sha256_of(const void *data, size_t bytes, uint8_t digest[GATHER_SHA256_BYTES]) {
  gather_sha256 hash = GATHER_SHA256_BEGUN;
  gather_sha256_add(&hash, data, bytes);
  gather_sha256_end(&hash, digest);
}

/* One of the two passes of an HMAC: the key, exclusive-or a byte, before the data. */
static void keyed(const uint8_t key[CHUNK], uint8_t with, const void *data, size_t bytes, uint8_t *digest) {
  gather_sha256 hash = GATHER_SHA256_BEGUN;
  uint8_t block[CHUNK];
  for (int i = 0; i < CHUNK; i++) block[i] = key[i] ^ with;
  gather_sha256_add(&hash, block, sizeof block);
  gather_sha256_add(&hash, data, bytes);
  gather_sha256_end(&hash, digest);
  wipe(block, sizeof block);
}

static void hmac_sha256(const void *key, size_t key_bytes, const void *data, size_t bytes, uint8_t digest[GATHER_SHA256_BYTES]) {
  uint8_t block[CHUNK] = {0}, inner[GATHER_SHA256_BYTES];
  if (key_bytes > sizeof block)
    sha256_of(key, key_bytes, block);
  else if (key_bytes > 0)
    memcpy(block, key, key_bytes);
  keyed(block, 0x36, data, bytes, inner);
  keyed(block, 0x5c, inner, sizeof inner, digest);
  wipe(block, sizeof block);
  wipe(inner, sizeof inner);
}

/* Lower-case hexadecimal digits, and a zero. Returns text. */
static char *sha256_hex(const uint8_t digest[GATHER_SHA256_BYTES], char text[GATHER_SHA256_HEX]) {
  static const char DIGITS[] = "0123456789abcdef";
  for (int i = 0; i < GATHER_SHA256_BYTES; i++) {
    text[2 * i] = DIGITS[digest[i] >> 4];
    text[2 * i + 1] = DIGITS[digest[i] & 15];
  }
  text[GATHER_SHA256_HEX - 1] = '\0';
  return text;
}

/* ---- a signature: the canonical request, the string to sign, and what proves both */

/* The digest of an empty body: what a GET sends. */
#define GATHER_SIGV4_NO_BODY "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

enum { GATHER_SIGV4_TIME = 17 }; /* "20150830T123600Z" and a zero */

typedef struct gather_sigv4_header {
  const char *name, *value; /* name in lower case; value without white space around it */
} gather_sigv4_header;

typedef struct gather_sigv4 {
  const char *key_id, *secret, *region, *service;
  const char *method;
  const char *path;                   /* percent-encoded; begins with "/" */
  const char *query;                  /* without "?": percent-encoded, sorted, each name with "=" */
  const gather_sigv4_header *headers; /* those to sign, sorted by name; host must be one of them */
  int32_t header_count;
  const char *payload; /* the digest of the body in hexadecimal digits */
  const char *time;    /* as in x-amz-date */
} gather_sigv4;

enum { DATE_BYTES = 8 };

static void signed_names(const gather_sigv4 *request, gather_growing *growing) {
  for (int32_t i = 0; i < request->header_count; i++) {
    if (i > 0) gather_growing_char(growing, ';');
    gather_growing_text(growing, request->headers[i].name);
  }
}

/* Appends the canonical request, the string to sign, and the value of the header Authorization. `growing` may fail; the caller looks. */
static void write_canonical(const gather_sigv4 *request, gather_growing *growing) {
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

static void write_string(const gather_sigv4 *request, gather_growing *growing) {
  gather_growing canonical = {0};
  uint8_t digest[GATHER_SHA256_BYTES];
  char hex[GATHER_SHA256_HEX];
  write_canonical(request, &canonical);
  if (canonical.failed) growing->failed = true;
  sha256_of(canonical.text, canonical.text ? canonical.bytes : 0, digest);
  /* A security token is in it. */
  if (canonical.text) wipe(canonical.text, canonical.bytes);
  gather_growing_clear(&canonical);
  gather_growing_print(growing, "AWS4-HMAC-SHA256\n%s\n", request->time);
  scope(request, growing);
  gather_growing_char(growing, '\n');
  gather_growing_text(growing, sha256_hex(digest, hex));
}

static void chain(uint8_t key[GATHER_SHA256_BYTES], const char *text, size_t bytes) {
  uint8_t next[GATHER_SHA256_BYTES];
  hmac_sha256(key, GATHER_SHA256_BYTES, text, bytes, next);
  memcpy(key, next, sizeof next);
  wipe(next, sizeof next);
}

/* The key for a day, a region and a service. Returns false if out of memory. */
static bool signing_key(const gather_sigv4 *request, uint8_t key[GATHER_SHA256_BYTES]) {
  gather_growing first = {0};
  gather_growing_text(&first, "AWS4");
  gather_growing_text(&first, request->secret);
  bool made = !first.failed;
  if (made) hmac_sha256(first.text, first.bytes, request->time, DATE_BYTES, key);
  if (first.text) wipe(first.text, first.bytes);
  gather_growing_clear(&first);
  if (!made) return false;
  chain(key, request->region, strlen(request->region));
  chain(key, request->service, strlen(request->service));
  chain(key, "aws4_request", strlen("aws4_request"));
  return true;
}

static void write_authorization(const gather_sigv4 *request, gather_growing *growing) {
  gather_growing string = {0};
  uint8_t key[GATHER_SHA256_BYTES];
  char hex[GATHER_SHA256_HEX];
  write_string(request, &string);
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
  gather_growing_text(growing, sha256_hex(key, hex));
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

static char *write_time(int64_t seconds, char text[GATHER_SIGV4_TIME]) {
  static const int64_t LAST = 253402300799; /* 9999-12-31T23:59:59Z */
  int year, month, day;
  seconds = seconds < 0 ? 0 : seconds > LAST ? LAST : seconds;
  civil(seconds / 86400, &year, &month, &day);
  int in_day = (int)(seconds % 86400);
  /* The compiler knows no ranges here: a longer buffer keeps it from warning. */
  char longer[96];
  (void)snprintf(longer, sizeof longer, "%04d%02d%02dT%02d%02d%02dZ", year, month, day, in_day / 3600, in_day / 60 % 60, in_day % 60);
  memcpy(text, longer, GATHER_SIGV4_TIME - 1);
  text[GATHER_SIGV4_TIME - 1] = '\0';
  return text;
}

/* ---- the headers of a request */

static void add_header(gather_growing *lines, const char *name, const char *value) {
  gather_growing_text(lines, name);
  gather_growing_text(lines, ": ");
  gather_growing_text(lines, value);
  gather_growing_char(lines, '\0');
}

/* The host as curl sends it: without the scheme's own port. */
static void add_host(gather_growing *host, const char *url, const char *authority, const char *end) {
  bool secure = gather_remote_has_scheme(url, "https");
  const char *port = secure ? ":443" : ":80";
  size_t bytes = (size_t)(end - authority), own = strlen(port);
  if (bytes > own && memcmp(end - own, port, own) == 0) bytes -= own;
  for (size_t i = 0; i < bytes; i++)
    gather_growing_char(host, authority[i] >= 'A' && authority[i] <= 'Z' ? (char)(authority[i] - 'A' + 'a') : authority[i]);
}

void gather_sign_s3(const gather_remote_options *options, const char *region, const char *url, int64_t seconds, gather_growing *lines) {
  const char *authority = strstr(url, "://") + 3, *end = authority + strcspn(authority, "/?#");
  gather_growing host = {0}, path = {0}, value = {0};
  char time[GATHER_SIGV4_TIME];
  size_t path_bytes = strcspn(end, "?#");
  add_host(&host, url, authority, end);
  gather_growing_write(&path, path_bytes ? end : "/", path_bytes ? path_bytes : 1);
  bool token = options->session_token && options->session_token[0];
  const gather_sigv4_header headers[] = {{"host", host.text},
                                         {"x-amz-content-sha256", GATHER_SIGV4_NO_BODY},
                                         {"x-amz-date", write_time(seconds, time)},
                                         {"x-amz-security-token", options->session_token}};
  const gather_sigv4 request = {.key_id = options->key_id,
                                .secret = options->secret,
                                .region = region,
                                .service = "s3",
                                .method = "GET",
                                .path = path.text,
                                .query = end[path_bytes] == '?' ? end + path_bytes + 1 : "",
                                .headers = headers,
                                .header_count = token ? 4 : 3,
                                .payload = GATHER_SIGV4_NO_BODY,
                                .time = time};
  bool made = !host.failed && !path.failed;
  if (made) write_authorization(&request, &value);
  if (!made || value.failed) {
    lines->failed = true;
  } else {
    add_header(lines, "Authorization", value.text);
    for (int i = 1; i < request.header_count; i++) add_header(lines, headers[i].name, headers[i].value);
  }
  gather_growing_clear(&host);
  gather_growing_clear(&path);
  gather_growing_clear(&value);
}
