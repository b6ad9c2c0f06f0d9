/* SPDX-License-Identifier: MIT
 *
 * duck_tables.c: the list of open tables, under one lock. Reading rows needs no lock: tables may be used by many threads at once.
 */
#define _POSIX_C_SOURCE 200809L
#include "duck_tables.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "duck_identity.h"

enum {
  KEPT_TABLES = 64, /* tables that stay open although nobody uses them */
  /* DuckDB calls a function of constants several times while it plans a query, although it fails: what failed after SLOW_SECONDS is not
   * tried again for AGAIN_SECONDS. */
  SLOW_SECONDS = 3,
  AGAIN_SECONDS = 2
};

typedef struct entry {
  duck_open open; /* the first member: an entry is found by its duck_open */
  duck_key key;   /* points into names */
  char *names, *shown;
  duck_identity identity;
  int64_t users; /* with those that wait for it to be opened */
  uint64_t last_use;
  bool opening;
  bool stale;           /* its file has changed, or it could not be opened: closed by its last user */
  double until;         /* so long a URL whose server was silent is not tried again */
  gather_status status; /* of opening it */
  gather_error error;
  struct entry *next;
} entry;

struct duck_tables {
  pthread_mutex_t lock;
  pthread_cond_t opened; /* a table, or not */
  int64_t owners;
  uint64_t uses;
  entry *first;
};

/* ---- keys */

static bool same_name(duck_name a, duck_name b) { return a.bytes == b.bytes && (a.bytes == 0 || memcmp(a.text, b.text, a.bytes) == 0); }

bool gather_duck_same_key(const duck_key *a, const duck_key *b) {
  return same_name(a->file, b->file) && same_name(a->tensor, b->tensor) && same_name(a->options, b->options);
}

static duck_name copy_name(duck_name name, char **room) {
  duck_name copy = {*room, name.bytes};
  if (name.bytes) memcpy(*room, name.text, name.bytes);
  (*room)[name.bytes] = '\0';
  *room += name.bytes + 1;
  return copy;
}

/* The name for messages: of a URL of http and https without user and query, which may be secrets. */
static void show_name(const char *name, char *to) {
  const char *start = strstr(name, "://");
  if (gather_remote_is_url(name) && start && (name[0] == 'h' || name[0] == 'H') && (name[1] == 't' || name[1] == 'T')) {
    const char *host = start + 3, *end = host + strcspn(host, "/?#");
    for (const char *c = host; c < end; c++)
      if (*c == '@') host = c + 1;
    sprintf(to, "%.*s%.*s", (int)(start + 3 - name), name, (int)strcspn(host, "?#"), host);
  } else {
    strcpy(to, name);
  }
}

static bool copy_key(const duck_key *key, entry *made) {
  made->names = malloc(key->file.bytes + key->tensor.bytes + key->options.bytes + 3);
  made->shown = malloc(key->file.bytes + 1);
  if (!made->names || !made->shown) return false;
  char *room = made->names;
  made->key.file = copy_name(key->file, &room);
  made->key.tensor = copy_name(key->tensor, &room);
  made->key.options = copy_name(key->options, &room);
  show_name(made->key.file.text, made->shown);
  made->open.file = made->shown;
  made->open.tensor = made->key.tensor.text;
  return true;
}

/* ---- entries */

static void close_entry(entry *closed) {
  gather_table_close(closed->open.table);
  gather_duck_identity_free(&closed->identity);
  free(closed->names);
  free(closed->shown);
  free(closed);
}

/* An entry that is not open yet. NULL: out of memory. */
static entry *create_entry(const duck_key *key) {
  entry *made = calloc(1, sizeof *made);
  if (!made || copy_key(key, made)) return made;
  close_entry(made);
  return NULL;
}

static gather_status open_entry(entry *made, gather_error *error) {
  duck_open *open = &made->open;
  const duck_key *key = &made->key;
  gather_status status = gather_duck_options_parse(key->options.text, key->options.bytes, &open->options, error);
  if (status == GATHER_OK && (memchr(key->file.text, 0, key->file.bytes) || memchr(key->tensor.text, 0, key->tensor.bytes)))
    status = gather_error_set(error, GATHER_USAGE, "a name contains a null byte");
  if (status == GATHER_OK)
    status = gather_duck_open_table(key->file.text, open->tensor, &open->options, &open->table, &made->identity, error);
  if (status != GATHER_OK) return status;
  const gather_table_info *info = gather_table_describe(open->table);
  return gather_duck_layout(&info->tensor, info->descr, info->type_name, NULL, &open->layout, error);
}

/* ---- the list; the lock is held */

static void unlink_entry(duck_tables *tables, const entry *gone) {
  entry **link = &tables->first;
  while (*link != gone) link = &(*link)->next;
  *link = gone->next;
}

static double now(void) {
  struct timespec time = {0};
  (void)clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* The entry of a key, unless its file has changed; it may still be opened by another thread. */
static entry *find_entry(duck_tables *tables, const duck_key *key) {
  for (entry *found = tables->first; found; found = found->next) {
    if (found->stale || !gather_duck_same_key(&found->key, key)) continue;
    if (found->opening || (found->status != GATHER_OK && now() < found->until)) return found;
    if (found->status == GATHER_OK && gather_duck_identity_holds(&found->identity)) return found;
    found->stale = true;
    if (found->users == 0) {
      unlink_entry(tables, found);
      close_entry(found);
    }
    return NULL;
  }
  return NULL;
}

/* Closes the tables that were used longest ago, as long as more than KEPT_TABLES are unused. */
static void close_oldest(duck_tables *tables) {
  for (;;) {
    entry *oldest = NULL;
    int unused = 0;
    for (entry *each = tables->first; each; each = each->next) {
      if (each->users) continue;
      unused++;
      if (!oldest || each->last_use < oldest->last_use) oldest = each;
    }
    if (unused <= KEPT_TABLES) return;
    unlink_entry(tables, oldest);
    close_entry(oldest);
  }
}

/* ---- the exported functions */

duck_tables *gather_duck_tables_create(void) {
  duck_tables *made = calloc(1, sizeof *made);
  if (!made) return NULL;
  if (pthread_mutex_init(&made->lock, NULL) != 0) {
    free(made);
    return NULL;
  }
  if (pthread_cond_init(&made->opened, NULL) != 0) {
    pthread_mutex_destroy(&made->lock);
    free(made);
    return NULL;
  }
  made->owners = 1;
  return made;
}

void gather_duck_tables_share(duck_tables *tables) {
  pthread_mutex_lock(&tables->lock);
  tables->owners++;
  pthread_mutex_unlock(&tables->lock);
}

void gather_duck_tables_release(void *released) {
  duck_tables *tables = released;
  pthread_mutex_lock(&tables->lock);
  bool last = --tables->owners == 0;
  pthread_mutex_unlock(&tables->lock);
  if (!last) return;
  for (entry *each = tables->first, *next; each; each = next) {
    next = each->next;
    close_entry(each);
  }
  pthread_cond_destroy(&tables->opened);
  pthread_mutex_destroy(&tables->lock);
  free(tables);
}

/* One user less; the lock is held. */
static void leave(duck_tables *tables, entry *used) {
  if (--used->users > 0 || !used->stale) return;
  unlink_entry(tables, used);
  close_entry(used);
}

/* A new entry, opened without the lock, which is held: a server may take its time, and other tables are in use. NULL: out of memory. */
static entry *add_entry(duck_tables *tables, const duck_key *key) {
  entry *made = create_entry(key);
  if (!made) return NULL;
  made->next = tables->first;
  tables->first = made;
  made->users = 1;
  made->opening = true;
  pthread_mutex_unlock(&tables->lock);
  const double begin = now();
  gather_status status = open_entry(made, &made->error);
  pthread_mutex_lock(&tables->lock);
  made->status = status;
  made->stale = status != GATHER_OK;
  if (status == GATHER_IO_ERROR && now() - begin >= SLOW_SECONDS && gather_remote_is_url(made->key.file.text)) {
    made->stale = false;
    made->until = now() + AGAIN_SECONDS;
  }
  made->opening = false;
  pthread_cond_broadcast(&tables->opened);
  return made;
}

gather_status gather_duck_open(duck_tables *tables, const duck_key *key, duck_open **open, gather_error *error) {
  gather_status status = GATHER_OUT_OF_MEMORY;
  pthread_mutex_lock(&tables->lock);
  entry *found = find_entry(tables, key);
  if (found) {
    found->users++;
    while (found->opening) pthread_cond_wait(&tables->opened, &tables->lock);
  } else {
    found = add_entry(tables, key);
  }
  if (found) {
    status = found->status;
    found->last_use = ++tables->uses;
    *open = &found->open;
    if (status != GATHER_OK) {
      *error = found->error;
      leave(tables, found);
      close_oldest(tables);
    }
  } else {
    status = gather_error_set(error, GATHER_OUT_OF_MEMORY, "out of memory");
  }
  pthread_mutex_unlock(&tables->lock);
  return status;
}

void gather_duck_put_back(duck_tables *tables, duck_open *open, gather_status status) {
  entry *used = (entry *)open;
  pthread_mutex_lock(&tables->lock);
  if (status == GATHER_IO_ERROR || status == GATHER_FILE_NOT_FOUND) used->stale = true;
  leave(tables, used);
  close_oldest(tables);
  pthread_mutex_unlock(&tables->lock);
}
