/* SPDX-License-Identifier: MIT
 *
 * explain_file.c: writes a picture atomically, even if a signal ends the program.
 */
#include <string.h>

#include "explain_command.h"
#include "gather/file.h"
#include "report.h"
#include "writing.h"

gather_status gather_cli_explain_write(const gather_cli_args *args, const char *path, const char *bytes, size_t count,
                                       gather_error *error) {
  gather_writer *writer = NULL;
  gather_file_target target = GATHER_FILE_TARGET_INIT;
  target.path = path;
  target.replace = args->value[GATHER_CLI_FORCE] != NULL;
  target.no_sync = args->value[GATHER_CLI_NO_SYNC] != NULL;
  target.bytes = (int64_t)count;
  gather_cli_writing_hold();
  gather_status status = gather_writer_create(&target, &writer, error);
  gather_cli_writing_begin(writer);
  if (status != GATHER_OK) return status;
  if (count > 0) memcpy(gather_writer_data_at(writer, 0), bytes, count);
  return gather_cli_writing_end(writer, error);
}
