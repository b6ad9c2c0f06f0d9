/* SPDX-License-Identifier: MIT
 *
 * terminal.c: colour, columns of text, and one line of progress. terminal_system.c asks the system what the terminal can show.
 */
#include "terminal.h"

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE_BYTES = 512 };

static gather_cli_colour colour_mode = GATHER_CLI_COLOUR_AUTO;

void gather_cli_terminal_colour_set(gather_cli_colour mode) { colour_mode = mode; }

bool gather_cli_terminal_colour(int fd) {
  const char *no_colour = getenv("NO_COLOR");
  if (colour_mode != GATHER_CLI_COLOUR_AUTO) return colour_mode == GATHER_CLI_COLOUR_ALWAYS;
  return gather_cli_terminal_escapes(fd) && !(no_colour && *no_colour);
}

/* ---- columns of text */

typedef struct range {
  uint32_t first, last;
} range;

/* East Asian Wide and Fullwidth blocks, and emoji (Unicode Standard Annex 11). */
static const range WIDE[] = {{0x1100, 0x115f},   {0x231a, 0x231b},   {0x2329, 0x232a},   {0x23e9, 0x23ec},   {0x25fd, 0x25fe},
                             {0x2614, 0x2615},   {0x2648, 0x2653},   {0x26a1, 0x26a1},   {0x2705, 0x2705},   {0x274c, 0x274c},
                             {0x2795, 0x2797},   {0x2b1b, 0x2b1c},   {0x2e80, 0x303e},   {0x3041, 0x33ff},   {0x3400, 0x4dbf},
                             {0x4e00, 0x9fff},   {0xa000, 0xa4cf},   {0xa960, 0xa97f},   {0xac00, 0xd7a3},   {0xf900, 0xfaff},
                             {0xfe30, 0xfe6f},   {0xff00, 0xff60},   {0xffe0, 0xffe6},   {0x16fe0, 0x18cff}, {0x1aff0, 0x1b2ff},
                             {0x1f18e, 0x1f18e}, {0x1f191, 0x1f19a}, {0x1f200, 0x1f320}, {0x1f32d, 0x1f64f}, {0x1f680, 0x1f6fc},
                             {0x1f7e0, 0x1f7eb}, {0x1f90c, 0x1faff}, {0x20000, 0x3fffd}};

/* Combining marks, joiners, variation selectors. */
static const range ZERO[] = {{0x0300, 0x036f}, {0x0483, 0x0489}, {0x0591, 0x05bd}, {0x064b, 0x065f}, {0x0e34, 0x0e3a},
                             {0x0e47, 0x0e4e}, {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x200b, 0x200f}, {0x20d0, 0x20ff},
                             {0x302a, 0x302d}, {0x3099, 0x309a}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}, {0xe0100, 0xe01ef}};

static bool is_in(const range *ranges, size_t count, uint32_t code) {
  for (size_t i = 0; i < count; i++)
    if (code >= ranges[i].first && code <= ranges[i].last) return true;
  return false;
}

static int columns_of(uint32_t code) {
  if (code < 0x300) return 1;
  if (is_in(ZERO, sizeof ZERO / sizeof *ZERO, code)) return 0;
  return is_in(WIDE, sizeof WIDE / sizeof *WIDE, code) ? 2 : 1;
}

/* One character of UTF-8; an invalid byte counts as itself. */
static size_t next_code(const char *text, uint32_t *code) {
  const unsigned char *p = (const unsigned char *)text;
  size_t len = *p >= 0xf0 ? 4 : *p >= 0xe0 ? 3 : *p >= 0xc0 ? 2 : 1;
  *code = len == 1 ? *p : (uint32_t)(*p & (0xff >> (len + 1)));
  for (size_t i = 1; i < len; i++) {
    if ((p[i] & 0xc0) != 0x80) {
      *code = *p;
      return 1;
    }
    *code = *code << 6 | (p[i] & 0x3fu);
  }
  return len;
}

int gather_cli_text_columns(const char *text) {
  int columns = 0;
  uint32_t code;
  for (; *text; columns += columns_of(code)) text += next_code(text, &code);
  return columns;
}

size_t gather_cli_text_fit(const char *text, int columns) {
  size_t bytes = 0;
  while (text[bytes]) {
    uint32_t code;
    size_t len = next_code(text + bytes, &code);
    columns -= columns_of(code);
    if (columns < 0) break;
    bytes += len;
  }
  return bytes;
}

/* ---- progress */

static volatile sig_atomic_t line_shown; /* a handler reads it */

bool gather_cli_terminal_live(void) { return gather_cli_terminal_escapes(STDERR_FILENO); }

void gather_cli_progress_join(char *line, size_t bytes, int columns, const char *const *parts, int count) {
  size_t used = 0;
  int left = columns;
  line[0] = 0;
  for (int i = 0; i < count; i++) {
    const char *between = used ? ", " : "";
    int wide = (int)strlen(between) + gather_cli_text_columns(parts[i]);
    size_t len = strlen(between) + strlen(parts[i]);
    if ((wide > left && used) || used + len >= bytes) continue;
    if (wide > left) len = gather_cli_text_fit(parts[i], left);
    memcpy(line + used, between, strlen(between));
    memcpy(line + used + strlen(between), parts[i], len - strlen(between));
    used += len;
    left -= wide;
    line[used] = 0;
    if (left < 0) return;
  }
}

/* The last column stays free: some terminals wrap as soon as it is written. */
void gather_cli_progress_show(const char *const *parts, int count) {
  static const char PROGRAM[] = "gather: ";
  char line[LINE_BYTES];
  int columns = gather_cli_terminal_width(STDERR_FILENO) - 1;
  size_t before = gather_cli_text_fit(PROGRAM, columns);
  gather_cli_progress_join(line, sizeof line, columns - (int)before, parts, count);
  line_shown = 1;
  fprintf(stderr, "\r%.*s%s\033[K", (int)before, PROGRAM, line);
  fflush(stderr);
}

void gather_cli_progress_wipe(void) {
  line_shown = 0;
  fputs("\r\033[K", stderr);
}

bool gather_cli_progress_is_shown(void) { return line_shown != 0; }
