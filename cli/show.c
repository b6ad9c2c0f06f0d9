/* SPDX-License-Identifier: MIT
 *
 * show.c: printable texts and shapes, and the stream of the JSON object.
 */
#include "show.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "gather/file.h"

FILE *gather_cli_json_stream(const gather_cli_args *args) {
  const char *output = args->value[GATHER_CLI_OUTPUT];
  return output && strcmp(output, "-") == 0 ? stderr : stdout;
}

char *gather_cli_shape_text(char *text, size_t bytes, int32_t rank, const int64_t *shape) {
  size_t used = (size_t)snprintf(text, bytes, "[");
  for (int32_t i = 0; i < rank; i++) {
    char number[24];
    size_t len = (size_t)snprintf(number, sizeof number, "%s%" PRId64, i ? ", " : "", shape[i]);
    if (used + len + 6 > bytes) { /* room for "...]" and the end */
      snprintf(text + used, bytes - used, "...");
      used += 3;
      break;
    }
    memcpy(text + used, number, len);
    used += len;
  }
  snprintf(text + used, bytes - used, "]");
  return text;
}

void gather_cli_put(FILE *to, const char *text) {
  char few[256], *all = few;
  size_t bytes = gather_text_visible(text, few, sizeof few) + 1;
  if (bytes > sizeof few && (all = malloc(bytes)) != NULL) (void)gather_text_visible(text, all, bytes);
  fputs(all ? all : few, to); /* out of memory: the beginning */
  if (all != few) free(all);
}

static const char OF_SENTENCES[] = "'\":;,.)"; /* they end a URL in a message */

/* The bytes before the host: a user and a password with their "@"; all of them if the word was cut behind a password, which is no port. */
static size_t user_bytes(const char *authority, size_t bytes) {
  for (size_t i = bytes; i > 0; i--)
    if (authority[i - 1] == '@') return i;
  size_t at = authority[0] == '[' ? strcspn(authority, "]") : 0;
  while (bytes > at && strchr(OF_SENTENCES, authority[bytes - 1])) bytes--;
  while (at < bytes && authority[at] != ':') at++;
  if (at >= bytes) return 0;
  return at + 1 + strspn(authority + at + 1, "0123456789") < bytes ? bytes : 0;
}

/* Whether a '?' begins a query behind the scheme that ends here: in s3:// and hf:// it is a character like others. */
static bool has_queries(const char *text, const char *end) {
  const char *begin = end;
  while (begin > text && (isalnum((unsigned char)begin[-1]) || (begin[-1] && strchr("+.-", begin[-1])))) begin--;
  const bool two = end - begin == 2 && (strncasecmp(begin, "s3", 2) == 0 || strncasecmp(begin, "hf", 2) == 0);
  return begin < end && !two;
}

void gather_cli_hide_secrets(char *text) {
  for (char *at = strstr(text, "://"); at; at = strstr(at, "://")) {
    const bool queries = has_queries(text, at);
    at += 3;
    if (!queries) continue;
    const size_t user = user_bytes(at, strcspn(at, "/?# \t\r\n"));
    memmove(at, at + user, strlen(at + user) + 1);
    char *query = at + strcspn(at, "?# \t\r\n");
    size_t bytes = *query == '?' || *query == '#' ? strcspn(query, " \t\r\n") : 0;
    while (bytes > 0 && strchr(OF_SENTENCES, query[bytes - 1])) bytes--;
    memmove(query, query + bytes, strlen(query + bytes) + 1);
  }
}
