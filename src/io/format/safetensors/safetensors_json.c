/* SPDX-License-Identifier: MIT
 *
 * safetensors_json.c: reads the JSON of a header or an index, member by member. A header may have 100 MB, and a tree of it would need many
 * times as much. So this code finds where each value begins and ends, and Jansson parses one tensor's entry at a time. This also gives
 * errors their byte position.
 */
#include "io/format/safetensors/safetensors_json.h"

#ifdef GATHER_HAVE_JANSSON

#include <inttypes.h>
#include <string.h>

#include "core/base/error.h"
#include "io/format/text/utf8.h"

/* A tensor's entry takes a few hundred bytes. */
enum { LONGEST_VALUE = 1 << 20 };

gather_status gather_json_utf8(const gather_json *json, gather_json_part text) {
  int64_t wrong = gather_utf8_check((const char *)json->bytes + text.at, text.end - text.at);
  return wrong < 0 ? GATHER_OK : GATHER_JSON_WRONG(json, text.at + wrong, "the JSON is not UTF-8");
}

/* The next byte after white space; 0 at the end. */
static uint8_t peek(const gather_json *json, gather_json_part *rest) {
  while (rest->at < rest->end && gather_json_is_blank(json->bytes[rest->at])) rest->at++;
  return rest->at < rest->end ? json->bytes[rest->at] : 0;
}

static gather_status expect(const gather_json *json, gather_json_part *rest, char c) {
  uint8_t found = peek(json, rest);
  if (found == (uint8_t)c) {
    rest->at++;
    return GATHER_OK;
  }
  if (rest->at == rest->end) return GATHER_JSON_WRONG(json, rest->at, "the JSON ends; expected '%c'", c);
  if (found < ' ' || found > '~') return GATHER_JSON_WRONG(json, rest->at, "expected '%c' in the JSON, found byte %u", c, (unsigned)found);
  return GATHER_JSON_WRONG(json, rest->at, "expected '%c' in the JSON, found '%c'", c, (char)found);
}

/* The end of the string that begins at `at`; -1 if it does not end. */
static int64_t text_end(const gather_json *json, int64_t at, int64_t end) {
  for (at++; at < end; at++) {
    if (json->bytes[at] == '"') return at + 1;
    if (json->bytes[at] == '\\') at++;
  }
  return -1;
}

/* The end of the array or object that begins at `at`. Both kinds of brackets count alike: Jansson checks that they
 * match. */
static int64_t nest_end(const gather_json *json, int64_t at, int64_t end) {
  for (int64_t depth = 0; at >= 0 && at < end;) {
    uint8_t c = json->bytes[at];
    if (c == '"') {
      at = text_end(json, at, end);
      continue;
    }
    at++;
    if (c == '{' || c == '[') depth++;
    if ((c == '}' || c == ']') && --depth == 0) return at;
  }
  return -1;
}

static int64_t word_end(const gather_json *json, int64_t at, int64_t end) {
  while (at < end && !gather_json_is_blank(json->bytes[at]) && !strchr(",:{}[]\"", json->bytes[at])) at++;
  return at;
}

static gather_status take_value(const gather_json *json, gather_json_part *rest, gather_json_part *value) {
  uint8_t first = peek(json, rest);
  value->at = rest->at;
  if (first == '"')
    value->end = text_end(json, rest->at, rest->end);
  else if (first == '{' || first == '[')
    value->end = nest_end(json, rest->at, rest->end);
  else
    value->end = word_end(json, rest->at, rest->end);
  if (value->end < 0) return GATHER_JSON_WRONG(json, rest->end, "the JSON ends within a value");
  if (value->end == value->at) return GATHER_JSON_WRONG(json, value->at, "expected a value in the JSON");
  rest->at = value->end;
  return GATHER_OK;
}

gather_status gather_json_next(const gather_json *json, gather_json_walk *walk) {
  gather_json_part *rest = &walk->rest;
  bool is_first = !walk->begun;
  walk->begun = true;
  if (is_first) GATHER_TRY(expect(json, rest, '{'));
  if (peek(json, rest) == '}') {
    rest->at++;
    walk->ended = true;
    return GATHER_OK;
  }
  if (!is_first) GATHER_TRY(expect(json, rest, ','));
  if (peek(json, rest) != '"') return expect(json, rest, '"');
  GATHER_TRY(take_value(json, rest, &walk->key));
  GATHER_TRY(expect(json, rest, ':'));
  return take_value(json, rest, &walk->value);
}

gather_status gather_json_count(const gather_json *json, gather_json_part object, int64_t *len) {
  gather_json_walk walk = {.rest = object};
  for (*len = 0;; (*len)++) {
    GATHER_TRY(gather_json_next(json, &walk));
    if (walk.ended) return GATHER_OK;
  }
}

gather_status gather_json_end(const gather_json *json, const gather_json_walk *walk) {
  gather_json_part rest = walk->rest;
  (void)peek(json, &rest);
  if (rest.at == rest.end) return GATHER_OK;
  return GATHER_JSON_WRONG(json, rest.at, "unexpected text after the JSON object");
}

static bool begins(const gather_json *json, gather_json_part value, char first) { return json->bytes[value.at] == (uint8_t)first; }

/* When out of memory, Jansson sometimes gives no message, or one about a valid string: invalid strings have other
 * messages. */
static bool lacks_memory(const json_error_t *why) {
  static const char *const DISGUISES[] = {"invalid token near '\"", "string or '}' expected near '\""};
  if (json_error_code(why) == json_error_out_of_memory || why->text[0] == '\0') return true;
  for (size_t i = 0; i < sizeof DISGUISES / sizeof *DISGUISES; i++)
    if (strncmp(why->text, DISGUISES[i], strlen(DISGUISES[i])) == 0) return true;
  return false;
}

/* Jansson's position is after the invalid token, but before a byte that a string may not contain. */
static gather_status refuse(const gather_json *json, gather_json_part value, const json_error_t *why) {
  if (lacks_memory(why)) return GATHER_JSON_NO_MEMORY(json);
  bool ends_before = strncmp(why->text, "control", 7) == 0 || strncmp(why->text, "unexpected newline", 18) == 0;
  int64_t at = value.at + why->position - (why->position > 0 && !ends_before);
  return GATHER_JSON_WRONG(json, at < value.end ? at : value.end, "malformed JSON: %.120s", why->text);
}

/* The code unit of a \u escape that begins at `at`; -1 if there is none. */
static int32_t escaped_unit(const gather_json *json, int64_t at, int64_t end) {
  int32_t unit = 0;
  if (end - at < 6 || json->bytes[at] != '\\' || json->bytes[at + 1] != 'u') return -1;
  for (int64_t i = at + 2; i < at + 6; i++) {
    const int c = json->bytes[i] | 0x20; /* lower case; digits stay */
    if (!(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'f')) return -1;
    unit = unit * 16 + (c <= '9' ? c - '0' : c - 'a' + 10);
  }
  return unit;
}

/* The UTF-8 length of the character of an escape, and in *bytes the length of the escape; -1 if it is invalid. */
static int64_t escaped_bytes(const gather_json *json, int64_t at, int64_t end, int64_t *bytes) {
  const int32_t unit = escaped_unit(json, at, end);
  *bytes = 2;
  if (unit < 0) return end - at >= 2 && strchr("\"\\/bfnrt", json->bytes[at + 1]) ? 1 : -1;
  *bytes = 6;
  if (unit < 0xd800 || unit >= 0xe000) return unit < 0x80 ? 1 : unit < 0x800 ? 2 : 3;
  *bytes = 12;
  const int32_t low = escaped_unit(json, at + 6, end);
  return unit < 0xdc00 && low >= 0xdc00 && low < 0xe000 ? 4 : -1;
}

/* The length of a decoded string; -1 if it is invalid. */
static int64_t decoded_bytes(const gather_json *json, gather_json_part value) {
  int64_t bytes = 0, step;
  for (int64_t at = value.at + 1, end = value.end - 1; at < end; at += step) {
    int64_t now = step = 1;
    if (json->bytes[at] < ' ') return -1;
    if (json->bytes[at] == '\\') now = escaped_bytes(json, at, end, &step);
    if (now < 0) return -1;
    bytes += now;
  }
  return bytes;
}

/* The lengths of all strings in a tree, keys included. */
static int64_t tree_bytes(json_t *tree) {
  int64_t bytes = json_is_string(tree) ? (int64_t)json_string_length(tree) : 0;
  for (size_t i = 0; i < json_array_size(tree); i++) bytes += tree_bytes(json_array_get(tree, i));
  for (void *at = json_object_iter(tree); at; at = json_object_iter_next(tree, at))
    bytes += (int64_t)strlen(json_object_iter_key(at)) + tree_bytes(json_object_iter_value(at));
  return bytes;
}

/* What they must be: when out of memory, Jansson 2.14 drops the byte for which its buffer should have grown, and goes on. */
static int64_t text_bytes(const gather_json *json, gather_json_part value) {
  int64_t bytes = 0;
  for (int64_t at = value.at; at < value.end; at++) {
    if (json->bytes[at] != '"') continue;
    const int64_t end = text_end(json, at, value.end);
    if (end < 0) return -1;
    bytes += decoded_bytes(json, (gather_json_part){at, end});
    at = end - 1;
  }
  return bytes;
}

gather_status gather_json_load(const gather_json *json, gather_json_part value, json_t **tree) {
  json_error_t why = {.text = ""};
  int64_t bytes = value.end - value.at;
  *tree = NULL;
  if (bytes > LONGEST_VALUE && !begins(json, value, '"'))
    return gather_fail_file(json->error, GATHER_UNSUPPORTED, json->name, value.at,
                            "a value of %" PRId64 " bytes in the JSON; at most %d are supported", bytes, LONGEST_VALUE);
  const char *text = (const char *)json->bytes + value.at;
  *tree = json_loadb(text, (size_t)bytes, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_ALLOW_NUL, &why);
  if (!*tree) return refuse(json, value, &why);
  if (tree_bytes(*tree) == text_bytes(json, value)) return GATHER_OK;
  json_decref(*tree);
  *tree = NULL;
  return GATHER_JSON_NO_MEMORY(json);
}

gather_status gather_json_text(const gather_json *json, gather_json_part value, const char *what, const char **text) {
  json_t *tree = NULL;
  if (!begins(json, value, '"')) return GATHER_JSON_WRONG(json, value.at, "%s is not a string", what);
  /* When out of memory, Jansson may give an error for a valid string, too. */
  const int64_t expected = decoded_bytes(json, value);
  const gather_status status = gather_json_load(json, value, &tree);
  if (status != GATHER_OK) return expected < 0 ? status : GATHER_JSON_NO_MEMORY(json);
  const size_t bytes = json_string_length(tree);
  const bool whole = (int64_t)bytes == expected, has_zero = memchr(json_string_value(tree), '\0', bytes) != NULL;
  *text = has_zero || !whole ? NULL : gather_arena_text(&json->file->arena, json_string_value(tree), bytes);
  json_decref(tree);
  if (has_zero && whole) return GATHER_JSON_WRONG(json, value.at, "%s contains a zero byte", what);
  return *text ? GATHER_OK : GATHER_JSON_NO_MEMORY(json);
}

#endif
