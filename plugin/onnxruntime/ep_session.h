/* SPDX-License-Identifier: MIT
 *
 * ep_session.h: an execution provider of one session: its options, what it took over, and how it is reported.
 */
#ifndef GATHER_PLUGIN_ORT_EP_SESSION_H
#define GATHER_PLUGIN_ORT_EP_SESSION_H

#include <stdatomic.h>

#include "ep_external.h"
#include "ep_host.h"
#include "ep_options.h"
#include "ep_tables.h"
#include "ep_text.h"
#include "node.h"

#define ORT_EP_NAME "GatherExecutionProvider"

typedef struct ort_session ort_session;

/* A node that was taken over. It lives as long as the session. */
typedef struct ort_taken {
  struct ort_taken *next;
  char *name;     /* of the node; may be "" */
  const char *op; /* "Gather"; static memory */
  int version;
  const char *type;    /* of the data, "float32"; "" = unknown before it runs */
  char *data;          /* the name of the value; "" */
  char why[200];       /* why the rows are taken this way */
  ort_table *table;    /* NULL: from the tensor of the host */
  ort_table *sides[2]; /* of GatherBlockQuantized: likewise of the scales and the zero points */
  char *side_data[2];  /* their names; NULL */
  _Atomic int64_t runs;
} ort_taken;

/* One operator version of the kernel registry, as the state of its function that creates kernels. */
typedef struct ort_registered {
  ort_session *session;
  const ort_operator *op;
  int version;
} ort_registered;

enum { ORT_MOST_REGISTERED = 32 };

struct ort_session {
  OrtEp ep; /* the first member: the host's pointer is that of the session */
  ort_host host;
  ort_ep_options options;
  OrtKernelRegistry *registry;
  ort_registered registered[ORT_MOST_REGISTERED];
  int registered_count;
  char *model;             /* the model's path; "" before it is known */
  ort_external *externals; /* what GetCapability found */
  ort_taken *taken;        /* in the order of creation */
  int32_t users;           /* the host, and each kernel */
  ort_session *next;       /* of the sessions that live */
};

/* One that is filled in belongs to those that live from now on. */
void gather_ort_session_begin(ort_session *session);
/* Frees one that did not begin; see gather_ort_session_release for the others. */
void gather_ort_session_free(ort_session *session);
/* Whether any session lives. */
bool gather_ort_sessions_live(void);
void gather_ort_session_share(ort_session *session);
/* The last user writes the reports and frees it. */
void gather_ort_session_release(ort_session *session);
/* Adds a node to it, which then belongs to it. */
void gather_ort_session_add(ort_session *session, ort_taken *taken);

/* Fills the session's kernel registry. Returns NULL, or a status. */
OrtStatus *gather_ort_registry_fill(ort_session *session);
/* OrtEp.GetCapability. */
OrtStatus *gather_ort_capability(OrtEp *ep, const OrtGraph *graph, OrtEpGraphSupportInfo *support);
/* OrtKernelCreate; state: an ort_registered. */
OrtStatus *gather_ort_kernel_create(void *state, const OrtKernelInfo *info, OrtKernelImpl **kernel);
/* Whether an external initializer is to be read by the table engine, as the options say. */
bool gather_ort_wants_table(const ort_ep_options *options, const ort_external *external);

/* Adds the report of a session as JSON. */
void gather_ort_report_session(ort_text *text, const ort_session *session);
/* The same of every session that lives, with commas between them. */
void gather_ort_report_sessions(ort_text *text);
/* Adds what a table read as JSON. data: the name of the initializer; NULL = not known. */
void gather_ort_report_table(ort_text *text, const ort_table *table, const char *data, int32_t users);
/* What the options ask for at the end of a session: a line of the report file, a summary on stderr. */
void gather_ort_report_end(const ort_session *session);

#endif
