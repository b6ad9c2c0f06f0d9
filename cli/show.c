/* SPDX-License-Identifier: MIT
 *
 * show.c: printable texts and shapes, and the stream of the JSON object.
 */
#include "show.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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
