/* SPDX-License-Identifier: MIT
 *
 * ways.h: the ways that a reader has, each a bit, and which of them this system has. What it lacks is printed. Include it behind cmocka.h.
 */
#ifndef GATHER_TESTS_TABLE_WAYS_H
#define GATHER_TESTS_TABLE_WAYS_H

#include <string.h>

#include "support/skip.h"
#include "table/known.h"
#include "table/reader.h"

/* Ways to read. */
enum { MAP = 1, PREAD = 2, PREAD_DIRECT = 4, URING = 8, URING_DIRECT = 16 };
enum { THREADS = PREAD | PREAD_DIRECT, RINGS = URING | URING_DIRECT, DIRECT = PREAD_DIRECT | URING_DIRECT, ALL = 31 };

static inline gather_engine engine_of(int w) {
  return w == MAP ? GATHER_ENGINE_MMAP : w & THREADS ? GATHER_ENGINE_PREAD : GATHER_ENGINE_URING;
}

static bool has_uring, has_direct;

static inline int find_out(void **state) {
  enum { ANY = 5000 };
  gather_error error = {0};
  gather_table_source source;
  has_uring = gather_engine_check(GATHER_ENGINE_URING, &error) == GATHER_OK;
  if (!has_uring) print_message("SKIPPED io_uring: %s\n", error.message);
  (void)known_enter(NULL);
  if (gather_table_source_open(known_file("a", ANY), &(gather_table_source_wishes){.direct = true}, &source, NULL) != GATHER_OK) return -1;
  has_direct = source.direct_fd >= 0;
  if (!has_direct) print_message("SKIPPED direct: past the page cache: %s\n", strerror(source.direct_errno));
  gather_table_source_close(&source);
  if ((!has_uring && gather_test_required("io_uring")) || (!has_direct && gather_test_required("direct"))) return -1;
  return known_leave(NULL);
}

static inline bool works(int w) { return (has_uring || !(w & RINGS)) && (has_direct || !(w & DIRECT)); }

#endif
