/* SPDX-License-Identifier: MIT
 *
 * custom_options.c: the options of the custom-operator door, which are those of the execution provider: from the environment and from the
 * session's config entries.
 */
#include <stdio.h>
#include <string.h>

#include "custom_ops.h"

/* The config entry of an option: "gather.threads". */
static const char *entry_name(const char *option, char *text, size_t bytes) {
  (void)snprintf(text, bytes, "gather.%s", option);
  return text;
}

static OrtStatus *set(const ort_host *host, ort_ep_options *options, const char *name, const char *value) {
  gather_error error;
  char text[700];
  if (gather_ort_ep_options_set(options, name, value, &error) == GATHER_OK) return NULL;
  (void)snprintf(text, sizeof text, "config entry gather.%s: %s", name, error.message);
  return ORT(host, CreateStatus)(ORT_INVALID_ARGUMENT, text);
}

/* One entry of the session, if it has it. */
static OrtStatus *read_entry(const ort_host *host, const OrtSessionOptions *session, const char *name, ort_ep_options *options) {
  char key[64], value[ORT_PATH_BYTES];
  int has = 0;
  size_t bytes = sizeof value;
  entry_name(name, key, sizeof key);
  OrtStatus *status = ORT(host, HasSessionConfigEntry)(session, key, &has);
  if (!status && has) status = ORT(host, GetSessionConfigEntry)(session, key, value, &bytes);
  if (status || !has) return status;
  return set(host, options, name, value);
}

OrtStatus *gather_ort_custom_options(const ort_host *host, const OrtSessionOptions *session, ort_ep_options *options) {
  gather_error error;
  const char *name;
  if (gather_ort_ep_options_init(options, &error) != GATHER_OK) return ORT(host, CreateStatus)(ORT_INVALID_ARGUMENT, error.message);
  OrtStatus *status = NULL;
  for (int i = 0; !status && (name = gather_ort_ep_options_name(i)) != NULL; i++) status = read_entry(host, session, name, options);
  return status;
}

OrtStatus *gather_ort_custom_late_options(const ort_host *host, const OrtKernelInfo *info, ort_ep_options *options) {
  OrtKeyValuePairs *entries = NULL;
  const char *name;
  char key[64];
  if (!ORT_HAS(host, KernelInfo_GetConfigEntries)) return NULL;
  OrtStatus *status = ORT(host, KernelInfo_GetConfigEntries)(info, &entries);
  if (status || !entries) return status;
  for (int i = 0; !status && (name = gather_ort_ep_options_name(i)) != NULL; i++) {
    const char *value = ORT(host, GetKeyValue)(entries, entry_name(name, key, sizeof key));
    if (value) status = set(host, options, name, value);
  }
  ORT(host, ReleaseKeyValuePairs)(entries);
  return status;
}

static bool nodes_equal(const ort_options *a, const ort_options *b) {
  return a->threads == b->threads && a->plans == b->plans && a->report == b->report && !strcmp(a->operators, b->operators);
}

static bool tables_equal(const gather_table_options *a, const gather_table_options *b) {
  return a->engine == b->engine && a->memory_bytes == b->memory_bytes && a->cache_bytes == b->cache_bytes && a->depth == b->depth &&
         a->buffered == b->buffered && a->keep_signals == b->keep_signals;
}

/* Those that this door has a use for. */
bool gather_ort_custom_options_equal(const ort_ep_options *a, const ort_ep_options *b) {
  return nodes_equal(&a->node, &b->node) && tables_equal(&a->open, &b->open) && a->table == b->table && a->table_min == b->table_min &&
         a->all_types == b->all_types;
}
