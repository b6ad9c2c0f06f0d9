/* SPDX-License-Identifier: MIT
 *
 * safetensors_json.h: JSON in a mapped file, whose values Jansson parses one by one, so that errors have their byte position.
 */
#ifndef GATHER_FORMAT_SAFETENSORS_JSON_H
#define GATHER_FORMAT_SAFETENSORS_JSON_H

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

/* Fails and reports a byte of the file. */
#define GATHER_JSON_WRONG(json, offset, ...) \
  gather_fail_file((json)->error, GATHER_FILE_MALFORMED, (json)->name, offset, __VA_ARGS__)
#define GATHER_JSON_NO_MEMORY(json) \
  gather_fail_file((json)->error, GATHER_OUT_OF_MEMORY, (json)->name, -1, "no memory for what it holds")

/* A value parsed by Jansson; json_decref frees it. A very long value is refused unless it is a string. */
GATHER_CHECKED gather_status gather_json_load(const gather_json *json, gather_json_part value, json_t **tree);

#endif
#endif
