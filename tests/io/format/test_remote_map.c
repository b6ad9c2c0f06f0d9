/* SPDX-License-Identifier: MIT
 *
 * test_remote_map.c: maps that are filled on demand: what is loaded for a need, how ranges are joined, limits, failures. The source is
 * memory that counts its reads.
 */
#include "io/format/map_remote.c" /* all of it: its inside is looked at, too. First, since it asks for names of the system */

#include "io/format/format.h"
#include "support/unit.h"

enum { KIB = 1 << 10, MIB = 1 << 20 };

/* Of a file that no machine here could load. (An emulator notes each page of it. ThreadSanitizer has no range of 1 TiB for it, or has one,
 * as the system happens to place libraries.) */
#if defined(GATHER_TEST_EMULATED) || defined(GATHER_TEST_TSAN)
static const int64_t LARGE = INT64_C(1) << 30;
#else
static const int64_t LARGE = sizeof(void *) > 4 ? INT64_C(1) << 40 : INT64_C(1) << 30;
#endif

/* Byte i of the file is i modulo 251: a file of any size without memory. */
typedef struct counting {
  int64_t reads, ranges, bytes, largest, gap;
  int64_t fails_at; /* the number of a read that fails; -1 */
  int closed;
} counting;

static uint8_t byte_at(int64_t offset) { return (uint8_t)(offset % 251); }

static gather_status read_counted(void *context, const gather_map_range *ranges, int64_t count, uint8_t *memory, gather_error *error) {
  counting *source = context;
  if (source->reads++ == source->fails_at) return gather_fail_file(error, GATHER_IO_ERROR, "far", ranges->offset, "the server is gone");
  for (int64_t i = 0; i < count; i++) {
    if (i > 0) assert_true(ranges[i].offset >= ranges[i - 1].offset + ranges[i - 1].bytes);
    for (int64_t k = 0; k < ranges[i].bytes; k += k == 100 && ranges[i].bytes > 300 ? ranges[i].bytes - 200 : 1)
      memory[ranges[i].offset + k] = byte_at(ranges[i].offset + k);
    source->bytes += ranges[i].bytes;
    if (ranges[i].bytes > source->largest) source->largest = ranges[i].bytes;
  }
  source->ranges += count;
  return GATHER_OK;
}

static void close_counted(void *context) { ((counting *)context)->closed++; }
static int64_t gap_counted(void *context, int64_t count) { return count > 1 ? ((counting *)context)->gap : 0; }

static gather_map open_map(counting *source, int64_t size, int64_t head) {
  gather_map map;
  gather_error error;
  char *bytes = malloc((size_t)head + 1);
  assert_non_null(bytes);
  for (int64_t i = 0; i < head; i++) bytes[i] = (char)byte_at(i);
  const gather_map_source is = {source, size, bytes, head, read_counted, close_counted, gap_counted, NULL, false};
  assert_int_equal(gather_map_open_source(&is, "far", &map, &error), GATHER_OK);
  free(bytes);
  return map;
}

static void need(const gather_map *map, int64_t offset, int64_t bytes) {
  gather_error error;
  assert_int_equal(gather_map_need(map, offset, bytes, &error), GATHER_OK);
  if (offset < 0 || bytes <= 0 || offset >= map->size) return;
  int64_t end = bytes < map->size - offset ? offset + bytes : map->size;
  assert_int_equal(map->bytes[offset], byte_at(offset));
  assert_int_equal(map->bytes[end - 1], byte_at(end - 1));
}

static void test_steps_grow(void **state) {
  counting source = {.fails_at = -1};
  gather_map map = open_map(&source, (int64_t)100 * MIB, 64 * KIB);
  static const int64_t STEPS[] = {256 * KIB, MIB, 4 * MIB, 8 * MIB, 8 * MIB};
  int64_t end = 64 * KIB;
  need(&map, 0, end);
  assert_int_equal(source.reads, 0);
  for (size_t i = 0; i < sizeof STEPS / sizeof *STEPS; i++) {
    need(&map, end, 10);
    end += STEPS[i];
    assert_int_equal(source.reads, i + 1);
    need(&map, end - 10, 10);
    assert_int_equal(source.reads, i + 1);
  }
  need(&map, (int64_t)90 * MIB, 10); /* elsewhere: the first step again */
  assert_int_equal(source.bytes, end);
  need(&map, 80 * (int64_t)MIB, 20 * (int64_t)MIB);
  assert_int_equal(source.ranges, 8); /* around what is loaded */
  gather_map_close(&map);
  assert_int_equal(source.closed, 1);
}

static void test_ends_and_wrong_ranges(void **state) {
  counting source = {.fails_at = -1};
  gather_map map = open_map(&source, 1000, 10);
  need(&map, 1000, 1);
  need(&map, INT64_MAX, INT64_MAX);
  need(&map, -5, 10);
  need(&map, 5, 0);
  need(&map, 5, -1);
  assert_int_equal(source.reads, 0);
  need(&map, 999, INT64_MAX);
  need(&map, 0, 1000);
  assert_int_equal(source.bytes, 990);
  gather_map_close(&map);
  counting nothing = {.fails_at = -1};
  gather_map empty = open_map(&nothing, 0, 0);
  need(&empty, 0, 10);
  gather_map_close(&empty);
  assert_int_equal(nothing.closed, 1);
}

static void test_ranges_are_joined(void **state) {
  counting source = {.fails_at = -1, .gap = 100};
  gather_map map = open_map(&source, 10 * MIB, 0);
  gather_error error;
  gather_map_range ranges[] = {{5000, 10}, {1000, 10}, {1110, 10}, {1221, 10}, {5005, 1}, {-7, 5}, {20 * MIB, 9}, {0, 0}};
  assert_int_equal(map_need_all(&map, ranges, sizeof ranges / sizeof *ranges, &error), GATHER_OK);
  assert_int_equal(source.reads, 1);
  assert_int_equal(source.ranges, 3); /* 1000 to 1120, 1221, 5000 */
  assert_int_equal(source.bytes, 120 + 10 + 10);
  assert_true(gather_map_has(&map, 1000, 120));
  assert_false(gather_map_has(&map, 1000, 121));
  /* What is loaded lies between: it is not read again, though the gap is small. */
  gather_map_range around[] = {{4990, 10}, {5010, 10}};
  assert_int_equal(map_need_all(&map, around, 2, &error), GATHER_OK);
  assert_int_equal(source.ranges, 5);
  assert_int_equal(source.bytes, 160);
  gather_map_close(&map);
}

static void test_metadata_are_limited(void **state) {
  counting source = {.fails_at = -1};
  gather_map map = open_map(&source, LARGE, 0);
  gather_error error;
  gather_status status = GATHER_OK;
  int64_t at = 0;
  for (; status == GATHER_OK; at += MIB) status = gather_map_need(&map, at, MIB, &error);
  assert_int_equal(status, GATHER_UNSUPPORTED);
  assert_non_null(strstr(error.message, "256 MiB"));
  assert_true(source.bytes <= GATHER_MAP_METADATA_MAX);
  assert_int_equal(gather_map_failure(&map, &error), GATHER_UNSUPPORTED);
  assert_int_equal(gather_map_fetch(&map, at + MIB, MIB, &error), GATHER_OK); /* asked for by name */
  gather_map_close(&map);
  counting many = {.fails_at = -1};
  map = open_map(&many, LARGE, 0);
  for (at = 0, status = GATHER_OK; status == GATHER_OK; at++) status = map_need_all(&map, &(gather_map_range){at * 1000, 1}, 1, &error);
  assert_int_equal(status, GATHER_UNSUPPORTED);
  assert_int_equal(many.ranges, GATHER_MAP_REQUESTS_MAX);
  gather_map_close(&map);
}

static void test_failures(void **state) {
  counting source = {.fails_at = 1};
  gather_map map = open_map(&source, 10 * MIB, 0);
  gather_error error = {0};
  need(&map, 0, 10);
  assert_int_equal(gather_map_fetch(&map, 5 * MIB, 10, &error), GATHER_IO_ERROR); /* may be tried again */
  need(&map, 5 * MIB, 10);
  source.fails_at = source.reads;
  assert_int_equal(gather_map_need(&map, 8 * MIB, 10, &error), GATHER_IO_ERROR);
  memset(&error, 0, sizeof error);
  assert_int_equal(gather_map_need(&map, 9 * MIB, 10, &error), GATHER_IO_ERROR); /* the first failure stays */
  assert_non_null(strstr(error.message, "the server is gone"));
  assert_int_equal(gather_map_need(&map, 9 * MIB, 10, NULL), GATHER_IO_ERROR);
  need(&map, 0, 10); /* what is loaded can be read */
  gather_map_close(&map);
}

static void test_loaded_later(void **state) {
  counting source = {.fails_at = -1};
  gather_map map = open_map(&source, LARGE, 0);
  gather_error error;
  for (int64_t i = 0; i < 500; i++) assert_true(gather_map_later(&map, i * MIB, 100));
  assert_false(gather_map_later(&map, 0, 64 * MIB));
  assert_int_equal(source.reads, 0);
  assert_int_equal(gather_map_load_later(&map, &error), GATHER_OK);
  assert_int_equal(source.reads, 1);
  assert_int_equal(source.ranges, 500);
  need(&map, 499 * (int64_t)MIB, 100);
  assert_int_equal(source.reads, 1);
  gather_map_close(&map);
}

/* Random ranges, against a byte for each byte. */
static void test_extents_like_bytes(void **state) {
  enum { BYTES = 200, ROUNDS = 300 };
  uint64_t random = 88172645463325252u;
  for (int round = 0; round < ROUNDS; round++) {
    map_extents extents = {0};
    uint8_t bytes[BYTES] = {0};
    for (int i = 0; i < 40; i++) {
      random ^= random << 13, random ^= random >> 7, random ^= random << 17;
      int64_t begin = (int64_t)(random % BYTES), length = (int64_t)(random >> 32) % 12;
      int64_t end = begin + length < BYTES ? begin + length : BYTES;
      bool all = true;
      for (int64_t k = begin; k < end; k++) all = all && bytes[k];
      assert_int_equal(map_extents_has(&extents, begin, end), all);
      if (i % 2) continue;
      assert_true(map_extents_reserve(&extents, 1));
      map_extents_add(&extents, begin, end);
      memset(bytes + begin, 1, (size_t)(end - begin));
      for (int64_t k = 1; k < extents.len; k++) assert_true(extents.at[k - 1].end < extents.at[k].begin);
    }
    for (int64_t k = 0; k < BYTES; k++) assert_int_equal(map_extents_has(&extents, k, k + 1), bytes[k] != 0);
    map_extents_clear(&extents);
  }
}

/* ---- a file whose metadata never end */

/* STRING_BYTES: more than a need loads, and little enough that a file for 32 bits has strings for more than all metadata. */
enum { START_BYTES = 24, ENTRY_BYTES = 21, STRING_BYTES = 128 * KIB, PERIOD = STRING_BYTES + ENTRY_BYTES };

static void put_number(uint8_t *at, int bytes, uint64_t number) {
  for (int i = 0; i < bytes; i++, number >>= 8) at[i] = (uint8_t)(number & 0xff);
}

/* A GGUF file of strings of 128 KiB: byte `offset` of it. Most are zero. */
static uint8_t endless_byte(int64_t offset) {
  uint8_t start[START_BYTES] = "GGUF", entry[ENTRY_BYTES] = {0};
  put_number(start + 4, 4, 3);
  put_number(start + 8, 8, 1);
  put_number(start + 16, 8, (uint64_t)LARGE / 64);
  put_number(entry, 8, 1);
  entry[8] = 'a';
  put_number(entry + 9, 4, 8);
  put_number(entry + 13, 8, STRING_BYTES);
  if (offset < START_BYTES) return start[offset];
  int64_t at = (offset - START_BYTES) % PERIOD;
  return at < ENTRY_BYTES ? entry[at] : 0;
}

static gather_status read_endless(void *context, const gather_map_range *ranges, int64_t count, uint8_t *memory, gather_error *error) {
  counting *source = context;
  for (int64_t i = 0; i < count; i++) {
    const int64_t begin = ranges[i].offset, end = begin + ranges[i].bytes;
    for (int64_t at = begin; at < end;) {
      int64_t rest = at < START_BYTES ? 0 : (at - START_BYTES) % PERIOD;
      memory[at] = endless_byte(at);
      at += rest < ENTRY_BYTES ? 1 : PERIOD - rest; /* the other bytes are zero already */
    }
    source->bytes += ranges[i].bytes;
  }
  source->ranges += count;
  return GATHER_OK;
}

static void test_a_reader_is_stopped(void **state) {
  counting source = {.fails_at = -1};
  const gather_map_source is = {&source, LARGE, NULL, 0, read_endless, close_counted, NULL, NULL, false};
  gather_file *file = NULL;
  gather_error error;
  assert_int_equal(gather_file_from_source(&is, "far", &file, &error), GATHER_UNSUPPORTED);
  assert_non_null(strstr(error.message, "its metadata need more than 256 MiB"));
  assert_null(file);
  assert_true(source.bytes > 200 * (int64_t)MIB && source.bytes <= GATHER_MAP_METADATA_MAX);
  assert_true(source.ranges <= GATHER_MAP_REQUESTS_MAX);
  assert_int_equal(source.closed, 1);
}

TESTS(test_steps_grow, test_ends_and_wrong_ranges, test_ranges_are_joined, test_metadata_are_limited, test_failures, test_loaded_later,
      test_extents_like_bytes, test_a_reader_is_stopped)
