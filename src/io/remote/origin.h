/* SPDX-License-Identifier: MIT
 *
 * origin.h: what a URL of the caller stands for: the address that is requested, the headers that prove who asks, and what the server's
 * refusals mean. Pure: no network, no clock, no environment; compiled and tested whether libcurl is there or not.
 */
#ifndef GATHER_REMOTE_ORIGIN_H
#define GATHER_REMOTE_ORIGIN_H

#include <string.h>

#include "core/base/arena.h"
#include "core/base/growing.h"
#include "gather/remote.h"
#include "io/remote/remote_url.h"

/* ---- a client's own copy of the options, with defaults in place of zeros, checked */

typedef struct gather_remote_settings {
  gather_arena arena;
  gather_remote_options given; /* every string set: "" where there is none; numbers with their defaults */
  bool copied;                 /* the strings are in the arena */
} gather_remote_settings;

/* Copies and checks options; NULL: all defaults. Returns GATHER_USAGE (an option out of its range; an unknown scheme),
 * GATHER_UNSUPPORTED (a scheme that this build has not), GATHER_OUT_OF_MEMORY. */
GATHER_CHECKED gather_status gather_remote_settings_take(const gather_remote_options *options, gather_remote_settings *settings,
                                                         gather_error *error);
/* Frees it, and overwrites the secrets in it before. */
void gather_remote_settings_clear(gather_remote_settings *settings);
/* Whether "https" is in a list "https,http". */
static inline bool gather_remote_scheme_listed(const char *list, const char *scheme) {
  const size_t length = strlen(scheme);
  for (const char *at = list; *at; at += strcspn(at, ","), at += *at == ',')
    if (strcspn(at, ",") == length && strncmp(at, scheme, length) == 0) return true;
  return false;
}

/* ---- what URLs stand for */

typedef enum gather_remote_scheme { GATHER_REMOTE_HTTPS, GATHER_REMOTE_HTTP, GATHER_REMOTE_S3, GATHER_REMOTE_HUB } gather_remote_scheme;

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

/* The region of S3 of the options, or the default. */
static inline const char *gather_s3_region(const gather_remote_options *options) {
  return options->region && options->region[0] ? options->region : "us-east-1";
}

/* What proves to the server who asks. Sent only to the origin of `url`. */
typedef enum gather_remote_proof {
  GATHER_REMOTE_ANONYMOUS,
  GATHER_REMOTE_USER,   /* Authorization: Basic, with the URL's own user */
  GATHER_REMOTE_BEARER, /* Authorization: Bearer */
  GATHER_REMOTE_SIGNED  /* S3's signature of each request */
} gather_remote_proof;

/* A URL of any scheme, translated. gather_remote_origin_destroy frees what is not in the arena. */
typedef struct gather_remote_place {
  gather_remote_url url; /* of https or http: where to ask first */
  const char *name;      /* as the user wrote it, without user, query and fragment */
  gather_remote_proof proof;
  gather_remote_origin *origin; /* of s3:// and hf://: knows what refusals mean; else NULL. name is its own then */
} gather_remote_place;

/* Translates a URL. Returns GATHER_UNSUPPORTED (a scheme that settings do not allow), GATHER_USAGE (no URL, or one that is malformed),
 * GATHER_OUT_OF_MEMORY. */
GATHER_CHECKED gather_status gather_remote_locate(const gather_remote_settings *settings, gather_arena *arena, const char *text,
                                                  gather_remote_place *place, gather_error *error);

/* Whether a URL names what can be listed; one that is malformed does not. NULL is no URL. Returns GATHER_OUT_OF_MEMORY. */
GATHER_CHECKED gather_status gather_remote_find_folder(const char *url, bool *folder, gather_error *error);

/* Names the commit that the hub's first answer is of, in the place of a branch or a tag: from now on name and url contain it, so
 * that the other files of a table, and a renewed address, are of the same commit. Does nothing for other places. Returns
 * GATHER_OUT_OF_MEMORY. */
GATHER_CHECKED gather_status gather_remote_place_pin(const gather_remote_settings *settings, gather_arena *arena,
                                                     gather_remote_place *place, const char *commit, gather_error *error);

/* The header lines that prove who asks, each "Name: value" and a zero byte, for one GET of `url`, which is of the origin of the
 * place. seconds: since 1970, for signatures. Returns GATHER_OUT_OF_MEMORY. */
GATHER_CHECKED gather_status gather_remote_sign(const gather_remote_settings *settings, const gather_remote_place *place,
                                                const gather_remote_url *url, int64_t seconds, gather_growing *lines, gather_error *error);

/* ---- refusal.c: what the answers of S3 and of the hub say besides the status */

/* What the headers of an answer say. Starts as {0}. */
typedef struct gather_remote_notes {
  char region[65];       /* of the bucket: x-amz-bucket-region */
  char code[65];         /* the hub's X-Error-Code */
  char commit[65];       /* the commit of the hub's answer, hexadecimal: X-Repo-Commit */
  char linked_etag[200]; /* of the file that the hub redirects to, in quotes: X-Linked-Etag */
  int64_t linked_bytes;  /* its size + 1; 0 = unknown */
  int64_t date;          /* of the server, seconds since 1970; 0 = unknown */
} gather_remote_notes;

/* Looks at one header of an answer. name and value: not terminated. Values that are malformed or too long are ignored. */
void gather_remote_notes_header(gather_remote_notes *notes, const char *name, size_t name_bytes, const char *value, size_t value_bytes);

/* Explains a refusal: appends what an answer of 3xx or 4xx means here and what to do about it, as the end of a sentence ("the clock of
 * this machine differs from the server's by 901 s"), or nothing if it says no more than its status. body: the first bytes of the body,
 * at most GATHER_REMOTE_BODY; seconds: the date of this machine. Of what the server sent, only codes and regions are repeated.
 * Returns whether the refusal is final though its status is one that is tried again, or the other way round, by the code of S3 in the body:
 * 1 = try again, 0 = final, -1 = as the status says. */
enum { GATHER_REMOTE_BODY = 16384 };
int gather_remote_origin_refusal(const gather_remote_origin *origin, const gather_remote_options *options, int status,
                                 const gather_remote_notes *notes, const char *body, size_t body_bytes, int64_t seconds,
                                 gather_growing *words);

/* The small XML answers of S3, by expat. Only elements with text count; attributes and names' prefixes do not. */
typedef enum gather_xml_result { GATHER_XML_OK, GATHER_XML_MALFORMED, GATHER_XML_STOPPED, GATHER_XML_NO_MEMORY } gather_xml_result;

/* Called at the end of each element below the root, or the root itself: its name, its parent's ("" for the root), and its text
 * ("" if it has elements; terminated). Returns false to stop. */
typedef bool (*gather_xml_element)(void *context, const char *parent, const char *name, const char *text);

/* Parses a document. Refused as malformed: a document type (entities can expand without limit), more than 8 levels, a text of more
 * than 8 KiB. whole: false if the document may be cut off at its end; then that is no fault. Without expat in the build: MALFORMED. */
gather_xml_result gather_remote_xml(const char *text, size_t bytes, bool whole, gather_xml_element element, void *context);

/* The schemes that this build reads, separated by commas; "" if none. Static memory. */
const char *gather_remote_schemes(void);

#endif
