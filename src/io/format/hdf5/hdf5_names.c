/* SPDX-License-Identifier: MIT
 *
 * hdf5_names.c: the links of a group of an HDF5 file, which give objects their names. There are three kinds of groups: old ones, a B-tree
 * of version 1 whose leaves are symbol table nodes, with the names in a local heap; compact ones, a message for each link; dense ones
 * (hdf5_dense.c), link messages in a fractal heap.
 * Source: the HDF5 File Format Specification, version 3, and where it is open what libhdf5 1.10 to 2.0 wrote.
 */
#include <inttypes.h>
#include <string.h>

#include "core/base/bytes.h"
#include "io/format/hdf5/hdf5.h"
#include "io/format/span.h"
#include "io/format/text/utf8.h"

/* Nodes of trees have at least hundreds of bytes, so real ones have fewer levels. */
enum { MOST_LEVELS = 32 };

/* The links of one group, so far. */
typedef struct link_list {
  gather_hdf5 *h;
  gather_hdf5_link *first;
  int64_t count;
} link_list;

/* ---- a link */

/* A text in the arena. One that is not UTF-8 is of a program that knew one byte a character: it is read as Latin-1. */
static gather_status copy_text(const gather_hdf5 *h, const uint8_t *text, int64_t bytes, const char **copy) {
  char *made = NULL;
  if (gather_utf8_check((const char *)text, bytes) < 0) {
    made = gather_arena_text(&h->file->arena, (const char *)text, (size_t)bytes);
  } else if ((made = gather_arena_take(&h->file->arena, 2 * bytes + 1, 1)) != NULL) {
    for (int64_t i = 0, to = 0; i < bytes; i++) {
      if (text[i] >= 0x80) made[to++] = (char)(0xc0 | text[i] >> 6);
      made[to++] = (char)(text[i] < 0x80 ? text[i] : (0x80 | (text[i] & 0x3f)));
    }
  }
  *copy = made;
  return made ? GATHER_OK : GATHER_HDF5_NO_MEMORY(h);
}

/* Adds a link of that name, which is readable. */
static gather_status add_link(link_list *list, int64_t name_at, int64_t name_bytes, gather_hdf5_link **link) {
  const gather_hdf5 *h = list->h;
  const uint8_t *name = h->file->map.bytes + name_at;
  if (name_bytes == 0) return GATHER_HDF5_WRONG(h, name_at, "a link of a group has an empty name");
  if (memchr(name, '\0', (size_t)name_bytes) || memchr(name, '/', (size_t)name_bytes))
    return GATHER_HDF5_WRONG(h, name_at, "the name of a link contains a slash or a zero byte");
  gather_hdf5_link *made = gather_arena_take(&h->file->arena, 1, (int64_t)sizeof *made);
  if (!made) return GATHER_HDF5_NO_MEMORY(h);
  *made = (gather_hdf5_link){.next = list->first, .said_at = name_at, .kind = GATHER_HDF5_OUTSIDE};
  GATHER_TRY(copy_text(h, name, name_bytes, &made->name));
  list->first = made;
  list->count++;
  *link = made;
  return GATHER_OK;
}

/* The value of a soft link. */
static gather_status set_path(const gather_hdf5 *h, int64_t at, int64_t bytes, gather_hdf5_link *link) {
  const uint8_t *text = h->file->map.bytes + at, *zero = memchr(text, '\0', (size_t)bytes);
  link->kind = GATHER_HDF5_SOFT;
  return copy_text(h, text, zero ? zero - text : bytes, &link->path);
}

/* The value of a link to another file: flags, its name, a zero byte, and the path in it. */
static gather_status set_outside(gather_hdf5_fields *fields, int64_t bytes, gather_hdf5_link *link) {
  const gather_hdf5 *h = fields->h;
  const int64_t at = fields->at + 1;
  GATHER_TRY(gather_hdf5_skip(fields, bytes));
  const uint8_t *text = h->file->map.bytes + at, *zero = bytes > 1 ? memchr(text, '\0', (size_t)bytes - 1) : NULL;
  return zero ? copy_text(h, text, zero - text, &link->path) : GATHER_OK;
}

/* What follows the name in a link message. Types from 64 on are user-defined: 64 is a link to another file, which is not followed. */
static gather_status read_target(gather_hdf5_fields *fields, uint64_t type, gather_hdf5_link *link) {
  enum { HARD = 0, SOFT = 1, EXTERNAL = 64 };
  uint64_t bytes = 0;
  if (type == HARD) {
    const int64_t address_at = fields->at;
    link->kind = GATHER_HDF5_HARD;
    GATHER_TRY(gather_hdf5_take_address(fields, &link->header));
    return link->header >= 0 ? GATHER_OK : GATHER_HDF5_WRONG(fields->h, address_at, "the link '%.100s' has no address", link->name);
  }
  if (type != SOFT && type != EXTERNAL) return GATHER_OK;
  GATHER_TRY(gather_hdf5_take(fields, 2, &bytes));
  if (type == EXTERNAL) return set_outside(fields, (int64_t)bytes, link);
  const int64_t at = fields->at;
  GATHER_TRY(gather_hdf5_skip(fields, (int64_t)bytes));
  return set_path(fields->h, at, (int64_t)bytes, link);
}

/* A link message, which is also what a fractal heap holds. */
static gather_status read_link(void *context, int64_t at, int64_t bytes) {
  enum { WIDTH = 3, HAS_ORDER = 1 << 2, HAS_TYPE = 1 << 3, HAS_CHARSET = 1 << 4 };
  link_list *list = context;
  gather_hdf5_fields fields = {list->h, at, at + bytes, "a link message"};
  uint64_t version = 0, flags = 0, type = 0, name_bytes = 0;
  gather_hdf5_link *link = NULL;
  GATHER_TRY(gather_hdf5_take(&fields, 1, &version));
  if (version != 1) return GATHER_HDF5_REFUSE(list->h, at, "version %" PRIu64 " of a link message is not supported", version);
  GATHER_TRY(gather_hdf5_take(&fields, 1, &flags));
  if ((flags & HAS_TYPE) != 0) GATHER_TRY(gather_hdf5_take(&fields, 1, &type));
  GATHER_TRY(gather_hdf5_skip(&fields, ((flags & HAS_ORDER) != 0 ? 8 : 0) + ((flags & HAS_CHARSET) != 0 ? 1 : 0)));
  const int64_t length_at = fields.at;
  GATHER_TRY(gather_hdf5_take(&fields, 1 << (flags & WIDTH), &name_bytes));
  if (name_bytes > (uint64_t)(fields.end - fields.at))
    return GATHER_HDF5_WRONG(list->h, length_at, "a name of %" PRIu64 " bytes extends past its link message", name_bytes);
  GATHER_TRY(add_link(list, fields.at, (int64_t)name_bytes, &link));
  GATHER_TRY(gather_hdf5_skip(&fields, (int64_t)name_bytes));
  return read_target(&fields, type, link);
}

/* ---- old groups: a B-tree of version 1 */

/* A local heap: the bytes of the names. */
typedef struct local_heap {
  int64_t at, bytes;
} local_heap;

static gather_status read_local_heap(gather_hdf5 *h, int64_t at, local_heap *heap) {
  static const char WHAT[] = "a local heap";
  const int64_t bytes = 8 + 2 * h->length_bytes + h->offset_bytes;
  uint64_t size = 0;
  GATHER_TRY(gather_hdf5_begins(h, at, bytes, "HEAP", 0, WHAT));
  gather_hdf5_fields fields = {h, at + 8, at + bytes, WHAT};
  GATHER_TRY(gather_hdf5_take(&fields, h->length_bytes, &size));
  GATHER_TRY(gather_hdf5_skip(&fields, h->length_bytes));
  GATHER_TRY(gather_hdf5_take_address(&fields, &heap->at));
  if (heap->at < 0 || size > (uint64_t)(h->file->map.size - heap->at))
    return GATHER_HDF5_WRONG(h, at + 8, "the %" PRIu64 " bytes of a local heap extend past the end of the file", size);
  heap->bytes = (int64_t)size;
  return gather_hdf5_need(h, heap->at, heap->bytes, WHAT);
}

/* A text of a local heap, which ends with a zero byte. said_at: of its offset. */
static gather_status find_text(const gather_hdf5 *h, const local_heap *heap, uint64_t offset, int64_t said_at, int64_t *at,
                               int64_t *bytes) {
  if (offset >= (uint64_t)heap->bytes)
    return GATHER_HDF5_WRONG(h, said_at, "a name at %" PRIu64 " is past the end of its local heap of %" PRId64 " bytes", offset,
                             heap->bytes);
  const int64_t left = heap->bytes - (int64_t)offset;
  *at = heap->at + (int64_t)offset;
  const uint8_t *text = h->file->map.bytes + *at, *zero = memchr(text, '\0', (size_t)left);
  if (!zero) return GATHER_HDF5_WRONG(h, *at, "a name in a local heap has no end");
  *bytes = zero - text;
  return GATHER_OK;
}

/* An entry of a symbol table node. */
static gather_status read_entry(link_list *list, const local_heap *heap, gather_hdf5_fields *fields) {
  enum { SOFT = 2, SCRATCH = 16 };
  gather_hdf5 *h = list->h;
  uint64_t name = 0, cached = 0, value = 0;
  int64_t said_at = fields->at, header = -1, at = 0, bytes = 0;
  gather_hdf5_link *link = NULL;
  GATHER_TRY(gather_hdf5_take(fields, h->length_bytes, &name));
  GATHER_TRY(find_text(h, heap, name, said_at, &at, &bytes));
  GATHER_TRY(add_link(list, at, bytes, &link));
  said_at = fields->at;
  GATHER_TRY(gather_hdf5_take_address(fields, &header));
  GATHER_TRY(gather_hdf5_take(fields, 4, &cached));
  GATHER_TRY(gather_hdf5_skip(fields, 4));
  const int64_t scratch = fields->at;
  GATHER_TRY(gather_hdf5_take(fields, 4, &value));
  GATHER_TRY(gather_hdf5_skip(fields, SCRATCH - 4));
  if (cached == SOFT) {
    GATHER_TRY(find_text(h, heap, value, scratch, &at, &bytes));
    return set_path(h, at, bytes, link);
  }
  if (header < 0) return GATHER_HDF5_WRONG(h, said_at, "the link '%.100s' has no address", link->name);
  link->kind = GATHER_HDF5_HARD;
  link->header = header;
  return GATHER_OK;
}

static gather_status read_symbols(link_list *list, const local_heap *heap, int64_t at) {
  enum { HEAD = 8 };
  gather_hdf5 *h = list->h;
  static const char WHAT[] = "a symbol table node";
  GATHER_TRY(gather_hdf5_begins(h, at, HEAD, "SNOD", 1, WHAT));
  const int64_t count = gather_read_u16(h->file->map.bytes + at + 6), bytes = HEAD + count * (h->length_bytes + h->offset_bytes + 24);
  GATHER_TRY(gather_hdf5_need(h, at, bytes, WHAT));
  gather_hdf5_fields fields = {h, at + HEAD, at + bytes, WHAT};
  for (int64_t i = 0; i < count; i++) GATHER_TRY(read_entry(list, heap, &fields));
  return GATHER_OK;
}

/* A node and all below it. level: -1 for the root, of which any will do. */
static gather_status read_tree(link_list *list, const local_heap *heap, int64_t at, int level) {
  gather_hdf5 *h = list->h;
  static const char WHAT[] = "a node of a group's B-tree";
  const int64_t head = 8 + 2 * h->offset_bytes, step = h->length_bytes + h->offset_bytes;
  GATHER_TRY(gather_hdf5_begins(h, at, head, "TREE", 0, WHAT)); /* 0: the kind of a group's nodes */
  const uint8_t *node = h->file->map.bytes + at;
  const int found = node[5];
  const int64_t count = gather_read_u16(node + 6), bytes = head + count * step + h->length_bytes;
  if (level >= 0 ? found != level : found > MOST_LEVELS) return GATHER_HDF5_WRONG(h, at + 5, "%s has the invalid level %d", WHAT, found);
  GATHER_TRY(gather_hdf5_need(h, at, bytes, WHAT));
  gather_hdf5_fields fields = {h, at + head, at + bytes, WHAT};
  gather_hdf5_expect_children(fields, count, h->length_bytes, 0, 1);
  for (int64_t i = 0; i < count; i++) {
    int64_t child = 0;
    GATHER_TRY(gather_hdf5_skip(&fields, h->length_bytes)); /* the key */
    const int64_t said_at = fields.at;
    GATHER_TRY(gather_hdf5_take_address(&fields, &child));
    if (child < 0) return GATHER_HDF5_WRONG(h, said_at, "%s has a child without an address", WHAT);
    GATHER_TRY(found > 0 ? read_tree(list, heap, child, found - 1) : read_symbols(list, heap, child));
  }
  return GATHER_OK;
}

static gather_status read_old(link_list *list, const gather_hdf5_message *message) {
  gather_hdf5 *h = list->h;
  gather_hdf5_fields fields = gather_hdf5_fields_of(h, message, "a symbol table message");
  int64_t tree = 0, at = 0;
  local_heap heap = {0};
  GATHER_TRY(gather_hdf5_take_address(&fields, &tree));
  GATHER_TRY(gather_hdf5_take_address(&fields, &at));
  if (tree < 0 || at < 0) return GATHER_HDF5_WRONG(h, message->at, "a group has no B-tree or no local heap");
  gather_hdf5_expect(h, tree, 1);
  GATHER_TRY(read_local_heap(h, at, &heap));
  return read_tree(list, &heap, tree, -1);
}

/* ---- a group */

bool gather_hdf5_is_group(const gather_hdf5_messages *messages) {
  for (int64_t i = 0; i < messages->len; i++)
    if (messages->at[i].type == GATHER_HDF5_SYMBOL_TABLE || messages->at[i].type == GATHER_HDF5_LINK_INFO) return true;
  return false;
}

static bool comes_before(const void *a, const void *b) {
  const gather_hdf5_link *first = a, *second = b;
  return strcmp(first->name, second->name) < 0;
}

static gather_status sort_links(const link_list *list, const gather_hdf5_link ***links) {
  const gather_hdf5 *h = list->h;
  const gather_hdf5_link **sorted = gather_arena_take(&h->file->arena, list->count, (int64_t)sizeof *sorted), *link = list->first;
  if (!sorted) return GATHER_HDF5_NO_MEMORY(h);
  bool in_order = true;
  for (int64_t i = list->count; i-- > 0; link = link->next) {
    sorted[i] = link;
    in_order = in_order && (i == list->count - 1 || !comes_before(sorted[i + 1], link));
  }
  if (!in_order) gather_sort_pointers((const void **)sorted, list->count, comes_before);
  for (int64_t i = 1; i < list->count; i++)
    if (strcmp(sorted[i - 1]->name, sorted[i]->name) == 0)
      return GATHER_HDF5_WRONG(h, sorted[i]->said_at, "the name '%.100s' is given twice in its group", sorted[i]->name);
  *links = sorted;
  return GATHER_OK;
}

gather_status gather_hdf5_links(gather_hdf5 *h, const gather_hdf5_messages *messages, const gather_hdf5_link ***links, int64_t *count) {
  link_list list = {.h = h};
  for (int64_t i = 0; i < messages->len; i++) {
    const gather_hdf5_message *message = &messages->at[i];
    if (message->type == GATHER_HDF5_SYMBOL_TABLE) GATHER_TRY(read_old(&list, message));
    if (message->type == GATHER_HDF5_LINK_INFO) GATHER_TRY(gather_hdf5_dense(h, message, read_link, &list));
    if (message->type == GATHER_HDF5_LINK) GATHER_TRY(read_link(&list, message->at, message->bytes));
  }
  GATHER_TRY(sort_links(&list, links));
  *count = list.count;
  return GATHER_OK;
}
