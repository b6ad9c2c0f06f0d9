/* SPDX-License-Identifier: MIT
 *
 * open_raw.c: parts that are raw bytes of local files: the caller says their type, their shape and where they begin.
 */
#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/alloc.h"
#include "core/base/error.h"
#include "core/base/tensor.h"
#include "io/format/npy/descr.h"
#include "table/open.h"

/* What is kept of a part. */
typedef struct raw_part {
  gather_stored stored;
  int64_t shape[GATHER_MAX_RANK];
  char *path, *type; /* behind the struct */
  char text[];
} raw_part;

static bool reads(const void *kept, const char *path) {
  const raw_part *part = kept;
  struct stat there;
  return stat(path, &there) == 0 && (uint64_t)there.st_dev == part->stored.device && (uint64_t)there.st_ino == part->stored.inode;
}

static bool has_more(const void *kept, int32_t parts) {
  const raw_part *part = kept;
  return parts != 1 || part->stored.offset != 0 || part->stored.bytes != part->stored.size;
}

static const gather_table_keeper KEEPER = {.close = gather_free, .reads = reads, .has_more = has_more};

/* ---- one part */

/* As many rows as there are behind the offset; a file that ends before it has none. */
static int64_t count_rows(const raw_part *part, const gather_raw *raw, int64_t row_bytes) {
  const int64_t room = part->stored.size - raw->offset;
  return row_bytes > 0 && room > 0 ? room / row_bytes : 0;
}

/* Shape and size; of shape[0] = -1, by the size of the file. */
static gather_status measure(raw_part *part, const gather_raw *raw, gather_descr *descr, gather_error *error) {
  gather_stored *stored = &part->stored;
  gather_raw counted = *raw;
  const bool open = raw->rank > 0 && raw->rank <= GATHER_MAX_RANK && raw->shape && raw->shape[0] == -1;
  if (open) {
    memcpy(part->shape, raw->shape, (size_t)raw->rank * sizeof *raw->shape);
    counted.shape = part->shape;
    part->shape[0] = 1;
    GATHER_TRY(gather_raw_check(&counted, descr, &stored->bytes, error));
    part->shape[0] = count_rows(part, raw, stored->bytes);
  }
  GATHER_TRY(gather_raw_check(&counted, descr, &stored->bytes, error));
  if (raw->rank > 0 && !open) memcpy(part->shape, raw->shape, (size_t)raw->rank * sizeof *raw->shape);
  stored->offset = raw->offset;
  if (raw->offset <= stored->size && stored->bytes <= stored->size - raw->offset) return GATHER_OK;
  return gather_fail_file(error, GATHER_FILE_MALFORMED, stored->file, stored->size,
                          "the file is truncated: %" PRId64 " bytes are needed at byte %" PRId64 ", it has %" PRId64 " bytes in all",
                          stored->bytes, raw->offset, stored->size);
}

static gather_status describe(raw_part *part, const gather_raw *raw, gather_error *error) {
  gather_stored *stored = &part->stored;
  gather_descr descr;
  GATHER_TRY(gather_table_source_look(stored->path, &stored->device, &stored->inode, &stored->size, error));
  GATHER_TRY(measure(part, raw, &descr, error));
  gather_raw_name(raw, &descr, part->type, &stored->type_name, &stored->descr);
  stored->tensor = (gather_tensor){
      .type = descr.type, .item_bytes = descr.item_bytes, .rank = raw->rank, .shape = part->shape, .flags = GATHER_FILE_VIEW};
  if (descr.swapped) stored->tensor.flags |= GATHER_TENSOR_BYTE_SWAPPED;
  return GATHER_OK;
}

static gather_status add_part(gather_table *table, const raw_part *part, gather_error *error) {
  if (table->options.decode_as == GATHER_TYPE_NONE) return gather_table_add(table, &part->stored, 0, error);
  gather_layout layout = {.data = part->stored, .rows_per_scale = 1};
  GATHER_TRY(gather_layout_of_rows(&layout, table->options.codec, error));
  GATHER_TRY(gather_layout_check_sizes(&layout, error));
  return gather_table_add_decoded(table, &layout, error);
}

/* ---- a table of them */

gather_status gather_table_add_raw(gather_table *table, const char *path, int32_t number, gather_error *error) {
  const gather_raw *raw = gather_table_raw_of(table, number);
  const int64_t path_bytes = (int64_t)strlen(path) + 1, text_bytes = raw->type ? GATHER_RAW_TEXT(raw) : 0;
  raw_part *part = gather_alloc((int64_t)sizeof *part + path_bytes + text_bytes);
  if (!part) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for the parts of the table");
  table->kept[table->kept_count++] = part;
  part->path = memcpy(part->text, path, (size_t)path_bytes);
  part->type = part->text + path_bytes;
  part->stored = (gather_stored){.file = part->path, .format = "raw", .name = "", .path = part->path};
  GATHER_TRY(describe(part, raw, error));
  return add_part(table, part, error);
}

static gather_status add(gather_table *table, const char *const *paths, int32_t number, gather_error *error) {
  return gather_table_add_raw(table, paths[number], number, error);
}

const gather_table_opener gather_table_raw = {.keeper = &KEEPER, .add = add};
