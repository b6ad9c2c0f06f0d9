/* SPDX-License-Identifier: MIT
 *
 * test_format_alloc.c: opening a file of each format when memory cannot be had: each allocation fails once, Jansson's too, and that is
 * what is said. Other files of these formats, and of others: test_corpus_alloc.c.
 */
#define _POSIX_C_SOURCE 200809L
#include <unistd.h>

#if defined(GATHER_HAVE_JANSSON)
#include <jansson.h>
#endif

#include "io/format/failing_alloc.h"
#include "io/format/graph.h"
#define MESSAGE_BYTES 100000
#include "support/message.h"
#include "support/open_file.h"

/* ---- GGUF */

/* Little-endian, version 3: three tensors, sorted neither by name nor by place, of which the last is of a type not known. */
static uint8_t gguf[512];
static size_t gguf_size;

static void gguf_number(uint64_t value, int width) {
  for (int i = 0; i < width; i++) gguf[gguf_size++] = (uint8_t)(value >> (8 * i));
}

static void gguf_tensor(const char *name, uint64_t length, uint32_t type, uint64_t place) {
  gguf_number(strlen(name), 8);
  memcpy(gguf + gguf_size, name, strlen(name));
  gguf_size += strlen(name);
  gguf_number(1, 4);
  gguf_number(length, 8);
  gguf_number(type, 4);
  gguf_number(place, 8);
}

static void make_gguf(void) {
  gguf_size = 0;
  memset(gguf, 0, sizeof gguf);
  memcpy(gguf, "GGUF", 4);
  gguf_size = 4;
  gguf_number(3, 4);
  gguf_number(3, 8);
  gguf_number(0, 8);
  gguf_tensor("b", 3, 24, 32);
  gguf_tensor("c", 32, 2, 64);
  gguf_tensor("a", 9, 99, 0);
  gguf_size = (gguf_size + 31) / 32 * 32 + 64 + 18;
  gguf[gguf_size - 18 - 64 + 32] = 7;
}

static gather_status open_gguf(gather_file **file, gather_error *error) {
  return file_open(file_in(gguf, gguf_size, "a.gguf"), file, error);
}

static void look_at_gguf(const gather_file *file) {
  gather_error error;
  assert_int_equal(gather_file_len(file), 3);
  assert_int_equal(*(const uint8_t *)gather_file_at(file, 0)->tensor.data, 7);
  assert_int_equal(gather_file_at(file, 1)->bytes, 18);
  assert_int_equal(gather_file_tensor_check(gather_file_at(file, 2), &error), GATHER_UNSUPPORTED);
}

static void test_gguf(void **state) {
  make_gguf();
  assert_true(failing_each_alloc(open_gguf, look_at_gguf) >= 14);
}

#if defined(GATHER_HAVE_EXPAT)

/* ---- OpenVINO IR */

/* A table that other names mean too, in a .bin that bytes in memory cannot have beside them; an empty one needs none. */
static const char IR[] =
    "<net name=\"n\" version=\"11\"><layers>"
    "<layer id=\"0\" name=\"table\" type=\"Const\" version=\"opset1\">"
    "<data element_type=\"f32\" shape=\"3,2\" offset=\"0\" size=\"24\"/>"
    "<output><port id=\"0\" precision=\"FP32\" "
    "names=\"own,other,with\\,comma\"><dim>3</dim><dim>2</dim></port></output></layer>"
    "<layer id=\"1\" name=\"empty\" type=\"Const\" version=\"opset1\">"
    "<data element_type=\"i64\" shape=\"0\" offset=\"0\" size=\"0\"/>"
    "<output><port id=\"0\" precision=\"I64\"><dim>0</dim></port></output></layer>"
    "</layers><edges/></net>";

static gather_status open_ir(gather_file **file, gather_error *error) {
  return file_open(file_in(IR, sizeof IR - 1, "model.xml"), file, error);
}

static void look_at_ir(const gather_file *file) {
  static const char *const names[] = {"own", "other", "with,comma", "table"};
  gather_error error;
  assert_int_equal(gather_file_len(file), 2);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const gather_file_tensor *tensor;
    assert_int_equal(gather_file_find(file, names[i], &tensor, &error), GATHER_OK);
    assert_ptr_equal(tensor, gather_file_at(file, 0));
    assert_int_equal(gather_file_tensor_check(tensor, &error), GATHER_UNSUPPORTED);
  }
  assert_int_equal(gather_file_tensor_check(gather_file_at(file, 1), &error), GATHER_OK);
}

static void test_ir(void **state) { assert_true(failing_each_alloc(open_ir, look_at_ir) >= 20); }

#endif

#if defined(GATHER_HAVE_NANOPB) || defined(GATHER_HAVE_JANSSON)

/* ---- files in a folder, and one beside them */

static char folder[64], path[80], beside[80];

static int make_folder(const char *name, const char *other) {
  (void)strcpy(folder, "/tmp/gather-test-XXXXXX");
  if (!mkdtemp(folder)) return -1;
  (void)snprintf(path, sizeof path, "%s/%s", folder, name);
  (void)snprintf(beside, sizeof beside, "%s/%s", folder, other);
  return 0;
}

static int leave_folder(void **state) {
  (void)unlink(path);
  (void)unlink(beside);
  return rmdir(folder);
}

static gather_status open_path(gather_file **file, gather_error *error) { return file_open(file_at(path), file, error); }

#endif

#if defined(GATHER_HAVE_NANOPB)

/* ---- ONNX */

static message table, node, graph, model;

/* A name that is longer than a block of the arena gets one of its own: so more than the first allocation counts. */
static char long_name[20000];

enum { NUMBERS = 9000 };

static void make_table(void) {
  static uint8_t ones[NUMBERS];
  memset(ones, 1, sizeof ones);
  memset(&table, 0, sizeof table);
  add_number(&table, 1, NUMBERS);
  add_number(&table, 2, 7);
  add_block(&table, 7, ones, sizeof ones);
  add_block(&table, 8, long_name, sizeof long_name);
}

static void make_model(void) {
  memset(long_name, 'n', sizeof long_name);
  make_table();
  memset(&node, 0, sizeof node);
  add_block(&node, 1, long_name, sizeof long_name);
  add_block(&node, 2, long_name, sizeof long_name);
  add_block(&node, 4, "Gather", 6);
  memset(&graph, 0, sizeof graph);
  add_block(&graph, 1, node.bytes, node.size);
  add_block(&graph, 5, table.bytes, table.size);
  memset(&model, 0, sizeof model);
  add_number(&model, 1, 8);
  add_block(&model, 7, graph.bytes, graph.size);
}

static gather_status open_model(gather_file **file, gather_error *error) {
  return file_open(file_in(model.bytes, model.size, "model"), file, error);
}

static void look_at_model(const gather_file *file) {
  assert_int_equal(gather_file_len(file), 1);
  const gather_file_tensor *tensor = gather_file_at(file, 0);
  assert_int_equal(((const int64_t *)tensor->tensor.data)[NUMBERS - 1], 1);
  assert_int_equal(gather_file_graph(file)->graph->node_count, 1);
}

static void test_a_model(void **state) {
  make_model();
  assert_true(failing_each_alloc(open_model, look_at_model) >= 6);
}

/* ---- elements of 6 bits: a list, and raw bytes that end before the last group does */

enum { FLOAT6E2M3 = 27 };

static gather_status open_table(gather_file **file, gather_error *error) {
  return file_open(file_in(table.bytes, table.size, "table"), file, error);
}

static void look_at_six_bits(const gather_file *file) {
  static const uint8_t stream[6] = {0x41, 0x30, 0x10, 5};
  const gather_file_tensor *tensor = gather_file_at(file, 0);
  assert_int_equal(tensor->tensor.type, GATHER_TYPE_FLOAT6_E2M3FN);
  assert_int_equal(tensor->bytes, sizeof stream);
  assert_memory_equal(tensor->tensor.data, stream, sizeof stream);
}

static void test_six_bits(void **state) {
  static const uint8_t listed[] = {1, 1, 3, 4, 5}, raw[] = {0x41, 0x30, 0x10, 5};
  for (int is_raw = 0; is_raw < 2; is_raw++) {
    memset(&table, 0, sizeof table);
    add_number(&table, 1, 5);
    add_number(&table, 2, FLOAT6E2M3);
    if (is_raw)
      add_block(&table, 9, raw, sizeof raw);
    else
      add_block(&table, 5, listed, sizeof listed);
    assert_true(failing_each_alloc(open_table, look_at_six_bits) >= 3);
  }
}

/* ---- a table in another file, which is there or not */

static int enter_onnx(void **state) {
  static message entry;
  if (make_folder("m.onnx", "w.bin") != 0) return -1;
  memset(&entry, 0, sizeof entry);
  add_block(&entry, 1, "location", 8);
  add_block(&entry, 2, "w.bin", 5);
  memset(&table, 0, sizeof table);
  add_number(&table, 1, 3);
  add_number(&table, 2, 2);
  add_block(&table, 8, "w", 1);
  add_block(&table, 13, entry.bytes, entry.size);
  add_number(&table, 14, 1);
  memset(&graph, 0, sizeof graph);
  add_block(&graph, 5, table.bytes, table.size);
  memset(&model, 0, sizeof model);
  add_number(&model, 1, 8);
  add_block(&model, 7, graph.bytes, graph.size);
  put_content(path, model.bytes, model.size);
  return 0;
}

static void look_at_missing(const gather_file *file) {
  gather_error error;
  const gather_file_tensor *tensor = gather_file_at(file, 0);
  assert_null(tensor->tensor.data);
  assert_int_equal(gather_file_tensor_check(tensor, &error), GATHER_FILE_NOT_FOUND);
  assert_string_equal(error.file, beside);
}

static void look_at_outside(const gather_file *file) { assert_memory_equal(gather_file_at(file, 0)->tensor.data, "abc", 3); }

static void test_a_table_outside(void **state) {
  const long missing = failing_each_alloc(open_path, look_at_missing);
  put_content(beside, "abc", 3);
  const long there = failing_each_alloc(open_path, look_at_outside);
  assert_true(missing >= 8 && there >= 8);
}

#endif

#if defined(GATHER_HAVE_JANSSON)

/* ---- safetensors */

/* Sorted neither by name nor by place; a dtype that is not known, of whole bytes and not. */
static const char HEADER[] =
    "{\"__metadata__\":{\"a\":\"b\"},"
    "\"c\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[3,5]},"
    "\"b\":{\"dtype\":\"I24\",\"shape\":[1],\"data_offsets\":[0,3]},"
    "\"a\":{\"dtype\":\"I4\",\"shape\":[3],\"data_offsets\":[5,7]}}";
enum { HEADER_BYTES = (int)sizeof HEADER - 1, FILE_BYTES = 8 + HEADER_BYTES + 7 };

static uint8_t bytes[FILE_BYTES];

static void make_file(void) {
  bytes[0] = (uint8_t)(HEADER_BYTES & 255);
  bytes[1] = (uint8_t)(HEADER_BYTES >> 8);
  memcpy(bytes + 8, HEADER, HEADER_BYTES);
  memcpy(bytes + 8 + HEADER_BYTES, "abcdefg", 7);
}

static void look_at_tensors(const gather_file *file) {
  gather_error error;
  const gather_file_tensor *tensor = NULL;
  assert_int_equal(gather_file_len(file), 3);
  assert_int_equal(gather_file_find(file, "c", &tensor, &error), GATHER_OK);
  assert_memory_equal(tensor->tensor.data, "de", 2);
  assert_int_equal(gather_file_find(file, "b", &tensor, &error), GATHER_OK);
  assert_int_equal(tensor->tensor.item_bytes, 3);
  assert_int_equal(gather_file_find(file, "a", &tensor, &error), GATHER_OK);
  assert_int_equal(gather_file_tensor_check(tensor, &error), GATHER_UNSUPPORTED);
}

static gather_status open_memory(gather_file **file, gather_error *error) {
  return file_open(file_in(bytes, sizeof bytes, "a.safetensors"), file, error);
}

static void test_one_file(void **state) {
  make_file();
  assert_true(failing_each_alloc(open_memory, look_at_tensors) >= 15);
}

/* ---- an index: a file that is there, one that is not */

static int enter_safetensors(void **state) {
  static const char INDEX[] = "{\"metadata\":{},\"weight_map\":{\"c\":\"s\",\"z\":\"missing\",\"b\":\"s\",\"y\":\"s\",\"a\":\"s\"}}";
  if (make_folder("i.json", "s") != 0) return -1;
  make_file();
  put_content(path, INDEX, sizeof INDEX - 1);
  put_content(beside, bytes, sizeof bytes);
  return 0;
}

static void look_at_index(const gather_file *file) {
  gather_error error;
  static const gather_status STATUSES[] = {GATHER_OK, GATHER_FILE_NOT_FOUND, GATHER_OK, GATHER_FILE_MALFORMED, GATHER_UNSUPPORTED};
  assert_int_equal(gather_file_len(file), 5);
  for (int64_t i = 0; i < 5; i++) assert_int_equal(gather_file_tensor_check(gather_file_at(file, i), &error), STATUSES[i]);
  assert_memory_equal(gather_file_at(file, 0)->tensor.data, "de", 2);
}

static void test_an_index(void **state) {
  const long count = failing_each_alloc(open_path, look_at_index);
  assert_true(count >= 40 && count < 60); /* a file that holds several of the tensors is read once */
}

/* ---- Jansson's own allocations */

static void fail_each_of_jansson(failing_open *open, failing_look *look) {
  const long without = failing_each_alloc(open, look);
  json_set_alloc_funcs(failing_take, free);
  assert_true(failing_each_alloc(open, look) > without + 20);
  json_set_alloc_funcs(malloc, free);
}

static void test_jansson(void **state) {
  fail_each_of_jansson(open_memory, look_at_tensors);
  fail_each_of_jansson(open_path, look_at_index);
}

/* Texts for which Jansson's buffer grows, and which are longer in the file than decoded: without memory it drops one of their bytes. */
static const char LONG_TEXTS[] =
    "{\"sixteen bytes and more of them, to be sure \\u00e9\\u20ac\\ud83d\\uDE00\\n\\\\\\u0041\\/\":"
    "{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]},"
    "\"model.layers.11.self_attention.query_key_value.weight\":"
    "{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[2,5]}}";

static gather_status open_long_texts(gather_file **file, gather_error *error) {
  static uint8_t content[8 + sizeof LONG_TEXTS - 1 + 5];
  content[0] = (uint8_t)((sizeof LONG_TEXTS - 1) & 255);
  content[1] = (uint8_t)((sizeof LONG_TEXTS - 1) >> 8);
  memcpy(content + 8, LONG_TEXTS, sizeof LONG_TEXTS - 1);
  return file_open(file_in(content, sizeof content, "long.safetensors"), file, error);
}

static void look_at_long_texts(const gather_file *file) {
  assert_string_equal(gather_file_at(file, 0)->name,
                      "sixteen bytes and more of them, to be sure \xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\n\\A/");
  assert_string_equal(gather_file_at(file, 1)->name, "model.layers.11.self_attention.query_key_value.weight");
}

static void test_long_texts(void **state) { fail_each_of_jansson(open_long_texts, look_at_long_texts); }

/* ---- Zarr: a store of one array in a shard, of whose two chunks one is not stored; a group with what is not supported */

#define ZARR_ARRAY(more)                                                                                                        \
  "{\"zarr_format\":3,\"node_type\":\"array\",\"shape\":[4],\"data_type\":\"uint8\",\"fill_value\":7,\"chunk_grid\":{\"name\":" \
  "\"regular\",\"configuration\":{\"chunk_shape\":[4]}},\"chunk_key_encoding\":{\"name\":\"v2\"},\"codecs\":[" more "]}"

static const char ZARR_SHARDS[] = ZARR_ARRAY(
    "{\"name\":\"sharding_indexed\",\"configuration\":{\"chunk_shape\":[2],\"codecs\":[\"bytes\"],"
    "\"index_codecs\":[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}},\"crc32c\"]}}");
static const char ZARR_GROUP[] =
    "{\"zarr_format\":3,\"node_type\":\"group\",\"consolidated_metadata\":{\"kind\":\"inline\",\"must_understand\":false,\"metadata\":{"
    "\"model.layers.11.self_attention.query_key_value.weight\":" ZARR_ARRAY("\"bytes\"") ",\"a\":" ZARR_ARRAY("\"other\"") "}}}";

static int enter_zarr(void **state) {
  static const char SHARD[] =
      "de\0\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xbd\x13\xbd\x56";
  if (make_folder("zarr.json", "0") != 0) return -1;
  put_content(path, ZARR_SHARDS, sizeof ZARR_SHARDS - 1);
  put_content(beside, SHARD, sizeof SHARD - 1);
  return 0;
}

static gather_status open_store(gather_file **file, gather_error *error) { return file_open(file_at(folder), file, error); }

/* Its elements, too: finding chunks needs memory. */
static gather_status load_store(gather_file **file, gather_error *error) {
  const gather_file_tensor *tensor = NULL;
  gather_status status = open_store(file, error);
  if (status != GATHER_OK) return status;
  status = gather_file_find_whole(*file, NULL, &tensor, error);
  if (status == GATHER_OK) status = gather_file_tensor_check(tensor, error);
  if (status == GATHER_OK) assert_memory_equal(tensor->tensor.data, "de\7\7", 4);
  if (status == GATHER_OK) return GATHER_OK;
  gather_file_close(*file);
  *file = NULL;
  return status;
}

static void look_at_shards(const gather_file *file) { assert_int_equal(gather_file_len(file), 1); }

static void look_at_group(const gather_file *file) {
  assert_int_equal(gather_file_len(file), 2);
  assert_string_equal(gather_file_at(file, 0)->name, "a");
  assert_string_equal(gather_file_at(file, 1)->name, "model.layers.11.self_attention.query_key_value.weight");
  assert_int_equal(gather_file_at(file, 1)->bytes, 4);
}

static void test_zarr(void **state) {
  fail_each_of_jansson(load_store, look_at_shards);
  put_content(path, ZARR_GROUP, sizeof ZARR_GROUP - 1);
  fail_each_of_jansson(open_store, look_at_group);
}

#endif

int main(void) {
  int failed = RUN_TESTS(test_gguf);
#if defined(GATHER_HAVE_EXPAT)
  failed += RUN_TESTS(test_ir);
#endif
#if defined(GATHER_HAVE_NANOPB)
  failed += RUN_TESTS(test_a_model, test_six_bits);
  failed += RUN_TESTS_EACH(enter_onnx, leave_folder, test_a_table_outside);
#endif
#if defined(GATHER_HAVE_JANSSON)
  failed += RUN_TESTS(test_one_file, test_long_texts);
  failed += RUN_TESTS_EACH(enter_safetensors, leave_folder, test_an_index, test_jansson);
  failed += RUN_TESTS_EACH(enter_zarr, leave_folder, test_zarr);
#endif
  return failed;
}
