/* SPDX-License-Identifier: MIT
 *
 * shuffle_order.c: a given order as row numbers, whatever integers it is made of.
 */
#include <inttypes.h>
#include <string.h>

#include "index_part.h"
#include "report.h"
#include "shuffle.h"

enum { BLOCK = 4096, BYTE_BITS = 8 };

static bool is_little(void) {
  const uint16_t one = 1;
  return *(const uint8_t *)&one == 1;
}

/* One integer of `bytes` bytes; those of unsigned types beyond 63 bits cannot be valid. */
static int64_t number_at(const uint8_t *bytes, int count, bool little, bool is_signed) {
  uint64_t value = 0;
  for (int i = 0; i < count; i++) value = value << BYTE_BITS | bytes[little ? count - 1 - i : i];
  int unused = (int)sizeof value * BYTE_BITS - count * BYTE_BITS;
  return is_signed ? (int64_t)(value << unused) >> unused : (int64_t)value;
}

static gather_status convert(const gather_cli_shuffle *job, const gather_tensor *part, int64_t len, int64_t *rows,
                             gather_error *error) {
  const gather_type_info *type = gather_type_get(part->type);
  const int bytes = type->bits / BYTE_BITS;
  const bool little = is_little() != ((part->flags & GATHER_TENSOR_BYTE_SWAPPED) != 0);
  const uint8_t *from = part->data;
  for (int64_t i = 0; i < len; i++, from += bytes) {
    int64_t row = number_at(from, bytes, little, type->kind == GATHER_KIND_INT);
    rows[i] = row < 0 && type->kind == GATHER_KIND_INT ? row + job->rows : row;
    if (rows[i] < 0 || rows[i] >= job->rows)
      return gather_cli_fail(error, GATHER_IO_ERROR, "the indices were changed while they were used");
  }
  return GATHER_OK;
}

/* Whether the indices are a view of a mapped file: other memory would lose what it holds. */
static bool is_mapped(const gather_cli_input *order) {
  if (!order->file || order->memory) return false;
  const char *format = gather_file_format(order->file);
  return strcmp(format, "npy") == 0 || strcmp(format, "raw") == 0;
}

gather_status gather_cli_shuffle_order_read(const gather_cli_shuffle *job, int64_t first, int64_t len, int64_t *rows,
                                            gather_error *error) {
  gather_cli_index_parts parts;
  gather_status status = GATHER_OK;
  GATHER_CLI_TRY(gather_cli_index_parts_start(&job->order.tensor.tensor, BLOCK, &parts, error));
  for (int64_t done = 0; done < len && status == GATHER_OK; done += BLOCK) {
    int64_t now = len - done < BLOCK ? len - done : BLOCK;
    gather_tensor part = gather_cli_index_part(&parts, first + done, &now);
    status = convert(job, &part, now, rows + done, error);
  }
  gather_cli_index_parts_end(&parts);
  if (is_mapped(&job->order)) gather_cli_drop_pages(job->order.tensor.tensor.data, job->order.tensor.bytes);
  return status;
}

gather_status gather_cli_shuffle_order_check(gather_cli_shuffle *job, gather_error *error) {
  int64_t rows[BLOCK];
  const gather_type_info *type = gather_type_get(job->order.tensor.tensor.type);
  uint64_t hash = 1;
  if (type->bits < BYTE_BITS || type->bits % BYTE_BITS != 0) {
    return gather_cli_fail(error, GATHER_UNSUPPORTED, "--order takes integers of whole bytes, not %s", type->name);
  }
  for (int64_t first = 0; first < job->out_rows; first += BLOCK) {
    int64_t len = job->out_rows - first < BLOCK ? job->out_rows - first : BLOCK;
    GATHER_CLI_TRY(gather_cli_shuffle_order_read(job, first, len, rows, error));
    for (int64_t i = 0; i < len; i++) {
      hash = (hash ^ (uint64_t)rows[i]) * 0x9e3779b97f4a7c15u;
      hash ^= hash >> 32;
    }
  }
  job->order_hash = hash;
  return GATHER_OK;
}
