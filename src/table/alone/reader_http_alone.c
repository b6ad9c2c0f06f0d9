/* SPDX-License-Identifier: MIT
 *
 * reader_http_alone.c: the engine http where there are no other machines. script/amalgamate takes it in the place of reader_http.c.
 */
#include "core/base/error.h"
#include "table/reader.h"

static gather_status probe(gather_error *error) {
  return gather_fail(error, GATHER_UNSUPPORTED, "the engine http is not in gather_table.c, which reads local files only");
}

const gather_reader_engine gather_reader_http = {.probe = probe};
