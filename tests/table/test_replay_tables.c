/* SPDX-License-Identifier: MIT
 *
 * test_replay_tables.c [FIRST [COUNT]]: those random cases of make_cases.py (tests/core/rules) that are rows of a table, from files: whole
 * or in parts, by each engine, twice, so that the second take may find what the first has read.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/rules/replay.h"
#include "gather/table.h"
#include "support/machines.h"

enum { PARTS = 3, PATH = 128, TAKES = 2, TABLES = 2 /* of each case that is one */ };

static int64_t first, count = INT64_MAX, tables;
static char folder[] = "/tmp/gather-test-XXXXXX";

/* The case that runs, for messages; NULL between cases. */
static const replay_case *running;

/* forget: the system is asked to keep the bytes on the disk alone, so that there is something to read. */
static void write_part(const char *path, const uint8_t *bytes, int64_t size, bool forget) {
  FILE *file = fopen(path, "wb");
  if (!file || fwrite(bytes, 1, (size_t)size, file) != (size_t)size || fflush(file) != 0) fail_msg("%s could not be written", path);
#if defined(POSIX_FADV_DONTNEED)
  if (forget && fsync(fileno(file)) == 0) (void)posix_fadvise(fileno(file), 0, 0, POSIX_FADV_DONTNEED);
#else
  (void)forget;
#endif
  if (fclose(file) != 0) fail_msg("%s could not be written", path);
}

/* Writes the rows into 1 to PARTS files; returns how many. */
static int32_t write_parts(const replay_tensor *data, bool forget, char paths[PARTS][PATH]) {
  const int64_t rows = data->tensor.shape[0], row_bytes = data->size / rows;
  const int32_t parts = (int32_t)(1 + replay_below(rows < PARTS ? rows : PARTS));
  for (int32_t n = 0; n < parts; n++) {
    const int64_t begin = rows * n / parts, end = rows * (n + 1) / parts;
    (void)snprintf(paths[n], PATH, "%s/part%d", folder, (int)n);
    write_part(paths[n], data->bytes + begin * row_bytes, (end - begin) * row_bytes, forget);
  }
  return parts;
}

/* One of those that this system has; the one that users get half of the time. */
static gather_engine choose_engine(void) {
  const gather_engine engine = (gather_engine)replay_below(2 * GATHER_ENGINE_URING);
  if (engine > GATHER_ENGINE_URING) return GATHER_ENGINE_AUTO;
  return gather_engine_check(engine, NULL) == GATHER_OK ? engine : GATHER_ENGINE_PREAD;
}

static gather_table *open_table(const replay_tensor *data, gather_engine engine, char paths[PARTS][PATH], int32_t parts) {
  int64_t shape[GATHER_MAX_RANK];
  char type[32];
  const char *names[PARTS] = {paths[0], paths[1], paths[2]};
  if (data->tensor.type == GATHER_TYPE_OPAQUE)
    (void)snprintf(type, sizeof type, "|V%d", (int)data->tensor.item_bytes);
  else
    (void)snprintf(type, sizeof type, "%s", gather_type_get(data->tensor.type)->name);
  memcpy(shape, data->tensor.shape, (size_t)data->tensor.rank * sizeof *shape);
  shape[0] = -1;
  const gather_raw raw = {type, data->tensor.rank, shape, 0, true};
  gather_table_options options = GATHER_TABLE_OPTIONS_INIT;
  options.raw = &raw, options.engine = engine;
  options.cache_bytes = replay_below(3) - 1, options.depth = (int32_t)replay_below(5);
  if (options.cache_bytes == 1) options.cache_bytes = 1 << 16;
  options.buffered = replay_below(2), options.keep_signals = replay_below(4) == 0;
  if (engine == GATHER_ENGINE_MMAP) options.keep_signals = false;
  gather_table *table = NULL;
  gather_error error;
  if (gather_table_open_parts(names, parts, &options, &table, &error) != GATHER_OK)
    fail_msg("a table by %s cannot be opened: %s", gather_engine_name(engine), error.message);
  return table;
}

static void take(const replay_case *c, gather_table *table, replay_result *r) {
  const gather_tensor *indices = &c->tensors[REPLAY_INDICES].tensor;
  gather_tensor out = c->tensors[REPLAY_OUT].tensor;
  out.flags = gather_table_describe(table)->tensor.flags & (uint32_t)GATHER_TENSOR_BYTE_SWAPPED; /* the file's order */
  gather_table_take_options options = GATHER_TABLE_TAKE_INIT;
  options.op = c->op, options.on_bad = c->on_bad, options.negative = c->negative, options.fill = c->fill;
  options.bad_count = &r->bad_count;
  r->error = dirty_error(), r->bad_count = -99;
  if (replay_below(3) == 0) {
    gather_table_job *job;
    r->status = gather_table_submit(table, indices, &out, &options, &job, &r->error);
    if (r->status == GATHER_OK) r->status = gather_table_wait(job, &r->error);
  } else {
    options.executor = replay_executor((replay_mode)replay_below(REPLAY_SHUFFLED));
    r->status = gather_table_take(table, indices, &out, &options, &r->error);
  }
}

static void run_case(replay_case *c) {
  char paths[PARTS][PATH];
  const gather_engine engine = choose_engine();
  /* Other engines read what is in memory too. */
  const bool forget = engine == GATHER_ENGINE_AUTO && replay_below(4) == 0;
  const int32_t parts = write_parts(&c->tensors[REPLAY_DATA], forget, paths);
  gather_table *table = open_table(&c->tensors[REPLAY_DATA], engine, paths, parts);
  for (int n = 0; n < TAKES; n++) {
    replay_result result = {.fresh = false};
    replay_place(c);
    take(c, table, &result);
    replay_compare(c, &result);
  }
  gather_table_close(table);
  for (int32_t n = 0; n < parts; n++) (void)unlink(paths[n]);
}

static void every_table(void **state) {
  const int64_t cases = replay_open(replay_cases_file());
  (void)state;
  replay_areas_create(replay_largest());
  for (int64_t n = 0; n < cases; n++) {
    static replay_case c; /* say_case reads it after a crash */
    replay_next(&c);
    if (n < first || n - first >= count || !c.is_table) continue;
    running = &c;
    replay_seed((uint64_t)(c.number * 1000 + 999));
    for (int table = 0; table < TABLES; table++, tables++) {
      replay_tune(MACHINE_ISAS);
      run_case(&c);
    }
    running = NULL;
  }
  print_message("%" PRId64 " tables\n", tables);
  if (count == INT64_MAX) assert_true(tables > 0);
}

static int create(void **state) {
  (void)state;
  replay_executors_create();
  return mkdtemp(folder) ? 0 : -1;
}

static int destroy(void **state) {
  (void)state;
  machine_reset();
  replay_executors_destroy();
  replay_areas_destroy();
  replay_close();
  for (int part = 0; part < PARTS; part++) { /* after a failure there may be some */
    char name[64];
    (void)snprintf(name, sizeof name, "%s/part%d", folder, part);
    (void)unlink(name);
  }
  return rmdir(folder);
}

/* Says which case failed or crashed. */
static int say_case(void **state) {
  (void)state;
  if (running) replay_say(running, "a table");
  return 0;
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test_teardown(every_table, say_case)};
  if (argc > 1) first = strtoll(argv[1], NULL, 10), count = argc > 2 ? strtoll(argv[2], NULL, 10) : 1;
  return cmocka_run_group_tests(tests, create, destroy);
}
