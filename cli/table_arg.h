/* SPDX-License-Identifier: MIT
 *
 * table_arg.h: tables on the command line: --memory, --engine and --depth, and the statistics in the answer.
 */
#ifndef GATHER_CLI_TABLE_ARG_H
#define GATHER_CLI_TABLE_ARG_H

#include <stdio.h>

#include "args.h"
#include "gather/table.h"

struct gather_cli_json;

/* The options of the line. */
typedef struct gather_cli_table_options {
  const char *asked;    /* one of them that was given, without its dashes; or NULL */
  int64_t memory_bytes; /* of the whole program; 0 = no limit */
  gather_engine engine;
  int32_t depth; /* 0 = automatic */
} gather_cli_table_options;

/* Reads them. GATHER_USAGE. */
GATHER_CHECKED gather_status gather_cli_table_options_read(const gather_cli_args *args, gather_cli_table_options *options,
                                                           gather_error *error);

/* The files of a table: `first`, and those of --part. count: how many. The array is freed by the caller; NULL = out of memory. */
const char **gather_cli_table_paths(const gather_cli_args *args, const char *first, int32_t *count);

/* The object "table" of an answer; table: for its devices, or NULL. */
void gather_cli_json_table(struct gather_cli_json *json, const gather_table *table, const gather_table_statistics *statistics);
/* A member of its array "devices". */
void gather_cli_json_device(struct gather_cli_json *json, const gather_table_device *device);
/* "uring, direct I/O, 128 reads in flight": the engine as text. Returns text. */
char *gather_cli_engine_text(char *text, size_t bytes, const gather_table_statistics *statistics);
/* Prints a note on stderr if another engine than the requested one reads; not with -q or --json. */
void gather_cli_table_note(const gather_cli_args *args, gather_engine asked, const gather_table_statistics *statistics);

#endif
