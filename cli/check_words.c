/* SPDX-License-Identifier: MIT
 *
 * check_words.c: what the command adds to the library's texts about models: advice as options of its line, and where to see more.
 */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "report.h"
#include "wrap.h"

/* A long list of names is truncated after a whole name. */
enum { LONGEST_OPTION = 80 };

void gather_cli_advice_write(void *context, const gather_advice *advice, char *text, size_t bytes) {
  const bool dims = advice->kind == GATHER_ADVICE_DIMS;
  size_t at = 0;
  (void)context;
  text[0] = 0;
  if (advice->kind == GATHER_ADVICE_NODE) at = (size_t)snprintf(text, bytes, "gather explain MODEL --node %.290s", advice->node);
  for (int64_t i = 0; i < advice->count && (at == 0 || at + LONGEST_OPTION < bytes); i++)
    at += (size_t)snprintf(text + at, bytes - at, "%s--%s %.*s=%s", at ? " " : "", dims ? "dim" : "input", dims ? 200 : 60,
                           advice->names[i], dims ? "LENGTH" : "TENSOR");
}

void gather_cli_put_not_checked(const gather_model *model, const char *behind) {
  const gather_model_info *info = gather_model_describe(model);
  for (int64_t i = 0, count = info->not_checked_count; i < count; i++) {
    const gather_model_not_checked *row = &info->not_checked[i];
    gather_cli_say(stdout, "%s%lld %s %s",
                   i == 0           ? ""
                   : i == count - 1 ? " and "
                                    : ", ",
                   (long long)row->nodes, row->op, row->nodes == 1 ? "node" : "nodes");
  }
  if (info->not_checked_count > 0) gather_cli_say(stdout, "%s", behind);
}

gather_status gather_cli_put_unreadable(const gather_file *file, gather_error *error) {
  char *text = NULL;
  GATHER_CLI_TRY(gather_file_unreadable_text(file, GATHER_CLI_UNREADABLE_ALL, &text, error));
  gather_cli_say(stdout, "%s", text);
  gather_text_free(text);
  return GATHER_OK;
}
