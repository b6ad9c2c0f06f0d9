/* SPDX-License-Identifier: MIT
 *
 * raw_write.c: writes raw bytes: a format without a header.
 */
#include "io/format/format.h"

bool gather_raw_carries(const gather_type_info *type) { return type->kind != GATHER_KIND_STRING; }

gather_status gather_raw_header(const gather_writing *what, int64_t data_bytes, gather_header *header,
                                gather_error *error) {
  (void)what, (void)data_bytes, (void)error;
  *header = (gather_header){0};
  return GATHER_OK;
}
