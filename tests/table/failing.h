/* SPDX-License-Identifier: MIT
 *
 * failing.h: lets calls of the system fail that reading files makes, also the answers that io_uring gives. May be used while threads
 * read. The calls are named as in C; with a word more:
 *
 *   "pread direct"    on a descriptor past the page cache
 *   "madvise random", "madvise willneed", "madvise populate", "madvise dontfork"
 *   "answer"          a completion of io_uring; "answer direct" on a descriptor past the page cache
 */
#ifndef GATHER_TESTS_TABLE_FAILING_H
#define GATHER_TESTS_TABLE_FAILING_H

#include <stdint.h>

/* Of the calls of `name`, the first `after` do what they always do, and the `times` next fail with `number` as their errno. */
void failing_set(const char *name, int after, int times, int number);
/* How often it was called since. */
int failing_calls(void);
/* Reads answer `bytes` at most, and what lies behind is not what stands in the file. */
void failing_short(int64_t bytes);
/* Reads that touch the byte at `offset` fail. */
void failing_at(int64_t offset, int number);
/* Before each call that may be interrupted is done, it is interrupted so many times. */
void failing_storm(int times);
/* Files whose names end in a digit are on devices of their own, one for each digit. */
void failing_devices(int on);
/* Reads of files whose names do not end in 9 wait until so many of the others have been made; 0 = they do not wait. */
void failing_hold(int until);
/* How many of them gave up waiting, after 20 seconds. */
int failing_gave_up(void);
/* All is well again. */
void failing_clear(void);
/* Mappings that the library has made and not ended. */
int failing_mappings(void);

/* ---- for failing.c, failing_thread_key.c and failing_uring.c */

/* Counts a call; the errno that it fails with, 0 = it does not. */
int failing_now(const char *name);
/* Whether this call is interrupted. */
int failing_interrupted(void);
/* What a read answers in place of `answer`: bytes, or a negative errno. */
int64_t failing_answer(const char *name, int fd, int64_t offset, char *data, int64_t asked, int64_t answer);

#endif
