/* SPDX-License-Identifier: MIT
 *
 * shuffled.h: a table in a folder of the test's own, shuffles of it, and what their outputs hold.
 */
#ifndef GATHER_TESTS_TABLE_SHUFFLE_SHUFFLED_H
#define GATHER_TESTS_TABLE_SHUFFLE_SHUFFLED_H

#include "gather/shuffle.h"
#include "support/unit.h"

/* Large enough that the least memory needs several buckets, and several ranges of an order. */
enum { ROWS = 20000, WIDTH = 80, MEMORY = 4300000 };

#define FOLDER ".gather-shuffle-o.npy"

/* Makes the folder, in which the program works from then on, and the table x.npy: element j of row i is i * WIDTH + j. For cmocka's
 * groups; shuffled_end removes both. */
int shuffled_begin(void **state);
int shuffled_end(void **state);

/* Makes a table of some of its rows. */
void shuffled_make(const char *path, int32_t first, int32_t rows);
/* Options with the least memory. */
gather_shuffle_options shuffled_options(int64_t seed, int32_t passes);
/* Who works in the runs that follow; NULL = the calling thread. */
extern const gather_executor *shuffled_executor;
/* Shuffles x.npy to o.npy. order: of `len` rows, or NULL. info: receives the facts; NULL. */
gather_status shuffled_run(const gather_shuffle_options *options, const gather_tensor *order, gather_shuffle_info *info,
                           gather_error *error);
/* Fails the test unless o.npy has these rows of x.npy; removes it. */
void shuffled_check(const int64_t *rows, int64_t len);
/* The same for the order of a seed. */
void shuffled_check_seed(int64_t seed);
bool shuffled_exists(const char *name);
/* Removes what is left of shuffles. */
void shuffled_clean(void);

#endif
