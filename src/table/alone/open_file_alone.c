/* SPDX-License-Identifier: MIT
 *
 * open_file_alone.c: opens a table by its paths where there are neither file formats nor other machines: parts are raw bytes of local
 * files. script/amalgamate takes it in the place of open_file.c.
 */
#include "core/base/error.h"
#include "table/open.h"

static gather_status choose(const gather_table_options *options, const char *path, gather_table_opener *opener, gather_error *error) {
  *opener = gather_table_raw;
  if (options->remote) return gather_fail(error, GATHER_UNSUPPORTED, "gather_table.c reads local files only: options.remote must be NULL");
  if (!options->raw)
    return gather_fail_file(error, GATHER_UNSUPPORTED, path, -1,
                            "gather_table.c knows no file formats: options.raw must say what bytes the file has");
  if (options->tensor && options->tensor[0])
    return gather_fail_file(error, GATHER_NAME_NOT_FOUND, path, -1, "raw bytes have no tensor of the name '%.100s'", options->tensor);
  return GATHER_OK;
}

gather_status gather_table_open_parts(const char *const *paths, int32_t count, const gather_table_options *options, gather_table **table,
                                      gather_error *error) {
  return gather_table_open_by(choose, paths, count, options, table, error);
}

gather_status gather_table_open(const char *path, const gather_table_options *options, gather_table **table, gather_error *error) {
  return gather_table_open_by(choose, &path, 1, options, table, error);
}
