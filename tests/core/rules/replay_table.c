/* SPDX-License-Identifier: MIT
 *
 * replay_table.c: the cases that are rows of a table, from files: whole or in parts, by each engine, twice, so that the second take may find
 * what the first has read.
 */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "core/rules/replay.h"
#include "gather/table.h"

enum { PARTS = REPLAY_PARTS, PATH = 128, TAKES = 2 };

/* forget: the system is asked to keep the bytes on the disk alone, so that there is something to read. */
static void write_part(const char *path, const uint8_t *bytes, int64_t size, bool forget) {
  FILE *file = fopen(path, "wb");
  if (!file || fwrite(bytes, 1, (size_t)size, file) != (size_t)size || fflush(file) != 0)
    fail_msg("%s could not be written", path);
#if defined(POSIX_FADV_DONTNEED)
  if (forget && fsync(fileno(file)) == 0) (void)posix_fadvise(fileno(file), 0, 0, POSIX_FADV_DONTNEED);
#else
  (void)forget;
#endif
  if (fclose(file) != 0) fail_msg("%s could not be written", path);
}

/* Writes the rows into 1 to PARTS files; returns how many. */
static int32_t write_parts(const replay_tensor *data, const char *folder, bool forget, char paths[PARTS][PATH]) {
  const int64_t rows = data->tensor.shape[0], row_bytes = data->size / rows;
  const int32_t parts = (int32_t)(1 + replay_below(rows < PARTS ? rows : PARTS));
  for (int32_t n = 0; n < parts; n++) {
    const int64_t first = rows * n / parts, last = rows * (n + 1) / parts;
    (void)snprintf(paths[n], PATH, "%s/part%d", folder, (int)n);
    write_part(paths[n], data->bytes + first * row_bytes, (last - first) * row_bytes, forget);
  }
  return parts;
}

/* One of those that this system has; the one that users get half of the time. */
static gather_engine choose_engine(void) {
  const gather_engine engine = (gather_engine)replay_below(2 * GATHER_ENGINE_URING);
  if (engine > GATHER_ENGINE_URING) return GATHER_ENGINE_AUTO;
  return gather_engine_check(engine, NULL) == GATHER_OK ? engine : GATHER_ENGINE_PREAD;
}

static gather_table *open_table(const replay_tensor *data, gather_engine engine, char paths[PARTS][PATH],
                                int32_t parts) {
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

void replay_table(replay_case *c, const char *folder) {
  char paths[PARTS][PATH];
  const gather_engine engine = choose_engine();
  /* Other engines read what is in memory too. */
  const bool forget = engine == GATHER_ENGINE_AUTO && replay_below(4) == 0;
  const int32_t parts = write_parts(&c->tensors[REPLAY_DATA], folder, forget, paths);
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
