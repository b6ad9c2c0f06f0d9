/* SPDX-License-Identifier: MIT
 *
 * safetensors.h: what the readers of safetensors files share: a walk over JSON of any size, and a file's header as tensors.
 */
#ifndef GATHER_FORMAT_SAFETENSORS_H
#define GATHER_FORMAT_SAFETENSORS_H

#include <jansson.h>

#include "base/error.h"
#include "format/format.h"
#include "format/span.h"

/* The reference implementation takes no longer header. The same holds for an index. */
enum { GATHER_SAFETENSORS_JSON_MAX = 100 * 1000 * 1000 };

/* ---- JSON, member by member. A header may have 100 MB, of which a tree would take many times as much: so the walk finds where each
 * value begins and ends, and Jansson is given one tensor's description at a time. Every complaint knows its byte that way too. */

typedef struct gather_json {
  gather_file *file;    /* in whose arena texts are kept */
  const char *name;     /* of the file that the bytes are of: `file` itself, or one beside it */
  const uint8_t *bytes; /* all of that file, so that positions are its own */
  gather_error *error;
} gather_json;

/* Bytes of a value in the file. */
typedef struct gather_json_part {
  int64_t at, end;
} gather_json_part;

/* A walk over the members of an object. All zero but `rest`: it has not begun. */
typedef struct gather_json_walk {
  gather_json_part rest;  /* what was not yet walked over; in the end what stands behind the object */
  gather_json_part key;   /* of the member, with its quotes */
  gather_json_part value; /* likewise */
  bool begun, ended;
} gather_json_walk;

/* Fails about a byte of the file. */
#define GATHER_JSON_WRONG(json, offset, ...) \
  gather_fail_file((json)->error, GATHER_FILE_MALFORMED, (json)->name, offset, __VA_ARGS__)
#define GATHER_JSON_NO_MEMORY(json) \
  gather_fail_file((json)->error, GATHER_OUT_OF_MEMORY, (json)->name, -1, "no memory for what it holds")

/* Fails where the bytes are no UTF-8. */
GATHER_CHECKED gather_status gather_json_check(const gather_json *json, gather_json_part text);
/* Takes the next member; walk->ended says that there is none. */
GATHER_CHECKED gather_status gather_json_next(const gather_json *json, gather_json_walk *walk);
/* How many members an object has. */
GATHER_CHECKED gather_status gather_json_count(const gather_json *json, gather_json_part object, int64_t *len);
/* Fails where something other than white space stands behind an object that was walked over. */
GATHER_CHECKED gather_status gather_json_end(const gather_json *json, const gather_json_walk *walk);
bool gather_json_is(const gather_json *json, gather_json_part value, char first);
/* A value as Jansson reads it; json_decref frees it. A value that is no text and very long is refused. */
GATHER_CHECKED gather_status gather_json_load(const gather_json *json, gather_json_part value, json_t **tree);
/* A text, in the file's arena. what: that it is, for the message where it is none. */
GATHER_CHECKED gather_status gather_json_text(const gather_json *json, gather_json_part value, const char *what,
                                              const char **text);

/* ---- one file */

typedef struct gather_safetensors {
  gather_json json;
  int64_t size;    /* of the file */
  int64_t data_at; /* the first byte behind the header */
  gather_file_tensor *tensors;
  gather_file_span *spans;         /* one for each tensor */
  const gather_file_span **sorted; /* by name, once all are read */
  int64_t len;
} gather_safetensors;

/* Reads the header of a mapped file into the arena of st->json.file. st->json is set; the rest is made. */
GATHER_CHECKED gather_status gather_safetensors_read(gather_safetensors *st, const gather_map *map);
/* Reads what a header says of the tensor `tensor->name`. */
GATHER_CHECKED gather_status gather_safetensors_tensor(const gather_safetensors *st, gather_json_part value,
                                                       gather_file_tensor *tensor, gather_file_span *span);

#endif
