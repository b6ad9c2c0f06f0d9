/* SPDX-License-Identifier: MIT
 *
 * zarr_codecs.c: how chunks were encoded: the filters and the compressor of Zarr 2, which are numcodecs', and the codecs of Zarr 3.
 */
#include "io/format/zarr/zarr.h"

#ifdef GATHER_HAVE_JANSSON

#include <inttypes.h>
#include <string.h>

#include "core/base/checked.h"

/* ---- bytes to bytes */

static const struct {
  const char *name;
  gather_filter_kind kind;
  int versions; /* bit 2: of numcodecs, which version 3 has as "numcodecs.NAME"; bit 3: of version 3 */
} CODECS[] = {
    {"zlib", GATHER_FILTER_DEFLATE, 1 << 2},       {"gzip", GATHER_FILTER_GZIP, 1 << 2 | 1 << 3},
    {"zstd", GATHER_FILTER_ZSTD, 1 << 2 | 1 << 3}, {"blosc", GATHER_FILTER_BLOSC, 1 << 2 | 1 << 3},
    {"lz4", GATHER_FILTER_LZ4_SIZED, 1 << 2},      {"shuffle", GATHER_FILTER_SHUFFLE, 1 << 2},
    {"delta", GATHER_FILTER_DELTA, 1 << 2},        {"fletcher32", GATHER_FILTER_FLETCHER32, 1 << 2},
    {"crc32c", GATHER_FILTER_CRC32C, 1 << 3},
};

/* What a shuffle shuffles. */
static gather_status read_shuffle(gather_zarr_reading *r, const json_t *options, gather_filter *filter) {
  enum { MOST = 1 << 20 };
  const json_t *bytes = json_object_get(options, "elementsize");
  filter->item_bytes = bytes ? (int64_t)json_integer_value(bytes) : 4;
  if (filter->item_bytes >= 1 && filter->item_bytes <= MOST) return GATHER_OK;
  return GATHER_ZARR_WRONG(r, "the elementsize of the codec 'shuffle' is not supported");
}

/* Differences of elements of the array's own type, which is a little-endian number. quoted: the array's dtype, in quotes. */
static gather_status read_delta(gather_zarr_reading *r, const json_t *options, const char *quoted, gather_filter *filter) {
  const gather_zarr_type *type = &r->array->type;
  const char *dtype = json_string_value(json_object_get(options, "dtype"));
  const char *stored = json_string_value(json_object_get(options, "astype"));
  bool same = dtype && strlen(dtype) + 2 == strlen(quoted) && strncmp(dtype, quoted + 1, strlen(dtype)) == 0;
  if (stored && same) same = strcmp(stored, dtype) == 0;
  const bool sums = type->kind == 'f' ? type->type == GATHER_TYPE_FLOAT32 || type->type == GATHER_TYPE_FLOAT64
                                      : (type->kind == 'i' || type->kind == 'u') && type->item_bytes <= 8;
  if (!same || !sums || (type->item_bytes > 1 && (type->big_endian || GATHER_BIG_ENDIAN)))
    return GATHER_ZARR_REFUSE(r, "the codec 'delta' from '%.20s' to '%.20s' is not supported", dtype ? dtype : "", stored ? stored : "");
  filter->item_bytes = type->item_bytes;
  filter->value = type->type;
  return GATHER_OK;
}

/* Adds what undoes a codec. dtype: NULL in version 3. */
static gather_status add_filter(gather_zarr_reading *r, const char *name, int version, const json_t *options, const char *dtype) {
  static const char PREFIX[] = "numcodecs.";
  gather_pipeline *pipeline = &r->array->chunks.pipeline;
  const bool is_prefixed = version == 3 && strncmp(name, PREFIX, sizeof PREFIX - 1) == 0;
  const char *known = is_prefixed ? name + sizeof PREFIX - 1 : name;
  gather_filter filter = {.item_bytes = r->array->type.item_bytes};
  size_t i = 0;
  while (i < sizeof CODECS / sizeof *CODECS && strcmp(CODECS[i].name, known) != 0) i++;
  const bool found = i < sizeof CODECS / sizeof *CODECS && (CODECS[i].versions >> (is_prefixed ? 2 : version) & 1);
  if (!found || (version == 3 && CODECS[i].kind == GATHER_FILTER_DELTA))
    return GATHER_ZARR_REFUSE(r, "the codec '%.60s' is not supported", name);
  if (pipeline->count == GATHER_FILTERS_MOST) return GATHER_ZARR_REFUSE(r, "more than %d codecs are not supported", GATHER_FILTERS_MOST);
  filter.kind = CODECS[i].kind;
  if (filter.kind == GATHER_FILTER_SHUFFLE) GATHER_TRY(read_shuffle(r, options, &filter));
  if (filter.kind == GATHER_FILTER_DELTA) GATHER_TRY(read_delta(r, options, dtype, &filter));
  pipeline->filters[pipeline->count++] = filter;
  return GATHER_OK;
}

static gather_status add_numcodec(gather_zarr_reading *r, const json_t *codec, const char *dtype) {
  const char *name = json_string_value(json_object_get(codec, "id"));
  if (!name) return GATHER_ZARR_WRONG(r, "a codec has no id");
  return add_filter(r, name, 2, codec, dtype);
}

gather_status gather_zarr_filters(gather_zarr_reading *r, const json_t *filters, const json_t *compressor, const char *dtype) {
  if (filters && !json_is_array(filters)) return GATHER_ZARR_WRONG(r, "the filters are not a list");
  for (size_t i = 0; i < json_array_size(filters); i++) GATHER_TRY(add_numcodec(r, json_array_get(filters, i), dtype));
  return compressor ? add_numcodec(r, compressor, dtype) : GATHER_OK;
}

/* ---- version 3: transpose, then bytes or shards, then bytes to bytes */

/* The codecs of a list that were read. */
typedef struct codec_list {
  int32_t axes[GATHER_MAX_RANK]; /* axis i as stored is this one of the array */
  bool is_transposed, has_bytes;
  bool is_inner; /* of the chunks of a shard */
} codec_list;

static gather_status read_transpose(gather_zarr_reading *r, const json_t *options, codec_list *found) {
  const int32_t rank = r->tensor->tensor.rank;
  int64_t order[GATHER_MAX_RANK];
  int32_t axes[GATHER_MAX_RANK];
  unsigned seen = 0;
  GATHER_TRY(gather_zarr_lengths(r, json_object_get(options, "order"), "the order of the codec 'transpose'", 0, order));
  for (int32_t i = 0; i < rank; i++) {
    if (order[i] >= rank || (seen >> order[i] & 1))
      return GATHER_ZARR_WRONG(r, "the order of the codec 'transpose' is not a permutation of the axes");
    seen |= 1u << order[i];
    axes[i] = found->axes[order[i]];
  }
  memcpy(found->axes, axes, (size_t)rank * sizeof *axes);
  found->is_transposed = true;
  return GATHER_OK;
}

static gather_status read_bytes(gather_zarr_reading *r, const json_t *options) {
  gather_zarr_type *type = &r->array->type;
  const json_t *endian = json_object_get(options, "endian");
  const char *order = json_string_value(endian);
  if (type->unit_bytes == 1) return GATHER_OK;
  if (!order || (strcmp(order, "little") != 0 && strcmp(order, "big") != 0))
    return GATHER_ZARR_WRONG(r, "the endian of the codec 'bytes' is neither little nor big");
  type->big_endian = order[0] == 'b';
  if (type->type != GATHER_TYPE_OPAQUE && type->big_endian != (GATHER_BIG_ENDIAN != 0))
    r->tensor->tensor.flags |= GATHER_TENSOR_BYTE_SWAPPED;
  return GATHER_OK;
}

static const char *codec_name(const json_t *codec, const json_t **options) {
  *options = json_object_get(codec, "configuration");
  return json_string_value(json_is_string(codec) ? codec : json_object_get(codec, "name"));
}

static gather_status read_list(gather_zarr_reading *r, const json_t *list, codec_list *found);

/* The codecs of the index: its length must be known, so only these. */
static gather_status read_index_codecs(gather_zarr_reading *r, const json_t *list) {
  const size_t count = json_array_size(list);
  const json_t *options;
  for (size_t i = 0; i < count; i++) {
    const char *name = codec_name(json_array_get(list, i), &options), *order = json_string_value(json_object_get(options, "endian"));
    if (!name) return GATHER_ZARR_WRONG(r, "a codec of the index has no name");
    if (i == 0 ? strcmp(name, "bytes") != 0 || !order || strcmp(order, "little") != 0 : i > 1 || strcmp(name, "crc32c") != 0)
      return GATHER_ZARR_REFUSE(r, "the codec '%.60s' is not supported in the index of shards", name);
  }
  if (count == 0) return GATHER_ZARR_WRONG(r, "the index of shards has no codecs");
  r->array->index_has_sum = count == 2;
  return GATHER_OK;
}

/* Divides shards into chunks. */
static gather_status cut_shards(gather_zarr_reading *r, const int64_t *inner) {
  enum { MOST = 1 << 22 };
  gather_zarr_array *array = r->array;
  gather_chunks *chunks = &array->chunks;
  array->in_shard = 1;
  for (int32_t d = 0; d < chunks->rank; d++) {
    if (chunks->chunk[d] % inner[d] != 0)
      return GATHER_ZARR_WRONG(r, "a shard has length %" PRId64 " along axis %" PRId32 ", not a multiple of the chunk length %" PRId64,
                               chunks->chunk[d], d, inner[d]);
    array->per_shard[d] = chunks->chunk[d] / inner[d];
    array->shards[d] = chunks->shape[d] / chunks->chunk[d] + (chunks->shape[d] % chunks->chunk[d] != 0);
    if (!gather_mul(array->in_shard, array->per_shard[d], &array->in_shard) || array->in_shard > MOST)
      return GATHER_ZARR_REFUSE(r, "shards of more than %d chunks are not supported", MOST);
  }
  memcpy(chunks->chunk, inner, (size_t)chunks->rank * sizeof *inner);
  array->is_sharded = true;
  return GATHER_OK;
}

static gather_status read_shards(gather_zarr_reading *r, const json_t *options, codec_list *found) {
  const json_t *location = json_object_get(options, "index_location");
  const char *place = location ? json_string_value(location) : "end";
  codec_list inner = {.is_inner = true};
  int64_t lengths[GATHER_MAX_RANK] = {1};
  if (found->is_inner) return GATHER_ZARR_REFUSE(r, "shards in shards are not supported");
  if (found->is_transposed) return GATHER_ZARR_REFUSE(r, "transposed shards are not supported");
  if (!place || (strcmp(place, "end") != 0 && strcmp(place, "start") != 0))
    return GATHER_ZARR_WRONG(r, "the index_location of shards is neither start nor end");
  r->array->index_at_start = place[0] == 's';
  GATHER_TRY(gather_zarr_lengths(r, json_object_get(options, "chunk_shape"), "the shape of chunks in shards", 1, lengths));
  GATHER_TRY(read_index_codecs(r, json_object_get(options, "index_codecs")));
  if (r->tensor->bytes > 0) GATHER_TRY(cut_shards(r, lengths));
  return read_list(r, json_object_get(options, "codecs"), &inner);
}

static gather_status read_codec(gather_zarr_reading *r, const json_t *codec, codec_list *found) {
  const json_t *options;
  const char *name = codec_name(codec, &options);
  if (!name) return GATHER_ZARR_WRONG(r, "a codec has no name");
  const bool is_transpose = strcmp(name, "transpose") == 0, is_bytes = strcmp(name, "bytes") == 0;
  const bool is_shards = strcmp(name, "sharding_indexed") == 0;
  if (found->has_bytes && (is_transpose || is_bytes || is_shards))
    return GATHER_ZARR_WRONG(r, "the codec '%.60s' comes after one that makes bytes", name);
  if (is_transpose) return read_transpose(r, options, found);
  if (found->has_bytes) {
    if (r->array->is_sharded && !found->is_inner) return GATHER_ZARR_REFUSE(r, "the codec '%.60s' of whole shards is not supported", name);
    return add_filter(r, name, 3, options, NULL);
  }
  if (!is_bytes && !is_shards) return GATHER_ZARR_REFUSE(r, "the codec '%.60s' is not supported", name);
  found->has_bytes = true;
  return is_bytes ? read_bytes(r, options) : read_shards(r, options, found);
}

/* Where an element is in a chunk. */
static gather_status set_strides(gather_zarr_reading *r, const codec_list *found) {
  gather_chunks *chunks = &r->array->chunks;
  GATHER_TRY(gather_chunks_measure(chunks, r->tensor->name, -1, r->json.error));
  int64_t stride = chunks->item_bytes;
  for (int32_t i = r->tensor->tensor.rank - 1; i >= 0; stride *= chunks->chunk[found->axes[i--]]) chunks->strides[found->axes[i]] = stride;
  return GATHER_OK;
}

static gather_status read_list(gather_zarr_reading *r, const json_t *list, codec_list *found) {
  if (!json_is_array(list)) return GATHER_ZARR_WRONG(r, "the codecs are not a list");
  for (int32_t i = 0; i < GATHER_MAX_RANK; i++) found->axes[i] = i;
  for (size_t i = 0; i < json_array_size(list); i++) GATHER_TRY(read_codec(r, json_array_get(list, i), found));
  if (!found->has_bytes) return GATHER_ZARR_WRONG(r, "no codec makes bytes");
  return r->tensor->bytes == 0 || (r->array->is_sharded && !found->is_inner) ? GATHER_OK : set_strides(r, found);
}

gather_status gather_zarr_codecs(gather_zarr_reading *r, const json_t *list) {
  codec_list found = {.is_inner = false};
  return read_list(r, list, &found);
}

#endif
