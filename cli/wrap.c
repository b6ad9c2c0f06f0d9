/* SPDX-License-Identifier: MIT
 *
 * wrap.c: lines of text that fit the terminal, with a hanging indent behind the label of a line.
 */
#include "wrap.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gather/file.h"
#include "terminal.h"

enum { FEW = 1024, INDENT = 2 };

/* Bytes that end with a zero. */
typedef struct buffer {
  char *text;
  size_t used, room;
} buffer;

/* The beginning of a line that has not ended, of stdout and of stderr. */
static buffer pending[2];

static bool append(buffer *b, const char *text, size_t bytes) {
  if (b->used + bytes + 1 > b->room) {
    const size_t room = 2 * (b->used + bytes) + 128;
    char *larger = realloc(b->text, room);
    if (!larger) return false;
    b->text = larger;
    b->room = room;
  }
  memcpy(b->text + b->used, text, bytes);
  b->used += bytes;
  b->text[b->used] = 0;
  return true;
}

/* ---- words */

/* The bytes of the escape sequence "\033[...m" at text, or 0. */
static size_t colour_bytes(const char *text) {
  if (text[0] != '\033' || text[1] != '[') return 0;
  const size_t bytes = 2 + strspn(text + 2, "0123456789;");
  return text[bytes] == 'm' ? bytes + 1 : 0;
}

/* Columns of the first `bytes` of text, without colours. */
static int columns_of(const char *text, size_t bytes) {
  int columns = 0;
  for (size_t at = 0; at < bytes;) {
    char character[8];
    const size_t colour = colour_bytes(text + at);
    if (colour) {
      at += colour;
      continue;
    }
    size_t len = 1;
    while (at + len < bytes && len < 4 && ((unsigned char)text[at + len] & 0xc0) == 0x80) len++;
    memcpy(character, text + at, len);
    character[len] = 0;
    columns += gather_cli_text_columns(character);
    at += len;
  }
  return columns;
}

/* The bytes of the quotation at text, which begins with ` or '; 0 if it does not end, or ends within a word. */
static size_t quoted(const char *text) {
  for (const char *end = strchr(text + 1, *text); end; end = strchr(end + 1, *text))
    if (!end[1] || strchr(" ,;:.)?", end[1])) return (size_t)(end + 1 - text);
  return 0;
}

/* The bytes of the word at text: up to a blank that is in no quotation, no shape, and not within "gather COMMAND --option VALUE". */
static size_t word_bytes(const char *text) {
  static const char PROGRAM[] = "gather ";
  const bool option = text[0] == '-' && text[1] && text[1] != ' ', program = strncmp(text, PROGRAM, sizeof PROGRAM - 1) == 0;
  size_t at = strspn(text, "(");
  if (text[at] == '`' || text[at] == '\'')
    at += quoted(text + at);
  else if (text[at] == '[' && text[at + strcspn(text + at, "]")] != 0)
    at += strcspn(text + at, "]");
  at += strcspn(text + at, " ");
  if ((!option && !program) || text[at] != ' ' || strchr(",;:.)", text[at - 1])) return at;
  if (option ? text[at + 1] && !strchr("- ", text[at + 1]) : text[at + 1] != ' ') at += 1 + word_bytes(text + at + 1);
  if (program && text[at] == ' ' && text[at + 1] == '-') at += 1 + strcspn(text + at + 1, " ");
  return at;
}

/* ---- lines */

/* Labels of lines of commands and options that a user copies. */
static bool is_copied(const char *line) {
  static const char *const LABELS[] = {"give ", "run ", "try "};
  const char *label = line + strspn(line, " ");
  for (size_t i = 0; i < sizeof LABELS / sizeof *LABELS; i++)
    if (label > line && strncmp(label, LABELS[i], strlen(LABELS[i])) == 0) return true;
  return false;
}

/* The column where the text behind the label of a line begins, such as "gather: error: ", "plan: " or "why   "; or the indent of the
 * line and more. */
static int hanging(const char *line, int width) {
  static const char PROGRAM[] = "gather: ";
  const size_t blanks = strspn(line, " ");
  const bool ours = strncmp(line, PROGRAM, sizeof PROGRAM - 1) == 0;
  const size_t label = ours ? sizeof PROGRAM - 1 : blanks, word = label + strcspn(line + label, " "), gap = strspn(line + word, " ");
  const bool labelled = gap > 1 || (gap == 1 && memchr(line + label, ':', word - label) != NULL);
  int columns = labelled ? columns_of(line, word + gap) : (int)blanks + INDENT;
  if (columns > width / 2) columns = (int)blanks + INDENT;
  return columns > width / 2 ? 0 : columns;
}

/* Appends the line to `to`, broken between words. */
static bool wrap(buffer *to, const char *line, int width) {
  const int indent = hanging(line, width);
  size_t at = strspn(line, " ");
  int column = (int)at, begin = column;
  if (!append(to, line, at)) return false;
  while (line[at]) {
    const size_t blanks = strspn(line + at, " "), bytes = word_bytes(line + at + blanks);
    const int columns = columns_of(line + at + blanks, bytes);
    if (column > begin && column + (int)blanks + columns > width) {
      if (!append(to, "\n", 1)) return false;
      for (int i = 0; i < indent; i++)
        if (!append(to, " ", 1)) return false;
      column = begin = indent;
    } else {
      if (!append(to, line + at, blanks)) return false;
      column += (int)blanks;
    }
    if (!append(to, line + at + blanks, bytes)) return false;
    column += columns;
    at += blanks + bytes;
  }
  return append(to, "\n", 1);
}

/* In one write: other processes may write to the same terminal. */
static void write_line(FILE *to, buffer *line, int fd) {
  const int width = gather_cli_terminal_width(fd);
  buffer wrapped = {0};
  if (columns_of(line->text, line->used) > width && !is_copied(line->text) && wrap(&wrapped, line->text, width)) {
    fwrite(wrapped.text, 1, wrapped.used, to);
  } else {
    line->text[line->used] = '\n'; /* in place of the zero */
    fwrite(line->text, 1, line->used + 1, to);
  }
  free(wrapped.text);
  free(line->text);
  *line = (buffer){0};
}

void gather_cli_say_bytes(FILE *to, const char *text, size_t bytes) {
  const int fd = to == stderr ? STDERR_FILENO : STDOUT_FILENO;
  buffer *line = &pending[to == stderr];
  if (!isatty(fd)) {
    fwrite(text, 1, bytes, to);
    return;
  }
  while (bytes > 0) {
    const char *end = memchr(text, '\n', bytes);
    const size_t len = end ? (size_t)(end - text) : bytes, used = len + (end != NULL);
    if (!append(line, text, len)) {
      if (line->text) fwrite(line->text, 1, line->used, to);
      free(line->text);
      *line = (buffer){0};
      fwrite(text, 1, used, to);
    } else if (end) {
      write_line(to, line, fd);
    }
    text += used;
    bytes -= used;
  }
}

void gather_cli_say(FILE *to, const char *format, ...) {
  char few[FEW], *all = few;
  va_list list;
  va_start(list, format);
  int len = vsnprintf(few, sizeof few, format, list);
  va_end(list);
  if (len >= FEW && (all = malloc((size_t)len + 1)) != NULL) {
    va_start(list, format);
    len = vsnprintf(all, (size_t)len + 1, format, list);
    va_end(list);
  }
  if (len > 0) gather_cli_say_bytes(to, all ? all : few, all ? (size_t)len : strlen(few)); /* out of memory: the beginning */
  if (all != few) free(all);
}

void gather_cli_say_visible(FILE *to, const char *text) {
  char few[FEW], *all = few;
  size_t bytes = gather_text_visible(text, few, sizeof few) + 1;
  if (bytes > sizeof few && (all = malloc(bytes)) != NULL) (void)gather_text_visible(text, all, bytes);
  gather_cli_say_bytes(to, all ? all : few, strlen(all ? all : few));
  if (all != few) free(all);
}
