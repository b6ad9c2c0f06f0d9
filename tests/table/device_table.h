/* SPDX-License-Identifier: MIT
 *
 * device_table.h: a table of several files, which failing_devices puts on devices of their own, and takes of it. Include it behind
 * cmocka.h.
 */
#ifndef GATHER_TESTS_TABLE_DEVICE_TABLE_H
#define GATHER_TESTS_TABLE_DEVICE_TABLE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gather/table.h"
#include "table/failing.h"
#include "table/known.h"

/* Rows as long as a block, so far apart that no two are read together. */
enum { DEVICE_ROW = 4096, DEVICE_STEP = 4, DEVICE_MOST_PARTS = 20 };

typedef struct {
  gather_table *table;
  int parts;
  char path[DEVICE_MOST_PARTS][512];
  int64_t first[DEVICE_MOST_PARTS + 1]; /* the first row of each part, and the end */
} device_table;

/* Part i has rows[i] rows, of which every DEVICE_STEP-th will be taken, and is on the device devices[i], a digit. Part i is the known
 * bytes from the i-th KiB on, so that no row is like another. */
static inline void device_table_open(device_table *t, int parts, const int *rows, const int *devices, gather_engine engine, int32_t depth,
                                     int64_t memory) {
  const char *paths[DEVICE_MOST_PARTS];
  const int64_t shape[2] = {-1, DEVICE_ROW};
  const gather_raw raw = {"uint8", 2, shape, 0, true};
  gather_table_options options = GATHER_TABLE_OPTIONS_INIT;
  gather_error error = {0};
  *t = (device_table){.parts = parts};
  for (int i = 0; i < parts; i++) {
    char name[32];
    (void)snprintf(name, sizeof name, "part%d-%d", i, devices[i]);
    (void)snprintf(t->path[i], sizeof t->path[i], "%s", known_file(name, (int64_t)rows[i] * DEVICE_STEP * DEVICE_ROW));
    known_table_forget(t->path[i]);
    paths[i] = t->path[i];
    t->first[i + 1] = t->first[i] + (int64_t)rows[i] * DEVICE_STEP;
  }
  failing_devices(1);
  options.engine = engine, options.raw = &raw, options.cache_bytes = 0, options.depth = depth;
  options.memory_bytes = memory;
  if (gather_table_open_parts(paths, parts, &options, &t->table, &error) != GATHER_OK) fail_msg("%s", error.message);
}

/* Takes every DEVICE_STEP-th row of parts [from, to), which have to be right. */
static inline gather_status device_table_take(device_table *t, int from, int to, gather_error *error) {
  const int64_t count = (t->first[to] - t->first[from]) / DEVICE_STEP, shape[2] = {count, DEVICE_ROW};
  int64_t *ids = malloc((size_t)count * sizeof *ids);
  char *rows = calloc((size_t)count, DEVICE_ROW);
  assert_non_null(ids);
  assert_non_null(rows);
  for (int64_t n = 0; n < count; n++) ids[n] = t->first[from] + (n * 7919 % count) * DEVICE_STEP;
  const gather_tensor indices = {.data = ids, .type = GATHER_TYPE_INT64, .rank = 1, .shape = shape};
  const gather_tensor out = {.data = rows, .type = GATHER_TYPE_UINT8, .rank = 2, .shape = shape};
  gather_status status = gather_table_take(t->table, &indices, &out, NULL, error);
  for (int64_t n = 0; status == GATHER_OK && n < count; n++) {
    int part = from;
    while (ids[n] >= t->first[part + 1]) part++;
    if (!known_is(rows + n * DEVICE_ROW, (ids[n] - t->first[part]) * DEVICE_ROW, DEVICE_ROW)) status = KNOWN_WRONG;
  }
  free(ids);
  free(rows);
  return status;
}

static inline void device_table_close(device_table *t) {
  gather_table_close(t->table);
  failing_clear();
}

static inline gather_table_device device_table_at(const device_table *t, int i) {
  gather_table_device device;
  memset(&device, 0x5a, sizeof device);
  assert_true(gather_table_device_at(t->table, i, &device));
  return device;
}

#endif
