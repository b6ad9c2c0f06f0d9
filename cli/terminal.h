/* SPDX-License-Identifier: MIT
 *
 * terminal.h: what the terminal can show: its width, colour, characters beyond ASCII, and one line of progress.
 */
#ifndef GATHER_CLI_TERMINAL_H
#define GATHER_CLI_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

/* --color. */
typedef enum gather_cli_colour { GATHER_CLI_COLOUR_AUTO, GATHER_CLI_COLOUR_ALWAYS, GATHER_CLI_COLOUR_NEVER } gather_cli_colour;

/* Sets the mode for the rest of the program; auto until then. */
void gather_cli_terminal_colour_set(gather_cli_colour mode);
/* Whether output to a descriptor is coloured. auto: a terminal, TERM is set and not "dumb", NO_COLOR is unset or empty. */
bool gather_cli_terminal_colour(int fd);

/* Whether a descriptor is a terminal that supports escape sequences. */
bool gather_cli_terminal_escapes(int fd);
/* Whether the terminal shows characters beyond ASCII: the locale's encoding (LC_ALL, LC_CTYPE, LANG) is UTF-8. */
bool gather_cli_terminal_utf8(void);

/* Columns of a descriptor's terminal: COLUMNS if set, the terminal's width, or 80. */
int gather_cli_terminal_width(int fd);

/* Columns of UTF-8 text: 2 for wide characters (East Asian, emoji), 0 for combining ones. */
int gather_cli_text_columns(const char *text);
/* The bytes of the longest prefix of UTF-8 text with at most `columns` columns; no character is split. */
size_t gather_cli_text_fit(const char *text, int columns);

/* Whether progress is shown: stderr is a terminal that can rewrite a line. */
bool gather_cli_terminal_live(void);
/* Joins parts, the most important first, with commas; omits parts that do not fit into `columns`. Writes at most `bytes`. */
void gather_cli_progress_join(char *line, size_t bytes, int columns, const char *const *parts, int count);
/* Shows the parts on stderr, in one line that replaces the previous one. Call only if gather_cli_terminal_live. */
void gather_cli_progress_show(const char *const *parts, int count);
/* Clears that line. */
void gather_cli_progress_wipe(void);
/* Whether there is such a line now. May be called by a signal handler. */
bool gather_cli_progress_is_shown(void);

#endif
