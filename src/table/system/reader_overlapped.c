/* SPDX-License-Identifier: MIT
 *
 * reader_overlapped.c: overlapped reads are Windows'; there the file of this name in the folder `windows` takes this one's place.
 */
#include "core/base/error.h"
#include "table/reader.h"

static gather_status probe(gather_error *error) { return gather_fail(error, GATHER_UNSUPPORTED, "overlapped reads exist on Windows only"); }

static gather_status create(gather_reader *reader, gather_error *error) {
  (void)reader;
  return probe(error);
}

const gather_reader_engine gather_reader_overlapped = {.create = create, .probe = probe};
