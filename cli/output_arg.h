/* SPDX-License-Identifier: MIT
 *
 * output_arg.h: an output as named on the command line: OUT, whose extension selects the format, or OUT.safetensors:NAME, which
 * also names the tensor.
 */
#ifndef GATHER_CLI_OUTPUT_ARG_H
#define GATHER_CLI_OUTPUT_ARG_H

#include "gather/file.h"

/* Starts as all zero; gather_cli_out_clear frees it. */
typedef struct gather_cli_out {
  char *path;         /* of the file */
  const char *name;   /* of the tensor in it; NULL = not given */
  const char *format; /* of the extension */
} gather_cli_out;

/* Reads an argument of the option `option` ("-o"). Returns GATHER_USAGE for an extension without a format that can be written, and for
 * an empty NAME; GATHER_OUT_OF_MEMORY. */
GATHER_CHECKED gather_status gather_cli_out_read(const char *argument, const char *option, gather_cli_out *out, gather_error *error);
void gather_cli_out_clear(gather_cli_out *out);

/* Whether two outputs are one file: one that exists, or the same name in the same folder. */
bool gather_cli_out_same(const gather_cli_out *a, const gather_cli_out *b);

/* Whether a file of that format may contain several tensors. */
bool gather_cli_out_holds_several(const char *format);

#endif
