/* SPDX-License-Identifier: MIT
 *
 * json.c: a small JSON writer. No locale is ever set, so numbers have JSON's syntax.
 */
#include "json.h"

#include <inttypes.h>
#include <string.h>

#include "gather/file.h"

int gather_cli_utf8(const char *text, uint32_t *code) {
  static const uint32_t LEAST[] = {0, 0, 0x80, 0x800, 0x10000}; /* overlong forms are invalid */
  const unsigned char *p = (const unsigned char *)text;
  int len = p[0] < 0x80 ? 1 : p[0] >> 5 == 6 ? 2 : p[0] >> 4 == 14 ? 3 : p[0] >> 3 == 30 ? 4 : 0;
  if (len == 0) return 0;
  uint32_t c = len == 1 ? p[0] : p[0] & (0x7fu >> len);
  for (int i = 1; i < len; i++) {
    if (p[i] >> 6 != 2) return 0;
    c = c << 6 | (p[i] & 0x3fu);
  }
  if (c < LEAST[len] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff)) return 0;
  *code = c;
  return len;
}

/* Whether a terminal may get the character: JSON is read there too. */
static bool is_plain(const char *text, int len) {
  char one[5] = "", shown[16];
  memcpy(one, text, (size_t)len);
  return gather_text_visible(one, shown, sizeof shown) == (size_t)len;
}

static void write_char(FILE *to, uint32_t code, const char *text, int len) {
  if (code == '"' || code == '\\')
    fprintf(to, "\\%c", (int)code);
  else if (code == '\n')
    fputs("\\n", to);
  else if (code == '\t')
    fputs("\\t", to);
  else if (!is_plain(text, len))
    fprintf(to, "\\u%04" PRIx32, code);
  else
    fwrite(text, 1, (size_t)len, to);
}

static void write_string(FILE *to, const char *text) {
  putc('"', to);
  while (*text) {
    uint32_t code = 0;
    int len = gather_cli_utf8(text, &code);
    if (len == 0)
      fputs("\\ufffd", to);
    else
      write_char(to, code, text, len);
    text += len ? len : 1;
  }
  putc('"', to);
}

/* Writes what comes before a value: a comma, and the key in objects. */
static FILE *lead(gather_cli_json *json, const char *key) {
  if (json->comma) putc(',', json->to);
  json->comma = true;
  if (key) {
    write_string(json->to, key);
    putc(':', json->to);
  }
  return json->to;
}

static void open_bracket(gather_cli_json *json, const char *key, char bracket) {
  putc(bracket, lead(json, key));
  json->comma = false;
}

static void close_bracket(gather_cli_json *json, char bracket) {
  putc(bracket, json->to);
  json->comma = true;
}

gather_cli_json gather_cli_json_begin(FILE *to) {
  gather_cli_json json = {to, false};
  open_bracket(&json, NULL, '{');
  return json;
}

void gather_cli_json_finish(gather_cli_json *json) { fputs("}\n", json->to); }
void gather_cli_json_object(gather_cli_json *json, const char *key) { open_bracket(json, key, '{'); }
void gather_cli_json_object_end(gather_cli_json *json) { close_bracket(json, '}'); }
void gather_cli_json_array(gather_cli_json *json, const char *key) { open_bracket(json, key, '['); }
void gather_cli_json_array_end(gather_cli_json *json) { close_bracket(json, ']'); }

void gather_cli_json_string(gather_cli_json *json, const char *key, const char *text) {
  FILE *to = lead(json, key);
  if (text)
    write_string(to, text);
  else
    fputs("null", to);
}

void gather_cli_json_int(gather_cli_json *json, const char *key, int64_t number) { fprintf(lead(json, key), "%" PRId64, number); }

void gather_cli_json_uint(gather_cli_json *json, const char *key, uint64_t number) { fprintf(lead(json, key), "%" PRIu64, number); }

void gather_cli_json_double(gather_cli_json *json, const char *key, double number) { fprintf(lead(json, key), "%.6g", number); }

void gather_cli_json_bool(gather_cli_json *json, const char *key, bool value) { fputs(value ? "true" : "false", lead(json, key)); }

void gather_cli_json_ints(gather_cli_json *json, const char *key, int32_t count, const int64_t *numbers) {
  gather_cli_json_array(json, key);
  for (int32_t i = 0; i < count; i++) gather_cli_json_int(json, NULL, numbers[i]);
  gather_cli_json_array_end(json);
}

void gather_cli_json_words(gather_cli_json *json, const char *key, const char *text) {
  char word[64];
  gather_cli_json_array(json, key);
  for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
    size_t len = strcspn(text, " ");
    snprintf(word, sizeof word, "%.*s", (int)len, text);
    gather_cli_json_string(json, NULL, word);
    text += len;
  }
  gather_cli_json_array_end(json);
}
