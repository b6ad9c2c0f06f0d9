/* SPDX-License-Identifier: MIT
 *
 * explain_file.c: a picture as a file that appears whole or not at all, also where a signal ends the program.
 */
#include <string.h>

#include "explain.h"
#include "gather/file.h"
#include "report.h"
#include "signals.h"

gather_status gather_cli_explain_write(const char *path, bool replace, const char *bytes, size_t count,
                                       gather_error *error) {
  gather_writer *writer = NULL;
  gather_cli_signals_hold();
  gather_status status = gather_writer_create_bytes(path, replace, (int64_t)count, &writer, error);
  if (status == GATHER_OK) gather_cli_signals_temporary(gather_writer_temporary(writer));
  gather_cli_signals_release();
  if (status != GATHER_OK) return status;
  if (count > 0) memcpy(gather_writer_data(writer), bytes, count);
  status = gather_writer_commit(writer, error);
  gather_cli_signals_temporary(NULL);
  return status;
}
