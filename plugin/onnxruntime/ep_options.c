/* SPDX-License-Identifier: MIT
 *
 * ep_options.c: reads the options of the execution provider from texts; one row of the table each.
 */
#include "ep_options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct option_row {
  const char *name, *variable, *values; /* variable: of the environment; values: what it may be, for messages */
  bool (*read)(ort_ep_options *options, const char *value);
} option_row;

/* A whole number of 0 or more; *rest is what follows it. */
static bool number(const char *text, int64_t *value, const char **rest) {
  char *end;
  if (text[0] < '0' || text[0] > '9') return false;
  errno = 0;
  *value = strtoll(text, &end, 10);
  *rest = end;
  return errno == 0;
}

/* The bytes of a unit, as the command's options have them: "" and "B", "KiB" and "K", "KB"; 0 if it is none. */
static int64_t unit_bytes(const char *text) {
  static const char letters[] = "KMGT";
  if (text[0] == '\0' || strcmp(text, "B") == 0) return 1;
  const char *letter = strchr(letters, text[0]);
  if (!letter) return 0;
  const int64_t base = strcmp(text + 1, "B") == 0 ? 1000 : 1024;
  if (base == 1024 && text[1] != '\0' && strcmp(text + 1, "iB") != 0) return 0;
  int64_t bytes = base;
  for (const char *p = letters; p < letter; p++) bytes *= base;
  return bytes;
}

static int64_t usable_memory(void) {
  gather_machine machine = GATHER_MACHINE_INIT;
  gather_machine_describe(&machine);
  return machine.usable_memory;
}

/* "4096", "512MiB", "2G", "25%" of the memory that this process may use. */
static bool amount(const char *text, int64_t *bytes) {
  const char *rest;
  if (!number(text, bytes, &rest)) return false;
  if (strcmp(rest, "%") == 0) {
    if (*bytes > 100) return false;
    *bytes = usable_memory() / 100 * *bytes;
    return true;
  }
  const int64_t unit = unit_bytes(rest);
  if (unit == 0 || *bytes > INT64_MAX / unit) return false;
  *bytes *= unit;
  return true;
}

static bool yes_or_no(const char *text, bool *value) {
  *value = strcmp(text, "1") == 0;
  return *value || strcmp(text, "0") == 0;
}

static bool copy(const char *text, char *to, size_t room) {
  const size_t bytes = strlen(text);
  if (bytes >= room) return false;
  memcpy(to, text, bytes + 1);
  return true;
}

static bool read_take(ort_ep_options *options, const char *value) {
  options->only_tables = strcmp(value, "tables") == 0;
  return options->only_tables || strcmp(value, "all") == 0;
}
static bool read_table(ort_ep_options *options, const char *value) {
  static const char *const names[] = {"auto", "always", "never"};
  for (int i = 0; i < 3; i++)
    if (strcmp(value, names[i]) == 0) {
      options->table = (ort_table_use)i;
      return true;
    }
  return false;
}
static bool read_table_min(ort_ep_options *options, const char *value) { return amount(value, &options->table_min); }
static bool read_memory(ort_ep_options *options, const char *value) {
  int64_t *bytes = &options->open.memory_bytes;
  return amount(value, bytes) && (*bytes == 0 || *bytes >= GATHER_TABLE_LEAST_MEMORY);
}
static bool read_cache(ort_ep_options *options, const char *value) {
  options->open.cache_bytes = -1;
  return strcmp(value, "auto") == 0 || amount(value, &options->open.cache_bytes);
}
static bool read_engine(ort_ep_options *options, const char *value) {
  return gather_engine_parse(value, &options->open.engine, NULL) == GATHER_OK;
}
static bool read_depth(ort_ep_options *options, const char *value) {
  int64_t depth = 0;
  const char *rest = "";
  const bool automatic = strcmp(value, "auto") == 0;
  if (!automatic && (!number(value, &depth, &rest) || rest[0] || depth < 1 || depth > 4096)) return false;
  options->open.depth = (int32_t)depth;
  return true;
}
static bool read_buffered(ort_ep_options *options, const char *value) { return yes_or_no(value, &options->open.buffered); }
static bool read_keep_signals(ort_ep_options *options, const char *value) { return yes_or_no(value, &options->open.keep_signals); }
static bool read_types(ort_ep_options *options, const char *value) {
  options->all_types = strcmp(value, "all") == 0;
  return options->all_types || strcmp(value, "onnx") == 0;
}
static bool read_verbose(ort_ep_options *options, const char *value) { return yes_or_no(value, &options->verbose); }
static bool read_label(ort_ep_options *options, const char *value) { return copy(value, options->label, sizeof options->label); }
static bool read_report_file(ort_ep_options *options, const char *value) {
  return copy(value, options->report_file, sizeof options->report_file);
}

#define AMOUNT "bytes (65536, 512MiB, 2GB) or a share of the memory (25%)"
static const option_row rows[] = {
    {"take", "GATHER_ORT_TAKE", "all or tables", read_take},
    {"table", "GATHER_ORT_TABLE", "auto, always or never", read_table},
    {"table_min", "GATHER_ORT_TABLE_MIN", AMOUNT, read_table_min},
    {"memory", "GATHER_ORT_MEMORY", AMOUNT ", at least 1MiB; 0 is no limit", read_memory},
    {"cache", "GATHER_ORT_CACHE", AMOUNT ", or auto", read_cache},
    {"engine", "GATHER_ORT_ENGINE", "auto, mmap, pread or uring", read_engine},
    {"depth", "GATHER_ORT_DEPTH", "1 to 4096, or auto", read_depth},
    {"buffered", "GATHER_ORT_BUFFERED", "0 or 1", read_buffered},
    {"keep_signals", "GATHER_ORT_KEEP_SIGNALS", "0 or 1", read_keep_signals},
    {"types", "GATHER_ORT_TYPES", "onnx or all", read_types},
    {"verbose", "GATHER_ORT_VERBOSE", "0 or 1", read_verbose},
    {"label", "GATHER_ORT_LABEL", "a text shorter than 128 bytes", read_label},
    {"report_file", "GATHER_ORT_REPORT_FILE", "a path shorter than 4096 bytes", read_report_file},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

static gather_status set_row(const option_row *row, ort_ep_options *options, const char *value, const char *shown, gather_error *error) {
  if (row->read(options, value)) return GATHER_OK;
  return gather_error_set(error, GATHER_USAGE, "%.40s: invalid value '%.80s'; it must be %s", shown, value, row->values);
}

static gather_status unknown(const char *name, gather_error *error) {
  char names[400] = "";
  size_t end = 0;
  const char *next;
  for (size_t i = 0; i < ROWS && end < sizeof names; i++) end += (size_t)snprintf(names + end, sizeof names - end, "%s, ", rows[i].name);
  for (int i = 0; (next = gather_ort_options_name(i)) && end < sizeof names; i++)
    end += (size_t)snprintf(names + end, sizeof names - end, "%s%s", i ? ", " : "", next);
  return gather_error_set(error, GATHER_NAME_NOT_FOUND, "unknown option '%.80s'; the options are: %s", name, names);
}

gather_status gather_ort_ep_options_set(ort_ep_options *options, const char *name, const char *value, gather_error *error) {
  for (size_t i = 0; i < ROWS; i++)
    if (strcmp(name, rows[i].name) == 0) return set_row(&rows[i], options, value, name, error);
  gather_status status = gather_ort_options_set(&options->node, name, value, error);
  return status == GATHER_NAME_NOT_FOUND ? unknown(name, error) : status;
}

const char *gather_ort_ep_options_name(int i) { return i >= 0 && i < ROWS ? rows[i].name : gather_ort_options_name(i - ROWS); }

gather_status gather_ort_ep_options_init(ort_ep_options *options, gather_error *error) {
  memset(options, 0, sizeof *options);
  options->open = (gather_table_options)GATHER_TABLE_OPTIONS_INIT;
  options->table_min = usable_memory() / 8;
  if (options->table_min > ORT_TABLE_MIN) options->table_min = ORT_TABLE_MIN;
  gather_status status = gather_ort_options_from_environment(&options->node, error);
  for (size_t i = 0; i < ROWS && status == GATHER_OK; i++) {
    const char *value = getenv(rows[i].variable);
    if (value) status = set_row(&rows[i], options, value, rows[i].variable, error);
  }
  return status;
}
