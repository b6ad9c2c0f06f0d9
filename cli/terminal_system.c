/* SPDX-License-Identifier: MIT
 *
 * terminal_system.c: what the terminal can show. The program never sets a locale; it only reads the name of its encoding.
 */
#if defined(__linux__)
#define _DEFAULT_SOURCE /* struct winsize */
#endif
#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#if defined(__APPLE__)
#include <xlocale.h> /* nl_langinfo_l */
#endif

#include "terminal.h"

enum { DEFAULT_WIDTH = 80 };

bool gather_cli_terminal_escapes(int fd) {
  const char *term = getenv("TERM");
  return isatty(fd) && term && *term && strcmp(term, "dumb") != 0;
}

static bool is_utf8(const char *name) {
  for (; *name; name++)
    if ((name[0] == 'U' || name[0] == 'u') && (name[1] == 'T' || name[1] == 't') && (name[2] == 'F' || name[2] == 'f'))
      return name[3] == '8' || (name[3] == '-' && name[4] == '8');
  return false;
}

/* The locale for characters, by POSIX's rule; "" = none is set. */
static const char *locale_name(void) {
  static const char *const NAMES[] = {"LC_ALL", "LC_CTYPE", "LANG"};
  for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
    const char *value = getenv(NAMES[i]);
    if (value && *value) return value;
  }
  return "";
}

/* The name of a locale that is not installed here contains its encoding, as after a login from another machine. */
bool gather_cli_terminal_utf8(void) {
  locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
  if (locale == (locale_t)0) return is_utf8(locale_name());
  bool utf8 = is_utf8(nl_langinfo_l(CODESET, locale));
  freelocale(locale);
  return utf8;
}

int gather_cli_terminal_width(int fd) {
  const char *columns = getenv("COLUMNS");
  struct winsize size;
  char *end;
  long width = columns ? strtol(columns, &end, 10) : 0;
  if (columns && (*end || width > 10000)) width = 0;
  if (width <= 0 && ioctl(fd, TIOCGWINSZ, &size) == 0) width = size.ws_col;
  return width > 0 ? (int)width : DEFAULT_WIDTH;
}
