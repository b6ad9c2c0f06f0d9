/* SPDX-License-Identifier: MIT
 *
 * sigv4.h: signatures of requests, version 4 of AWS, by headers. Pure: no clock, no network.
 *
 * Source of the rule: "Signature Version 4 signing process" of the AWS documentation, with S3's exceptions: the path is percent-encoded
 * once, and neither "//" nor ".." in it is resolved.
 */
#ifndef GATHER_REMOTE_SIGV4_H
#define GATHER_REMOTE_SIGV4_H

#include "core/base/growing.h"
#include "io/remote/sha256.h"

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

/* Appends the canonical request, the string to sign, and the value of the header Authorization. `growing` may fail; the caller looks. */
void gather_sigv4_canonical(const gather_sigv4 *request, gather_growing *growing);
void gather_sigv4_string(const gather_sigv4 *request, gather_growing *growing);
void gather_sigv4_authorization(const gather_sigv4 *request, gather_growing *growing);

/* The text of a time, in seconds since 1970 (UTC). Years 1970 to 9999; others give the nearest of these. */
char *gather_sigv4_time(int64_t seconds, char text[GATHER_SIGV4_TIME]);

#endif
