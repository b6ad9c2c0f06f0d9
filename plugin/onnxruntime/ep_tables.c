/* SPDX-License-Identifier: MIT
 *
 * ep_tables.c: the list of open tables.
 */
#define _XOPEN_SOURCE 700
#include "ep_tables.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "ep_text.h"
#include "stay.h"

/* What makes two tables the same. */
typedef struct file_rows {
  dev_t device;
  ino_t inode;
  off_t bytes;
  struct timespec changed;
  int64_t offset;
  gather_type type;
  int32_t rank;
  int64_t shape[GATHER_MAX_RANK];
  gather_engine engine;
  int64_t memory, cache;
  int32_t depth;
  bool buffered, keep_signals;
} file_rows;

struct ort_table {
  ort_table *next;
  gather_table *table;
  char *path;
  file_rows identity;
  int32_t users;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static ort_table *tables;

static bool identity_equal(const file_rows *a, const file_rows *b) {
  return a->device == b->device && a->inode == b->inode && a->bytes == b->bytes && a->changed.tv_sec == b->changed.tv_sec &&
         a->changed.tv_nsec == b->changed.tv_nsec && a->offset == b->offset && a->type == b->type && a->rank == b->rank &&
         memcmp(a->shape, b->shape, (size_t)a->rank * sizeof a->shape[0]) == 0 && a->engine == b->engine && a->memory == b->memory &&
         a->cache == b->cache && a->depth == b->depth && a->buffered == b->buffered && a->keep_signals == b->keep_signals;
}

static gather_status identify(const ort_table_source *source, file_rows *identity, gather_error *error) {
  struct stat file;
  const gather_table_options *options = source->options;
  if (stat(source->path, &file) != 0) return gather_error_set_file(error, GATHER_FILE_NOT_FOUND, source->path, -1, "no such file");
  memset(identity, 0, sizeof *identity);
  identity->device = file.st_dev;
  identity->inode = file.st_ino;
  identity->bytes = file.st_size;
  identity->changed = file.st_mtim;
  identity->offset = source->offset;
  identity->type = source->type;
  identity->rank = source->rank;
  memcpy(identity->shape, source->shape, (size_t)source->rank * sizeof identity->shape[0]);
  identity->engine = options->engine;
  identity->memory = options->memory_bytes;
  identity->cache = options->cache_bytes;
  identity->depth = options->depth;
  identity->buffered = options->buffered;
  identity->keep_signals = options->keep_signals;
  return GATHER_OK;
}

static gather_status open_table(const ort_table_source *source, ort_table *table, gather_error *error) {
  gather_table_options options = *source->options;
  const gather_raw raw = {gather_type_get(source->type)->name, source->rank, source->shape, source->offset, true};
  options.raw = &raw;
  options.tensor = ""; /* a colon in a path is a character like others */
  /* The table's handler for SIGBUS outlives it. */
  if (!options.keep_signals) gather_ort_stay();
  gather_status status = gather_table_open(source->path, &options, &table->table, error);
  if (status != GATHER_OK) return status;
  if (!(gather_table_describe(table->table)->tensor.flags & GATHER_TENSOR_BYTE_SWAPPED)) return GATHER_OK;
  gather_table_close(table->table);
  return gather_error_set(error, GATHER_UNSUPPORTED, "the byte order of the file differs from this machine's");
}

static ort_table *find(const file_rows *identity) {
  for (ort_table *table = tables; table; table = table->next)
    if (identity_equal(&table->identity, identity)) return table;
  return NULL;
}

/* With the lock held: two sessions that start at once open a table once. */
static gather_status find_or_open(const ort_table_source *source, const file_rows *identity, ort_table **table, gather_error *error) {
  *table = find(identity);
  if (*table) {
    (*table)->users++;
    return GATHER_OK;
  }
  ort_table *made = calloc(1, sizeof *made);
  if (!made) return gather_error_set(error, GATHER_OUT_OF_MEMORY, "out of memory");
  gather_status status = open_table(source, made, error);
  if (status != GATHER_OK) {
    free(made);
    return status;
  }
  made->identity = *identity;
  made->path = gather_ort_text_copy(source->path);
  made->users = 1;
  made->next = tables;
  *table = tables = made;
  return GATHER_OK;
}

gather_status gather_ort_table_acquire(const ort_table_source *source, ort_table **table, gather_error *error) {
  file_rows identity;
  gather_status status = identify(source, &identity, error);
  if (status != GATHER_OK) return status;
  (void)pthread_mutex_lock(&lock);
  status = find_or_open(source, &identity, table, error);
  (void)pthread_mutex_unlock(&lock);
  return status;
}

ort_table *gather_ort_table_share(ort_table *table) {
  (void)pthread_mutex_lock(&lock);
  table->users++;
  (void)pthread_mutex_unlock(&lock);
  return table;
}

void gather_ort_table_release(ort_table *table) {
  if (!table) return;
  (void)pthread_mutex_lock(&lock);
  const bool last = --table->users == 0;
  for (ort_table **p = &tables; last && *p; p = &(*p)->next)
    if (*p == table) {
      *p = table->next;
      break;
    }
  (void)pthread_mutex_unlock(&lock);
  if (!last) return;
  gather_table_close(table->table);
  free(table->path);
  free(table);
}

gather_table *gather_ort_table_get(const ort_table *table) { return table->table; }

const char *gather_ort_table_path(const ort_table *table) { return table->path ? table->path : ""; }

int64_t gather_ort_table_offset(const ort_table *table) { return table->identity.offset; }

void gather_ort_tables_each(void (*visit)(void *context, const ort_table *table, int32_t users), void *context) {
  (void)pthread_mutex_lock(&lock);
  for (const ort_table *table = tables; table; table = table->next) visit(context, table, table->users);
  (void)pthread_mutex_unlock(&lock);
}
