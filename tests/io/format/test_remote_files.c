/* SPDX-License-Identifier: MIT
 *
 * test_remote_files.c: files on another machine, with those beside them, which tests/io/remote/fake_remote.c plays: each allocation, each
 * opening and each request fails once, and that is what is said, of the file or of the tensors that it concerns.
 */
#include "io/format/failing_alloc.h"
#include "io/format/format.h"
#include "io/remote/fake_remote.h"
#include "io/remote/parallel.h"
#define MESSAGE_BYTES 4096
#include "support/message.h"
#include "support/unit.h"

/* Before the library's: one after the other, so that a number means the same call each time. */
void gather_remote_parallel(int64_t count, int32_t threads, void (*task)(void *argument, int64_t i), void *argument) {
  for (int64_t i = 0; i < count; i++) task(argument, i);
}

#define AT "https://fake.example/"

/* FAR: more than a request is widened by, so that what lies there is a request of its own. */
enum { FAR = 200000, MOST_BYTES = FAR + 4096, MOST_FILES = 4 };

static uint8_t bytes[MOST_FILES][MOST_BYTES];
static fake_file files[MOST_FILES];
static int file_count;

static uint8_t *put_file(const char *url, const void *content, int64_t size) {
  uint8_t *to = bytes[file_count];
  memset(to, 0, MOST_BYTES);
  if (content) memcpy(to, content, (size_t)size);
  files[file_count++] = (fake_file){url, (const char *)to, size};
  return to;
}

/* ---- the files */

static size_t put_number(uint8_t *at, uint64_t value, size_t width) {
  for (size_t i = 0; i < width; i++) at[i] = (uint8_t)(value >> (8 * i));
  return width;
}

static size_t put_text(uint8_t *at, const char *text) {
  const size_t length = strlen(text);
  memcpy(at + put_number(at, length, 8), text, length);
  return 8 + length;
}

/* Part `number` of three, with one tensor of a byte. */
static void put_part(int number, const char *url, const char *name, uint8_t value) {
  uint8_t *to = put_file(url, "GGUF", 4);
  size_t at = 4;
  at += put_number(to + at, 3, 4);
  at += put_number(to + at, 1, 8);
  at += put_number(to + at, 2, 8);
  at += put_text(to + at, "split.count");
  at += put_number(to + at, 2, 4);
  at += put_number(to + at, 3, 2);
  at += put_text(to + at, "split.no");
  at += put_number(to + at, 2, 4);
  at += put_number(to + at, (uint64_t)number, 2);
  at += put_text(to + at, name);
  at += put_number(to + at, 1, 4);
  at += put_number(to + at, 1, 8);
  at += put_number(to + at, 24, 4);
  at += put_number(to + at, 0, 8);
  at = (at + 31) / 32 * 32;
  to[at] = value;
  files[file_count - 1].size = (int64_t)at + 1;
}

static void put_gguf(void) {
  put_part(0, AT "m-00001-of-00003.gguf", "a", 5);
  put_part(1, AT "m-00002-of-00003.gguf", "b", 6);
  put_part(2, AT "m-00003-of-00003.gguf", "c", 7);
}

static void put_gguf_without_a_part(void) {
  put_part(0, AT "m-00001-of-00003.gguf", "a", 5);
  put_part(2, AT "m-00003-of-00003.gguf", "c", 7);
}

static void put_shard(const char *url, const char *header) {
  uint8_t *to = put_file(url, NULL, 0);
  const size_t length = strlen(header);
  (void)put_number(to, length, 8);
  memcpy(to + 8, header, length);
  memcpy(to + 8 + length, "\5\6\7", 3);
  files[file_count - 1].size = 8 + (int64_t)length + 3;
}

static void put_safetensors(void) {
  static const char INDEX[] = "{\"weight_map\":{\"a\":\"s1\",\"b\":\"s2\",\"c\":\"s1\"}}";
  (void)put_file(AT "i.json", INDEX, sizeof INDEX - 1);
  put_shard(AT "s1",
            "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},"
            "\"c\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[2,3]},"
            "\"x\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[1,2]}}");
  put_shard(AT "s2",
            "{\"b\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[1,2]},"
            "\"x\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},"
            "\"y\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[2,3]}}");
}

static void add_entry(message *to, const char *key, const char *value) {
  static message entry;
  entry.size = 0;
  add_block(&entry, 1, key, strlen(key));
  add_block(&entry, 2, value, strlen(value));
  add_block(to, 13, entry.bytes, entry.size);
}

/* Three tensors in files beside the model: two far from each other, one in a file of its own. */
static void put_onnx(void) {
  static message table, graph, model;
  static const char *const NAMES[] = {"a", "b", "c"}, *const LOCATIONS[] = {"w.bin", "w.bin", "v.bin"},
                           *const OFFSETS[] = {"0", "200000", "1"};
  graph.size = model.size = 0;
  for (int i = 0; i < 3; i++) {
    table.size = 0;
    add_number(&table, 1, 1);
    add_number(&table, 2, 2);
    add_block(&table, 8, NAMES[i], 1);
    add_entry(&table, "location", LOCATIONS[i]);
    add_entry(&table, "offset", OFFSETS[i]);
    add_number(&table, 14, 1);
    add_block(&graph, 5, table.bytes, table.size);
  }
  add_number(&model, 1, 8);
  add_block(&model, 7, graph.bytes, graph.size);
  (void)put_file(AT "m.onnx", model.bytes, (int64_t)model.size);
  uint8_t *weights = put_file(AT "w.bin", NULL, FAR + 1);
  weights[0] = 5;
  weights[FAR] = 6;
  (void)put_file(AT "v.bin", "\0\7", 2);
}

static void put_ir(void) {
  static const char MODEL[] =
      "<net name=\"n\" version=\"11\"><layers>"
      "<layer id=\"0\" name=\"a\" type=\"Const\" version=\"opset1\">"
      "<data element_type=\"u8\" shape=\"1\" offset=\"0\" size=\"1\"/>"
      "<output><port id=\"0\" precision=\"U8\"><dim>1</dim></port></output></layer>"
      "<layer id=\"1\" name=\"b\" type=\"Const\" version=\"opset1\">"
      "<data element_type=\"u8\" shape=\"1\" offset=\"200000\" size=\"1\"/>"
      "<output><port id=\"0\" precision=\"U8\"><dim>1</dim></port></output></layer>"
      "<layer id=\"2\" name=\"c\" type=\"Const\" version=\"opset1\">"
      "<data element_type=\"u8\" shape=\"1\" offset=\"1\" size=\"1\"/>"
      "<output><port id=\"0\" precision=\"U8\"><dim>1</dim></port></output></layer>"
      "</layers><edges/></net>";
  (void)put_file(AT "m.xml", MODEL, sizeof MODEL - 1);
  uint8_t *weights = put_file(AT "m.bin", "\5\7", 2);
  weights[FAR] = 6;
  files[1].size = FAR + 1;
}

static void put_npy(void) {
  static const char HEADER[] = "\x93NUMPY\1\0\x76\0{'descr': '|u1', 'fortran_order': False, 'shape': (200003,), }";
  uint8_t *to = put_file(AT "a.npy", HEADER, sizeof HEADER - 1);
  memset(to + sizeof HEADER - 1, ' ', 128 - sizeof HEADER);
  to[127] = '\n';
  memcpy(to + 128 + FAR, "\5\6\7", 3);
  files[0].size = 128 + FAR + 3;
}

static void put_raw(void) {
  uint8_t *to = put_file(AT "a.raw", NULL, 0);
  memcpy(to + FAR, "\5\6\7", 3);
  files[0].size = FAR + 3;
}

/* An array of three chunks, each in a file. */
static void put_zarr_2(void) {
  static const char ARRAY[] =
      "{\"zarr_format\": 2, \"shape\": [3], \"chunks\": [1], \"dtype\": \"|u1\", \"compressor\": null, "
      "\"filters\": null, \"fill_value\": 0, \"order\": \"C\"}";
  (void)put_file(AT "f.zarr/.zarray", ARRAY, sizeof ARRAY - 1);
  (void)put_file(AT "f.zarr/0", "\5", 1);
  (void)put_file(AT "f.zarr/1", "\6", 1);
  (void)put_file(AT "f.zarr/2", "\7", 1);
}

/* The same in one shard, whose index is at its end. */
static void put_zarr_3(void) {
  static const char ARRAY[] =
      "{\"zarr_format\": 3, \"node_type\": \"array\", \"shape\": [3], \"data_type\": \"uint8\", \"fill_value\": 0, "
      "\"chunk_grid\": {\"name\": \"regular\", \"configuration\": {\"chunk_shape\": [3]}}, "
      "\"chunk_key_encoding\": {\"name\": \"default\"}, \"codecs\": [{\"name\": \"sharding_indexed\", \"configuration\": "
      "{\"chunk_shape\": [1], \"codecs\": [{\"name\": \"bytes\"}], \"index_codecs\": [{\"name\": \"bytes\", \"configuration\": "
      "{\"endian\": \"little\"}}]}}]}";
  (void)put_file(AT "s.zarr/zarr.json", ARRAY, sizeof ARRAY - 1);
  uint8_t *to = put_file(AT "s.zarr/c/0", NULL, 0);
  memcpy(to + FAR, "\5\6\7", 3);
  size_t at = FAR + 3;
  for (uint64_t i = 0; i < 3; i++) {
    at += put_number(to + at, FAR + i, 8);
    at += put_number(to + at, 1, 8);
  }
  files[1].size = (int64_t)at;
}

/* More numbers than have room at first. */
static void put_csv(void) {
  char *to = (char *)put_file(AT "ids.csv", NULL, 0);
  int at = sprintf(to, "id,x\n");
  for (int i = 0; i < 3000; i++) at += sprintf(to + at, "%d,0\n", i);
  files[0].size = at;
}

/* ---- opening them */

/* What the build reads. */
#if defined(GATHER_HAVE_JANSSON)
#define JSON true
#else
#define JSON false
#endif
#if defined(GATHER_HAVE_NANOPB)
#define ONNX true
#else
#define ONNX false
#endif
#if defined(GATHER_HAVE_EXPAT)
#define XML true
#else
#define XML false
#endif

/* Where the elements 5, 6 and 7 are: in three tensors, or the last three of one. */
static const struct {
  const char *url;
  void (*put)(void);
  bool is_read;
} CASES[] = {{AT "m-00001-of-00003.gguf", put_gguf, true},
             {AT "m-00001-of-00003.gguf", put_gguf_without_a_part, true},
             {AT "i.json", put_safetensors, JSON},
             {AT "m.onnx", put_onnx, ONNX},
             {AT "m.xml", put_ir, XML},
             {AT "a.npy", put_npy, true},
             {AT "a.raw", put_raw, true},
             {AT "f.zarr", put_zarr_2, JSON},
             {AT "s.zarr", put_zarr_3, JSON},
             {AT "ids.csv", put_csv, true}};
enum { CASE_COUNT = (int)(sizeof CASES / sizeof *CASES) };

static size_t now; /* the case */

static gather_status open_it(gather_file **file, gather_error *error) {
  static const gather_remote_options REMOTE = GATHER_REMOTE_OPTIONS_INIT;
  static const int64_t SHAPE[] = {FAR + 3};
  static const gather_raw RAW = {.type = "uint8", .rank = 1, .shape = SHAPE};
  const char *url = CASES[now].url;
  gather_file_source source = GATHER_FILE_SOURCE_INIT;
  source.path = url;
  source.remote = &REMOTE;
  if (strstr(url, ".raw")) source.raw = &RAW;
  source.text = strstr(url, ".csv") != NULL;
  if (source.text) source.text_column = "id";
  return gather_file_open(&source, file, error);
}

static gather_status open_and_download(gather_file **file, gather_error *error) {
  GATHER_TRY(open_it(file, error));
  const gather_status status = failing_download(*file, error);
  if (status == GATHER_OK) return GATHER_OK;
  gather_file_close(*file);
  *file = NULL;
  return status;
}

static void begin(size_t number) {
  now = number;
  file_count = 0;
  CASES[number].put();
  fake_begin_files(files, file_count);
}

static void assert_all_closed(void) {
  assert_int_equal(fake.clients_open, 0);
  assert_int_equal(fake.objects_open, 0);
  assert_int_equal(fake.queues_open, 0);
  assert_int_equal(fake.in_flight, 0);
}

/* One of the names, or the only tensor. */
static uint8_t element_of(const gather_file *file, const char *name, int64_t from_end) {
  const gather_file_tensor *tensor = NULL;
  const bool alone = gather_file_len(file) == 1;
  assert_int_equal(gather_file_find_whole((gather_file *)(uintptr_t)file, alone ? NULL : name, &tensor, NULL), GATHER_OK);
  assert_int_equal(gather_file_tensor_check(tensor, NULL), GATHER_OK);
  return ((const uint8_t *)tensor->tensor.data)[tensor->bytes - (alone ? from_end : 1)];
}

static void look(const gather_file *file) {
  gather_error why;
  if (strcmp(gather_file_format(file), "csv") == 0) {
    const gather_tensor *ids = &gather_file_at(file, 0)->tensor;
    assert_int_equal(gather_tensor_len(ids), 3000);
    assert_int_equal(((const int64_t *)ids->data)[2999], 2999);
    return;
  }
  assert_int_equal(element_of(file, "a", 3), 5);
  if (gather_file_missing_at(file, 0, &why)) {
    assert_int_equal(why.status, GATHER_FILE_NOT_FOUND);
    assert_non_null(strstr(why.file, "m-00002-of-00003.gguf"));
  } else {
    assert_int_equal(element_of(file, "b", 2), 6);
  }
  assert_int_equal(element_of(file, "c", 1), 7);
}

static void test_each_allocation(void **state) {
  for (size_t i = 0; i < CASE_COUNT; i++) {
    if (!CASES[i].is_read) continue;
    begin(i);
    assert_true(failing_each_alloc_or_without(open_and_download, look) >= 8);
    assert_all_closed();
  }
}

/* Whether the failure is said of a part or of a tensor that cannot be read. */
static bool is_told(const gather_file *file) {
  gather_error why;
  for (int64_t i = 0; gather_file_missing_at(file, i, &why); i++)
    if (why.status == GATHER_IO_ERROR && strstr(why.message, "status 503")) return true;
  for (int64_t i = 0; i < gather_file_len(file); i++)
    if (gather_file_tensor_check(gather_file_at(file, i), &why) == GATHER_IO_ERROR && strstr(why.message, "status 503")) return true;
  return false;
}

/* The openings first, then the requests of metadata and of elements. head: bytes that an opening gives. */
static int fail_each_request(int64_t head) {
  for (int number = 0;; number++) {
    gather_file *file = NULL;
    gather_error error;
    begin(now);
    fake.head = head;
    fake.fails_at = number;
    const gather_status status = open_and_download(&file, &error);
    const bool reached = fake.asked > number;
    if (status != GATHER_OK) {
      assert_int_equal(status, GATHER_IO_ERROR);
      assert_int_equal(error.status, GATHER_IO_ERROR);
      assert_non_null(strstr(error.message, "status 503"));
      assert_null(file);
    } else if (reached) {
      if (!is_told(file)) fail_msg("%s: request %d failed, which nobody says", CASES[now].url, number);
    } else {
      fake.fails_at = -1;
      look(file);
    }
    gather_file_close(file);
    assert_all_closed();
    if (!reached) return number;
  }
}

static void test_each_request(void **state) {
  static const int64_t HEADS[] = {0, 1, 4096};
  for (now = 0; now < CASE_COUNT; now++)
    for (size_t k = 0; k < sizeof HEADS / sizeof *HEADS && CASES[now].is_read; k++)
      assert_true(fail_each_request(HEADS[k]) >= (HEADS[k] < 4096 ? 2 : 1));
}

TESTS(test_each_allocation, test_each_request)
