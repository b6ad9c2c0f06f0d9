/* SPDX-License-Identifier: MIT
 *
 * ep_report.c: what a session took over, and what its tables read: as JSON, as a line of a file, as a summary on stderr.
 */
#define _XOPEN_SOURCE 700
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ep_session.h"
#include "ep_text.h"

static void add_name(ort_text *text, const char *name, const char *value) {
  gather_ort_text_add(text, "\"%s\":", name);
  gather_ort_text_add_string(text, value ? value : "");
  gather_ort_text_add(text, ",");
}

static void add_number(ort_text *text, const char *name, int64_t value) { gather_ort_text_add(text, "\"%s\":%" PRId64 ",", name, value); }

void gather_ort_report_table(ort_text *text, const ort_table *open, const char *data, int32_t users) {
  gather_table_statistics counts;
  const gather_table *table = gather_ort_table_get(open);
  const gather_table_info *info = gather_table_describe(table);
  gather_table_statistics_get(table, &counts);
  gather_ort_text_add(text, "{");
  if (data)
    add_name(text, "data", data);
  else
    add_number(text, "users", users);
  add_name(text, "file", gather_ort_table_path(open));
  add_number(text, "offset", gather_ort_table_offset(open));
  add_number(text, "table_rows", info->rows);
  add_number(text, "row_bytes", info->row_bytes);
  add_name(text, "engine", gather_engine_name(counts.engine));
  add_name(text, "engine_why", counts.why);
  gather_ort_text_add(text, "\"direct\":%s,", counts.direct ? "true" : "false");
  add_number(text, "depth", counts.depth);
  add_number(text, "takes", counts.takes);
  add_number(text, "rows", counts.rows);
  add_number(text, "rows_resident", counts.rows_resident);
  add_number(text, "rows_cached", counts.rows_cached);
  add_number(text, "rows_read", counts.rows_read);
  add_number(text, "reads", counts.reads);
  add_number(text, "bytes_useful", counts.bytes_useful);
  add_number(text, "bytes_read", counts.bytes_read);
  add_number(text, "memory_bytes", counts.memory_bytes);
  add_number(text, "memory_peak", counts.memory_peak);
  add_number(text, "memory_limit", counts.memory_ceiling);
  gather_ort_text_add(text, "\"seconds\":%.6f,\"seconds_waiting\":%.6f}", counts.seconds, counts.seconds_waiting);
}

enum { TABLES = 3 };

/* Table number i of a node: of its data, its scales, its zero points; NULL = none. */
static const ort_table *table_of(const ort_taken *taken, int i) { return i == 0 ? taken->table : taken->sides[i - 1]; }

static const char *data_of(const ort_taken *taken, int i) {
  const char *name = i == 0 ? taken->data : taken->side_data[i - 1];
  return name ? name : "";
}

/* Whether the session has this table before. */
static bool shown(const ort_session *session, const ort_taken *taken, int i) {
  for (const ort_taken *other = session->taken; other; other = other->next)
    for (int j = 0; j < TABLES; j++) {
      if (other == taken && j == i) return false;
      if (table_of(other, j) == table_of(taken, i)) return true;
    }
  return false;
}

static void add_node(ort_text *text, const ort_taken *taken) {
  gather_ort_text_add(text, "{");
  add_name(text, "name", taken->name);
  add_name(text, "operator", taken->op);
  add_number(text, "version", taken->version);
  add_name(text, "data", taken->data);
  add_name(text, "type", taken->type);
  add_name(text, "way", taken->table ? "table" : "plain");
  add_name(text, "why", taken->why);
  gather_ort_text_add(text, "\"runs\":%" PRId64 "}", atomic_load_explicit(&taken->runs, memory_order_relaxed));
}

void gather_ort_report_session(ort_text *text, const ort_session *session) {
  const char *comma = "";
  gather_ort_text_add(text, "{");
  add_name(text, "provider", ORT_EP_NAME);
  add_name(text, "label", session->options.label);
  add_name(text, "model", session->model);
  gather_ort_text_add(text, "\"nodes\":[");
  for (const ort_taken *taken = session->taken; taken; taken = taken->next, comma = ",") {
    gather_ort_text_add(text, "%s", comma);
    add_node(text, taken);
  }
  gather_ort_text_add(text, "],\"tables\":[");
  comma = "";
  for (const ort_taken *taken = session->taken; taken; taken = taken->next)
    for (int i = 0; i < TABLES; i++) {
      if (!table_of(taken, i) || shown(session, taken, i)) continue;
      gather_ort_text_add(text, "%s", comma);
      gather_ort_report_table(text, table_of(taken, i), data_of(taken, i), 0);
      comma = ",";
    }
  gather_ort_text_add(text, "]}");
}

/* Appends the report as one line. One call of write, so that lines of several processes do not mix. */
static bool append(const ort_session *session) {
  enum { MORE = 4096 }; /* other sessions may count on in a shared table meanwhile */
  ort_text text = {NULL, 0, 0};
  gather_ort_report_session(&text, session);
  text.room = text.end + MORE;
  text.end = 0;
  text.to = malloc(text.room);
  if (!text.to) {
    errno = ENOMEM;
    return false;
  }
  gather_ort_report_session(&text, session);
  text.to[text.end] = '\n';
  const int fd = open(session->options.report_file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  bool good = fd >= 0 && write(fd, text.to, text.end + 1) == (ssize_t)(text.end + 1);
  if (fd >= 0 && close(fd) != 0) good = false;
  free(text.to);
  return good;
}

static void summary_of_table(const ort_table *table, const char *data) {
  gather_table_statistics counts;
  char read[32], useful[32], peak[32];
  gather_table_statistics_get(gather_ort_table_get(table), &counts);
  (void)fprintf(stderr,
                "  table '%s' (%s at byte %" PRId64 "), %s: %" PRId64 " rows, %" PRId64 " resident, %" PRId64 " cached, %" PRId64
                " read; %s useful, %s read; at most %s of memory\n",
                data, gather_ort_table_path(table), gather_ort_table_offset(table), gather_engine_name(counts.engine), counts.rows,
                counts.rows_resident, counts.rows_cached, counts.rows_read, gather_text_bytes(counts.bytes_useful, useful, sizeof useful),
                gather_text_bytes(counts.bytes_read, read, sizeof read), gather_text_bytes(counts.memory_peak, peak, sizeof peak));
}

static void summary(const ort_session *session) {
  int64_t nodes = 0, runs = 0;
  for (const ort_taken *taken = session->taken; taken; taken = taken->next) {
    nodes++;
    runs += atomic_load_explicit(&taken->runs, memory_order_relaxed);
  }
  (void)fprintf(stderr, "%s%s%s: %s: %" PRId64 " nodes taken over, run %" PRId64 " times\n", ORT_EP_NAME,
                session->options.label[0] ? " " : "", session->options.label, session->model[0] ? session->model : "a model from memory",
                nodes, runs);
  for (const ort_taken *taken = session->taken; taken; taken = taken->next)
    for (int i = 0; i < TABLES; i++)
      if (table_of(taken, i) && !shown(session, taken, i)) summary_of_table(table_of(taken, i), data_of(taken, i));
}

void gather_ort_report_end(const ort_session *session) {
  if (session->options.verbose) summary(session);
  if (session->options.report_file[0] && !append(session))
    (void)fprintf(stderr, "%s: %s: %s\n", ORT_EP_NAME, session->options.report_file, strerror(errno));
}
