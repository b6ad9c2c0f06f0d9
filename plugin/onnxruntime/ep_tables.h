/* SPDX-License-Identifier: MIT
 *
 * ep_tables.h: open tables of external initializers. Nodes and sessions that read the same bytes of the same file with the same options
 * share one: its cache, its memory limit and its counts.
 */
#ifndef GATHER_PLUGIN_ORT_EP_TABLES_H
#define GATHER_PLUGIN_ORT_EP_TABLES_H

#include "gather/table.h"
#include "node.h"

typedef struct ort_table ort_table;

/* What a table is opened from. Pointers need to be valid during the call only. */
typedef struct ort_table_source {
  const char *path;
  int64_t offset;
  gather_type type;
  int32_t rank;
  const int64_t *shape;
  const gather_table_options *options; /* `raw` is ignored */
} ort_table_source;

/* Opens it, or shares one that is open. Released by gather_ort_table_release. Returns the errors of gather_table_open, and
 * GATHER_UNSUPPORTED for a type that has another byte order in files than in this machine. Threads: any. */
GATHER_CHECKED gather_status gather_ort_table_acquire(const ort_table_source *source, ort_table **table, gather_error *error);
/* Releases it; the last one closes it and ends its threads. NULL does nothing. */
void gather_ort_table_release(ort_table *table);
/* One more user. Returns table. */
ort_table *gather_ort_table_share(ort_table *table);
/* The rows of a table for a node, which takes over the caller's use of it and releases it. */
ort_rows gather_ort_table_rows(ort_table *table);
gather_table *gather_ort_table_get(const ort_table *table);
/* The file that it is in, as it was opened; "" if there was no memory for the name. */
const char *gather_ort_table_path(const ort_table *table);
/* Where its first element is in that file. */
int64_t gather_ort_table_offset(const ort_table *table);
/* Calls `visit` for each open table. users: the nodes and sessions that share it. `visit` must not open or release tables. */
void gather_ort_tables_each(void (*visit)(void *context, const ort_table *table, int32_t users), void *context);

#endif
