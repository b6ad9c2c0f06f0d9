/* SPDX-License-Identifier: MIT
 *
 * error.h: fills in a gather_error. The functions return the status, for `return gather_fail(...)`.
 */
#ifndef GATHER_BASE_ERROR_H
#define GATHER_BASE_ERROR_H

#include "core/base/compiler.h"
#include "gather/gather.h"

/* Fills in the error (NULL allowed) with a status and a sentence, and resets every other field. */
GATHER_COLD GATHER_PRINTF(3, 4) gather_status gather_fail(gather_error *error, gather_status status, const char *format, ...);

/* The same, and sets the invalid argument: "data", "indices", "axis", "output". */
GATHER_COLD GATHER_PRINTF(4, 5) gather_status
    gather_fail_input(gather_error *error, gather_status status, const char *input, const char *format, ...);

/* The same, and sets a file and the byte in it (-1 = none). The message is "FILE: SENTENCE, at byte N". */
GATHER_COLD GATHER_PRINTF(5, 6) gather_status
    gather_fail_file(gather_error *error, gather_status status, const char *file, int64_t offset, const char *format, ...);

/* The same for a call of the system that failed with an errno: its words are the end of the sentence, and system_error is set. */
GATHER_COLD GATHER_PRINTF(6, 7) gather_status
    gather_fail_errno(gather_error *error, gather_status status, int number, const char *file, int64_t offset, const char *format, ...);

/* The same for a call on a file, with the status of its errno; `doing` completes "cannot ...". */
GATHER_COLD gather_status gather_fail_system(gather_error *error, const char *file, int number, const char *doing);

/* The system's words for an errno, in `room`; "error N" if it has none. Returns `room`. Threads: any. */
enum { GATHER_SYSTEM_WORDS = 100 };
const char *gather_system_words(int number, char room[GATHER_SYSTEM_WORDS]);

/* Writes "[2, 3, 4]" into text, truncated with "..."; returns text. */
char *gather_shape_text(char *text, size_t bytes, int32_t rank, const int64_t *shape);

/* The last two of "%s%s%s": how messages name an operator and its rules, where it has any. */
#define GATHER_RULES_TEXT(op) (op)->rules ? " " : "", (op)->rules ? (op)->rules : ""

/* The arguments of "the tensor%s%.100s%s" in a message: the name in quotes, or nothing for a tensor without a name. */
#define GATHER_CALLED(name) (*(name) ? " '" : ""), (name), (*(name) ? "'" : "")

/* Propagates a failure. */
#define GATHER_TRY(call)                              \
  do {                                                \
    gather_status gather_try_ = (call);               \
    if (gather_try_ != GATHER_OK) return gather_try_; \
  } while (0)

#endif
