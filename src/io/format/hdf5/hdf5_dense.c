/* SPDX-License-Identifier: MIT
 *
 * hdf5_dense.c: groups of HDF5 files with many links: link messages in a fractal heap, found by a B-tree of version 2 that is sorted by the
 * hash of the name. Those that are larger than the heap's blocks are anywhere in the file, found by another such tree.
 * Source: the HDF5 File Format Specification, version 3.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "io/format/hdf5/hdf5.h"

/* Nodes of trees have hundreds of bytes, so real ones have fewer levels. */
enum { MOST_LEVELS = 32 };

/* ---- B-trees of version 2. Both kinds of nodes have records; inner ones then have, for each child, its address, how many records it has,
 * and from level 2 on how many it has with those below. */

/* Types of records. */
enum { LARGE_OBJECTS = 1, LINK_NAMES = 5 };

typedef struct index_tree {
  gather_hdf5 *h;
  unsigned type;
  int64_t record_bytes;
  gather_status (*take)(void *context, gather_hdf5_fields *record);
  void *context;
  int64_t most[MOST_LEVELS + 1];          /* records of a node, by level */
  int64_t pointer_bytes[MOST_LEVELS + 1]; /* of a child */
  int64_t count_bytes;
} index_tree;

/* Bytes that hold numbers up to `most`. */
static int64_t bytes_for(uint64_t most) {
  int64_t bytes = 1;
  while ((most >>= 8) > 0) bytes++;
  return bytes;
}

static gather_status read_node(const index_tree *tree, int64_t at, uint64_t records, int level, int64_t said_at);

static gather_status read_children(const index_tree *tree, gather_hdf5_fields *pointers, int64_t count, int level) {
  gather_hdf5 *h = tree->h;
  for (int64_t i = 0; i < count; i++) {
    const int64_t said_at = pointers->at;
    int64_t child = 0;
    uint64_t records = 0;
    GATHER_TRY(gather_hdf5_take_address(pointers, &child));
    if (child < 0) return GATHER_HDF5_WRONG(h, said_at, "%s has a child without an address", pointers->what);
    GATHER_TRY(gather_hdf5_take(pointers, tree->count_bytes, &records));
    GATHER_TRY(gather_hdf5_skip(pointers, tree->pointer_bytes[level] - h->offset_bytes - tree->count_bytes));
    GATHER_TRY(read_node(tree, child, records, level - 1, said_at + h->offset_bytes));
  }
  return GATHER_OK;
}

/* A node and all below it. said_at: where its number of records is. */
static gather_status read_node(const index_tree *tree, int64_t at, uint64_t records, int level, int64_t said_at) {
  enum { HEAD = 6 };
  gather_hdf5 *h = tree->h;
  const char *what = level > 0 ? "an inner node of a group's index" : "a leaf of a group's index";
  if (records > (uint64_t)tree->most[level])
    return GATHER_HDF5_WRONG(h, said_at, "%s has %" PRIu64 " records, but room for %" PRId64, what, records, tree->most[level]);
  const int64_t count = (int64_t)records, children = level > 0 ? count + 1 : 0, end = at + HEAD + count * tree->record_bytes;
  const int64_t bytes = end - at + children * tree->pointer_bytes[level];
  GATHER_TRY(gather_hdf5_begins(h, at, bytes + 4, level > 0 ? "BTIN" : "BTLF", 0, what));
  GATHER_TRY(gather_hdf5_verify(h, at, bytes, -1, at + bytes, what));
  if (h->file->map.bytes[at + 5] != tree->type) return GATHER_HDF5_WRONG(h, at + 5, "%s has records of another type", what);
  gather_hdf5_fields pointers = {h, end, at + bytes, what};
  gather_hdf5_expect_children(pointers, children, 0, tree->pointer_bytes[level] - h->offset_bytes, 1);
  GATHER_TRY(read_children(tree, &pointers, children, level));
  for (int64_t i = 0; i < count; i++) {
    gather_hdf5_fields record = {h, at + HEAD + i * tree->record_bytes, at + HEAD + (i + 1) * tree->record_bytes, what};
    GATHER_TRY(tree->take(tree->context, &record));
  }
  return GATHER_OK;
}

/* How many records the nodes of each level have room for, and how wide that makes the pointers to them. */
static bool measure_tree(index_tree *tree, int64_t node_bytes, int64_t levels) {
  enum { FRAME = 10 };
  uint64_t total = 0;
  for (int64_t level = 0; level <= levels; level++) {
    if (level == 1) tree->count_bytes = bytes_for((uint64_t)tree->most[0]);
    tree->pointer_bytes[level] = level == 0 ? 0 : tree->h->offset_bytes + tree->count_bytes + (level > 1 ? bytes_for(total) : 0);
    if (node_bytes < FRAME + tree->pointer_bytes[level]) return false;
    tree->most[level] = (node_bytes - FRAME - tree->pointer_bytes[level]) / (tree->record_bytes + tree->pointer_bytes[level]);
    const uint64_t most = (uint64_t)tree->most[level], below = total;
    if (most == 0 || below > (UINT64_MAX - most) / (most + 1)) return false;
    total = (most + 1) * below + most;
  }
  return true;
}

/* Passes all records to tree->take. The tree's type, record_bytes and what they are passed to are set. */
static gather_status read_index(index_tree *tree, int64_t at) {
  gather_hdf5 *h = tree->h;
  static const char WHAT[] = "the header of a group's index";
  const int64_t bytes = 18 + h->offset_bytes + h->length_bytes;
  uint64_t type = 0, node_bytes = 0, record_bytes = 0, levels = 0, records = 0;
  int64_t root = 0;
  GATHER_TRY(gather_hdf5_begins(h, at, bytes + 4, "BTHD", 0, WHAT));
  GATHER_TRY(gather_hdf5_verify(h, at, bytes, -1, at + bytes, WHAT));
  gather_hdf5_fields fields = {h, at + 5, at + bytes, WHAT};
  GATHER_TRY(gather_hdf5_take(&fields, 1, &type));
  GATHER_TRY(gather_hdf5_take(&fields, 4, &node_bytes));
  GATHER_TRY(gather_hdf5_take(&fields, 2, &record_bytes));
  GATHER_TRY(gather_hdf5_take(&fields, 2, &levels));
  GATHER_TRY(gather_hdf5_skip(&fields, 2));
  GATHER_TRY(gather_hdf5_take_address(&fields, &root));
  GATHER_TRY(gather_hdf5_take(&fields, 2, &records));
  if (type != tree->type || record_bytes != (uint64_t)tree->record_bytes || levels > MOST_LEVELS ||
      !measure_tree(tree, (int64_t)node_bytes, (int64_t)levels))
    return GATHER_HDF5_WRONG(h, at + 5, "%s is of another type, or has invalid lengths", WHAT);
  return root < 0 ? GATHER_OK : read_node(tree, root, records, (int)levels, fields.at - 2);
}

/* ---- dense groups: a fractal heap, whose objects have offsets in a space of its own. Blocks cover it: rows of `width` blocks, those of
 * the first two rows with `start` bytes, of each further row twice as many; from a size on they are indirect, tables of blocks. */

typedef struct heap_block {
  uint64_t begin; /* in the heap's space; of a large object its number */
  int64_t at, bytes;
} heap_block;

/* Sorted by `begin`; on the heap. */
typedef struct heap_blocks {
  heap_block *block;
  int64_t len, room;
} heap_blocks;

typedef struct fractal_heap {
  gather_hdf5 *h;
  int64_t at;                         /* of its header */
  int64_t id_bytes;                   /* of an object */
  int64_t offset_bytes, object_bytes; /* bytes of the offset, and of the length, in an id */
  int64_t width;
  uint64_t start, direct; /* bytes of the first blocks, and of the longest direct ones */
  int bits;               /* of the heap's space */
  bool has_sums;
  heap_blocks blocks;
  int64_t large_at; /* the index of objects that are larger than blocks; -1 = none, or it has been read */
  heap_blocks large;
} fractal_heap;

static int log2_of(uint64_t power) {
  int bits = 0;
  while ((power >>= 1) > 0) bits++;
  return bits;
}

static bool is_power(uint64_t value) { return value > 0 && (value & (value - 1)) == 0; }

static gather_status add_block(const gather_hdf5 *h, heap_blocks *blocks, const heap_block *block) {
  if (blocks->len == blocks->room) {
    heap_block *made = gather_alloc_grown(blocks->block, (int64_t)sizeof *made, &blocks->room);
    if (!made) return GATHER_HDF5_NO_MEMORY(h);
    blocks->block = made;
  }
  blocks->block[blocks->len++] = *block;
  return GATHER_OK;
}

/* The last block that begins there or before; NULL. */
static const heap_block *find_block(const heap_blocks *blocks, uint64_t place) {
  int64_t low = 0, high = blocks->len;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (blocks->block[middle].begin <= place)
      low = middle + 1;
    else
      high = middle;
  }
  return low > 0 ? &blocks->block[low - 1] : NULL;
}

/* Checks that a block is of this heap, at this place of its space. fields: behind its version. */
static gather_status check_block(const fractal_heap *heap, gather_hdf5_fields *fields, uint64_t begin) {
  int64_t said_at = fields->at, header = 0;
  uint64_t offset = 0;
  GATHER_TRY(gather_hdf5_take_address(fields, &header));
  if (header != heap->at) return GATHER_HDF5_WRONG(heap->h, said_at, "%s belongs to another heap", fields->what);
  said_at = fields->at;
  GATHER_TRY(gather_hdf5_take(fields, heap->offset_bytes, &offset));
  if (offset == begin) return GATHER_OK;
  return GATHER_HDF5_WRONG(heap->h, said_at, "%s is at %" PRIu64 " of its heap, not at %" PRIu64, fields->what, offset, begin);
}

static gather_status read_direct(fractal_heap *heap, int64_t at, uint64_t begin, uint64_t bytes) {
  gather_hdf5 *h = heap->h;
  static const char WHAT[] = "a direct block of a fractal heap";
  const int64_t head = 5 + h->offset_bytes + heap->offset_bytes + (heap->has_sums ? 4 : 0);
  if (bytes < (uint64_t)head || bytes > (uint64_t)(h->file->map.size - at))
    return GATHER_HDF5_WRONG(h, at, "%s of %" PRIu64 " bytes extends past the end of the file", WHAT, bytes);
  GATHER_TRY(gather_hdf5_begins(h, at, (int64_t)bytes, "FHDB", 0, WHAT));
  gather_hdf5_fields fields = {h, at + 5, at + (int64_t)bytes, WHAT};
  GATHER_TRY(check_block(heap, &fields, begin));
  if (heap->has_sums) GATHER_TRY(gather_hdf5_verify(h, at, (int64_t)bytes, fields.at, fields.at, WHAT));
  return add_block(h, &heap->blocks, &(heap_block){begin, at, (int64_t)bytes});
}

/* The bytes of the blocks of a row; false if they do not fit the heap's space. */
static bool row_of(const fractal_heap *heap, int64_t row, uint64_t *bytes) {
  const int64_t doubled = row > 1 ? row - 1 : 0;
  if (log2_of(heap->start) + log2_of((uint64_t)heap->width) + doubled > heap->bits) return false;
  *bytes = heap->start << doubled;
  return true;
}

static gather_status read_indirect(fractal_heap *heap, int64_t at, int64_t rows, uint64_t begin, int depth);

static gather_status read_child(fractal_heap *heap, gather_hdf5_fields *fields, uint64_t bytes, uint64_t begin, int depth) {
  const int64_t rows = log2_of(bytes) - log2_of(heap->start) - log2_of((uint64_t)heap->width) + 1;
  int64_t child = 0;
  GATHER_TRY(gather_hdf5_take_address(fields, &child));
  if (child < 0) return GATHER_OK; /* no object is there */
  if (bytes <= heap->direct) return read_direct(heap, child, begin, bytes);
  if (rows < 1 || depth == 0) return GATHER_HDF5_WRONG(heap->h, fields->at, "%s is nested too deeply", fields->what);
  return read_indirect(heap, child, rows, begin, depth - 1);
}

/* Each level has fewer rows. */
static gather_status read_indirect(fractal_heap *heap, int64_t at, int64_t rows, uint64_t begin, int depth) {
  gather_hdf5 *h = heap->h;
  static const char WHAT[] = "an indirect block of a fractal heap";
  const int64_t head = 5 + h->offset_bytes + heap->offset_bytes, bytes = head + rows * heap->width * h->offset_bytes;
  uint64_t size = 0;
  if (!row_of(heap, rows - 1, &size)) return GATHER_HDF5_WRONG(h, at, "%s has %" PRId64 " rows, more than its heap", WHAT, rows);
  GATHER_TRY(gather_hdf5_begins(h, at, bytes + 4, "FHIB", 0, WHAT));
  gather_hdf5_fields fields = {h, at + 5, at + bytes, WHAT};
  GATHER_TRY(check_block(heap, &fields, begin));
  GATHER_TRY(gather_hdf5_verify(h, at, bytes, -1, at + bytes, WHAT));
  gather_hdf5_fields row = fields;
  for (int64_t i = 0; i < rows && row_of(heap, i, &size); i++, row.at += heap->width * h->offset_bytes)
    gather_hdf5_expect_children(row, heap->width, 0, 0, size <= heap->direct ? (int64_t)size : 1);
  for (int64_t i = 0; i < rows * heap->width; i++, begin += size) {
    if (!row_of(heap, i / heap->width, &size)) return GATHER_HDF5_WRONG(h, at, "%s has too many rows", WHAT);
    GATHER_TRY(read_child(heap, &fields, size, begin, depth));
  }
  return GATHER_OK;
}

/* What a heap's header says of its blocks. *rows: of its root, 0 = a direct block. */
static gather_status read_shape(fractal_heap *heap, gather_hdf5_fields *fields, int64_t *root, int64_t *rows) {
  gather_hdf5 *h = heap->h;
  const int64_t at = fields->at;
  uint64_t width = 0, bits = 0, count = 0;
  GATHER_TRY(gather_hdf5_take(fields, 2, &width));
  GATHER_TRY(gather_hdf5_take(fields, h->length_bytes, &heap->start));
  GATHER_TRY(gather_hdf5_take(fields, h->length_bytes, &heap->direct));
  GATHER_TRY(gather_hdf5_take(fields, 2, &bits));
  GATHER_TRY(gather_hdf5_skip(fields, 2));
  GATHER_TRY(gather_hdf5_take_address(fields, root));
  GATHER_TRY(gather_hdf5_take(fields, 2, &count));
  /* 64 KiB, the usual longest block, does not fit lengths of two bytes: libhdf5 writes 0. */
  if (heap->direct == 0 && h->length_bytes == 2) heap->direct = UINT64_C(1) << 16;
  if (!is_power(width) || !is_power(heap->start) || !is_power(heap->direct) || heap->direct < heap->start || bits > 63 ||
      heap->direct > UINT64_C(1) << bits)
    return GATHER_HDF5_WRONG(h, at, "the lengths of the blocks of a fractal heap are invalid");
  heap->width = (int64_t)width;
  heap->bits = (int)bits;
  heap->offset_bytes = ((int64_t)bits + 7) / 8;
  *rows = (int64_t)count;
  return GATHER_OK;
}

/* Reads the header and all blocks of a heap. */
static gather_status read_heap(fractal_heap *heap) {
  enum { SUMS = 1 << 1, DEPTH = 64 };
  gather_hdf5 *h = heap->h;
  static const char WHAT[] = "the header of a fractal heap";
  const int64_t bytes = 22 + 12 * h->length_bytes + 3 * h->offset_bytes;
  uint64_t id_bytes = 0, filters = 0, flags = 0, most = 0;
  int64_t root = 0, rows = 0;
  GATHER_TRY(gather_hdf5_begins(h, heap->at, bytes + 4, "FRHP", 0, WHAT));
  gather_hdf5_fields fields = {h, heap->at + 5, heap->at + bytes, WHAT};
  GATHER_TRY(gather_hdf5_take(&fields, 2, &id_bytes));
  GATHER_TRY(gather_hdf5_take(&fields, 2, &filters));
  if (filters > 0)
    return GATHER_HDF5_REFUSE(h, fields.at - 2,
                              "the names of a group are compressed, which is not supported; save the dataset as .npy: "
                              "numpy.save('out.npy', h5py.File('FILE')['NAME'][...])");
  GATHER_TRY(gather_hdf5_verify(h, heap->at, bytes, -1, heap->at + bytes, WHAT));
  GATHER_TRY(gather_hdf5_take(&fields, 1, &flags));
  GATHER_TRY(gather_hdf5_take(&fields, 4, &most));
  GATHER_TRY(gather_hdf5_skip(&fields, h->length_bytes));
  GATHER_TRY(gather_hdf5_take_address(&fields, &heap->large_at));
  GATHER_TRY(gather_hdf5_skip(&fields, 9 * h->length_bytes + h->offset_bytes)); /* free space, counts */
  GATHER_TRY(read_shape(heap, &fields, &root, &rows));
  heap->id_bytes = (int64_t)id_bytes;
  heap->has_sums = (flags & SUMS) != 0;
  const int64_t direct = bytes_for(heap->direct), object = bytes_for(most);
  heap->object_bytes = direct < object ? direct : object;
  if (root < 0) return GATHER_OK;
  return rows == 0 ? read_direct(heap, root, 0, heap->start) : read_indirect(heap, root, rows, 0, DEPTH);
}

/* A record of the index of large objects. They are numbered in the order of their records. */
static gather_status take_large(void *context, gather_hdf5_fields *record) {
  fractal_heap *heap = context;
  const int64_t at = record->at;
  uint64_t bytes = 0;
  heap_block object = {0};
  GATHER_TRY(gather_hdf5_take_address(record, &object.at));
  GATHER_TRY(gather_hdf5_take(record, heap->h->length_bytes, &bytes));
  GATHER_TRY(gather_hdf5_take(record, heap->h->length_bytes, &object.begin));
  if (object.at < 0 || bytes > (uint64_t)(heap->h->file->map.size - object.at))
    return GATHER_HDF5_WRONG(heap->h, at, "a link of %" PRIu64 " bytes extends past the end of the file", bytes);
  object.bytes = (int64_t)bytes;
  return add_block(heap->h, &heap->large, &object);
}

static int by_begin(const void *a, const void *b) {
  const heap_block *first = a, *second = b;
  return (first->begin > second->begin) - (first->begin < second->begin);
}

/* Reads the index of large objects once. */
static gather_status read_large(fractal_heap *heap) {
  const gather_hdf5 *h = heap->h;
  index_tree tree = {
      .h = heap->h, .type = LARGE_OBJECTS, .record_bytes = h->offset_bytes + 2 * h->length_bytes, .take = take_large, .context = heap};
  const int64_t at = heap->large_at;
  if (at < 0) return GATHER_OK;
  GATHER_TRY(read_index(&tree, at));
  if (heap->large.len > 1) qsort(heap->large.block, (size_t)heap->large.len, sizeof *heap->large.block, by_begin);
  heap->large_at = -1;
  return GATHER_OK;
}

/* Where a large object is: its id has its address and length if they fit, else its number. */
static gather_status find_large(fractal_heap *heap, gather_hdf5_fields *id, heap_block *object) {
  gather_hdf5 *h = heap->h;
  const int64_t said_at = id->at, left = heap->id_bytes - 1;
  uint64_t number = 0, bytes = 0;
  if (left >= h->offset_bytes + h->length_bytes) {
    GATHER_TRY(gather_hdf5_take_address(id, &object->at));
    GATHER_TRY(gather_hdf5_take(id, h->length_bytes, &bytes));
    if (object->at < 0 || bytes > (uint64_t)(h->file->map.size - object->at))
      return GATHER_HDF5_WRONG(h, said_at, "a link of %" PRIu64 " bytes extends past the end of the file", bytes);
    object->bytes = (int64_t)bytes;
    return GATHER_OK;
  }
  GATHER_TRY(read_large(heap));
  GATHER_TRY(gather_hdf5_take(id, left < h->length_bytes ? left : h->length_bytes, &number));
  const heap_block *found = find_block(&heap->large, number);
  if (!found || found->begin != number)
    return GATHER_HDF5_WRONG(h, said_at, "the large object %" PRIu64 " is not in the index of its fractal heap", number);
  *object = *found;
  return GATHER_OK;
}

/* Where an object is that is in its id. */
static gather_status find_tiny(const fractal_heap *heap, uint64_t first, gather_hdf5_fields *id, heap_block *object) {
  enum { LONG = 18 };
  const int64_t end = id->at - 1 + heap->id_bytes;
  uint64_t bytes = first & 0xf, more = 0;
  if (heap->id_bytes > LONG) {
    GATHER_TRY(gather_hdf5_take(id, 1, &more));
    bytes = bytes << 8 | more;
  }
  *object = (heap_block){.at = id->at, .bytes = (int64_t)bytes + 1};
  if (object->bytes <= end - id->at) return GATHER_OK;
  return GATHER_HDF5_WRONG(heap->h, id->at - 1, "an object is longer than its id in a fractal heap");
}

static gather_status find_managed(const fractal_heap *heap, gather_hdf5_fields *id, heap_block *object) {
  const int64_t said_at = id->at;
  uint64_t offset = 0, bytes = 0;
  GATHER_TRY(gather_hdf5_take(id, heap->offset_bytes, &offset));
  GATHER_TRY(gather_hdf5_take(id, heap->object_bytes, &bytes));
  const heap_block *block = find_block(&heap->blocks, offset);
  if (!block || offset - block->begin > (uint64_t)block->bytes || bytes > (uint64_t)block->bytes - (offset - block->begin))
    return GATHER_HDF5_WRONG(heap->h, said_at, "a link of %" PRIu64 " bytes at %" PRIu64 " is not in a block of its fractal heap", bytes,
                             offset);
  *object = (heap_block){.at = block->at + (int64_t)(offset - block->begin), .bytes = (int64_t)bytes};
  return GATHER_OK;
}

typedef struct dense_group {
  fractal_heap heap;
  gather_status (*take)(void *context, int64_t at, int64_t bytes);
  void *context;
} dense_group;

/* A record of the index: a hash, and the id of a link message in the heap. */
static gather_status take_link(void *context, gather_hdf5_fields *record) {
  enum { KIND = 0x30, MANAGED = 0, LARGE = 0x10, TINY = 0x20 };
  dense_group *group = context;
  gather_hdf5 *h = group->heap.h;
  uint64_t first = 0;
  heap_block object = {0};
  GATHER_TRY(gather_hdf5_skip(record, 4));
  const int64_t said_at = record->at;
  GATHER_TRY(gather_hdf5_take(record, 1, &first));
  if ((first & KIND) == MANAGED)
    GATHER_TRY(find_managed(&group->heap, record, &object));
  else if ((first & KIND) == TINY)
    GATHER_TRY(find_tiny(&group->heap, first, record, &object));
  else if ((first & KIND) == LARGE)
    GATHER_TRY(find_large(&group->heap, record, &object));
  else
    return GATHER_HDF5_WRONG(h, said_at, "an object of a fractal heap is of an unknown kind");
  if ((first & KIND) == LARGE) GATHER_TRY(gather_hdf5_need(h, object.at, object.bytes, "a link message"));
  return group->take(group->context, object.at, object.bytes);
}

static gather_status read_links(dense_group *group, int64_t index_at) {
  GATHER_TRY(read_heap(&group->heap));
  index_tree tree = {.h = group->heap.h, .type = LINK_NAMES, .record_bytes = 4 + group->heap.id_bytes, .take = take_link, .context = group};
  return read_index(&tree, index_at);
}

gather_status gather_hdf5_dense(gather_hdf5 *h, const gather_hdf5_message *message,
                                gather_status (*take)(void *context, int64_t at, int64_t bytes), void *context) {
  enum { HAS_ORDER = 1 };
  gather_hdf5_fields fields = gather_hdf5_fields_of(h, message, "a link info message");
  dense_group group = {.heap = {.h = h, .large_at = -1}, .take = take, .context = context};
  uint64_t version = 0, flags = 0;
  int64_t index = 0;
  GATHER_TRY(gather_hdf5_take(&fields, 1, &version));
  if (version != 0) return GATHER_HDF5_REFUSE(h, message->at, "version %" PRIu64 " of a link info message is not supported", version);
  GATHER_TRY(gather_hdf5_take(&fields, 1, &flags));
  if ((flags & HAS_ORDER) != 0) GATHER_TRY(gather_hdf5_skip(&fields, 8));
  GATHER_TRY(gather_hdf5_take_address(&fields, &group.heap.at));
  GATHER_TRY(gather_hdf5_take_address(&fields, &index));
  if (group.heap.at < 0) return GATHER_OK; /* a compact group */
  if (index < 0) return GATHER_HDF5_WRONG(h, message->at, "the names of a group have no index");
  gather_hdf5_expect(h, index, 1);
  const gather_status status = read_links(&group, index);
  gather_free(group.heap.blocks.block);
  gather_free(group.heap.large.block);
  return status;
}
