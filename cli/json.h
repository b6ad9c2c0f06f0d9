/* SPDX-License-Identifier: MIT
 *
 * json.h: a small JSON writer. Integers are exact; each invalid UTF-8 byte becomes U+FFFD, so that the
 * answer is always valid JSON. In arrays the key is NULL.
 */
#ifndef GATHER_CLI_JSON_H
#define GATHER_CLI_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct gather_cli_json {
  FILE *to;
  bool comma; /* this object or array is not empty */
} gather_cli_json;

/* Begins and ends the one object of an answer; the end adds a line break. */
gather_cli_json gather_cli_json_begin(FILE *to);
void gather_cli_json_finish(gather_cli_json *json);

void gather_cli_json_object(gather_cli_json *json, const char *key);
void gather_cli_json_object_end(gather_cli_json *json);
void gather_cli_json_array(gather_cli_json *json, const char *key);
void gather_cli_json_array_end(gather_cli_json *json);
void gather_cli_json_string(gather_cli_json *json, const char *key, const char *text); /* NULL = null */
void gather_cli_json_int(gather_cli_json *json, const char *key, int64_t number);
void gather_cli_json_uint(gather_cli_json *json, const char *key, uint64_t number);
void gather_cli_json_double(gather_cli_json *json, const char *key, double number); /* finite */
void gather_cli_json_bool(gather_cli_json *json, const char *key, bool value);
void gather_cli_json_ints(gather_cli_json *json, const char *key, int32_t count, const int64_t *numbers);
/* The blank-separated words of a text, as an array of strings. */
void gather_cli_json_words(gather_cli_json *json, const char *key, const char *text);

/* The number of bytes of the UTF-8 character at text (which ends with a zero byte), 0 if there is no complete valid
 * one; *code: its number. */
int gather_cli_utf8(const char *text, uint32_t *code);

#endif
