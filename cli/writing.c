/* SPDX-License-Identifier: MIT
 *
 * writing.c: what all outputs of the command share.
 */
#include "writing.h"

#include "signals.h"

void gather_cli_writing_hold(void) { gather_cli_signals_hold(); }

void gather_cli_writing_begin(const gather_cli_args *args, gather_writer *writer) {
  if (writer) {
    gather_writer_set_sync(writer, !args->value[GATHER_CLI_NO_SYNC]);
    gather_cli_signals_temporary(gather_writer_temporary(writer));
  }
  gather_cli_signals_release();
}

gather_status gather_cli_writing_end(gather_writer *writer, gather_error *error) {
  gather_status status = gather_writer_commit(writer, error);
  gather_cli_signals_temporary(NULL);
  return status;
}
