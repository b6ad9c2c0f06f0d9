/* SPDX-License-Identifier: MIT
 *
 * hdf5_index.c: the six indices of chunks: B-trees of version 1 and 2, a single chunk, chunks that follow each other, fixed and extensible
 * arrays. Arrays number the chunks of the largest grid that the dataset may grow to, in row-major order, extensible ones with the unlimited
 * dimension first. Of a remote file, a level is read by requests at once: what is not loaded is noted, loaded, and the index read again.
 * Source: the HDF5 File Format Specification, version 3, and where it is open what libhdf5 1.10 to 2.0 wrote.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "core/base/alloc.h"
#include "core/base/checked.h"
#include "io/format/hdf5/hdf5_chunks.h"

/* NODE_BYTES: of a node of a B-tree of version 1, as libhdf5 makes them; a hint. */
enum { MOST_LEVEL = 31, SUM_BYTES = 4, NODE_BYTES = 4096 };

typedef struct index_reading {
  gather_hdf5 *h;
  gather_hdf5_chunked *chunked;
  /* Arrays: how chunks are numbered: lengths of the grid, and the dimensions in their order. */
  int64_t grid[GATHER_HDF5_MOST_RANK];
  int32_t order[GATHER_HDF5_MOST_RANK];
  int64_t entries; /* of an extensible array: one more than the largest that is set */
  int64_t entry_bytes, size_bytes;
  int client;
  /* B-trees of version 2. */
  int64_t node_bytes, record_bytes, count_bytes;
  int64_t pointer_bytes[MOST_LEVEL + 1], most[MOST_LEVEL + 1], total[MOST_LEVEL + 1];
} index_reading;

/* Whether a failure means only that bytes of a remote file are to be loaded. */
static bool is_lack(const gather_hdf5 *h, gather_status status) { return status == GATHER_IO_ERROR && h->is_noting && h->lacks; }

#define TRY_CHILD(r, call)                                        \
  do {                                                            \
    const gather_status child_status = (call);                    \
    if (!is_lack((r)->h, child_status)) GATHER_TRY(child_status); \
  } while (0)

static bool has_filters(const index_reading *r) { return r->chunked->chunks.pipeline.count > 0; }

/* ---- what is found */

/* Notes a chunk that is stored, by its place in the grid: one that is outside of the dataset does not matter. */
static gather_status note_chunk(gather_hdf5 *h, gather_hdf5_chunked *chunked, const uint64_t *place, int64_t offset, uint64_t bytes,
                                uint32_t skipped) {
  const gather_chunks *chunks = &chunked->chunks;
  const int64_t size = h->file->map.size;
  int64_t number = 0;
  bool is_edge = false;
  for (int32_t d = 0; d < chunks->rank; d++) {
    const int64_t at = d < chunked->rank && place[d] <= INT64_MAX ? (int64_t)place[d] : d < chunked->rank ? INT64_MAX : 0;
    if (at >= chunks->grid[d]) return GATHER_OK;
    number = number * chunks->grid[d] + at;
    is_edge = is_edge || chunks->shape[d] - at * chunks->chunk[d] < chunks->chunk[d];
  }
  if (is_edge && chunked->edges_plain) skipped = UINT32_MAX, bytes = (uint64_t)chunks->raw_bytes;
  if (bytes > (uint64_t)(size - offset))
    return GATHER_HDF5_WRONG(h, size, "the file is truncated: a chunk needs %" PRIu64 " bytes at byte %" PRId64, bytes, offset);
  if (chunked->found_len == chunked->found_room) {
    gather_hdf5_chunk *made = gather_alloc_grown(chunked->found, (int64_t)sizeof *made, &chunked->found_room);
    if (!made) return GATHER_HDF5_NO_MEMORY(h);
    chunked->found = made;
  }
  chunked->found[chunked->found_len++] = (gather_hdf5_chunk){number, offset, (int64_t)bytes, skipped};
  if (chunked->longest < (int64_t)bytes) chunked->longest = (int64_t)bytes;
  chunked->all += (int64_t)bytes;
  return GATHER_OK;
}

static int compare(const void *a, const void *b) {
  const gather_hdf5_chunk *one = a, *other = b;
  return one->number < other->number ? -1 : one->number > other->number;
}

/* By number. */
static gather_status sort_chunks(gather_hdf5 *h, gather_hdf5_chunked *chunked) {
  gather_hdf5_chunk *found = chunked->found;
  bool sorted = true;
  for (int64_t i = 1; i < chunked->found_len && sorted; i++) sorted = found[i - 1].number < found[i].number;
  if (sorted) return GATHER_OK;
  qsort(found, (size_t)chunked->found_len, sizeof *found, compare);
  for (int64_t i = 1; i < chunked->found_len; i++)
    if (found[i].number == found[i - 1].number)
      return GATHER_HDF5_WRONG(h, chunked->index_at, "the chunk number %" PRId64 " is given twice in the index", found[i].number);
  return GATHER_OK;
}

/* A structure whose length is known before it is read: of a remote file, all of it is loaded at once. */
static void expect_whole(const index_reading *r, int64_t at, int64_t bytes) {
  enum { MOST = 1 << 16 }; /* a hint, which a damaged file does not make a download */
  if (r->h->is_noting) gather_hdf5_expect(r->h, at, bytes < MOST ? bytes : MOST);
}

/* ---- B-trees of version 1 */

/* The key of a chunk: its bytes, its mask, and its first element. */
static gather_status take_key(index_reading *r, gather_hdf5_fields *fields, uint64_t *bytes, uint64_t *skipped, uint64_t *place) {
  const gather_chunks *chunks = &r->chunked->chunks;
  uint64_t first = 0;
  GATHER_TRY(gather_hdf5_take(fields, 4, bytes));
  GATHER_TRY(gather_hdf5_take(fields, 4, skipped));
  for (int32_t d = 0; d < r->chunked->rank; d++) {
    GATHER_TRY(gather_hdf5_take(fields, 8, &first));
    if (first % (uint64_t)chunks->chunk[d] != 0)
      return GATHER_HDF5_WRONG(r->h, fields->at - 8, "a chunk begins at element %" PRIu64 ", not a multiple of the chunk length %" PRId64,
                               first, chunks->chunk[d]);
    place[d] = first / (uint64_t)chunks->chunk[d];
  }
  return gather_hdf5_skip(fields, 8);
}

static gather_status read_btree_1(index_reading *r, int64_t at, int level) {
  static const char WHAT[] = "a node of an index of chunks";
  gather_hdf5 *h = r->h;
  uint64_t kind = 0, is = 0, used = 0, bytes = 0, skipped = 0, place[GATHER_HDF5_MOST_RANK];
  const int64_t head = 8 + 2 * h->offset_bytes, key = 8 + 8 * ((int64_t)r->chunked->rank + 1);
  if (level < 0) expect_whole(r, at, NODE_BYTES);
  GATHER_TRY(gather_hdf5_begins(h, at, head, "TREE", -1, WHAT));
  gather_hdf5_fields fields = {h, at + 4, at + head, WHAT};
  GATHER_TRY(gather_hdf5_take(&fields, 1, &kind));
  GATHER_TRY(gather_hdf5_take(&fields, 1, &is));
  GATHER_TRY(gather_hdf5_take(&fields, 2, &used));
  if (kind != 1) return GATHER_HDF5_WRONG(h, at + 4, "a node of an index of chunks has the invalid kind %" PRIu64, kind);
  if (level < 0 ? is > MOST_LEVEL : is != (uint64_t)level)
    return GATHER_HDF5_WRONG(h, at + 5, "a node of an index of chunks has the level %" PRIu64 ", below one of level %d", is, level + 1);
  fields.at = at + head;
  fields.end = fields.at + (int64_t)used * (key + h->offset_bytes);
  GATHER_TRY(gather_hdf5_need(h, fields.at, fields.end - fields.at, WHAT));
  if (is > 0) gather_hdf5_expect_children(fields, (int64_t)used, key, 0, NODE_BYTES);
  for (uint64_t i = 0; i < used; i++) {
    int64_t child = -1;
    GATHER_TRY(take_key(r, &fields, &bytes, &skipped, place));
    GATHER_TRY(gather_hdf5_take_address(&fields, &child));
    if (child < 0) continue;
    if (is > 0)
      TRY_CHILD(r, read_btree_1(r, child, (int)is - 1));
    else
      GATHER_TRY(note_chunk(h, r->chunked, place, child, bytes, (uint32_t)skipped));
  }
  return GATHER_OK;
}

/* ---- arrays */

/* How many chunks a dimension may have; 0: unlimited. */
static int64_t grid_of(const gather_hdf5_chunked *chunked, int32_t d) {
  const int64_t most = chunked->most[d], chunk = chunked->chunks.chunk[d];
  return most < 0 ? 0 : most / chunk + (most % chunk != 0);
}

/* Sets grid and order. Unlimited dimensions: at most one, which comes first. */
static gather_status number_chunks(index_reading *r, int unlimited_most) {
  const gather_hdf5_chunked *chunked = r->chunked;
  int unlimited = 0;
  int32_t at = 0;
  for (int32_t d = 0; d < chunked->rank; d++) {
    r->grid[d] = grid_of(chunked, d);
    if (chunked->most[d] >= 0 && r->grid[d] < chunked->chunks.grid[d]) r->grid[d] = chunked->chunks.grid[d];
    if (chunked->most[d] < 0) r->order[at++] = d, unlimited++;
  }
  for (int32_t d = 0; d < chunked->rank; d++)
    if (chunked->most[d] >= 0) r->order[at++] = d;
  if (unlimited == unlimited_most) return GATHER_OK;
  return GATHER_HDF5_WRONG(r->h, chunked->index_at, "an index of chunks is for %d unlimited dimensions, but the dataset has %d",
                           unlimited_most, unlimited);
}

/* The place of a chunk; false: its number is beyond the grid. */
static bool place_of(const index_reading *r, int64_t number, uint64_t *place) {
  for (int32_t i = r->chunked->rank - 1; i >= 0; i--) {
    const int32_t d = r->order[i];
    if (i == 0 && (r->chunked->most[d] < 0 || number < r->grid[d])) {
      place[d] = (uint64_t)number;
      return true;
    }
    if (i == 0 || r->grid[d] == 0) return false;
    place[d] = (uint64_t)(number % r->grid[d]);
    number /= r->grid[d];
  }
  return false;
}

/* Entries number `first` and on, `count` of them, at the fields. */
static gather_status take_entries(index_reading *r, gather_hdf5_fields *fields, int64_t first, int64_t count) {
  uint64_t bytes = 0, skipped = 0, place[GATHER_HDF5_MOST_RANK];
  for (int64_t i = first; i < first + count; i++) {
    int64_t at = -1;
    GATHER_TRY(gather_hdf5_take_address(fields, &at));
    bytes = (uint64_t)r->chunked->chunks.raw_bytes, skipped = 0;
    if (r->client) {
      GATHER_TRY(gather_hdf5_take(fields, r->size_bytes, &bytes));
      GATHER_TRY(gather_hdf5_take(fields, 4, &skipped));
    }
    if (at < 0 || i >= r->entries || !place_of(r, i, place)) continue;
    GATHER_TRY(note_chunk(r->h, r->chunked, place, at, bytes, (uint32_t)skipped));
  }
  return GATHER_OK;
}

/* Entries that are followed by their checksum. */
static gather_status read_page(index_reading *r, int64_t at, int64_t first, int64_t count, const char *what) {
  const int64_t bytes = count * r->entry_bytes;
  gather_hdf5_fields fields = {r->h, at, at + bytes, what};
  GATHER_TRY(gather_hdf5_need(r->h, at, bytes + SUM_BYTES, what));
  GATHER_TRY(gather_hdf5_verify(r->h, at, bytes, -1, at + bytes, what));
  return take_entries(r, &fields, first, count);
}

/* What the header of an array says of its entries. */
static gather_status take_entry_kind(index_reading *r, gather_hdf5_fields *fields) {
  enum { FILTERED = 1 };
  uint64_t client = 0, bytes = 0;
  gather_hdf5 *h = r->h;
  GATHER_TRY(gather_hdf5_take(fields, 1, &client));
  GATHER_TRY(gather_hdf5_take(fields, 1, &bytes));
  r->client = (int)client;
  r->entry_bytes = (int64_t)bytes;
  r->size_bytes = r->entry_bytes - h->offset_bytes - 4;
  const bool fits = client == FILTERED ? r->size_bytes >= 1 && r->size_bytes <= 8 : client == 0 && r->entry_bytes == h->offset_bytes;
  if (fits && (client == FILTERED) == has_filters(r)) return GATHER_OK;
  return GATHER_HDF5_WRONG(h, fields->at - 2, "an index of chunks has invalid entries: kind %" PRIu64 ", %" PRIu64 " bytes", client, bytes);
}

/* Pages of entries behind a block; the bitmap, from `bit` on, the most significant bit of a byte first, says which are set. */
static gather_status read_pages(index_reading *r, int64_t at, int64_t first, int64_t count, int64_t page, int64_t bitmap, int64_t bit,
                                const char *what) {
  const uint8_t *bits = r->h->file->map.bytes + bitmap;
  for (int64_t p = 0; p * page < count; p++) {
    const int64_t now = count - p * page < page ? count - p * page : page;
    if (bits[(bit + p) / 8] >> (7 - (bit + p) % 8) & 1) TRY_CHILD(r, read_page(r, at, first + p * page, now, what));
    at += now * r->entry_bytes + SUM_BYTES;
  }
  return GATHER_OK;
}

static gather_status read_fixed_block(index_reading *r, int64_t at, int64_t entries, int64_t page) {
  static const char WHAT[] = "a data block of an index of chunks";
  gather_hdf5 *h = r->h;
  const int64_t head = 6 + h->offset_bytes;
  GATHER_TRY(gather_hdf5_begins(h, at, head, "FADB", 0, WHAT));
  if (entries <= page) {
    const int64_t bytes = head + entries * r->entry_bytes;
    gather_hdf5_fields fields = {h, at + head, at + bytes, WHAT};
    GATHER_TRY(gather_hdf5_need(h, at, bytes + SUM_BYTES, WHAT));
    GATHER_TRY(gather_hdf5_verify(h, at, bytes, -1, at + bytes, WHAT));
    return take_entries(r, &fields, 0, entries);
  }
  const int64_t pages = entries / page + (entries % page != 0), map_bytes = (pages + 7) / 8;
  GATHER_TRY(gather_hdf5_need(h, at, head + map_bytes + SUM_BYTES, WHAT));
  GATHER_TRY(gather_hdf5_verify(h, at, head + map_bytes, -1, at + head + map_bytes, WHAT));
  return read_pages(r, at + head + map_bytes + SUM_BYTES, 0, entries, page, at + head, 0, WHAT);
}

/* Of an array only the blocks that are in use take space, so its length is not limited by that of the file. */
static gather_status check_count(index_reading *r, int64_t at, uint64_t count) {
  if (count <= UINT64_C(1) << 40) return GATHER_OK;
  return GATHER_HDF5_WRONG(r->h, at, "an index of chunks cannot have %" PRIu64 " chunks", count);
}

static gather_status read_fixed_array(index_reading *r, int64_t at) {
  enum { MOST_PAGE_BITS = 30 };
  static const char WHAT[] = "the header of an index of chunks";
  gather_hdf5 *h = r->h;
  uint64_t page_bits = 0, entries = 0;
  int64_t block = -1;
  const int64_t bytes = 8 + h->length_bytes + h->offset_bytes;
  GATHER_TRY(gather_hdf5_begins(h, at, bytes + SUM_BYTES, "FAHD", 0, WHAT));
  GATHER_TRY(gather_hdf5_verify(h, at, bytes, -1, at + bytes, WHAT));
  gather_hdf5_fields fields = {h, at + 5, at + bytes, WHAT};
  GATHER_TRY(number_chunks(r, 0));
  GATHER_TRY(take_entry_kind(r, &fields));
  GATHER_TRY(gather_hdf5_take(&fields, 1, &page_bits));
  GATHER_TRY(gather_hdf5_take(&fields, h->length_bytes, &entries));
  GATHER_TRY(gather_hdf5_take_address(&fields, &block));
  if (page_bits > MOST_PAGE_BITS)
    return GATHER_HDF5_WRONG(h, at + 7, "pages of an index of chunks cannot have 2^%" PRIu64 " entries", page_bits);
  GATHER_TRY(check_count(r, at + 8, block < 0 ? 0 : entries));
  r->entries = (int64_t)entries;
  return block < 0 ? GATHER_OK : read_fixed_block(r, block, (int64_t)entries, INT64_C(1) << page_bits);
}

/* ---- extensible arrays: the first entries in the index block, then data blocks, then super blocks with data blocks that grow */

typedef struct extensible {
  uint64_t max_bits, direct, least_pointers, least_entries, page_bits; /* least_entries: of a data block */
  int64_t offset_bytes, page;
} extensible;

static gather_status read_data_block(index_reading *r, const extensible *x, int64_t at, int64_t first, int64_t count, int64_t bitmap,
                                     int64_t bit) {
  static const char WHAT[] = "a data block of an index of chunks";
  gather_hdf5 *h = r->h;
  const int64_t head = 6 + h->offset_bytes + x->offset_bytes;
  if (first >= r->entries) return GATHER_OK;
  if (count <= x->page) expect_whole(r, at, head + count * r->entry_bytes + SUM_BYTES);
  GATHER_TRY(gather_hdf5_begins(h, at, head, "EADB", 0, WHAT));
  if (count <= x->page) {
    const int64_t bytes = head + count * r->entry_bytes;
    gather_hdf5_fields fields = {h, at + head, at + bytes, WHAT};
    GATHER_TRY(gather_hdf5_need(h, at, bytes + SUM_BYTES, WHAT));
    GATHER_TRY(gather_hdf5_verify(h, at, bytes, -1, at + bytes, WHAT));
    return take_entries(r, &fields, first, count);
  }
  GATHER_TRY(gather_hdf5_need(h, at, head + SUM_BYTES, WHAT));
  GATHER_TRY(gather_hdf5_verify(h, at, head, -1, at + head, WHAT));
  if (bitmap < 0) return GATHER_HDF5_WRONG(h, at, "a data block in pages has no super block");
  return read_pages(r, at + head + SUM_BYTES, first, count, x->page, bitmap, bit, WHAT);
}

/* A super block: a bitmap of the pages of all its data blocks, one after the other, then their addresses. The bitmap has whole bytes for
 * each block, of which the last ones are not used. */
static gather_status read_super_block(index_reading *r, const extensible *x, int64_t at, int64_t first, int64_t blocks, int64_t count) {
  static const char WHAT[] = "a super block of an index of chunks";
  gather_hdf5 *h = r->h;
  const int64_t pages = count > x->page ? count / x->page : 0, map_bytes = (pages + 7) / 8;
  const int64_t head = 6 + h->offset_bytes + x->offset_bytes, bytes = head + blocks * (map_bytes + h->offset_bytes);
  expect_whole(r, at, bytes + SUM_BYTES);
  GATHER_TRY(gather_hdf5_begins(h, at, bytes + SUM_BYTES, "EASB", 0, WHAT));
  GATHER_TRY(gather_hdf5_verify(h, at, bytes, -1, at + bytes, WHAT));
  gather_hdf5_fields fields = {h, at + head + blocks * map_bytes, at + bytes, WHAT};
  gather_hdf5_expect_children(fields, blocks, 0, 0, 1024);
  for (int64_t b = 0; b < blocks; b++) {
    int64_t block = -1;
    GATHER_TRY(gather_hdf5_take_address(&fields, &block));
    if (block >= 0) TRY_CHILD(r, read_data_block(r, x, block, first + b * count, count, pages > 0 ? at + head : -1, b * pages));
  }
  return GATHER_OK;
}

static int log2_of(uint64_t value) {
  int bits = 0;
  while (value >>= 1) bits++;
  return bits;
}

static gather_status read_index_block(index_reading *r, const extensible *x, int64_t at) {
  static const char WHAT[] = "the index block of an index of chunks";
  gather_hdf5 *h = r->h;
  const int direct_supers = 2 * log2_of(x->least_pointers), supers = 1 + (int)x->max_bits - log2_of(x->least_entries);
  const int64_t data_blocks = 2 * ((int64_t)x->least_pointers - 1), later = supers - direct_supers;
  const int64_t head = 6 + h->offset_bytes;
  const int64_t bytes = head + (int64_t)x->direct * r->entry_bytes + (data_blocks + (later > 0 ? later : 0)) * h->offset_bytes;
  int64_t first = (int64_t)x->direct, block = -1;
  GATHER_TRY(gather_hdf5_begins(h, at, bytes + SUM_BYTES, "EAIB", 0, WHAT));
  GATHER_TRY(gather_hdf5_verify(h, at, bytes, -1, at + bytes, WHAT));
  gather_hdf5_fields fields = {h, at + head, at + bytes, WHAT};
  GATHER_TRY(take_entries(r, &fields, 0, (int64_t)x->direct));
  gather_hdf5_expect_children(fields, data_blocks, 0, 0, 1024);
  for (int u = 0; u < supers && first < r->entries; u++) {
    const int64_t blocks = INT64_C(1) << u / 2, count = (INT64_C(1) << (u + 1) / 2) * (int64_t)x->least_entries;
    for (int64_t b = 0; u < direct_supers && b < blocks; b++, first += count) {
      GATHER_TRY(gather_hdf5_take_address(&fields, &block));
      if (block >= 0) TRY_CHILD(r, read_data_block(r, x, block, first, count, -1, 0));
    }
    if (u < direct_supers) continue;
    GATHER_TRY(gather_hdf5_take_address(&fields, &block));
    if (block >= 0) TRY_CHILD(r, read_super_block(r, x, block, first, blocks, count));
    first += blocks * count;
  }
  return GATHER_OK;
}

static gather_status check_extensible(const index_reading *r, const extensible *x, int64_t at) {
  enum { MOST_BITS = 40 };
  const bool powers = (x->least_pointers & (x->least_pointers - 1)) == 0 && (x->least_entries & (x->least_entries - 1)) == 0;
  if (powers && x->max_bits <= MOST_BITS && x->page_bits <= MOST_BITS && x->least_pointers >= 1 && x->least_entries >= 1 &&
      x->max_bits >= (uint64_t)log2_of(x->least_entries))
    return GATHER_OK;
  return GATHER_HDF5_WRONG(r->h, at, "the parameters of an index of chunks are invalid");
}

static gather_status read_extensible_array(index_reading *r, int64_t at) {
  static const char WHAT[] = "the header of an index of chunks";
  gather_hdf5 *h = r->h;
  extensible x = {0};
  uint64_t entries = 0;
  int64_t block = -1;
  const int64_t bytes = 12 + 6 * h->length_bytes + h->offset_bytes;
  GATHER_TRY(gather_hdf5_begins(h, at, bytes + SUM_BYTES, "EAHD", 0, WHAT));
  GATHER_TRY(gather_hdf5_verify(h, at, bytes, -1, at + bytes, WHAT));
  gather_hdf5_fields fields = {h, at + 5, at + bytes, WHAT};
  GATHER_TRY(number_chunks(r, 1));
  GATHER_TRY(take_entry_kind(r, &fields));
  GATHER_TRY(gather_hdf5_take(&fields, 1, &x.max_bits));
  GATHER_TRY(gather_hdf5_take(&fields, 1, &x.direct));
  GATHER_TRY(gather_hdf5_take(&fields, 1, &x.least_entries));
  GATHER_TRY(gather_hdf5_take(&fields, 1, &x.least_pointers));
  GATHER_TRY(gather_hdf5_take(&fields, 1, &x.page_bits));
  GATHER_TRY(gather_hdf5_skip(&fields, 4 * h->length_bytes));
  GATHER_TRY(gather_hdf5_take(&fields, h->length_bytes, &entries));
  GATHER_TRY(gather_hdf5_skip(&fields, h->length_bytes));
  GATHER_TRY(gather_hdf5_take_address(&fields, &block));
  GATHER_TRY(check_extensible(r, &x, at + 7));
  GATHER_TRY(check_count(r, at, block < 0 ? 0 : entries));
  r->entries = (int64_t)entries;
  x.offset_bytes = ((int64_t)x.max_bits + 7) / 8, x.page = INT64_C(1) << x.page_bits;
  return block < 0 ? GATHER_OK : read_index_block(r, &x, block);
}

/* ---- B-trees of version 2 */

/* The bytes that a number up to `most` needs. */
static int64_t width_of(int64_t most) { return log2_of((uint64_t)most) / 8 + 1; }

/* Of each level: how many records a node has room for, and all below it together. */
static gather_status measure_levels(index_reading *r, int64_t at, int depth) {
  enum { PREFIX = 6 + SUM_BYTES };
  r->most[0] = r->total[0] = r->record_bytes > 0 ? (r->node_bytes - PREFIX) / r->record_bytes : 0;
  r->count_bytes = width_of(r->most[0]);
  for (int level = 1; level <= depth; level++) {
    r->pointer_bytes[level] = r->h->offset_bytes + r->count_bytes + (level > 1 ? width_of(r->total[level - 1]) : 0);
    r->most[level] = (r->node_bytes - PREFIX - r->pointer_bytes[level]) / (r->record_bytes + r->pointer_bytes[level]);
    if (r->most[level] < 1 || r->total[level - 1] > INT64_MAX / 2 / (r->most[level] + 1))
      return GATHER_HDF5_WRONG(r->h, at, "the nodes of an index of chunks are too short, or it is too deep");
    r->total[level] = (r->most[level] + 1) * r->total[level - 1] + r->most[level];
  }
  return r->most[0] > 0 ? GATHER_OK : GATHER_HDF5_WRONG(r->h, at, "the nodes of an index of chunks have no room");
}

static gather_status take_record(index_reading *r, gather_hdf5_fields *fields) {
  uint64_t bytes = (uint64_t)r->chunked->chunks.raw_bytes, skipped = 0, place[GATHER_HDF5_MOST_RANK];
  int64_t at = -1;
  GATHER_TRY(gather_hdf5_take_address(fields, &at));
  if (has_filters(r)) {
    GATHER_TRY(gather_hdf5_take(fields, r->size_bytes, &bytes));
    GATHER_TRY(gather_hdf5_take(fields, 4, &skipped));
  }
  for (int32_t d = 0; d < r->chunked->rank; d++) GATHER_TRY(gather_hdf5_take(fields, 8, &place[d]));
  return at < 0 ? GATHER_OK : note_chunk(r->h, r->chunked, place, at, bytes, (uint32_t)skipped);
}

static gather_status read_btree_2_node(index_reading *r, int64_t at, int64_t records, int level) {
  enum { HEAD = 6 };
  static const char WHAT[] = "a node of an index of chunks";
  gather_hdf5 *h = r->h;
  uint64_t child_records = 0;
  if (records > r->most[level]) return GATHER_HDF5_WRONG(h, at, "a node of an index of chunks cannot have %" PRId64 " records", records);
  const int64_t bytes = HEAD + records * r->record_bytes + (level > 0 ? (records + 1) * r->pointer_bytes[level] : 0);
  expect_whole(r, at, bytes + SUM_BYTES);
  GATHER_TRY(gather_hdf5_begins(h, at, bytes + SUM_BYTES, level > 0 ? "BTIN" : "BTLF", 0, WHAT));
  GATHER_TRY(gather_hdf5_verify(h, at, bytes, -1, at + bytes, WHAT));
  gather_hdf5_fields fields = {h, at + HEAD, at + bytes, WHAT};
  for (int64_t i = 0; i < records; i++) GATHER_TRY(take_record(r, &fields));
  const int64_t behind = r->pointer_bytes[level] - h->offset_bytes;
  if (level > 0) gather_hdf5_expect_children(fields, records + 1, 0, behind, r->node_bytes);
  for (int64_t i = 0; level > 0 && i <= records; i++) {
    int64_t child = -1;
    GATHER_TRY(gather_hdf5_take_address(&fields, &child));
    GATHER_TRY(gather_hdf5_take(&fields, r->count_bytes, &child_records));
    GATHER_TRY(gather_hdf5_skip(&fields, behind - r->count_bytes));
    if (child < 0) return GATHER_HDF5_WRONG(h, at, "a node of an index of chunks has no child");
    TRY_CHILD(r, read_btree_2_node(r, child, (int64_t)child_records, level - 1));
  }
  return GATHER_OK;
}

static gather_status read_btree_2(index_reading *r, int64_t at) {
  enum { PLAIN = 10, FILTERED = 11, LEAST_NODE = 16 };
  static const char WHAT[] = "the header of an index of chunks";
  gather_hdf5 *h = r->h;
  uint64_t kind = 0, node = 0, record = 0, depth = 0, records = 0;
  int64_t root = -1;
  const int64_t bytes = 18 + h->offset_bytes + h->length_bytes;
  GATHER_TRY(gather_hdf5_begins(h, at, bytes + SUM_BYTES, "BTHD", 0, WHAT));
  GATHER_TRY(gather_hdf5_verify(h, at, bytes, -1, at + bytes, WHAT));
  gather_hdf5_fields fields = {h, at + 5, at + bytes, WHAT};
  GATHER_TRY(gather_hdf5_take(&fields, 1, &kind));
  GATHER_TRY(gather_hdf5_take(&fields, 4, &node));
  GATHER_TRY(gather_hdf5_take(&fields, 2, &record));
  GATHER_TRY(gather_hdf5_take(&fields, 2, &depth));
  GATHER_TRY(gather_hdf5_skip(&fields, 2));
  GATHER_TRY(gather_hdf5_take_address(&fields, &root));
  GATHER_TRY(gather_hdf5_take(&fields, 2, &records));
  r->node_bytes = (int64_t)node, r->record_bytes = (int64_t)record;
  const int64_t plain = h->offset_bytes + 8 * (int64_t)r->chunked->rank;
  r->size_bytes = r->record_bytes - plain - 4;
  const bool fits =
      has_filters(r) ? kind == FILTERED && r->size_bytes >= 1 && r->size_bytes <= 8 : kind == PLAIN && r->record_bytes == plain;
  if (!fits || depth > MOST_LEVEL || node < LEAST_NODE)
    return GATHER_HDF5_WRONG(h, at + 5,
                             "an index of chunks has the invalid kind %" PRIu64 ", records of %" PRIu64 " bytes or depth %" PRIu64, kind,
                             record, depth);
  GATHER_TRY(measure_levels(r, at, (int)depth));
  return root < 0 ? GATHER_OK : read_btree_2_node(r, root, (int64_t)records, (int)depth);
}

/* ---- chunks without an index */

static gather_status read_single(index_reading *r, int64_t at) {
  static const uint64_t FIRST[GATHER_HDF5_MOST_RANK] = {0};
  const gather_hdf5_chunked *chunked = r->chunked;
  const int64_t bytes = chunked->single_bytes >= 0 ? chunked->single_bytes : chunked->chunks.raw_bytes;
  return note_chunk(r->h, r->chunked, FIRST, at, (uint64_t)bytes, chunked->single_skipped);
}

/* Chunks of one length, one after the other, as arrays number them. */
static gather_status read_implicit(index_reading *r, int64_t at) {
  const gather_chunks *chunks = &r->chunked->chunks;
  uint64_t place[GATHER_HDF5_MOST_RANK] = {0};
  bool fits = true; /* the number in the largest grid, which may be of any size */
  GATHER_TRY(number_chunks(r, 0));
  if (has_filters(r)) return GATHER_HDF5_WRONG(r->h, r->chunked->index_at, "chunks without an index have filters");
  for (int64_t i = 0; i < chunks->count; i++) {
    int64_t rest = i, number = 0;
    for (int32_t d = chunks->rank - 1; d >= 0; d--) {
      if (d < r->chunked->rank) place[d] = (uint64_t)(rest % chunks->grid[d]);
      rest /= chunks->grid[d];
    }
    for (int32_t d = 0; d < r->chunked->rank && fits; d++)
      fits = gather_mul(number, r->grid[d], &number) && gather_add(number, (int64_t)place[d], &number);
    if (!fits || number > (r->h->file->map.size - at) / chunks->raw_bytes)
      return GATHER_HDF5_WRONG(r->h, r->h->file->map.size, "the file is truncated: it ends before the last chunk");
    GATHER_TRY(note_chunk(r->h, r->chunked, place, at + number * chunks->raw_bytes, (uint64_t)chunks->raw_bytes, 0));
  }
  return GATHER_OK;
}

/* ---- the index */

static gather_status read_once(gather_hdf5 *h, gather_hdf5_chunked *chunked) {
  index_reading r = {.h = h, .chunked = chunked};
  switch (chunked->index) {
    case GATHER_HDF5_SINGLE:
      return read_single(&r, chunked->index_at);
    case GATHER_HDF5_IMPLICIT:
      return read_implicit(&r, chunked->index_at);
    case GATHER_HDF5_FIXED_ARRAY:
      return read_fixed_array(&r, chunked->index_at);
    case GATHER_HDF5_EXTENSIBLE_ARRAY:
      return read_extensible_array(&r, chunked->index_at);
    case GATHER_HDF5_BTREE_2:
      return read_btree_2(&r, chunked->index_at);
    default:
      return read_btree_1(&r, chunked->index_at, -1);
  }
}

/* Level by level, where it is remote. */
static gather_status read_all(gather_hdf5 *h, gather_hdf5_chunked *chunked) {
  enum { MOST_ROUNDS = 2 * MOST_LEVEL };
  const int64_t work = h->work;
  h->is_noting = gather_map_wants_hints(&h->file->map);
  for (int round = 0; round < MOST_ROUNDS && h->is_noting; round++) {
    h->lacks = false, h->noted_len = 0, h->work = work;
    chunked->found_len = chunked->all = chunked->longest = 0;
    const gather_status status = read_once(h, chunked);
    if (!h->lacks) return status;
    if (status != GATHER_OK && status != GATHER_IO_ERROR) break; /* it is said again, with all loaded that comes before it */
    gather_map_expect_all(&h->file->map, h->noted, h->noted_len);
  }
  h->is_noting = false, h->work = work;
  h->advises = !h->file->map.remote;
  chunked->found_len = chunked->all = chunked->longest = 0;
  return read_once(h, chunked);
}

gather_status gather_hdf5_read_index(gather_hdf5 *h, gather_hdf5_chunked *chunked) {
  gather_map_read_ahead(&h->file->map, false); /* nodes are all over the file */
  const gather_status status = read_all(h, chunked);
  gather_map_read_ahead(&h->file->map, true);
  return status == GATHER_OK ? sort_chunks(h, chunked) : status;
}
