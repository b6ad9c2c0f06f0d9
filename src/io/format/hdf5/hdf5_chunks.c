/* SPDX-License-Identifier: MIT
 *
 * hdf5_chunks.c: a dataset in chunks: its layout, its filters and its fill value are read with the file, the index of the chunks when rows
 * are first wanted. Chunks are kept as a sorted list of those that are stored, so that a dataset which is mostly empty takes no more memory
 * than its file is long.
 * Source: the HDF5 File Format Specification, version 3; the numbers of filters are those of The HDF Group's registry.
 */
#include "io/format/hdf5/hdf5_chunks.h"

#include <inttypes.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/checked.h"

#define SAVE_AS_NPY "save it as .npy: numpy.save('out.npy', h5py.File('FILE')['NAME'][...])"
#define HDF5PLUGIN "import hdf5plugin, then " SAVE_AS_NPY
#define PYTABLES "save it as .npy: numpy.save('out.npy', tables.open_file('FILE').get_node('/NAME')[:])"
#define REPACK "if its plug-in is installed, write the file without the filter: h5repack -f NONE IN OUT"

/* ---- filters */

static const struct {
  unsigned number;
  const char *name;
  int kind;           /* gather_filter_kind; -1: not supported */
  const char *advice; /* what to do if it is not supported */
} FILTERS[] = {
    {1, "deflate", GATHER_FILTER_DEFLATE, NULL},
    {2, "shuffle", GATHER_FILTER_SHUFFLE, NULL},
    {3, "fletcher32", GATHER_FILTER_FLETCHER32, NULL},
    {4, "szip", -1, SAVE_AS_NPY},
    {5, "nbit", -1, SAVE_AS_NPY},
    {6, "scaleoffset", -1, SAVE_AS_NPY},
    {305, "lzo", -1, PYTABLES},
    {307, "bzip2", -1, HDF5PLUGIN},
    {32000, "lzf", GATHER_FILTER_LZF, NULL},
    {32001, "blosc", GATHER_FILTER_BLOSC, NULL},
    {32004, "lz4", GATHER_FILTER_LZ4_HDF5, NULL},
    {32008, "bitshuffle", GATHER_FILTER_BITSHUFFLE, NULL},
    {32012, "jpeg-ls", -1, REPACK},
    {32013, "zfp", -1, HDF5PLUGIN},
    {32015, "zstd", GATHER_FILTER_ZSTD, NULL},
    {32017, "sz", -1, HDF5PLUGIN},
    {32018, "fcidecomp", -1, HDF5PLUGIN},
    {32019, "jpeg", -1, REPACK},
    {32020, "vbz", -1, REPACK},
    {32024, "sz3", -1, HDF5PLUGIN},
    {32026, "blosc2", -1, HDF5PLUGIN},
    {32028, "sperr", -1, HDF5PLUGIN},
};

enum { FILTER_COUNT = sizeof FILTERS / sizeof *FILTERS, VALUES = 8 };

/* A filter of a pipeline, as the message has it: the first of its values. */
typedef struct stored_filter {
  uint64_t number, values[VALUES], count;
} stored_filter;

static gather_status add_filter(const gather_hdf5 *h, const gather_file_tensor *tensor, const stored_filter *stored, int64_t at,
                                gather_chunks *chunks) {
  enum { BITS_ITEM = 2, BITS_BLOCK = 3, BITS_COMPRESSOR = 4, BITS_UNIT = 8 };
  gather_filter *filter = &chunks->pipeline.filters[chunks->pipeline.count];
  int i = 0;
  while (i < FILTER_COUNT && FILTERS[i].number != stored->number) i++;
  if (i == FILTER_COUNT || FILTERS[i].kind < 0)
    return GATHER_HDF5_REFUSE(
        h, at, "the chunks of the dataset '%.60s' have the filter %s (number %" PRIu64 "), which is not supported; %s", tensor->name,
        i < FILTER_COUNT ? FILTERS[i].name : "of another program", stored->number, i < FILTER_COUNT ? FILTERS[i].advice : REPACK);
  if (chunks->pipeline.count == GATHER_FILTERS_MOST)
    return GATHER_HDF5_REFUSE(h, at, "the chunks of the dataset '%.100s' have more than %d filters", tensor->name, GATHER_FILTERS_MOST);
  *filter = (gather_filter){.kind = (gather_filter_kind)FILTERS[i].kind};
  if (filter->kind == GATHER_FILTER_SHUFFLE) filter->item_bytes = stored->count > 0 ? (int64_t)stored->values[0] : 0;
  if (filter->kind == GATHER_FILTER_BITSHUFFLE && stored->count > BITS_ITEM) filter->item_bytes = (int64_t)stored->values[BITS_ITEM];
  if (filter->kind == GATHER_FILTER_BITSHUFFLE && stored->count > BITS_BLOCK) filter->block_len = (int64_t)stored->values[BITS_BLOCK];
  if (filter->block_len % BITS_UNIT != 0)
    return GATHER_HDF5_WRONG(h, at, "the filter bitshuffle has blocks of %" PRId64 " elements, not a multiple of 8", filter->block_len);
  if (filter->kind == GATHER_FILTER_BITSHUFFLE && stored->count > BITS_COMPRESSOR) filter->value = (int64_t)stored->values[BITS_COMPRESSOR];
  const bool shuffles = filter->kind == GATHER_FILTER_SHUFFLE || filter->kind == GATHER_FILTER_BITSHUFFLE;
  if (shuffles && (filter->item_bytes < 1 || filter->item_bytes > GATHER_CHUNK_BYTES_MAX))
    return GATHER_HDF5_WRONG(h, at, "the filter %s cannot have elements of %" PRId64 " bytes", FILTERS[i].name, filter->item_bytes);
  if (filter->kind == GATHER_FILTER_BITSHUFFLE && filter->value != 0 && filter->value != 2 && filter->value != 3)
    return GATHER_HDF5_REFUSE(h, at, "the filter bitshuffle has the compressor %" PRId64 ", which is not supported", filter->value);
  chunks->pipeline.count++;
  return GATHER_OK;
}

static gather_status take_filter(gather_hdf5_fields *fields, uint64_t version, stored_filter *stored) {
  enum { NAMED_FROM = 256 };
  uint64_t name_bytes = 0, flags = 0, value = 0;
  *stored = (stored_filter){0};
  GATHER_TRY(gather_hdf5_take(fields, 2, &stored->number));
  if (version == 1 || stored->number >= NAMED_FROM) GATHER_TRY(gather_hdf5_take(fields, 2, &name_bytes));
  GATHER_TRY(gather_hdf5_take(fields, 2, &flags));
  GATHER_TRY(gather_hdf5_take(fields, 2, &stored->count));
  GATHER_TRY(gather_hdf5_skip(fields, (int64_t)(version == 1 ? (name_bytes + 7) / 8 * 8 : name_bytes)));
  for (uint64_t i = 0; i < stored->count; i++) {
    GATHER_TRY(gather_hdf5_take(fields, 4, &value));
    if (i < VALUES) stored->values[i] = value;
  }
  const bool padded = version == 1 && stored->count % 2;
  if (stored->count > VALUES) stored->count = VALUES;
  return padded ? gather_hdf5_skip(fields, 4) : GATHER_OK;
}

static gather_status read_pipeline(gather_hdf5 *h, const gather_hdf5_message *message, const gather_file_tensor *tensor,
                                   gather_chunks *chunks) {
  gather_hdf5_fields fields = gather_hdf5_fields_of(h, message, "a filter pipeline message");
  uint64_t version = 0, count = 0;
  stored_filter stored;
  if (message->at == 0) return GATHER_OK;
  GATHER_TRY(gather_hdf5_take(&fields, 1, &version));
  if (version != 1 && version != 2)
    return GATHER_HDF5_REFUSE(h, message->at, "version %" PRIu64 " of a filter pipeline is not supported", version);
  GATHER_TRY(gather_hdf5_take(&fields, 1, &count));
  if (version == 1) GATHER_TRY(gather_hdf5_skip(&fields, 6));
  for (uint64_t i = 0; i < count; i++) {
    const int64_t at = fields.at;
    GATHER_TRY(take_filter(&fields, version, &stored));
    GATHER_TRY(add_filter(h, tensor, &stored, at, chunks));
  }
  return GATHER_OK;
}

/* ---- the layout */

static gather_status read_lengths(gather_hdf5_fields *fields, uint64_t lengths, int64_t width, gather_hdf5_chunked *chunked) {
  uint64_t length = 0;
  if (lengths != (uint64_t)chunked->rank + 1)
    return GATHER_HDF5_WRONG(fields->h, fields->at, "chunks have rank %" PRIu64 ", the dataset has rank %d", lengths - 1,
                             (int)chunked->rank);
  for (int32_t d = 0; d < chunked->rank; d++) {
    GATHER_TRY(gather_hdf5_take(fields, width, &length));
    chunked->chunks.chunk[d] = length > INT64_MAX ? INT64_MAX : (int64_t)length;
  }
  return GATHER_OK;
}

/* Up to version 3: one kind of index. */
static gather_status read_old_layout(gather_hdf5_fields *fields, uint64_t version, gather_hdf5_chunked *chunked) {
  uint64_t lengths = 0;
  if (version == 3) GATHER_TRY(gather_hdf5_skip(fields, 1)); /* the kind, which is known */
  GATHER_TRY(gather_hdf5_take(fields, 1, &lengths));
  if (version < 3) GATHER_TRY(gather_hdf5_skip(fields, 6));
  GATHER_TRY(gather_hdf5_take_address(fields, &chunked->index_at));
  chunked->index = GATHER_HDF5_BTREE_1;
  return read_lengths(fields, lengths, 4, chunked);
}

static gather_status read_new_layout(gather_hdf5_fields *fields, gather_hdf5_chunked *chunked) {
  enum { EDGES_PLAIN = 1, SINGLE_FILTERED = 2 };
  static const int64_t PARAMETERS[] = {0, 0, 0, 1, 5, 6}; /* bytes, of each index */
  uint64_t flags = 0, lengths = 0, width = 0, index = 0, bytes = 0, skipped = 0;
  gather_hdf5 *h = fields->h;
  GATHER_TRY(gather_hdf5_skip(fields, 1));
  GATHER_TRY(gather_hdf5_take(fields, 1, &flags));
  GATHER_TRY(gather_hdf5_take(fields, 1, &lengths));
  GATHER_TRY(gather_hdf5_take(fields, 1, &width));
  if (width < 1 || width > 8) return GATHER_HDF5_WRONG(h, fields->at - 1, "lengths of chunks cannot have %" PRIu64 " bytes", width);
  GATHER_TRY(read_lengths(fields, lengths, (int64_t)width, chunked));
  GATHER_TRY(gather_hdf5_skip(fields, (int64_t)width)); /* the bytes of an element */
  GATHER_TRY(gather_hdf5_take(fields, 1, &index));
  if (index < GATHER_HDF5_SINGLE || index > GATHER_HDF5_BTREE_2)
    return GATHER_HDF5_REFUSE(h, fields->at - 1, "index %" PRIu64 " of chunks is not supported", index);
  chunked->index = (gather_hdf5_index)index;
  chunked->edges_plain = flags & EDGES_PLAIN;
  chunked->single_bytes = -1;
  if (index == GATHER_HDF5_SINGLE && (flags & SINGLE_FILTERED)) {
    GATHER_TRY(gather_hdf5_take(fields, h->length_bytes, &bytes));
    GATHER_TRY(gather_hdf5_take(fields, 4, &skipped));
    chunked->single_bytes = bytes > INT64_MAX ? INT64_MAX : (int64_t)bytes;
    chunked->single_skipped = (uint32_t)skipped;
  }
  GATHER_TRY(gather_hdf5_skip(fields, PARAMETERS[index]));
  return gather_hdf5_take_address(fields, &chunked->index_at);
}

static gather_status read_layout(gather_hdf5 *h, const gather_hdf5_message *message, gather_hdf5_chunked *chunked) {
  gather_hdf5_fields fields = gather_hdf5_fields_of(h, message, "a data layout message");
  uint64_t version = 0;
  GATHER_TRY(gather_hdf5_take(&fields, 1, &version));
  return version < 4 ? read_old_layout(&fields, version, chunked) : read_new_layout(&fields, chunked);
}

/* The maximal lengths behind the lengths, or these. */
static gather_status read_most(gather_hdf5 *h, const gather_hdf5_message *message, gather_hdf5_chunked *chunked) {
  enum { HAS_MOST = 1 };
  gather_hdf5_fields fields = gather_hdf5_fields_of(h, message, "a dataspace message");
  uint64_t version = 0, rank = 0, flags = 0, length = 0;
  GATHER_TRY(gather_hdf5_take(&fields, 1, &version));
  GATHER_TRY(gather_hdf5_take(&fields, 1, &rank));
  GATHER_TRY(gather_hdf5_take(&fields, 1, &flags));
  GATHER_TRY(gather_hdf5_skip(&fields, version == 1 ? 5 : 1));
  chunked->rank = (int32_t)rank; /* it was checked */
  if (flags & HAS_MOST) GATHER_TRY(gather_hdf5_skip(&fields, (int64_t)rank * h->length_bytes));
  for (uint64_t d = 0; d < rank; d++) {
    GATHER_TRY(gather_hdf5_take(&fields, h->length_bytes, &length));
    const bool unlimited = length == UINT64_MAX >> (64 - 8 * h->length_bytes);
    chunked->most[d] = unlimited ? -1 : length > INT64_MAX ? INT64_MAX : (int64_t)length;
  }
  return GATHER_OK;
}

/* ---- the fill value */

static gather_status read_fill(gather_hdf5 *h, const gather_hdf5_dataset *dataset, gather_hdf5_chunked *chunked) {
  enum { DEFINED = 0x20 };
  gather_hdf5_message message = dataset->fill.at != 0 ? dataset->fill : dataset->old_fill;
  gather_hdf5_fields fields;
  uint64_t version = 0, defined = 1, bytes = 0;
  gather_chunks *chunks = &chunked->chunks;
  if (message.at == 0) return GATHER_OK;
  GATHER_TRY(gather_hdf5_unshare(h, &message));
  fields = gather_hdf5_fields_of(h, &message, "a fill value message");
  if (dataset->fill.at != 0) {
    GATHER_TRY(gather_hdf5_take(&fields, 1, &version));
    if (version < 1 || version > 3)
      return GATHER_HDF5_REFUSE(h, message.at, "version %" PRIu64 " of a fill value is not supported", version);
    if (version < 3) GATHER_TRY(gather_hdf5_skip(&fields, 2));
    GATHER_TRY(gather_hdf5_take(&fields, 1, &defined));
    if (version == 3) defined &= DEFINED;
    if (version == 1) defined = 1; /* the length is there, and 0 if it is not defined */
  }
  if (!defined) return GATHER_OK;
  GATHER_TRY(gather_hdf5_take(&fields, 4, &bytes));
  if (bytes == 0 || bytes > INT32_MAX) return GATHER_OK; /* -1, too, is how older libraries say that it is not defined */
  const int64_t at = fields.at;
  GATHER_TRY(gather_hdf5_skip(&fields, (int64_t)bytes));
  /* Of elements that are arrays the value has all elements: those of each are the same in what h5py writes, and only such are read. */
  if (bytes % (uint64_t)chunks->item_bytes != 0)
    return GATHER_HDF5_WRONG(h, at, "the fill value has %" PRIu64 " bytes, elements have %" PRId64, bytes, chunks->item_bytes);
  const uint8_t *value = h->file->map.bytes + at;
  for (uint64_t i = (uint64_t)chunks->item_bytes; i < bytes; i++)
    if (value[i] != value[i - (uint64_t)chunks->item_bytes])
      return GATHER_HDF5_REFUSE(h, at, "its fill value is an array of different elements, which is not supported");
  char *fill = gather_arena_take(&h->file->arena, chunks->item_bytes, 1);
  if (!fill) return GATHER_HDF5_NO_MEMORY(h);
  memcpy(fill, value, (size_t)chunks->item_bytes);
  chunks->fill = fill;
  return GATHER_OK;
}

/* ---- finding chunks */

static gather_status read_once(gather_hdf5_chunked *chunked, gather_error *error) {
  gather_chunks *chunks = &chunked->chunks;
  gather_error why;
  gather_hdf5 h = {.file = chunks->file,
                   .error = &why,
                   .base = chunked->base,
                   .offset_bytes = chunked->offset_bytes,
                   .length_bytes = chunked->length_bytes,
                   .work = chunked->work};
  if (chunked->is_read) return GATHER_OK;
  chunked->found_len = chunked->all = chunked->longest = 0;
  gather_status status = chunked->index_at < 0 || chunks->count == 0 ? GATHER_OK : gather_hdf5_read_index(&h, chunked);
  gather_free(h.noted);
  chunked->is_read = status == GATHER_OK;
  if (status != GATHER_OK && error) *error = why;
  return status;
}

static gather_status read_index(const gather_chunks *chunks, gather_error *error) {
  gather_hdf5_chunked *chunked = (gather_hdf5_chunked *)(uintptr_t)chunks->from;
  (void)pthread_mutex_lock(&chunked->lock);
  const gather_status status = read_once(chunked, error);
  (void)pthread_mutex_unlock(&chunked->lock);
  return status;
}

static const gather_hdf5_chunk *find_chunk(const gather_hdf5_chunked *chunked, int64_t number) {
  int64_t low = 0, high = chunked->found_len;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (chunked->found[middle].number < number)
      low = middle + 1;
    else
      high = middle;
  }
  return low < chunked->found_len && chunked->found[low].number == number ? &chunked->found[low] : NULL;
}

static gather_status find(const gather_chunks *chunks, const int64_t *numbers, int64_t count, gather_chunk_place *places,
                          gather_error *error) {
  const gather_hdf5_chunked *chunked = chunks->from;
  GATHER_TRY(read_index(chunks, error));
  for (int64_t i = 0; i < count; i++) {
    const gather_hdf5_chunk *found = find_chunk(chunked, numbers[i]);
    places[i] = (gather_chunk_place){.offset = -1};
    if (found) places[i] = (gather_chunk_place){.offset = found->offset, .bytes = found->bytes, .skipped = found->skipped};
  }
  return GATHER_OK;
}

static gather_status sizes(const gather_chunks *chunks, int64_t *longest, int64_t *all, gather_error *error) {
  const gather_hdf5_chunked *chunked = chunks->from;
  GATHER_TRY(read_index(chunks, error));
  *longest = chunked->longest;
  if (all) *all = chunked->all;
  return GATHER_OK;
}

static void enter(const gather_chunks *chunks) {
  gather_hdf5_chunked *chunked = (gather_hdf5_chunked *)(uintptr_t)chunks->from;
  (void)pthread_mutex_init(&chunked->lock, NULL);
}

/* ---- the dataset */

static void release(void *held) {
  for (gather_hdf5_chunked *chunked = held; chunked; chunked = chunked->next) {
    gather_free(chunked->found);
    (void)pthread_mutex_destroy(&chunked->lock);
  }
}

static gather_status create(gather_hdf5 *h, gather_hdf5_chunked **chunked) {
  gather_hdf5_chunked *made = gather_arena_take(&h->file->arena, 1, (int64_t)sizeof *made);
  if (!made || pthread_mutex_init(&made->lock, NULL) != 0) return GATHER_HDF5_NO_MEMORY(h);
  made->base = h->base, made->work = h->work;
  made->offset_bytes = h->offset_bytes, made->length_bytes = h->length_bytes;
  made->next = h->file->held;
  h->file->held = made;
  h->file->release = release;
  *chunked = made;
  return GATHER_OK;
}

gather_status gather_hdf5_describe_chunks(gather_hdf5 *h, const gather_hdf5_dataset *dataset, const gather_hdf5_message *space,
                                          gather_file_tensor *tensor) {
  gather_hdf5_message pipeline = dataset->pipeline;
  gather_hdf5_chunked *chunked = NULL;
  const gather_tensor *of = &tensor->tensor;
  GATHER_TRY(create(h, &chunked));
  gather_chunks *chunks = &chunked->chunks;
  chunks->file = h->file, chunks->map = &h->file->map;
  chunks->find = find, chunks->sizes = sizes, chunks->enter = enter, chunks->from = chunked;
  chunks->rank = of->rank;
  memcpy(chunks->shape, of->shape, (size_t)of->rank * sizeof *of->shape);
  memcpy(chunks->chunk, of->shape, (size_t)of->rank * sizeof *of->shape); /* those of elements that are arrays */
  chunks->item_bytes = of->type == GATHER_TYPE_OPAQUE ? of->item_bytes : gather_type_get(of->type)->bits / 8;
  GATHER_TRY(read_most(h, space, chunked));
  GATHER_TRY(read_layout(h, &dataset->layout, chunked));
  GATHER_TRY(gather_chunks_measure(chunks, tensor->name, dataset->layout.at, h->error));
  if (pipeline.at != 0) GATHER_TRY(gather_hdf5_unshare(h, &pipeline));
  GATHER_TRY(read_pipeline(h, &pipeline, tensor, chunks));
  GATHER_TRY(read_fill(h, dataset, chunked));
  return gather_file_set_chunks(h->file, chunks, tensor, h->error);
}
