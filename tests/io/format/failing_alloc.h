/* SPDX-License-Identifier: MIT
 *
 * failing_alloc.h: lets each allocation of a call fail once, those out of an arena too, which seldom ask for a block.
 */
#ifndef GATHER_TESTS_IO_FORMAT_FAILING_ALLOC_H
#define GATHER_TESTS_IO_FORMAT_FAILING_ALLOC_H

#include "gather/file.h"
#include "support/unit.h"

typedef gather_status failing_open(gather_file **file, gather_error *error);
typedef void failing_look(const gather_file *file);

/* Opens a file again and again, each time with another allocation that fails, which must be said; `look` sees the file when none
 * failed. Returns how many allocations there are. */
long failing_each_alloc(failing_open *open, failing_look *look);
/* The same for a file that may be refused when none failed; `look` sees those that are not. */
long failing_each_alloc_of_any(failing_open *open, failing_look *look);
/* The same for a file whose reader does without some of them: `look` sees it each time. */
long failing_each_alloc_or_without(failing_open *open, failing_look *look);
/* For a library that is told how to get memory: that which these functions let fail, too. */
void *failing_take(size_t bytes);
/* Downloads all elements of a remote file, those in chunks too. Returns only GATHER_OUT_OF_MEMORY and GATHER_IO_ERROR: a tensor that
 * cannot be read, whatever happens, is no failure here. */
gather_status failing_download(gather_file *file, gather_error *error);

#endif
