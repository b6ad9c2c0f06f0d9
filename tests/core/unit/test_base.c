/* SPDX-License-Identifier: MIT
 *
 * test_base.c: the lowest layer where a system refuses, and at the ends of its numbers: disks, clocks, limits of memory, memory, texts.
 */
#define _GNU_SOURCE /* sync_file_range, syncfs, the clocks of Linux */
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/arena.h"
#include "core/base/error.h"
#include "core/base/float_value.h"
#include "core/base/growing.h"
#include "core/base/heap.h"
#include "core/base/tensor.h"
#include "core/system/clock.h"
#include "core/system/condition.h"
#include "core/system/disk.h"
#include "core/system/machine.h"
#include "core/system/pages.h"
#include "support/unit.h"
#include "support/wrapped.h"

/* ---- calls of the system that fail on request */

/* Two calls that fail so often, with these errors. */
static struct {
  const char *name;
  int number, times, calls;
} failing[2];

static int fails(const char *name) {
  for (size_t i = 0; i < COUNT(failing); i++) {
    if (!failing[i].name || strcmp(failing[i].name, name) != 0) continue;
    failing[i].calls++;
    if (failing[i].times-- <= 0) continue;
    return errno = failing[i].number;
  }
  return 0;
}

static void fail_next(size_t i, const char *name, int number, int times) {
  failing[i].name = name, failing[i].number = number, failing[i].times = times, failing[i].calls = 0;
}

static void fail_none(void) { memset(failing, 0, sizeof failing); }

FAILING(int, sync_file_range, (int fd, int64_t offset, int64_t bytes, unsigned how), (fd, offset, bytes, how))
FAILING(int, fsync, (int fd), (fd))
FAILING(int, fdatasync, (int fd), (fd))
FAILING(int, syncfs, (int fd), (fd))
FAILING64(int, ftruncate, (int fd, off_t size), (fd, size))
FAILING(int, clock_gettime, (clockid_t clock, struct timespec *t), (clock, t))

/* These return their error. */
#define RETURNING(name, declared, passed)       \
  WRAPPED(int, name, declared) {                \
    const int number = fails(#name);            \
    return number ? number : REAL(name) passed; \
  }

WRAPPED64(int, posix_fallocate, (int fd, off_t at, off_t bytes)) {
  const int number = fails("posix_fallocate");
  return number ? number : REAL64(posix_fallocate)(fd, at, bytes);
}
RETURNING(pthread_condattr_init, (pthread_condattr_t * attributes), (attributes))
RETURNING(pthread_condattr_setclock, (pthread_condattr_t * attributes, clockid_t clock), (attributes, clock))
RETURNING(pthread_cond_init, (pthread_cond_t * condition, const pthread_condattr_t *attributes), (condition, attributes))

/* ---- disks */

typedef enum disk_call { WAIT, SYNC, SYNC_DATA, SYNC_ALL, RESERVE } disk_call;

static int call_disk(disk_call call, int fd) {
  switch (call) {
    case WAIT:
      return gather_disk_wait(fd, 0, 4096);
    case SYNC:
      return gather_disk_sync(fd);
    case SYNC_DATA:
      return gather_disk_sync_data(fd);
    case SYNC_ALL:
      return gather_disk_sync_all(fd);
    default:
      return gather_disk_reserve(fd, 5000);
  }
}

static void disks(void **state) {
  static const struct {
    disk_call call;
    const char *first;
    int first_number, first_times;
    const char *second; /* what is called in its place; NULL */
    int second_number, second_times;
    int result;
  } CASES[] = {
      {WAIT, "sync_file_range", 0, 0, NULL, 0, 0, 0},
      {WAIT, "sync_file_range", EIO, 1, NULL, 0, 0, EIO},
      {WAIT, "sync_file_range", ENOSPC, 1, NULL, 0, 0, ENOSPC},
      {WAIT, "sync_file_range", ENOSYS, 1, "fsync", 0, 0, 0},
      {WAIT, "sync_file_range", EINVAL, 1, "fsync", EIO, 1, EIO},
      {WAIT, "sync_file_range", ESPIPE, 1, "fsync", EINVAL, 1, 0},
      {WAIT, "sync_file_range", ENOSYS, 1, "fsync", EINTR, 2, 0},
      {SYNC, "fsync", 0, 0, NULL, 0, 0, 0},
      {SYNC, "fsync", EINTR, 3, NULL, 0, 0, 0},
      {SYNC, "fsync", EINVAL, 1, NULL, 0, 0, 0},
      {SYNC, "fsync", ENOTSUP, 1, NULL, 0, 0, 0},
      {SYNC, "fsync", ENOSYS, 1, NULL, 0, 0, 0},
      {SYNC, "fsync", EIO, 1, NULL, 0, 0, EIO},
      {SYNC_DATA, "fdatasync", EINTR, 3, NULL, 0, 0, 0},
      {SYNC_DATA, "fdatasync", ENOTSUP, 1, NULL, 0, 0, 0},
      {SYNC_DATA, "fdatasync", ENOSPC, 1, NULL, 0, 0, ENOSPC},
      {SYNC_ALL, "syncfs", EIO, 1, NULL, 0, 0, EIO},
      {RESERVE, "posix_fallocate", 0, 0, NULL, 0, 0, 0},
      {RESERVE, "posix_fallocate", EINTR, 2, NULL, 0, 0, 0},
      {RESERVE, "posix_fallocate", ENOSPC, 1, NULL, 0, 0, ENOSPC},
      {RESERVE, "posix_fallocate", EOPNOTSUPP, 1, "ftruncate", 0, 0, 0},
      {RESERVE, "posix_fallocate", EINVAL, 1, "ftruncate", 0, 0, 0},
      {RESERVE, "posix_fallocate", ENOSYS, 1, "ftruncate", EFBIG, 1, EFBIG},
  };
  char path[] = "/tmp/gather-base-XXXXXX";
  for (size_t i = 0; i < COUNT(CASES); i++) {
    (void)strcpy(path + sizeof path - 7, "XXXXXX");
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    fail_next(0, CASES[i].first, CASES[i].first_number, CASES[i].first_times);
    fail_next(1, CASES[i].second, CASES[i].second_number, CASES[i].second_times);
    const int result = call_disk(CASES[i].call, fd);
    if (result != CASES[i].result) fail_msg("case %zu: %d", i, result);
    assert_int_equal(failing[0].calls, CASES[i].first_number == EINTR ? CASES[i].first_times + 1 : 1);
    if (CASES[i].second) assert_int_equal(failing[1].calls, CASES[i].second_number == EINTR ? CASES[i].second_times + 1 : 1);
    if (CASES[i].call == RESERVE && result == 0) assert_int_equal(lseek(fd, 0, SEEK_END), 5000);
    fail_none();
    assert_int_equal(close(fd), 0);
    assert_int_equal(unlink(path), 0);
  }
}

/* ---- clocks and waiting */

static void clocks_that_are_not_there(void **state) {
  for (int coarse = 0; coarse < 2; coarse++) {
    const int64_t before = gather_clock();
    fail_next(0, "clock_gettime", EINVAL, 1);
    const int64_t now = coarse ? gather_clock_coarse() : gather_thread_clock();
    assert_int_equal(failing[0].calls, 2);
    fail_none();
    assert_true(now >= before && now <= gather_clock()); /* the clock that is there always */
  }
}

static void conditions_that_are_refused(void **state) {
  static const char *const CALLS[] = {"pthread_condattr_init", "pthread_condattr_setclock", "pthread_cond_init"};
  pthread_cond_t condition;
  for (size_t i = 0; i < COUNT(CALLS); i++) {
    fail_next(0, CALLS[i], ENOMEM, 1);
    assert_false(gather_condition_init(&condition));
    assert_int_equal(failing[0].calls, 1);
    fail_none();
  }
  assert_true(gather_condition_init(&condition));
  assert_int_equal(pthread_cond_destroy(&condition), 0);
}

/* ---- limits of memory */

typedef struct system_file {
  const char *path, *text;
} system_file;

static const system_file *system_files; /* NULL = those of the system; the last one has no path */
static bool no_pages;

WRAPPED64(FILE *, fopen, (const char *path, const char *how)) {
  if (!system_files) return REAL64(fopen)(path, how);
  for (const system_file *file = system_files; file->path; file++) {
    if (strcmp(file->path, path) != 0) continue;
    FILE *made = tmpfile();
    if (!made) fail_msg("no temporary file");
    assert_true(fputs(file->text, made) >= 0);
    rewind(made);
    return made;
  }
  errno = ENOENT;
  return NULL;
}

WRAPPED(long, sysconf, (int name)) { return no_pages && name == _SC_PHYS_PAGES ? -1 : REAL(sysconf)(name); }

static void limits_of_memory(void **state) {
#define GROUPS "/proc/self/cgroup"
#define V1 "/sys/fs/cgroup/memory"
#define V2 "/sys/fs/cgroup"
  enum { MACHINE = -1 };
  static const struct {
    system_file files[6];
    int64_t limit; /* MACHINE = none but the memory of the machine */
  } CASES[] = {
      {{{NULL, NULL}}, MACHINE},
      {{{V2 "/memory.max", "500000\n"}}, 500000},
      {{{V2 "/memory.max", "500000\n"}, {V1 "/memory.limit_in_bytes", "400000\n"}}, 400000},
      {{{V1 "/memory.limit_in_bytes", "400000\n"}}, 400000},
      {{{V2 "/memory.max", "max\n"}}, MACHINE},
      {{{V2 "/memory.max", "0\n"}, {V1 "/memory.limit_in_bytes", "-5\n"}}, MACHINE},
      {{{V2 "/memory.max", ""}, {V1 "/memory.limit_in_bytes", "9223372036854771712\n"}}, MACHINE},
      {{{GROUPS, "0::/a/b\n"}, {V2 "/a/b/memory.max", "900000"}}, 900000},
      {{{GROUPS, "0::/a/b\n"}, {V2 "/a/b/memory.max", "900000"}, {V2 "/a/memory.max", "700000"}}, 700000},
      {{{GROUPS, "0::/a/b"}, {V2 "/a/memory.max", "700000"}, {V2 "/memory.max", "600000"}}, 600000},
      {{{GROUPS, "0::/\n"}, {V2 "/memory.max", "600000"}}, 600000},
      {{{GROUPS, "0::/a\n"}, {"/sys/fs/memory.max", "5"}, {"/memory.max", "5"}}, MACHINE}, /* above the root */
      {{{GROUPS, "5:cpu:/a\n4:memory:/m/n\n1:name=x:/\n"}, {V1 "/m/n/memory.limit_in_bytes", "800000"}}, 800000},
      {{{GROUPS, "4:memory:/m/n\n0::/a\n"}, {V1 "/m/memory.limit_in_bytes", "700000"}, {V2 "/a/memory.max", "750000"}}, 700000},
      {{{GROUPS, "4:memory:/m\n"}, {V1 "/memory.limit_in_bytes", "650000"}, {V2 "/memory.max", "5"}}, 650000},
      {{{GROUPS, "5:cpu:/a\n"}, {V2 "/a/memory.max", "5"}, {V2 "/memory.max", "5"}}, MACHINE},
      {{{GROUPS, ""}, {V2 "/memory.max", "5"}}, MACHINE},
  };
  const int64_t machine = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
  for (int has_none = 0; has_none < 2; has_none++)
    for (size_t i = 0; i < COUNT(CASES); i++) {
      system_files = CASES[i].files, no_pages = has_none != 0;
      const int64_t limit = gather_usable_memory();
      system_files = NULL, no_pages = false;
      const int64_t most = has_none ? INT64_C(1) << 30 : machine;
      if (limit != (CASES[i].limit == MACHINE ? most : CASES[i].limit)) fail_msg("case %zu: %lld", i, (long long)limit);
    }
}

/* ---- memory */

static void memory_that_nobody_has(void **state) {
  static const struct {
    int64_t count, bytes;
  } PIECES[] = {{-1, 1}, {1, -1}, {INT64_MAX, 2}, {INT64_MAX, INT64_MAX}, {1, INT64_MAX}, {1, INT64_MAX - 8}, {1, INT64_MAX - 40}};
  gather_arena arena = {0};
  for (size_t i = 0; i < COUNT(PIECES); i++) assert_null(gather_arena_take(&arena, PIECES[i].count, PIECES[i].bytes));
  assert_null(gather_arena_text(&arena, "x", SIZE_MAX));
  assert_null(gather_arena_text(&arena, "x", (size_t)PTRDIFF_MAX));
  char *none = gather_arena_take(&arena, 0, 8), *other = gather_arena_take(&arena, 8, 0), *text = gather_arena_text(&arena, "abc", 2);
  assert_true(none && other && text && none != other && other != text);
  assert_string_equal(text, "ab");
  assert_string_equal(gather_arena_text(&arena, NULL, 0), "");
  char *large = gather_arena_take(&arena, 1000, 1000);
  assert_non_null(large);
  large[999999] = 1;
  gather_arena_clear(&arena);
  assert_null(gather_alloc(-1));
  assert_null(gather_alloc(INT64_MIN));
  assert_null(gather_alloc_unset(-1));
  void *empty = gather_alloc(0), *unset = gather_alloc_unset(0);
  assert_true(empty && unset);
  gather_free(empty);
  gather_free(unset);
  assert_null(gather_pages_create(0));
  assert_null(gather_pages_create(-1));
  gather_pages_destroy(NULL, 5);
  assert_null(gather_heap_malloc(SIZE_MAX));
  assert_null(gather_heap_malloc((size_t)PTRDIFF_MAX));
  char *heap = gather_heap_realloc(NULL, 4);
  assert_non_null(heap);
  (void)strcpy(heap, "abc");
  assert_null(gather_heap_realloc(heap, SIZE_MAX)); /* and it keeps what it has */
  heap = gather_heap_realloc(heap, 2);
  assert_memory_equal(heap, "ab", 2);
  heap = gather_heap_realloc(heap, 300);
  assert_memory_equal(heap, "ab", 2);
  gather_heap_free(heap);
  gather_heap_free(NULL);
  assert_status(gather_advise_huge_pages(NULL, 1 << 24), GATHER_OK);
  assert_status(gather_advise_huge_pages(&arena, 1), GATHER_OK);
}

static void texts_that_grow_too_far(void **state) {
  gather_growing growing = {0};
  gather_error error = dirty_error();
  char *text = NULL;
  size_t bytes = 99;
  assert_null(gather_growing_add(&growing, SIZE_MAX));
  assert_null(gather_growing_add(&growing, 1)); /* it has failed */
  gather_growing_text(&growing, "x");
  gather_growing_print(&growing, "%d", 5);
  assert_status(gather_growing_finish(&growing, "a picture", &text, &bytes, &error), GATHER_OUT_OF_MEMORY);
  assert_error(&error, GATHER_OUT_OF_MEMORY);
  assert_non_null(strstr(error.message, "a picture"));
  assert_null(growing.text);
  gather_growing_text(&growing, "ab");
  assert_null(gather_growing_add(&growing, SIZE_MAX / 2 - 10));
  gather_growing_clear(&growing);
  for (int i = 0; i < 3000; i++) gather_growing_print(&growing, "%04d", i);
  gather_growing_char(&growing, '.');
  assert_status(gather_growing_finish(&growing, "a picture", &text, &bytes, &error), GATHER_OK);
  assert_int_equal(bytes, 12001);
  assert_memory_equal(text + 11996, "2999.", 6);
  gather_text_free(text);
  assert_status(gather_growing_finish(&growing, "a picture", &text, NULL, &error), GATHER_OK);
  assert_string_equal(text, "");
  gather_text_free(text);
}

/* ---- numbers */

static void codes_of_small_floats(void **state) {
  static const struct {
    gather_type type;
    uint8_t code;
    double number;
  } CASES[] = {
      {GATHER_TYPE_FLOAT8_E4M3FN, 0x7e, 448},
      {GATHER_TYPE_FLOAT8_E4M3FN, 0x7f, (double)NAN},
      {GATHER_TYPE_FLOAT8_E4M3FN, 0xff, (double)NAN},
      {GATHER_TYPE_FLOAT8_E4M3FN, 0x80, -0.0},
      {GATHER_TYPE_FLOAT8_E4M3FN, 0x01, 0.001953125},
      {GATHER_TYPE_FLOAT8_E4M3FN, 0x77, 240},
      {GATHER_TYPE_FLOAT8_E4M3FNUZ, 0x80, (double)NAN},
      {GATHER_TYPE_FLOAT8_E4M3FNUZ, 0x7f, 240},
      {GATHER_TYPE_FLOAT8_E4M3FNUZ, 0x00, 0},
      {GATHER_TYPE_FLOAT8_E4M3FNUZ, 0x81, -0.0009765625},
      {GATHER_TYPE_FLOAT8_E4M3FNUZ, 0x88, -0.0078125},
      {GATHER_TYPE_FLOAT8_E5M2, 0x7b, 57344},
      {GATHER_TYPE_FLOAT8_E5M2, 0x7c, (double)INFINITY},
      {GATHER_TYPE_FLOAT8_E5M2, 0xfc, -(double)INFINITY},
      {GATHER_TYPE_FLOAT8_E5M2, 0x7d, (double)NAN},
      {GATHER_TYPE_FLOAT8_E5M2, 0xff, (double)NAN},
      {GATHER_TYPE_FLOAT8_E5M2FNUZ, 0x7f, 57344},
      {GATHER_TYPE_FLOAT8_E5M2FNUZ, 0x80, (double)NAN},
      {GATHER_TYPE_FLOAT8_E8M0FNU, 0x00, 5.8774717541114375e-39},
      {GATHER_TYPE_FLOAT8_E8M0FNU, 0x7f, 1},
      {GATHER_TYPE_FLOAT8_E8M0FNU, 0xfe, 1.7014118346046923e38},
      {GATHER_TYPE_FLOAT8_E8M0FNU, 0xff, (double)NAN},
      {GATHER_TYPE_FLOAT6_E2M3FN, 0x1f, 7.5},
      {GATHER_TYPE_FLOAT6_E2M3FN, 0x3f, -7.5},
      {GATHER_TYPE_FLOAT6_E3M2FN, 0x1f, 28},
      {GATHER_TYPE_FLOAT6_E3M2FN, 0x01, 0.0625},
      {GATHER_TYPE_FLOAT4_E2M1FN, 0x7, 6},
      {GATHER_TYPE_FLOAT4_E2M1FN, 0x9, -0.5},
      {GATHER_TYPE_NF4, 0, -1},
      {GATHER_TYPE_NF4, 7, 0},
      {GATHER_TYPE_NF4, 15, 1},
  };
  for (size_t i = 0; i < COUNT(CASES); i++) {
    double number = 99;
    assert_true(gather_float_read(CASES[i].type, &CASES[i].code, &number));
    const bool same =
        isnan(CASES[i].number) ? isnan(number) != 0 : number == CASES[i].number && !signbit(number) == !signbit(CASES[i].number);
    if (!same) fail_msg("case %zu: %g", i, number);
  }
  double number = 99;
  assert_false(gather_float_read(GATHER_TYPE_INT8, "a", &number));
  static const struct {
    uint16_t bits;
    double number;
  } HALVES[] = {{0x7c00, (double)INFINITY}, {0xfc00, -(double)INFINITY}, {0x0001, 5.9604644775390625e-8}, {0xc000, -2}, {0x7bff, 65504}};
  for (size_t i = 0; i < COUNT(HALVES); i++) {
    assert_true(gather_float_read(GATHER_TYPE_FLOAT16, &HALVES[i].bits, &number));
    assert_true(number == HALVES[i].number);
  }
  const uint16_t nan_bits = 0x7c01, bfloat = 0xc040;
  assert_true(gather_float_read(GATHER_TYPE_FLOAT16, &nan_bits, &number) && isnan(number));
  assert_true(gather_float_read(GATHER_TYPE_BFLOAT16, &bfloat, &number) && number == -3);
}

static void texts_of_numbers(void **state) {
  static const struct {
    double number;
    size_t bytes;
    const char *text;
  } CASES[] = {{1.5, 8, "1.5"}, {1.5, 4, "1.5"},         {1.5, 3, "1."},         {1.5, 2, "1"},
               {1.5, 1, ""},    {-1e300, 16, "-1e+300"}, {(double)NAN, 8, "nan"}};
  for (size_t i = 0; i < COUNT(CASES); i++) {
    char text[16] = "unset";
    gather_double_text(fabs(CASES[i].number) * (signbit(CASES[i].number) && !isnan(CASES[i].number) ? -1 : 1), 6, text, CASES[i].bytes);
    assert_string_equal(text, CASES[i].text);
  }
  char text[64] = "unset";
  gather_double_text(1.5, 6, text, 0);
  assert_string_equal(text, "unset");
  static const int64_t LONG[] = {INT64_MAX, INT64_MAX, INT64_MAX};
  assert_string_equal(gather_shape_text(text, sizeof text, 0, NULL), "[]");
  assert_string_equal(gather_shape_text(text, sizeof text, 2, DIMS(3, 4)), "[3, 4]");
  assert_string_equal(gather_shape_text(text, sizeof text, 3, LONG), "[9223372036854775807, 9223372036854775807...]");
  assert_string_equal(gather_shape_text(text, 30, 3, LONG), "[9223372036854775807...]");
  assert_string_equal(gather_shape_text(text, 25, 1, LONG), "[...]");
}

static void sizes_that_do_not_fit(void **state) {
  int64_t bytes = 99;
  assert_status(gather_type_bytes(GATHER_TYPE_INT8, 0, -1, &bytes), GATHER_OVERFLOW);
  assert_status(gather_type_bytes(GATHER_TYPE_OPAQUE, -1, 1, &bytes), GATHER_OVERFLOW);
  assert_status(gather_type_bytes(GATHER_TYPE_INT64, 0, INT64_MAX, &bytes), GATHER_OVERFLOW);
  assert_status(gather_type_bytes((gather_type)9999, 0, 1, &bytes), GATHER_TYPE_UNSUPPORTED);
  assert_status(gather_type_bytes(GATHER_TYPE_UINT4, 0, 5, &bytes), GATHER_OK);
  assert_int_equal(bytes, 3);
  assert_int_equal(gather_type_parse(NULL), GATHER_TYPE_NONE);
  assert_int_equal(gather_type_parse("float8_e8m0"), GATHER_TYPE_FLOAT8_E8M0FNU);
  assert_int_equal(gather_type_parse("float4_e2m1"), GATHER_TYPE_FLOAT4_E2M1FN);
  assert_int_equal(gather_type_parse("float6_e9m9"), GATHER_TYPE_NONE);
  const int64_t far[] = {INT64_MAX / 2, 4, 0}, further[] = {INT64_MAX / 2, 4};
  gather_tensor tensor = tensor_of(GATHER_TYPE_INT64, NULL, 2, further);
  assert_int_equal(gather_tensor_len(&tensor), 0);
  assert_int_equal(gather_tensor_bytes(&tensor), 0);
  assert_status(gather_tensor_check(&tensor, NULL), GATHER_OVERFLOW);
  tensor = tensor_of(GATHER_TYPE_INT64, NULL, 1, DIMS(INT64_MAX / 4));
  assert_int_equal(gather_tensor_len(&tensor), INT64_MAX / 4);
  assert_int_equal(gather_tensor_bytes(&tensor), 0);
  tensor = tensor_of(GATHER_TYPE_INT64, NULL, 3, far);
  assert_int_equal(gather_tensor_len(&tensor), 0);
  assert_status(gather_tensor_check(&tensor, NULL), GATHER_OK);
  gather_size size;
  int64_t strides[GATHER_MAX_RANK];
  static const int32_t RANKS[] = {-1, GATHER_MAX_RANK + 1, 1};
  for (size_t i = 0; i < COUNT(RANKS); i++) {
    tensor = tensor_of(GATHER_TYPE_INT8, "a", RANKS[i], NULL);
    assert_false(gather_tensor_measure_plain(&tensor, &size, strides));
    assert_true(gather_tensor_check(&tensor, NULL) != GATHER_OK);
  }
}

/* The bytes that the elements of a tensor lie in, counted from its data. */
static void extents(void **state) {
  static const struct {
    gather_type type;
    int32_t rank;
    int64_t shape[2], strides[2];
    bool strided;
    int64_t packed_offset, low, high;
  } CASES[] = {
      {GATHER_TYPE_INT16, 1, {3}, {0}, false, 0, 0, 6},
      {GATHER_TYPE_INT16, 0, {0}, {0}, false, 0, 0, 2},
      {GATHER_TYPE_INT16, 1, {0}, {5}, true, 0, 0, 0},
      {GATHER_TYPE_INT16, 1, {3}, {-4}, true, 0, -8, 2},
      {GATHER_TYPE_INT16, 2, {3, 2}, {-4, 20}, true, 0, -8, 22},
      {GATHER_TYPE_INT16, 1, {3}, {0}, true, 0, 0, 2},
      {GATHER_TYPE_UINT4, 1, {4}, {0}, false, 0, 0, 2},
      {GATHER_TYPE_UINT4, 1, {4}, {0}, false, 3, 1, 4}, /* elements 3 to 6, two in a byte */
      {GATHER_TYPE_UINT4, 1, {4}, {0}, false, 4, 2, 4},
      {GATHER_TYPE_UINT4, 1, {4}, {-1}, true, 0, -2, 1}, /* 0 to -3 */
      {GATHER_TYPE_UINT4, 1, {2}, {-1}, true, 0, -1, 1},
      {GATHER_TYPE_UINT4, 1, {2}, {-1}, true, -5, -3, -2}, /* -5 and -6 */
      {GATHER_TYPE_UINT4, 1, {1}, {1}, true, -6, -3, -2},
      {GATHER_TYPE_UINT4, 1, {3}, {7}, true, 2, 1, 9}, /* 2, 9, 16 */
      {GATHER_TYPE_UINT2, 1, {5}, {-1}, true, 0, -1, 1},
      {GATHER_TYPE_UINT2, 1, {6}, {-1}, true, 0, -2, 1},
      {GATHER_TYPE_UINT2, 1, {1}, {1}, true, -4, -1, 0},
      {GATHER_TYPE_UINT2, 1, {1}, {1}, true, -5, -2, -1},
  };
  for (size_t i = 0; i < COUNT(CASES); i++) {
    gather_tensor tensor = tensor_of(CASES[i].type, NULL, CASES[i].rank, CASES[i].shape);
    gather_size size;
    int64_t low = 99, high = 99;
    if (CASES[i].strided) tensor.strides = CASES[i].strides;
    tensor.packed_offset = CASES[i].packed_offset;
    assert_status(gather_tensor_measure(&tensor, NULL, &size, NULL), GATHER_OK);
    gather_tensor_extent(&tensor, &size, &low, &high);
    if (low != CASES[i].low || high != CASES[i].high) fail_msg("case %zu: %lld to %lld", i, (long long)low, (long long)high);
  }
  /* Strides that no address reaches give nothing. */
  gather_tensor tensor = tensor_of(GATHER_TYPE_INT16, NULL, 1, DIMS(3));
  const gather_size size = {3, 6};
  int64_t low = 99, high = 99;
  tensor.strides = DIMS(INT64_MAX);
  gather_tensor_extent(&tensor, &size, &low, &high);
  assert_true(low == 0 && high == 0);
}

TESTS(extents, disks, clocks_that_are_not_there, conditions_that_are_refused, limits_of_memory, memory_that_nobody_has,
      texts_that_grow_too_far, codes_of_small_floats, texts_of_numbers, sizes_that_do_not_fit)
