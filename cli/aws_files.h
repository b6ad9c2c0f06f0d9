/* SPDX-License-Identifier: MIT
 *
 * aws_files.h: the files in which programs for S3 keep credentials: ~/.aws/credentials and ~/.aws/config.
 */
#ifndef GATHER_CLI_AWS_FILES_H
#define GATHER_CLI_AWS_FILES_H

#include "gather/gather.h"

/* What the files say about one profile. Strings are malloc'ed; NULL: nothing. */
typedef struct gather_cli_aws {
  char *key_id, *secret, *session_token;
  char *region, *endpoint;
  bool virtual_host; /* s3 = addressing_style = virtual */
  bool found;        /* there is such a profile */
  const char *other; /* how else the profile gets credentials ("sso_session"), which is not supported; NULL */
} gather_cli_aws;

/* Reads a profile from both files, the first of which wins; a file that does not exist has none. profile: NULL for "default". Returns
 * GATHER_IO_ERROR, GATHER_FILE_MALFORMED (with the line, never its text), GATHER_OUT_OF_MEMORY. */
GATHER_CHECKED gather_status gather_cli_aws_read(const char *credentials, const char *config, const char *profile, gather_cli_aws *aws,
                                                 gather_error *error);
/* Overwrites and frees the strings. */
void gather_cli_aws_clear(gather_cli_aws *aws);

/* Reads the first line of a small file, such as the token that the hub's own tools keep. *line: malloc'ed, without white space around
 * it; NULL if there is no such file, or nothing in it. Returns GATHER_IO_ERROR, GATHER_OUT_OF_MEMORY. */
GATHER_CHECKED gather_status gather_cli_token_read(const char *path, char **line, gather_error *error);
/* Overwrites and frees a text. NULL does nothing. */
void gather_cli_secret_free(char *text);

#endif
