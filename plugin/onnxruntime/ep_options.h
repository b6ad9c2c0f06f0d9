/* SPDX-License-Identifier: MIT
 *
 * ep_options.h: the options of the execution provider: those of every node (options.h), and which tables are read how.
 */
#ifndef GATHER_PLUGIN_ORT_EP_OPTIONS_H
#define GATHER_PLUGIN_ORT_EP_OPTIONS_H

#include "gather/table.h"
#include "options.h"

/* Which external initializers are read by the table engine. */
typedef enum ort_table_use {
  ORT_TABLE_AUTO = 0, /* those of at least table_min bytes */
  ORT_TABLE_ALWAYS,   /* every one */
  ORT_TABLE_NEVER
} ort_table_use;

enum { ORT_PATH_BYTES = 4096, ORT_LABEL_BYTES = 128, ORT_TABLE_MIN = 256 << 20 };

/* The options of one session. */
typedef struct ort_ep_options {
  ort_options node;
  ort_table_use table;
  int64_t table_min;                /* bytes; ORT_TABLE_MIN, but at most an eighth of the memory that this process may use */
  bool only_tables;                 /* take only nodes whose data the table engine reads */
  gather_table_options open;        /* how tables are opened */
  bool all_types;                   /* custom operators: also the types that the host's operators lack */
  bool verbose;                     /* a summary on stderr when the session ends */
  char label[ORT_LABEL_BYTES];      /* names the session in reports; "" */
  char report_file[ORT_PATH_BYTES]; /* a line of JSON is appended to it when the session ends; "" = none */
} ort_ep_options;

/* The defaults, then what the environment says (GATHER_ORT_TABLE_MIN ...). Returns GATHER_USAGE, naming the variable. */
GATHER_CHECKED gather_status gather_ort_ep_options_init(ort_ep_options *options, gather_error *error);
/* Sets one option by its short name. Returns GATHER_NAME_NOT_FOUND for an unknown name (the message lists the names), GATHER_USAGE for
 * a value that the option cannot have (the message says which it can). */
GATHER_CHECKED gather_status gather_ort_ep_options_set(ort_ep_options *options, const char *name, const char *value, gather_error *error);

/* The short name of option i, those of every node included; NULL after the last. */
const char *gather_ort_ep_options_name(int i);

#endif
