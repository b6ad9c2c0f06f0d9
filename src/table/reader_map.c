/* SPDX-License-Identifier: MIT
 *
 * reader_map.c: reads through the mapping. Each read is announced to the system (madvise) when it begins, and is
 * complete when its pages are resident.
 */
#define _GNU_SOURCE
#define _DARWIN_C_SOURCE
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/error.h"
#include "table/reader.h"

/* Reads in the order they were begun, in a ring of as many places as slots. */
typedef struct map_reader {
  int32_t *slots;
  int32_t first, count;
  int64_t page_bytes;
} map_reader;

static void destroy(gather_reader *reader) {
  map_reader *own = reader->own;
  gather_free(own->slots);
  gather_free(own);
}

static gather_status create(gather_reader *reader, gather_error *error) {
  map_reader *own = gather_alloc((int64_t)sizeof *own);
  reader->own = own;
  if (own) own->slots = gather_alloc(reader->slot_count * (int64_t)sizeof *own->slots);
  if (own && own->slots) {
    long page = sysconf(_SC_PAGESIZE);
    own->page_bytes = page > 0 ? page : 4096;
    return GATHER_OK;
  }
  gather_free(own);
  return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for the state of %d reads", (int)reader->slot_count);
}

/* Advice on the pages of [offset, end) of a mapping; an errno. */
static int advise(const map_reader *own, const gather_table_source *source, int64_t offset, int64_t end, int advice) {
  int64_t start = offset / own->page_bytes * own->page_bytes;
  int number;
  do number = madvise(source->map + start, (size_t)(end - start), advice) == 0 ? 0 : errno;
  while (number == EINTR);
  return number;
}

static gather_status begin(gather_reader *reader, int32_t i, gather_error *error) {
  map_reader *own = reader->own;
  gather_slot *slot = &reader->slots[i];
  const gather_table_source *source = slot->read.source;
  if (!source->map || slot->read.offset + slot->read.needed > source->size)
    return gather_fail_file(error, GATHER_IO_ERROR, source->path, slot->read.offset, "%lld bytes here are outside the mapping",
                            (long long)slot->read.needed);
  const int64_t offset = slot->read.offset;
  (void)advise(own, source, offset, offset + slot->read.needed, MADV_WILLNEED); /* only a hint */
  own->slots[(own->first + own->count++) % reader->slot_count] = i;
  return GATHER_OK;
}

#if defined(MADV_POPULATE_READ)

/* Whether touching the pages would raise a signal. */
static bool is_lost(const map_reader *own, const gather_table_source *source, int64_t offset, int64_t end) {
  int number = advise(own, source, offset, end, MADV_POPULATE_READ);
  return number == EFAULT || number == EHWPOISON;
}

/* Waits until the pages of a read are resident; returns a result. On failure finds the first page that fails. */
static int fetch(const map_reader *own, gather_slot *slot) {
  const gather_table_source *source = slot->read.source;
  const int64_t end = slot->read.offset + slot->read.needed;
  if (!is_lost(own, source, slot->read.offset, end)) return GATHER_READ_FINE;
  for (int64_t page = slot->read.offset, next; page < end; page = next) {
    next = page / own->page_bytes * own->page_bytes + own->page_bytes;
    slot->done = page - slot->read.offset;
    if (is_lost(own, source, page, next < end ? next : end)) return EIO;
  }
  return GATHER_READ_FINE;
}

#else

/* Systems without MADV_POPULATE_READ: a page that cannot be read raises a signal later. */
static int fetch(const map_reader *own, gather_slot *slot) {
  (void)own;
  (void)slot;
  return GATHER_READ_FINE;
}

#endif

/* The file may have been truncated before its pages were read; they are then not the file's. */
static int check_size(const gather_read *read, int result) {
  struct stat about;
  if (fstat(read->source->fd, &about) != 0) return errno;
  return about.st_size < read->offset + read->needed ? GATHER_READ_SHORT : result;
}

static int32_t finish(gather_reader *reader) {
  map_reader *own = reader->own;
  int32_t i = own->slots[own->first];
  own->first = (own->first + 1) % reader->slot_count;
  own->count--;
  gather_slot *slot = &reader->slots[i];
  slot->data = slot->read.source->map + slot->read.offset;
  slot->result = check_size(&slot->read, fetch(own, slot));
  return i;
}

static int32_t cancel(gather_reader *reader) {
  map_reader *own = reader->own;
  int32_t count = own->count;
  own->count = 0;
  return count;
}

const gather_reader_engine gather_reader_map = {
    .create = create, .destroy = destroy, .abandon = destroy, .begin = begin, .finish = finish, .cancel = cancel};
