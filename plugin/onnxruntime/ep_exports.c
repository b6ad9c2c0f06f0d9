/* SPDX-License-Identifier: MIT
 *
 * ep_exports.c: functions of the plug-in for other programs than ONNX Runtime: libgather.onnxruntime calls them.
 */
#include <stdio.h>

#include "ep_session.h"

#define EXPORTED __attribute__((visibility("default")))

/* What the plug-in does now, as JSON: {"sessions":[...],"tables":[...]}: the sessions of the execution provider, and the open tables of
 * both doors. As snprintf: writes at most `bytes` with the terminator, returns the length without truncation. Threads: any. */
EXPORTED size_t gather_onnxruntime_statistics(char *text, size_t bytes);

/* Whether an option of the execution provider has this name and may have this value. Returns true; or false, with one sentence that
 * says what is wrong. message: room for `bytes`. Threads: any. */
EXPORTED bool gather_onnxruntime_option_check(const char *name, const char *value, char *message, size_t bytes);

typedef struct table_list {
  ort_text text;
  const char *comma;
} table_list;

static void add_table(void *context, const ort_table *table, int32_t users) {
  table_list *list = context;
  gather_ort_text_add(&list->text, "%s", list->comma);
  gather_ort_report_table(&list->text, table, NULL, users);
  list->comma = ",";
}

size_t gather_onnxruntime_statistics(char *to, size_t bytes) {
  table_list list = {{to, bytes, 0}, ""};
  gather_ort_text_add(&list.text, "{\"sessions\":[");
  gather_ort_report_sessions(&list.text);
  gather_ort_text_add(&list.text, "],\"tables\":[");
  gather_ort_tables_each(add_table, &list);
  gather_ort_text_add(&list.text, "]}");
  return list.text.end;
}

bool gather_onnxruntime_option_check(const char *name, const char *value, char *message, size_t bytes) {
  ort_ep_options options;
  gather_error error;
  gather_status status = gather_ort_ep_options_init(&options, &error);
  if (status == GATHER_OK) status = gather_ort_ep_options_set(&options, name, value, &error);
  if (status != GATHER_OK) (void)snprintf(message, bytes, "%s", error.message);
  return status == GATHER_OK;
}
