/* SPDX-License-Identifier: MIT
 *
 * aws_files.c: parses INI files: sections in brackets, "name = value", indented lines that belong to the line before, comments of a
 * line of their own after "#" or ";". No message contains a line: it could be a secret.
 */
#include "aws_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fail.h"
#include "system.h"

/* Files of credentials have some hundred bytes; tokens have at most some thousand. */
enum { MOST_FILE = 1 << 20, MOST_VALUE = 8192, MOST_SECTION = 256 };

/* ---- whole small files */

static void wipe(char *text, size_t bytes) {
  volatile char *at = text;
  while (bytes-- > 0) *at++ = 0;
}

static gather_status cannot_read(gather_error *error, const char *path, int number) {
  return gather_cli_fail_errno(error, GATHER_IO_ERROR, number, path, -1, "cannot read it");
}

/* Reads an open file of at most MOST_FILE bytes; `text` has room for one more. */
static gather_status read_open(int fd, const char *path, char *text, size_t *bytes, gather_error *error) {
  struct stat about;
  *bytes = 0;
  if (fstat(fd, &about) != 0) return cannot_read(error, path, errno);
  if (!S_ISREG(about.st_mode)) return gather_cli_fail_file(error, GATHER_IO_ERROR, path, -1, "is not a regular file");
  for (;;) {
    ssize_t got = read(fd, text + *bytes, (size_t)MOST_FILE + 1 - *bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return cannot_read(error, path, errno);
    if (got == 0) return GATHER_OK;
    *bytes += (size_t)got;
    if (*bytes > MOST_FILE) return gather_cli_fail_file(error, GATHER_FILE_MALFORMED, path, -1, "is larger than 1 MiB");
  }
}

/* *text: malloc'ed, terminated; NULL if there is no such file. */
static gather_status read_file(const char *path, char **text, size_t *bytes, gather_error *error) {
  *text = NULL;
  *bytes = 0;
  if (!path || !*path) return GATHER_OK;
  int fd = gather_cli_open(AT_FDCWD, path, O_RDONLY | O_NOCTTY | O_NONBLOCK);
  if (fd < 0) return errno == ENOENT || errno == ENOTDIR ? GATHER_OK : cannot_read(error, path, errno);
  char *room = malloc((size_t)MOST_FILE + 2);
  gather_status status =
      room ? read_open(fd, path, room, bytes, error) : gather_cli_fail_file(error, GATHER_OUT_OF_MEMORY, path, -1, "out of memory");
  (void)close(fd);
  if (status == GATHER_OK) {
    room[*bytes] = '\0';
    *text = room;
  } else if (room) {
    wipe(room, *bytes);
    free(room);
  }
  return status;
}

/* ---- texts within a line */

typedef struct span {
  const char *at;
  size_t bytes;
} span;

static bool blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

static span trimmed(const char *at, const char *end) {
  while (at < end && blank(*at)) at++;
  while (end > at && blank(end[-1])) end--;
  return (span){at, (size_t)(end - at)};
}

static bool same(span text, const char *word) {
  if (strlen(word) != text.bytes) return false;
  for (size_t i = 0; i < text.bytes; i++) {
    char c = text.at[i];
    if ((c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c) != word[i]) return false;
  }
  return true;
}

/* ---- the parser */

typedef struct ini_reader {
  const char *path, *section; /* that is wanted */
  gather_cli_aws *aws;
  gather_error *error;
  bool wanted, any; /* within the section that is wanted; within any */
  bool keys;        /* a key id of another file is not joined with a secret of this one */
  bool in_s3;       /* after "s3 =", whose settings are indented */
  int line;
} ini_reader;

static gather_status malformed(const ini_reader *ini, const char *why) {
  return gather_cli_fail_file(ini->error, GATHER_FILE_MALFORMED, ini->path, -1, "%s in line %d", why, ini->line);
}

static gather_status begin_section(ini_reader *ini, span line) {
  const char *close = memchr(line.at, ']', line.bytes);
  if (!close) return malformed(ini, "a '[' without ']'");
  span name = trimmed(line.at + 1, close);
  if (name.bytes > MOST_SECTION) return malformed(ini, "a section's name of more than 256 bytes");
  ini->any = true;
  ini->wanted = strlen(ini->section) == name.bytes && memcmp(ini->section, name.at, name.bytes) == 0;
  ini->aws->found = ini->aws->found || ini->wanted;
  ini->in_s3 = false;
  return GATHER_OK;
}

static gather_status keep(const ini_reader *ini, char **into, span value) {
  if (value.bytes > MOST_VALUE) return malformed(ini, "a value of more than 8 KiB");
  char *copy = malloc(value.bytes + 1);
  if (!copy) return gather_cli_fail_file(ini->error, GATHER_OUT_OF_MEMORY, ini->path, -1, "out of memory");
  memcpy(copy, value.at, value.bytes);
  copy[value.bytes] = '\0';
  if (*into) wipe(*into, strlen(*into));
  free(*into);
  *into = copy;
  return GATHER_OK;
}

static gather_status set(ini_reader *ini, span name, span value) {
  /* How profiles get credentials that are not in these files. */
  static const char *const OTHERS[] = {"sso_session", "sso_start_url", "role_arn", "credential_process", "web_identity_token_file"};
  gather_cli_aws *aws = ini->aws;
  ini->in_s3 = same(name, "s3");
  if (same(name, "aws_access_key_id")) return ini->keys ? keep(ini, &aws->key_id, value) : GATHER_OK;
  if (same(name, "aws_secret_access_key")) return ini->keys ? keep(ini, &aws->secret, value) : GATHER_OK;
  if (same(name, "aws_session_token")) return ini->keys ? keep(ini, &aws->session_token, value) : GATHER_OK;
  if (same(name, "region")) return aws->region ? GATHER_OK : keep(ini, &aws->region, value);
  if (same(name, "endpoint_url")) return aws->endpoint ? GATHER_OK : keep(ini, &aws->endpoint, value);
  for (size_t i = 0; i < sizeof OTHERS / sizeof *OTHERS; i++)
    if (same(name, OTHERS[i])) aws->other = OTHERS[i];
  return GATHER_OK;
}

static gather_status read_line(ini_reader *ini, const char *at, const char *end) {
  span line = trimmed(at, end);
  if (line.bytes == 0 || line.at[0] == '#' || line.at[0] == ';') return GATHER_OK;
  if (memchr(line.at, '\0', line.bytes)) return malformed(ini, "a zero byte");
  bool indented = line.at > at;
  if (!indented && line.at[0] == '[') return begin_section(ini, line);
  if (!ini->any) return malformed(ini, "a setting before the first section");
  if (!ini->wanted) return GATHER_OK;
  size_t name = 0;
  while (name < line.bytes && line.at[name] != '=' && line.at[name] != ':') name++;
  if (name == line.bytes) return indented ? GATHER_OK : malformed(ini, "a setting without '='");
  span key = trimmed(line.at, line.at + name), value = trimmed(line.at + name + 1, line.at + line.bytes);
  if (!indented) return set(ini, key, value);
  if (ini->in_s3 && same(key, "addressing_style")) ini->aws->virtual_host = same(value, "virtual");
  return GATHER_OK;
}

static gather_status read_ini(const char *path, const char *section, gather_cli_aws *aws, gather_error *error) {
  char *text;
  size_t bytes;
  GATHER_CLI_TRY(read_file(path, &text, &bytes, error));
  if (!text) return GATHER_OK;
  ini_reader ini = {.path = path, .section = section, .aws = aws, .error = error, .keys = !aws->key_id};
  gather_status status = GATHER_OK;
  for (const char *at = text, *end = text + bytes; at < end && status == GATHER_OK;) {
    const char *newline = memchr(at, '\n', (size_t)(end - at));
    const char *stop = newline ? newline : end;
    ini.line++;
    status = read_line(&ini, at, stop);
    at = stop + (newline != NULL);
  }
  wipe(text, bytes);
  free(text);
  return status;
}

/* The section of a profile: in the file of settings, all but the default one have a prefix. */
gather_status gather_cli_aws_read(const char *credentials, const char *config, const char *profile, gather_cli_aws *aws,
                                  gather_error *error) {
  char section[MOST_SECTION + 16] = "default";
  *aws = (gather_cli_aws){0};
  if (!profile || !*profile) profile = "default";
  if (strlen(profile) > MOST_SECTION) return gather_cli_fail(error, GATHER_USAGE, "the profile's name is too long");
  gather_status status = read_ini(credentials, profile, aws, error);
  if (strcmp(profile, "default") != 0) {
    memcpy(section, "profile ", 8);
    memcpy(section + 8, profile, strlen(profile) + 1);
  }
  if (status == GATHER_OK) status = read_ini(config, section, aws, error);
  if (status != GATHER_OK) gather_cli_aws_clear(aws);
  return status;
}

void gather_cli_secret_free(char *text) {
  if (text) wipe(text, strlen(text));
  free(text);
}

void gather_cli_aws_clear(gather_cli_aws *aws) {
  char *texts[] = {aws->key_id, aws->secret, aws->session_token, aws->region, aws->endpoint};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) gather_cli_secret_free(texts[i]);
  *aws = (gather_cli_aws){0};
}

gather_status gather_cli_token_read(const char *path, char **line, gather_error *error) {
  char *text;
  size_t bytes;
  *line = NULL;
  GATHER_CLI_TRY(read_file(path, &text, &bytes, error));
  if (!text) return GATHER_OK;
  span first = trimmed(text, text + strcspn(text, "\n"));
  gather_status status = GATHER_OK;
  if (first.bytes > 0 && first.bytes <= MOST_VALUE) {
    *line = malloc(first.bytes + 1);
    if (*line) {
      memcpy(*line, first.at, first.bytes);
      (*line)[first.bytes] = '\0';
    } else {
      status = gather_cli_fail_file(error, GATHER_OUT_OF_MEMORY, path, -1, "out of memory");
    }
  }
  wipe(text, bytes);
  free(text);
  return status;
}
