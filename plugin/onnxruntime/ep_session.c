/* SPDX-License-Identifier: MIT
 *
 * ep_session.c: the sessions that live. The host releases kernels and the provider in any order, so that the last of them ends the
 * session.
 */
#define _XOPEN_SOURCE 700
#include "ep_session.h"

#include <pthread.h>
#include <stdlib.h>

#include "ep_text.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static ort_session *sessions; /* those that live; the statistics read them */

void gather_ort_session_free(ort_session *session) {
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

void gather_ort_session_begin(ort_session *session) {
  (void)pthread_mutex_lock(&lock);
  session->next = sessions;
  sessions = session;
  (void)pthread_mutex_unlock(&lock);
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
  gather_ort_session_free(session);
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
