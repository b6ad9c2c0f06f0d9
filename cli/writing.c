/* SPDX-License-Identifier: MIT
 *
 * writing.c: what all outputs of the command share.
 */
#define _POSIX_C_SOURCE 200809L
#include "writing.h"

#include <sys/stat.h>
#include <unistd.h>

#include "fail.h"

#include "signals.h"

void gather_cli_writing_hold(void) { gather_cli_signals_hold(); }

void gather_cli_writing_begin(gather_writer *writer) {
  if (writer) gather_cli_signals_temporary(gather_writer_temporary(writer));
  gather_cli_signals_release();
}

static gather_status refuse(const char *path, const char *role, gather_error *error) {
  return gather_cli_fail_file(error, GATHER_FILE_EXISTS, path, -1, "is the file of the input %.100s, which is kept; write to another file",
                              role);
}

gather_status gather_cli_writing_spare_file(const char *path, const gather_file *file, const char *role, gather_error *error) {
  return gather_file_reads(file, path) ? refuse(path, role, error) : GATHER_OK;
}

gather_status gather_cli_writing_spare_table(const char *path, const gather_table *table, gather_error *error) {
  return gather_table_reads(table, path) ? refuse(path, "DATA or --part", error) : GATHER_OK;
}

gather_status gather_cli_writing_spare(const char *path, const gather_cli_input *input, const char *role, gather_error *error) {
  struct stat in, out;
  if (!path) return GATHER_OK;
  GATHER_CLI_TRY(gather_cli_writing_spare_file(path, input->file, role, error));
  /* Standard input may be a file, too. */
  if (!input->memory || fstat(STDIN_FILENO, &in) != 0 || stat(path, &out) != 0) return GATHER_OK;
  return S_ISREG(in.st_mode) && in.st_ino == out.st_ino && in.st_dev == out.st_dev ? refuse(path, role, error) : GATHER_OK;
}

gather_status gather_cli_writing_end(gather_writer *writer, gather_error *error) {
  gather_status status = gather_writer_commit(writer, error);
  gather_cli_signals_temporary(NULL);
  return status;
}
