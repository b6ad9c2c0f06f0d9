/* SPDX-License-Identifier: MIT
 *
 * failing.h: lets one call of the system, or of gather_alloc, fail.
 */
#ifndef GATHER_TESTS_IO_FORMAT_FAILING_H
#define GATHER_TESTS_IO_FORMAT_FAILING_H

/* The call of `name` after `after` others of it fails with `number` as its errno; all others do what they always do. */
void failing_set(const char *name, int after, int number);
/* Every call of `name` fails with `number`, beside that of failing_set. */
void failing_always(const char *name, int number);
/* Nothing fails any more. Returns how often the function was called since failing_set. */
int failing_clear(void);
/* Every write writes a few bytes only, and is interrupted before some. */
void failing_slow_writes(int on);

/* No file can be made without a name, as on many file systems: with EOPNOTSUPP, or with the number that is given. */
void failing_unnamed(int on);
/* There are no hard links, as in FAT. */
void failing_links(int on);

/* Every open file seems to have another group than its name. */
void failing_group(int on);

#endif
