/* SPDX-License-Identifier: MIT
 *
 * fuzz_hdf5.c: any bytes as a file, and once more with their checksums mended, so that what is behind a checksum is reached. Datasets that
 * can be read lie in the file, and so do chunks; those of short ones are decoded. What is mended: the superblock, object headers with their
 * continuations, fractal heaps of one level, indexes of names and chunks of up to two levels, fixed and extensible arrays.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "io/format/chunks.h"

enum { MENDED_MAX = 1 << 16, SUMMED_MAX = 1 << 20, BLOCKS_MAX = 64, CONTINUATION = 16 };

/* Where chunks are, and what is in them. */
static void check_chunks(const gather_file *file, const gather_file_tensor *t, const gather_chunks *chunks, size_t size) {
  enum { FIRST = 64 };
  gather_chunk_place places[FIRST];
  int64_t numbers[FIRST], longest = 0, all = 0;
  const int64_t count = chunks->count < FIRST ? chunks->count : FIRST;
  const gather_file_tensor *whole = NULL;
  gather_file_chunks_info info;
  gather_error error;
  fuzz_check(gather_file_chunks(t, &info) && info.stored_bytes >= -1, "chunks are described");
  fuzz_check(t->bytes == 0 || (info.count > 0 && info.across > 0), "chunks are counted");
  for (int64_t i = 0; i < count; i++) numbers[i] = i;
  const gather_status status = chunks->find(chunks, numbers, count, places, &error);
  fuzz_check(status == GATHER_OK || (error.status == status && error.message[0]), "an index that cannot be read says why");
  fuzz_check(chunks->sizes(chunks, &longest, &all, NULL) == status, "its sizes are known if its chunks are");
  for (int64_t i = 0; i < count && status == GATHER_OK; i++) {
    if (places[i].offset < 0) continue;
    fuzz_check(places[i].bytes >= 0 && (uint64_t)places[i].offset + (uint64_t)places[i].bytes <= size, "a chunk lies in the file");
    fuzz_check(places[i].bytes <= longest, "no chunk is longer than the longest");
  }
  if (!fuzz_is_short(file, t->name)) return;
  if (gather_file_find_whole((gather_file *)(uintptr_t)file, t->name, &whole, &error) != GATHER_OK)
    fuzz_check(error.message[0] && !whole, "chunks that cannot be decoded say why");
}

static void check_places(const gather_file *file, const uint8_t *bytes, size_t size) {
  enum { NAMES = 20 };
  (void)bytes;
  for (int64_t i = 0; i < gather_file_len(file); i++) {
    const gather_file_tensor *t = gather_file_at(file, i);
    const gather_chunks *chunks = gather_file_chunks_of(t);
    if (chunks && i < NAMES) check_chunks(file, t, chunks, size);
    if (t->unreadable || t->bytes == 0) continue;
    fuzz_check(t->offset >= 0 && (uint64_t)t->offset + (uint64_t)t->bytes <= size, "a dataset lies in the file");
  }
}

/* ---- checksums, from the description of the format alone */

typedef struct damaged {
  uint8_t *bytes;
  size_t size, base;
  unsigned offsets, lengths; /* bytes of an address and of a length */
  unsigned left;             /* continuations that are still mended: they may lead to each other */
  size_t *room;              /* bytes that are still summed: blocks may overlap each other many times */
} damaged;

/* A little-endian number; 0 past the end. */
static uint64_t number(const damaged *d, size_t at, unsigned bytes) {
  uint64_t value = 0;
  for (unsigned i = 0; i < bytes && i < 8 && at + i < d->size; i++) value |= (uint64_t)d->bytes[at + i] << 8 * i;
  return value;
}

/* Where an address leads; past the end of the file if it leads nowhere. */
static size_t place(const damaged *d, size_t at) {
  const uint64_t address = number(d, at, d->offsets);
  return address < d->size - d->base ? d->base + (size_t)address : d->size;
}

static uint32_t turned(uint32_t x, unsigned by) { return x << by | x >> (32 - by); }

/* Jenkins' lookup3. */
static uint32_t sum_of(const uint8_t *bytes, size_t size) {
  static const unsigned INNER[6] = {4, 6, 8, 16, 19, 4}, LAST[7] = {14, 11, 25, 16, 4, 14, 24};
  uint32_t s[3], words[3];
  s[0] = s[1] = s[2] = 0xdeadbeefU + (uint32_t)size;
  for (size_t at = 0; at < size; at += 12) {
    memset(words, 0, sizeof words);
    for (size_t i = at; i < at + 12 && i < size; i++) words[(i - at) / 4] |= (uint32_t)bytes[i] << 8 * ((i - at) % 4);
    for (unsigned i = 0; i < 3; i++) s[i] += words[i];
    const bool last = at + 12 >= size;
    for (unsigned i = 0; i < 6 && !last; i++) {
      uint32_t *a = &s[i % 3], *b = &s[(i + 1) % 3], *c = &s[(i + 2) % 3];
      *a = (*a - *c) ^ turned(*c, INNER[i]);
      *c += *b;
    }
    for (unsigned i = 0; i < 7 && last; i++) {
      uint32_t *c = &s[(i + 2) % 3], *b = &s[(i + 1) % 3];
      *c = (*c ^ *b) - turned(*b, LAST[i]);
    }
  }
  return s[2];
}

/* The sum of [begin, end) at a place, which may be among those bytes. */
static void mend(const damaged *d, size_t begin, size_t end, size_t at) {
  if (begin > end || end > d->size || at + 4 > d->size || end - begin > MENDED_MAX || end - begin > *d->room) return;
  *d->room -= end - begin;
  memset(d->bytes + at, 0, 4);
  const uint32_t sum = sum_of(d->bytes + begin, end - begin);
  for (unsigned i = 0; i < 4; i++) d->bytes[at + i] = (uint8_t)(sum >> 8 * i);
}

static void mend_messages(damaged *d, size_t at, size_t end, unsigned flags) {
  const size_t head = flags & 4 ? 6 : 4;
  while (at + head <= end && end <= d->size) {
    const size_t bytes = (size_t)number(d, at + 1, 2);
    if (d->bytes[at] == CONTINUATION && d->left > 0) {
      d->left--;
      const size_t block = place(d, at + head), length = (size_t)number(d, at + head + d->offsets, d->lengths) & 0xffff;
      if (length >= 8) {
        mend(d, block, block + length - 4, block + length - 4);
        mend_messages(d, block + 4, block + length - 4, flags);
      }
    }
    at += head + bytes;
  }
}

static void mend_header(damaged *d, size_t at) {
  const unsigned flags = (unsigned)number(d, at + 5, 1), wide = 1U << (flags & 3);
  const size_t length = at + 6 + (flags & 0x20 ? 16 : 0) + (flags & 0x10 ? 4 : 0), first = length + wide;
  const size_t end = first + ((size_t)number(d, length, wide) & 0xffff);
  mend(d, at, end, end);
  mend_messages(d, first, end, flags);
}

static void mend_heap(const damaged *d, size_t at) {
  const unsigned O = d->offsets, L = d->lengths;
  const size_t table = at + 14 + 10U * L + 2U * O, end = table + 8 + 2U * L + O;
  const uint64_t width = number(d, table, 2), start = number(d, table + 2, L), rows = number(d, end - 2, 2);
  const size_t wide = (size_t)(number(d, table + 2 + 2U * L, 2) + 7) / 8 % 16, root = place(d, end - 2 - O);
  mend(d, at, end, end);
  const bool summed = (number(d, at + 9, 1) & 2) != 0;
  if (rows == 0) {
    if (summed) mend(d, root, root + (size_t)(start & 0xffff), root + 5 + O + wide);
    return;
  }
  for (uint64_t i = 0; i < width * rows && i < BLOCKS_MAX && summed; i++) {
    const unsigned doubled = (unsigned)(i / width ? i / width - 1 : 0) % 16;
    const size_t block = place(d, root + 5 + O + wide + (size_t)i * O), bytes = (size_t)(start << doubled) & 0xffff;
    mend(d, block, block + bytes, block + 5 + O + wide);
  }
  const size_t children = root + 5 + O + wide + (size_t)(width * rows % MENDED_MAX) * O;
  mend(d, root, children, children);
}

static unsigned bytes_needed(uint64_t value) { return value > 0xffff ? 4 : value > 0xff ? 2 : 1; }

static void mend_index(const damaged *d, size_t at) {
  const size_t end = at + 18 + d->offsets + d->lengths, root = place(d, at + 16);
  const size_t record = (size_t)number(d, at + 10, 2), used = (size_t)number(d, at + 16 + d->offsets, 2);
  const uint64_t node = number(d, at + 6, 4);
  mend(d, at, end, end);
  if (number(d, at + 12, 2) == 0) {
    mend(d, root, root + 6 + used * record, root + 6 + used * record);
    return;
  }
  const unsigned wide = bytes_needed(record && node > 10 ? (node - 10) / record : 0);
  const size_t children = root + 6 + used * record, each = d->offsets + wide;
  for (size_t i = 0; i <= used && i < BLOCKS_MAX; i++) {
    const size_t leaf = place(d, children + i * each), bytes = 6 + (size_t)number(d, children + i * each + d->offsets, wide) * record;
    mend(d, leaf, leaf + bytes, leaf + bytes);
  }
  mend(d, root, children + (used + 1) * each, children + (used + 1) * each);
}

/* Entries, and their sum behind them. */
static size_t mend_entries(const damaged *d, size_t begin, size_t at, size_t bytes) {
  mend(d, begin, at + bytes, at + bytes);
  return at + bytes + 4;
}

static void mend_fixed(const damaged *d, size_t at) {
  const size_t end = at + 8 + d->lengths + d->offsets, block = place(d, end - d->offsets), first = block + 6 + d->offsets;
  const size_t entry = (size_t)number(d, at + 6, 1), page = (size_t)1 << number(d, at + 7, 1) % 16;
  const size_t entries = (size_t)number(d, at + 8, d->lengths) % MENDED_MAX, pages = (entries + page - 1) / page;
  mend(d, at, end, end);
  if (entries <= page) {
    (void)mend_entries(d, block, first, entries * entry);
    return;
  }
  size_t next = mend_entries(d, block, first, (pages + 7) / 8);
  for (size_t i = 0; i < pages && i < BLOCKS_MAX; i++)
    next = mend_entries(d, next, next, (entries - i * page < page ? entries - i * page : page) * entry);
}

static unsigned bits_of(uint64_t value) {
  unsigned bits = 0;
  while (value >>= 1) bits++;
  return bits;
}

typedef struct extensible {
  size_t head;    /* bytes before the entries of a data block, and before the bitmap of a super block */
  unsigned entry; /* bytes */
  size_t page;    /* entries */
} extensible;

/* A data block: its entries and a sum, or in pages that have one each. */
static void mend_data(const damaged *d, const extensible *x, size_t at, size_t entries) {
  if (entries <= x->page) {
    (void)mend_entries(d, at, at + x->head, entries * x->entry);
    return;
  }
  size_t next = mend_entries(d, at, at + x->head, 0);
  for (size_t i = 0; i < entries / x->page && i < BLOCKS_MAX; i++) next = mend_entries(d, next, next, x->page * x->entry);
}

/* Super block u has 2^(u/2) data blocks of least * 2^((u+1)/2) entries. */
static void mend_super(const damaged *d, const extensible *x, size_t at, unsigned u, size_t least) {
  const size_t blocks = (size_t)1 << u / 2, entries = least << (u + 1) / 2, pages = entries > x->page ? entries / x->page : 0;
  const size_t first = at + x->head + blocks * ((pages + 7) / 8);
  (void)mend_entries(d, at, first, blocks * d->offsets);
  for (size_t i = 0; i < blocks && i < BLOCKS_MAX; i++) mend_data(d, x, place(d, first + i * d->offsets), entries);
}

static void mend_extensible(const damaged *d, size_t at) {
  enum { SUPERS_MAX = 16 };
  const size_t end = at + 12 + 6 * d->lengths + d->offsets, block = place(d, end - d->offsets);
  const unsigned entry = d->bytes[at + 6], bits = d->bytes[at + 7], direct = d->bytes[at + 8], least = d->bytes[at + 9];
  const unsigned pointers = d->bytes[at + 10], blocks = pointers ? 2 * (pointers - 1) : 0, known = 2 * bits_of(pointers);
  const unsigned supers = bits + 1 > bits_of(least) + known ? bits + 1 - bits_of(least) - known : 0;
  const extensible x = {6 + d->offsets + (bits + 7) / 8, entry, (size_t)1 << d->bytes[at + 11] % 16};
  const size_t first = block + 6 + d->offsets + (size_t)direct * entry;
  mend(d, at, end, end);
  (void)mend_entries(d, block, first, (size_t)(blocks + supers) * d->offsets);
  for (unsigned i = 0, u = 0, before = 0; i < blocks; i++) {
    if (i - before == 1U << u / 2) before = i, u++;
    mend_data(d, &x, place(d, first + (size_t)i * d->offsets), (size_t)least << (u + 1) / 2);
  }
  for (unsigned i = 0; i < supers && i < SUPERS_MAX; i++)
    mend_super(d, &x, place(d, first + (size_t)(blocks + i) * d->offsets), known + i, least);
}

static const uint8_t SIGNATURE[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};

static bool mend_all(damaged *d) {
  size_t at = 0;
  while (at + 64 <= d->size && memcmp(d->bytes + at, SIGNATURE, sizeof SIGNATURE) != 0) at = at ? 2 * at : 512;
  if (at + 64 > d->size) return false;
  const unsigned version = d->bytes[at + 8], sizes = version < 2 ? 13 : 9;
  d->offsets = d->bytes[at + sizes];
  d->lengths = d->bytes[at + sizes + 1];
  if (d->offsets > 8 || d->lengths > 8) return false;
  d->base = at;
  if (version >= 2) mend(d, at, at + 12 + 4U * d->offsets, at + 12 + 4U * d->offsets);
  for (size_t i = 0; i + 4 <= d->size; i++) {
    const uint8_t *four = d->bytes + i;
    if (memcmp(four, "OHDR", 4) == 0) mend_header(d, i);
    if (memcmp(four, "FRHP", 4) == 0) mend_heap(d, i);
    if (memcmp(four, "BTHD", 4) == 0) mend_index(d, i);
    if (memcmp(four, "FAHD", 4) == 0 && i + 64 <= d->size) mend_fixed(d, i);
    if (memcmp(four, "EAHD", 4) == 0 && i + 64 <= d->size) mend_extensible(d, i);
  }
  return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  (void)fuzz_file(bytes, size, "hdf5", check_places);
  size_t room = SUMMED_MAX;
  damaged d = {.bytes = malloc(size ? size : 1), .size = size, .left = BLOCKS_MAX, .room = &room};
  if (!d.bytes) abort();
  if (size) memcpy(d.bytes, bytes, size);
  if (mend_all(&d) && memcmp(d.bytes, bytes, size) != 0) (void)fuzz_file(d.bytes, size, "hdf5", check_places);
  free(d.bytes);
  return 0;
}
