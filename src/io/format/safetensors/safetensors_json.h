/* SPDX-License-Identifier: MIT
 *
 * safetensors_json.h: JSON in a mapped file, whose values Jansson parses one by one, so that errors have their byte position.
 */
#ifndef GATHER_FORMAT_SAFETENSORS_JSON_H
#define GATHER_FORMAT_SAFETENSORS_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/compiler.h"

GATHER_INLINE bool gather_json_is_blank(uint8_t c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

#ifdef GATHER_HAVE_JANSSON

#include <jansson.h>

#include "core/base/error.h"
#include "io/format/format.h"

typedef struct gather_json {
  gather_file *file;    /* its arena holds the strings */
  const char *name;     /* of the file with these bytes: `file` itself, or one beside it */
  const uint8_t *bytes; /* the whole file, so that positions are file offsets */
  gather_error *error;
} gather_json;

/* Bytes of a value in the file. */
typedef struct gather_json_part {
  int64_t at, end;
} gather_json_part;

/* Iterates over the members of an object. At the start all zero except `rest`. */
typedef struct gather_json_walk {
  gather_json_part rest;  /* the unread rest; at the end, what follows the object */
  gather_json_part key;   /* of the member, with its quotes */
  gather_json_part value; /* likewise */
  bool begun, ended;
} gather_json_walk;

/* Fails and reports a byte of the file. */
#define GATHER_JSON_WRONG(json, offset, ...) gather_fail_file((json)->error, GATHER_FILE_MALFORMED, (json)->name, offset, __VA_ARGS__)
#define GATHER_JSON_NO_MEMORY(json) \
  gather_fail_file((json)->error, GATHER_OUT_OF_MEMORY, (json)->name, -1, "out of memory for its contents")

/* Fails if the bytes are not UTF-8. */
GATHER_CHECKED gather_status gather_json_utf8(const gather_json *json, gather_json_part text);
/* Reads the next member; walk->ended: there is none. */
GATHER_CHECKED gather_status gather_json_next(const gather_json *json, gather_json_walk *walk);
/* Counts the members of an object. */
GATHER_CHECKED gather_status gather_json_count(const gather_json *json, gather_json_part object, int64_t *len);
/* Fails if anything except white space follows an object that was read to its end. */
GATHER_CHECKED gather_status gather_json_end(const gather_json *json, const gather_json_walk *walk);
/* A string, in the file's arena. what: its name for the message if it is not a string. */
GATHER_CHECKED gather_status gather_json_text(const gather_json *json, gather_json_part value, const char *what, const char **text);
/* A value parsed by Jansson; json_decref frees it. A very long value is refused unless it is a string. */
GATHER_CHECKED gather_status gather_json_load(const gather_json *json, gather_json_part value, json_t **tree);

#endif
#endif
