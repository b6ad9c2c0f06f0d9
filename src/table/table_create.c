/* SPDX-License-Identifier: MIT
 *
 * table_create.c: the life of a table, without its parts: created, completed after the last part, closed.
 */
#define _POSIX_C_SOURCE 200809L
#include <unistd.h>

#include "core/base/alloc.h"
#include "io/format/format.h"
#include "table/engine.h"
#include "table/system/guard.h"
#include "table/table_decode.h"

static gather_status make_residency(gather_table *table, gather_error *error) {
  bool mapped = false;
  table->map_use.most_bytes = table->budget.map_bytes;
  if (table->client) return GATHER_OK;
  if (table->options.engine != GATHER_ENGINE_AUTO && table->options.engine != GATHER_ENGINE_MMAP) return GATHER_OK;
  table->residency = gather_alloc((int64_t)sizeof *table->residency * (table->source_count + 1));
  if (!table->residency) return gather_fail(error, GATHER_OUT_OF_MEMORY, "no memory for a table");
  bool pages = table->budget.ceiling == 0 &&
               !table->options.keep_signals; /* under a limit, all that is mapped must be counted */
  for (int32_t i = 0; i < table->source_count; i++) {
    if (!gather_residency_open(&table->residency[i], &table->sources[i], &table->map_use, pages))
      return gather_fail(error, GATHER_OUT_OF_MEMORY, "no memory for a table");
    mapped = mapped || table->sources[i].map;
  }
  return mapped ? gather_guard_install(error) : GATHER_OK;
}

/* What a table of files on other machines wants; the client begins with fewer connections. */
static gather_budget_wishes wishes_of(const gather_table_options *options) {
  enum { CONNECTIONS = 64 };
  const gather_remote_options *remote = options->remote;
  return (gather_budget_wishes){.queues = 1,
                                .connections = remote && remote->connections > 0 ? remote->connections : CONNECTIONS,
                                .cached = remote && remote->cache_folder && remote->cache_folder[0]};
}

static gather_status allocate(gather_table *table, int32_t count, gather_error *error) {
  table->files = gather_alloc(count * (int64_t)sizeof *table->files);
  table->sources = gather_alloc(count * (int64_t)sizeof *table->sources);
  if (!table->files || !table->sources) return gather_fail(error, GATHER_OUT_OF_MEMORY, "no memory for a table");
  table->devices = gather_alloc(count * (int64_t)sizeof *table->devices);
  if (!table->devices) return gather_fail(error, GATHER_OUT_OF_MEMORY, "no memory for a table");
  GATHER_TRY(gather_engine_fits(table->options.engine, table->client != NULL, error));
  table->engine = gather_engine_choose(&table->options, table->client != NULL, table->why, sizeof table->why);
  const gather_budget_wishes wishes = wishes_of(&table->options);
  return gather_budget_make(&table->options, table->engine, &wishes, &table->budget, error);
}

gather_status gather_table_create(const gather_table_options *options, gather_remote_client *client, int32_t count,
                                  gather_table **table, gather_error *error) {
  gather_table *made = gather_alloc((int64_t)sizeof *made);
  if (!made) return gather_fail(error, GATHER_OUT_OF_MEMORY, "no memory for a table");
  made->options = *options;
  made->client = client ? gather_remote_client_hold(client) : NULL;
  made->gap_given = options->remote ? options->remote->gap_bytes : -1;
  /* With blocks on disk the client joins by blocks. A gap could be a block that nobody needs, and that is not there the next time. */
  if (made->gap_given < 0 && wishes_of(options).cached) made->gap_given = 0;
  made->queue_end = &made->queue;
  atomic_init(&made->process, (int64_t)getpid());
  gather_table_init_waiting(made);
  gather_status status = allocate(made, count, error);
  if (status == GATHER_OK)
    *table = made;
  else
    gather_table_close(made);
  return status;
}

gather_status gather_table_complete(gather_table *table, gather_error *error) {
  const gather_budget_wishes wishes = wishes_of(&table->options);
  GATHER_TRY(gather_devices_complete(table, &wishes, error));
  if (table->client) gather_budget_fit(&table->budget, table->info.row_bytes);
  table->options.remote = NULL; /* the caller's */
  table->info.rows = table->shape[0];
  table->info.parts = table->part_count;
  table->cache = gather_cache_create(table->info.row_bytes, table->info.rows, table->budget.cache_bytes);
  return make_residency(table, error);
}

/* The tables that a table with decoded rows reads, and its scratch memory. */
static void close_decoding(gather_decoded *decoding) {
  if (!decoding) return;
  for (gather_scratch *scratch = decoding->idle, *next; scratch; scratch = next) {
    next = scratch->next;
    gather_scratch_destroy(decoding, scratch);
  }
  for (int32_t i = 0; i < decoding->count; i++) {
    gather_piece *piece = &decoding->pieces[i];
    gather_table_close(piece->data);
    for (int role = 0; role < GATHER_SIDE_COUNT; role++) {
      gather_table_close(piece->side[role].table);
      gather_free(piece->side[role].constant);
    }
  }
  gather_free(decoding->pieces);
  gather_free(decoding);
}

void gather_table_close(gather_table *table) {
  if (!table) return;
  gather_table_enter(table);
  gather_table_end_jobs(table);
  for (gather_worker *worker = table->idle, *next; worker; worker = next) {
    next = worker->next;
    gather_worker_destroy(table, worker);
  }
  close_decoding(table->decoding);
  for (int32_t i = 0; i < table->source_count; i++) {
    if (table->residency) gather_residency_close(&table->residency[i]);
    gather_table_source_close(&table->sources[i]);
  }
  for (int32_t i = 0; i < table->file_count; i++) gather_file_close(table->files[i]);
  gather_remote_client_release(table->client);
  gather_cache_destroy(table->cache);
  gather_free(table->residency);
  gather_free(table->sources);
  gather_free(table->devices);
  gather_free(table->parts);
  gather_free(table->files);
  (void)pthread_cond_destroy(&table->changed);
  (void)pthread_mutex_destroy(&table->lock);
  gather_free(table);
}
