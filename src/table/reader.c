/* SPDX-License-Identifier: MIT
 *
 * reader.c: readers, which read blocks of files, many at a time: the engines by name, which one a table uses, and what all of them share:
 * slots, buffers, and the errors of failed reads. Each engine is a file (reader_*.c).
 */
#define _POSIX_C_SOURCE 200809L
#define _DEFAULT_SOURCE /* madvise */
#define _DARWIN_C_SOURCE
#define _FILE_OFFSET_BITS 64
#include "table/reader.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "core/base/alloc.h"
#include "core/base/checked.h"
#include "core/base/error.h"
#include "core/system/pages.h"

/* ---- engines: their names, and which one a table uses */

static const char *const NAMES[] = {
#define GATHER_ENGINE(ENUM, name, functions) name,
#include "table/engine.def"
#undef GATHER_ENGINE
};

enum { NAME_COUNT = sizeof NAMES / sizeof *NAMES };

const char *gather_engine_name(gather_engine engine) { return (int)engine >= 0 && (int)engine < NAME_COUNT ? NAMES[engine] : NULL; }

gather_status gather_engine_parse(const char *name, gather_engine *engine, gather_error *error) {
  for (int i = 0; name && i < NAME_COUNT; i++)
    if (strcmp(name, NAMES[i]) == 0) {
      *engine = (gather_engine)i;
      return GATHER_OK;
    }
  return gather_fail(error, GATHER_USAGE, "no such engine '%.40s'; engines are auto, mmap, pread, uring, http and overlapped",
                     name ? name : "");
}

static const gather_reader_engine *find_engine(gather_engine engine) {
  switch (engine) {
#define GATHER_ENGINE(ENUM, name, functions) \
  case GATHER_ENGINE_##ENUM:                 \
    return functions;
#include "table/engine.def"
#undef GATHER_ENGINE
  }
  return NULL;
}

gather_status gather_engine_check(gather_engine engine, gather_error *error) {
  if (!gather_engine_name(engine)) return gather_fail(error, GATHER_USAGE, "no such engine: number %d", (int)engine);
  const gather_reader_engine *found = find_engine(engine); /* NULL: auto */
  return found && found->probe ? found->probe(error) : GATHER_OK;
}

/* The system's own way to have many reads in flight. */
#if defined(_WIN32)
enum { OF_SYSTEM = GATHER_ENGINE_OVERLAPPED };
static const char OF_SYSTEM_NAME[] = "overlapped reads";
#else
enum { OF_SYSTEM = GATHER_ENGINE_URING };
static const char OF_SYSTEM_NAME[] = "io_uring";
#endif

/* Fails if the engine that was asked for does not read such files. */
static gather_status check_place(gather_engine engine, bool remote, gather_error *error) {
  if (engine == GATHER_ENGINE_AUTO || (engine == GATHER_ENGINE_HTTP) == remote) return GATHER_OK;
  if (remote) return gather_fail(error, GATHER_USAGE, "the engine %s reads local files; URLs are read by http", gather_engine_name(engine));
  return gather_fail(error, GATHER_USAGE, "the engine http reads URLs, and this is a local file");
}

/* The system's own, or threads if that is refused. */
static gather_engine choose_local(gather_engine asked, char *why, size_t why_bytes) {
  gather_error error;
  if (asked == GATHER_ENGINE_MMAP || asked == GATHER_ENGINE_PREAD) {
    (void)snprintf(why, why_bytes, "requested by the caller");
    return asked;
  }
  if (gather_engine_check((gather_engine)OF_SYSTEM, &error) == GATHER_OK) {
    (void)snprintf(why, why_bytes, "%s",
                   asked == (gather_engine)OF_SYSTEM ? "requested by the caller" : "many reads at a time, from one thread");
    return (gather_engine)OF_SYSTEM;
  }
  (void)snprintf(why, why_bytes, "threads read, because %s cannot be used: %.*s", OF_SYSTEM_NAME, (int)(why_bytes - 60), error.message);
  return GATHER_ENGINE_PREAD;
}

gather_status gather_engine_choose(gather_engine asked, bool remote, gather_engine *chosen, char *why, size_t why_bytes,
                                   gather_error *error) {
  GATHER_TRY(check_place(asked, remote, error));
  *chosen = remote ? GATHER_ENGINE_HTTP : choose_local(asked, why, why_bytes);
  if (remote) (void)snprintf(why, why_bytes, "the files are on other machines");
  return GATHER_OK;
}

/* ---- the life of a reader */

/* A child of fork() must not share the buffers: direct reads in flight write to the pages that the buffers had, and
 * after a fork these may be the child's. */
static gather_status make_buffers(gather_reader *reader, gather_error *error) {
  int64_t bytes = 0;
  if (gather_mul(reader->slot_count, reader->plan.slot_bytes, &bytes)) reader->buffers = gather_pages_create(bytes);
  if (!reader->buffers)
    return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for the buffers of %" PRId32 " reads of %" PRId64 " bytes",
                       reader->slot_count, reader->plan.slot_bytes);
#if defined(MADV_DONTFORK)
  reader->buffers_private = madvise(reader->buffers, (size_t)bytes, MADV_DONTFORK) == 0;
#endif
  for (int32_t i = 0; i < reader->slot_count; i++) reader->slots[i].data = reader->buffers + i * reader->plan.slot_bytes;
  return GATHER_OK;
}

static void free_all_slots(gather_reader *reader) {
  reader->free_count = reader->slot_count;
  for (int32_t i = 0; i < reader->slot_count; i++) {
    reader->slots[i].state = GATHER_SLOT_FREE;
    reader->free_slots[i] = reader->slot_count - 1 - i;
  }
  for (int32_t q = 0; q < reader->plan.queues; q++) reader->used[q] = 0;
}

static gather_status make_all(gather_reader *reader, gather_error *error) {
  const int64_t count = reader->slot_count, queues = reader->plan.queues;
  reader->slots = gather_alloc(count * (int64_t)sizeof *reader->slots);
  reader->free_slots = gather_alloc((count + queues) * (int64_t)sizeof *reader->free_slots);
  reader->refusing = gather_alloc(queues * (int64_t)sizeof *reader->refusing);
  if (!reader->slots || !reader->free_slots || !reader->refusing)
    return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for the state of %" PRId32 " reads", reader->slot_count);
  reader->used = reader->free_slots + count;
  free_all_slots(reader);
  if (reader->engine->buffers) GATHER_TRY(make_buffers(reader, error));
  return reader->engine->create ? reader->engine->create(reader, error) : GATHER_OK;
}

static void free_memory(gather_reader *reader, bool buffers) {
  if (buffers) gather_pages_destroy(reader->buffers, gather_reader_memory(reader));
  gather_free(reader->slots);
  gather_free(reader->free_slots);
  gather_free(reader->refusing);
  gather_free(reader);
}

gather_status gather_reader_create(const gather_reader_plan *plan, gather_reader **reader, gather_error *error) {
  *reader = NULL;
  const gather_reader_engine *engine = find_engine(plan->engine);
  const int32_t queues = plan->queues == 0 ? 1 : plan->queues;
  if (!engine || plan->depth < 1 || plan->slot_bytes < 1 || queues < 1 || plan->depth > INT32_MAX / queues)
    return gather_fail(error, GATHER_USAGE, "invalid reader: engine %d, %" PRId32 " queues, depth %" PRId32 ", %" PRId64 " bytes",
                       (int)plan->engine, queues, plan->depth, plan->slot_bytes);
  gather_reader *made = gather_alloc((int64_t)sizeof *made);
  if (!made) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for a reader");
  made->engine = engine;
  made->plan = *plan;
  made->plan.queues = queues;
  made->slot_count = queues * plan->depth;
  gather_status status = make_all(made, error);
  if (status != GATHER_OK)
    free_memory(made, true);
  else
    *reader = made;
  return status;
}

void gather_reader_destroy(gather_reader *reader) {
  if (!reader) return;
  if (reader->engine->destroy) reader->engine->destroy(reader);
  free_memory(reader, true);
}

void gather_reader_abandon(gather_reader *reader) {
  if (!reader) return;
  if (reader->engine->abandon) reader->engine->abandon(reader);
  free_memory(reader, !reader->buffers_private);
}

/* ---- its reads */

gather_status gather_reader_begin(gather_reader *reader, const gather_read *read, gather_error *error) {
  const int32_t queue = read->source->queue;
  if (queue >= reader->plan.queues || !gather_reader_has_room(reader, queue) || read->needed < 1 || read->needed > read->bytes ||
      (reader->buffers && read->bytes > reader->plan.slot_bytes))
    return gather_fail(error, GATHER_USAGE, "no free slot for a read of %" PRId64 " bytes", read->bytes);
  int32_t i = reader->free_slots[reader->free_count - 1];
  gather_slot *slot = &reader->slots[i];
  slot->read = *read;
  slot->read.slot = i;
  slot->read.data = NULL;
  slot->done = 0;
  slot->result = GATHER_READ_FINE;
  slot->refused = false;
  slot->fd = read->source == reader->refusing[queue] ? read->source->fd : gather_table_source_fd(read->source);
  GATHER_TRY(reader->engine->begin(reader, i, error));
  slot->state = GATHER_SLOT_READING;
  reader->free_count--;
  reader->used[queue]++;
  reader->flying++;
  return GATHER_OK;
}

/* Fails with the reason of a failed read. */
static gather_status fail_read(const gather_slot *slot, gather_error *error) {
  const gather_read *read = &slot->read;
  if (slot->result > 0) {
    const int64_t left = read->needed - slot->done, block = read->source->block_bytes;
    return gather_fail_errno(error, GATHER_IO_ERROR, slot->result, read->source->path, read->offset + slot->done,
                             "cannot read %" PRId64 " bytes", left < block ? left : block);
  }
  int64_t end = read->offset + slot->done;
  struct stat about;
  if (fstat(read->source->fd, &about) == 0 && about.st_size < read->offset + read->needed) end = (int64_t)about.st_size;
  return gather_fail_file(error, GATHER_IO_ERROR, read->source->path, end,
                          "the file ends at byte %" PRId64 ": it was truncated while it was open", end);
}

bool gather_reader_await(gather_reader *reader, int64_t nanoseconds) {
  return reader->flying == 0 || !reader->engine->await || reader->engine->await(reader, nanoseconds);
}

/* After a read of many blocks failed: reads them one by one, so that slot->done says which one fails. If none fails
 * now, the read succeeds. */
static void locate(gather_slot *slot) {
  const int64_t block = slot->read.source->block_bytes, needed = slot->read.needed;
  if (slot->result != EIO || needed <= block) return;
  for (int64_t start = 0; start < needed; start += block) {
    gather_slot one = *slot;
    one.data += start;
    one.read.offset += start;
    one.read.bytes = block;
    one.read.needed = needed - start < block ? needed - start : block;
    one.done = 0;
    gather_slot_read(&one);
    slot->done = start + one.done;
    slot->result = one.result;
    if (one.result != GATHER_READ_FINE) return;
  }
}

gather_status gather_reader_finish(gather_reader *reader, gather_read *read, int *number, gather_error *error) {
  *number = 0;
  if (reader->flying == 0) return gather_fail(error, GATHER_USAGE, "no read is in flight");
  int32_t i = reader->engine->finish(reader);
  gather_slot *slot = &reader->slots[i];
  slot->state = GATHER_SLOT_HELD;
  reader->flying--;
  if (slot->refused) reader->refusing[slot->read.source->queue] = slot->read.source;
  if (reader->buffers) locate(slot);
  *read = slot->read;
  if (slot->result == GATHER_READ_FAILED) return reader->engine->fail(reader, i, error);
  if (slot->result != GATHER_READ_FINE) {
    if (slot->result > 0) *number = slot->result;
    return fail_read(slot, error);
  }
  read->data = slot->data;
  return GATHER_OK;
}

void gather_reader_release(gather_reader *reader, const gather_read *read) {
  gather_slot *slot = &reader->slots[read->slot];
  if (slot->state != GATHER_SLOT_HELD) return;
  slot->state = GATHER_SLOT_FREE;
  reader->free_slots[reader->free_count++] = read->slot;
  reader->used[slot->read.source->queue]--;
}

void gather_reader_drain(gather_reader *reader) {
  reader->flying -= reader->engine->cancel(reader);
  for (; reader->flying > 0; reader->flying--) (void)reader->engine->finish(reader);
  free_all_slots(reader);
}
