/* SPDX-License-Identifier: MIT
 *
 * ep_session.c: makes and ends execution providers. The host releases kernels and the provider in any order, so that the last of them
 * ends the session.
 */
#define _XOPEN_SOURCE 700
#include "ep_session.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ep_text.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static ort_session *sessions; /* those that live; the statistics read them */

OrtStatus *gather_ort_ep_status(const ort_host *host, const char *prefix, const gather_error *error) {
  char text[700];
  const bool argument = gather_status_exit_code(error->status) != 3;
  (void)snprintf(text, sizeof text, "%s%s", prefix, error->message);
  return ORT(host, CreateStatus)(argument ? ORT_INVALID_ARGUMENT : ORT_FAIL, text);
}

/* The option in a config entry: "gather.table" or "ep.gatherexecutionprovider.table"; NULL for other entries. */
static const char *option_in(const char *key, bool ours) {
  static const char shared[] = "gather.", own[] = "ep.gatherexecutionprovider.";
  const char *prefix = ours ? own : shared;
  const size_t bytes = strlen(prefix);
  return strncmp(key, prefix, bytes) == 0 ? key + bytes : NULL;
}

static gather_status read_entries(ort_session *session, const OrtKeyValuePairs *entries, gather_error *error) {
  const char *const *keys = NULL, *const *values = NULL;
  size_t count = 0;
  ORT(&session->host, GetKeyValuePairs)(entries, &keys, &values, &count);
  for (int ours = 0; ours < 2; ours++)
    for (size_t i = 0; i < count; i++) {
      const char *name = option_in(keys[i], ours != 0);
      if (!name) continue;
      gather_status status = gather_ort_ep_options_set(&session->options, name, values[i], error);
      if (status != GATHER_OK) return status;
    }
  return GATHER_OK;
}

static OrtStatus *read_options(ort_session *session, const OrtSessionOptions *options) {
  gather_error error;
  OrtKeyValuePairs *entries = NULL;
  gather_status status = gather_ort_ep_options_init(&session->options, &error);
  if (status == GATHER_OK) {
    OrtStatus *asked = ORT(&session->host, GetSessionOptionsConfigEntries)(options, &entries);
    if (asked) return asked;
    if (entries) status = read_entries(session, entries, &error);
    ORT(&session->host, ReleaseKeyValuePairs)(entries);
  }
  return status == GATHER_OK ? NULL : gather_ort_ep_status(&session->host, ORT_EP_NAME ": ", &error);
}

static const char *ep_name(const OrtEp *ep) {
  (void)ep;
  return ORT_EP_NAME;
}

static OrtStatus *ep_registry(OrtEp *ep, const OrtKernelRegistry **registry) {
  *registry = ((ort_session *)(void *)ep)->registry;
  return NULL;
}

static OrtStatus *ep_concurrent(OrtEp *ep, bool *supported) {
  (void)ep;
  *supported = true;
  return NULL;
}

static const OrtEp provider = {.ort_version_supported = ORT_OLDEST_EP,
                               .GetName = ep_name,
                               .GetCapability = gather_ort_capability,
                               .GetKernelRegistry = ep_registry,
                               .IsConcurrentRunSupported = ep_concurrent};

static void free_session(ort_session *session) {
  for (ort_taken *taken = session->taken, *next; taken; taken = next) {
    next = taken->next;
    gather_ort_table_release(taken->table);
    for (int i = 0; i < 2; i++) {
      gather_ort_table_release(taken->sides[i]);
      free(taken->side_data[i]);
    }
    free(taken->name);
    free(taken->data);
    free(taken);
  }
  for (ort_external *external = session->externals, *next; external; external = next) {
    next = external->next;
    gather_ort_external_free(external);
  }
  if (session->registry) ORT_EP(&session->host, ReleaseKernelRegistry)(session->registry);
  free(session->model);
  free(session);
}

OrtStatus *gather_ort_session_create(const ort_host *host, const OrtSessionOptions *options, ort_session **made) {
  ort_session *session = calloc(1, sizeof *session);
  *made = NULL;
  if (!session) return ORT(host, CreateStatus)(ORT_FAIL, "out of memory");
  session->ep = provider;
  session->host = *host;
  session->users = 1;
  session->model = gather_ort_text_copy("");
  OrtStatus *status = read_options(session, options);
  if (!status && !session->model) status = ORT(host, CreateStatus)(ORT_FAIL, "out of memory");
  if (!status) status = gather_ort_registry_fill(session);
  if (status) {
    free_session(session);
    return status;
  }
  (void)pthread_mutex_lock(&lock);
  session->next = sessions;
  sessions = session;
  (void)pthread_mutex_unlock(&lock);
  *made = session;
  return NULL;
}

bool gather_ort_sessions_live(void) {
  (void)pthread_mutex_lock(&lock);
  const bool live = sessions != NULL;
  (void)pthread_mutex_unlock(&lock);
  return live;
}

void gather_ort_session_share(ort_session *session) {
  (void)pthread_mutex_lock(&lock);
  session->users++;
  (void)pthread_mutex_unlock(&lock);
}

void gather_ort_session_release(ort_session *session) {
  (void)pthread_mutex_lock(&lock);
  const bool last = --session->users == 0;
  for (ort_session **p = &sessions; last && *p; p = &(*p)->next)
    if (*p == session) {
      *p = session->next;
      break;
    }
  (void)pthread_mutex_unlock(&lock);
  if (!last) return;
  gather_ort_report_end(session);
  free_session(session);
}

void gather_ort_session_add(ort_session *session, ort_taken *taken) {
  (void)pthread_mutex_lock(&lock);
  ort_taken **end = &session->taken;
  while (*end) end = &(*end)->next;
  *end = taken;
  (void)pthread_mutex_unlock(&lock);
}

void gather_ort_report_sessions(ort_text *text) {
  (void)pthread_mutex_lock(&lock);
  for (const ort_session *session = sessions; session; session = session->next) {
    if (session != sessions) gather_ort_text_add(text, ",");
    gather_ort_report_session(text, session);
  }
  (void)pthread_mutex_unlock(&lock);
}
