/* SPDX-License-Identifier: MIT
 *
 * zarr_json.c: the JSON of Zarr's metadata: its limits, members of objects, lists of lengths.
 */
#include "io/format/zarr/zarr.h"

#ifdef GATHER_HAVE_JANSSON

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

gather_status gather_zarr_refuse(const gather_zarr_reading *r, const char *format, ...) {
  enum { MOST = 200 };
  char text[MOST];
  va_list values;
  va_start(values, format);
  (void)vsnprintf(text, sizeof text, format, values);
  va_end(values);
  const char *name = r->tensor->name;
  const bool is_root = *name == '\0';
  return gather_fail_file(r->json.error, GATHER_UNSUPPORTED, r->json.name, r->at.at,
                          "%s%.60s%s%s; save it as .npy: numpy.save('out.npy', zarr.open('FOLDER')%s[...])", is_root ? "" : "the array '",
                          name, is_root ? "" : "': ", text, is_root ? "" : "['NAME']");
}

static bool is_name(const gather_json *json, gather_json_part key, const char *name) {
  const size_t length = strlen(name);
  return (size_t)(key.end - key.at) == length + 2 && memcmp(json->bytes + key.at + 1, name, length) == 0;
}

/* Whether an extension says that who does not know it may overlook it. */
static gather_status may_overlook(gather_json *json, gather_json_part value, bool *may) {
  json_t *tree = NULL;
  *may = false;
  if (json->bytes[value.at] != '{') return GATHER_OK;
  GATHER_TRY(gather_json_load(json, value, &tree));
  *may = json_is_false(json_object_get(tree, "must_understand"));
  json_decref(tree);
  return GATHER_OK;
}

static gather_status take_member(gather_json *json, const gather_json_walk *walk, bool strict, gather_zarr_member *members, int count) {
  const int bytes = walk->key.end - walk->key.at < 62 ? (int)(walk->key.end - walk->key.at) - 2 : 60;
  const char *name = (const char *)json->bytes + walk->key.at + 1;
  bool may = !strict;
  for (int i = 0; i < count; i++) {
    if (!is_name(json, walk->key, members[i].name)) continue;
    if (members[i].part.end > 0) return GATHER_JSON_WRONG(json, walk->key.at, "the member '%.*s' is given twice", bytes, name);
    members[i].part = walk->value;
    return GATHER_OK;
  }
  if (strict) GATHER_TRY(may_overlook(json, walk->value, &may));
  if (may) return GATHER_OK;
  return gather_fail_file(json->error, GATHER_UNSUPPORTED, json->name, walk->key.at, "the extension '%.*s' is not supported", bytes, name);
}

gather_status gather_zarr_members(gather_json *json, gather_json_part object, bool strict, gather_zarr_member *members, int count) {
  gather_json_walk walk = {.rest = object};
  for (;;) {
    GATHER_TRY(gather_json_next(json, &walk));
    if (walk.ended) return gather_json_end(json, &walk);
    GATHER_TRY(take_member(json, &walk, strict, members, count));
  }
}

gather_status gather_zarr_check_text(gather_json *json, int64_t bytes) {
  enum { MOST_BYTES = 16 << 20, MOST_DEPTH = 32 };
  int depth = 0;
  bool in_text = false;
  if (bytes > MOST_BYTES)
    return gather_fail_file(json->error, GATHER_UNSUPPORTED, json->name, -1, "metadata of %" PRId64 " bytes; at most %d are supported",
                            bytes, MOST_BYTES);
  for (int64_t at = 0; at < bytes; at++) {
    const uint8_t c = json->bytes[at];
    if (c == '"') in_text = !in_text;
    if (in_text && c == '\\') at++;
    if (in_text) continue;
    depth += (c == '{' || c == '[') - (c == '}' || c == ']');
    if (depth > MOST_DEPTH)
      return gather_fail_file(json->error, GATHER_UNSUPPORTED, json->name, at, "the JSON is nested deeper than %d levels", MOST_DEPTH);
  }
  return gather_json_utf8(json, (gather_json_part){0, bytes});
}

gather_status gather_zarr_lengths(gather_zarr_reading *r, const json_t *list, const char *what, int64_t least, int64_t *lengths) {
  const int32_t rank = r->tensor->tensor.rank;
  if (!json_is_array(list) || json_array_size(list) != (size_t)rank)
    return GATHER_ZARR_WRONG(r, "%s is not a list of %" PRId32 " lengths", what, rank);
  for (int32_t d = 0; d < rank; d++) {
    const json_t *length = json_array_get(list, (size_t)d);
    if (!json_is_integer(length) || json_integer_value(length) < least)
      return GATHER_ZARR_WRONG(r, "%s has a length that is not a whole number of at least %" PRId64, what, least);
    lengths[d] = (int64_t)json_integer_value(length);
  }
  return GATHER_OK;
}

#endif
