/* SPDX-License-Identifier: MIT
 *
 * origin.h: what a URL of the caller stands for: the address that is requested, the headers that prove who asks, and what the server's
 * refusals mean. Pure: no network, no clock, no environment; compiled and tested whether libcurl is there or not.
 */
#ifndef GATHER_REMOTE_ORIGIN_H
#define GATHER_REMOTE_ORIGIN_H

#include "core/base/growing.h"
#include "gather/remote.h"

typedef enum gather_remote_scheme {
  GATHER_REMOTE_HTTPS,
  GATHER_REMOTE_HTTP,
  GATHER_REMOTE_S3,
  GATHER_REMOTE_HUB
} gather_remote_scheme;

typedef struct gather_remote_origin {
  gather_remote_scheme scheme;
  char *url;  /* the address to request: "https://..."; curl must not resolve "/../" in it (CURLOPT_PATH_AS_IS) */
  char *name; /* for messages, and to find names beside it: as the caller wrote it, without user, query and fragment */
  /* S3 */
  char *bucket, *key; /* as bytes; key "" names the bucket itself */
  /* The hub */
  char *repository; /* "owner/repo", "datasets/owner/repo" */
  char *revision;   /* "main" by default */
  char *path;       /* in the repository; "" names the repository itself */
} gather_remote_origin;

/* Resolves a URL by the options, which stay the caller's. Nothing is requested. Returns GATHER_USAGE (no URL, or a malformed bucket,
 * endpoint, region, hub or repository), GATHER_OUT_OF_MEMORY. No message contains a query or a user. */
GATHER_CHECKED gather_status gather_remote_origin_create(const gather_remote_options *options, const char *url,
                                                         gather_remote_origin **origin, gather_error *error);
/* NULL does nothing. */
void gather_remote_origin_destroy(gather_remote_origin *origin);

/* Whether two addresses have the same scheme, host and port: credentials for one may go to the other. Default ports count as written. */
bool gather_remote_same_host(const char *url, const char *other);

/* Appends the headers that a GET of `url` needs to be allowed, each "Name: value" and a zero byte; none if the host is not the one that
 * the credentials are for, so that it may be called for every address of a chain of redirects. seconds: the date, since 1970. The lines
 * are secrets: no message may contain them. growing->failed: out of memory. */
void gather_remote_origin_headers(const gather_remote_origin *origin, const gather_remote_options *options,
                                  const char *url, int64_t seconds, gather_growing *growing);

/* What the headers of an answer say besides the status. Starts as {0}. */
typedef struct gather_remote_notes {
  char region[65];       /* of the bucket: x-amz-bucket-region */
  char code[65];         /* the hub's X-Error-Code */
  char commit[65];       /* the commit of the hub's answer, hexadecimal: X-Repo-Commit */
  char linked_etag[200]; /* of the file that the hub redirects to, in quotes: X-Linked-Etag */
  int64_t linked_bytes;  /* its size + 1; 0 = unknown */
  int64_t date;          /* of the server, seconds since 1970; 0 = unknown */
} gather_remote_notes;

/* Looks at one header of an answer. name and value: not terminated. Values that are malformed or too long are ignored. */
void gather_remote_notes_header(gather_remote_notes *notes, const char *name, size_t name_bytes, const char *value,
                                size_t value_bytes);

/* Names the commit that the hub answered for, in place of its branch or tag: from now on name and url contain it, so that the other
 * files of a table, and a renewed address, are of the same commit. Does nothing for other origins. Returns GATHER_OUT_OF_MEMORY. */
GATHER_CHECKED gather_status gather_remote_origin_pin(gather_remote_origin *origin,
                                                      const gather_remote_options *options, const char *commit,
                                                      gather_error *error);

/* Explains a refusal: appends what an answer of 3xx or 4xx means here and what to do about it, as the end of a sentence ("the clock of
 * this machine differs from the server's by 901 s"), or nothing if it says no more than its status. body: the first bytes of the body,
 * at most GATHER_REMOTE_BODY; seconds: the date of this machine. Of what the server sent, only codes and regions are repeated. */
enum { GATHER_REMOTE_BODY = 16384 };
void gather_remote_origin_refusal(const gather_remote_origin *origin, const gather_remote_options *options, int status,
                                  const gather_remote_notes *notes, const char *body, size_t body_bytes,
                                  int64_t seconds, gather_growing *words);

/* Whether the refusal is final though its status is one that is tried again, or the other way round, by the code of S3 in the body: 1 =
 * try again, 0 = final, -1 = as the status says. */
int gather_remote_origin_again(const gather_remote_origin *origin, int status, const char *body, size_t body_bytes);

/* ---- for origin.c, and for those that list */

/* Sets url, name and the parts of an origin whose scheme is set. text: after "s3://" or "hf://". */
GATHER_CHECKED gather_status gather_s3_address(const gather_remote_options *options, const char *text,
                                               gather_remote_origin *origin, gather_error *error);
GATHER_CHECKED gather_status gather_hub_address(const gather_remote_options *options, const char *text,
                                                gather_remote_origin *origin, gather_error *error);
/* The region of the options, or the default. */
const char *gather_s3_region(const gather_remote_options *options);
/* Whether text is "http://host" or "https://host", perhaps with a port and a path, and nothing else. */
bool gather_remote_is_base(const char *text);
char gather_remote_lower(char c);
/* Whether a text begins with a prefix in small letters, in letters of either case. */
bool gather_remote_begins(const char *text, const char *prefix);
/* Returns the end of an address's authority ("user@host:port"); *authority: its beginning. */
const char *gather_remote_authority(const char *url, const char **authority);
/* A copy on the heap, for gather_free; NULL if out of memory. */
char *gather_remote_copy(const char *text, size_t bytes);

#endif
