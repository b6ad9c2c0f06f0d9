/* SPDX-License-Identifier: MIT
 *
 * failing_rules.h: what failing.c, failing_thread_key.c and failing_uring.c share.
 */
#ifndef GATHER_TESTS_TABLE_FAILING_RULES_H
#define GATHER_TESTS_TABLE_FAILING_RULES_H

#include <stdint.h>

/* Counts a call; the errno that it fails with, 0 = it does not. */
int failing_now(const char *name);
/* Whether this call is interrupted. */
int failing_interrupted(void);
/* What a read answers in place of `answer`: bytes, or a negative errno. */
int64_t failing_answer(const char *name, int fd, int64_t offset, char *data, int64_t asked, int64_t answer);

#endif
