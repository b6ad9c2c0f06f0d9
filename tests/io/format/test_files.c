/* SPDX-License-Identifier: MIT
 *
 * test_files.c: the functions of file.h as C programs call them: names, NULLs, bytes in memory, the table of formats.
 */
#define _POSIX_C_SOURCE 200809L
#include <unistd.h>

#include "io/format/format.h"
#include "support/open_file.h"
#include "support/unit.h"

/* A file of three bytes 1, 2, 3; its header is as short as it can be, so that data lies anywhere. */
static const char HEADER[] = "{'descr':'<i2','fortran_order':False,'shape':(3,)}";
enum { PREFIX = 10, FILE_BYTES = PREFIX + (int)sizeof HEADER - 1 + 6 };

static void make_file(uint8_t *bytes) {
  memcpy(bytes, "\x93NUMPY\1\0", 8);
  bytes[8] = (uint8_t)(sizeof HEADER - 1);
  bytes[9] = 0;
  memcpy(bytes + PREFIX, HEADER, sizeof HEADER - 1);
  memcpy(bytes + FILE_BYTES - 6, "\1\0\2\0\3\0", 6);
}

static void test_bytes_at_any_address(void **state) {
  uint8_t memory[FILE_BYTES + 8];
  for (int shift = 0; shift < 8; shift++) {
    make_file(memory + shift);
    gather_file *file;
    assert_int_equal(file_open(file_in(memory + shift, FILE_BYTES, NULL), &file, NULL), GATHER_OK);
    assert_string_equal(gather_file_format(file), "npy");
    assert_int_equal(gather_file_len(file), 1);
    const gather_file_tensor *t = gather_file_at(file, 0);
    assert_ptr_equal(t->tensor.data, memory + shift + FILE_BYTES - 6);
    assert_int_equal(t->offset, FILE_BYTES - 6);
    assert_true(t->tensor.flags & GATHER_TENSOR_READ_ONLY);
    assert_null(gather_file_at(file, 1));
    assert_null(gather_file_at(file, -1));
    gather_file_close(file);
  }
}

static void test_arguments_that_are_null(void **state) {
  gather_file *file;
  gather_writer *writer;
  gather_error error;
  assert_int_equal(gather_file_open(NULL, &file, &error), GATHER_USAGE);
  assert_null(file);
  assert_int_equal(file_open(file_at(NULL), &file, &error), GATHER_USAGE);
  assert_null(file);
  assert_int_equal(file_open(file_at("x"), NULL, &error), GATHER_USAGE);
  assert_int_equal(file_open(file_in(NULL, 3, NULL), &file, &error), GATHER_USAGE);
  assert_null(file);
  assert_int_equal(file_open(file_in(NULL, 0, NULL), &file, &error), GATHER_FILE_MALFORMED);
  assert_string_equal(error.file, "memory");
  assert_int_equal(file_open(file_in("abc", 3, NULL), NULL, &error), GATHER_USAGE);
  assert_int_equal(gather_writer_create(NULL, &writer, &error), GATHER_USAGE);
  assert_int_equal(gather_writer_create(NULL, NULL, &error), GATHER_USAGE);
  const gather_file_target nothing = file_to("/nowhere/a.npy", NULL);
  assert_int_equal(gather_writer_create(&nothing, &writer, &error), GATHER_USAGE);
  assert_null(writer);
  assert_int_equal(gather_writer_check(NULL, &error), GATHER_USAGE);
  assert_int_equal(gather_writer_commit(NULL, &error), GATHER_USAGE);
  gather_writer_abort(NULL);
  gather_file_close(NULL);
}

static void test_raw_descriptions_that_miss_something(void **state) {
  gather_file *file;
  gather_error error;
  const int64_t shape[] = {3};
  const gather_raw raws[] = {
      {.type = NULL, .rank = 1, .shape = shape}, {.type = "int8", .rank = 1, .shape = NULL}, {.type = "int8", .rank = -1, .shape = shape}};
  for (size_t i = 0; i < sizeof raws / sizeof *raws; i++) {
    assert_int_equal(file_open_raw(file_in("abc", 3, NULL), &raws[i], &file, &error), GATHER_USAGE);
    assert_null(file);
  }
}

static void test_the_only_tensor(void **state) {
  uint8_t memory[FILE_BYTES];
  make_file(memory);
  gather_file *file;
  const gather_file_tensor *t;
  gather_error error;
  assert_int_equal(file_open(file_in(memory, sizeof memory, "a.npy"), &file, NULL), GATHER_OK);
  assert_int_equal(gather_file_find(file, NULL, &t, NULL), GATHER_OK);
  assert_ptr_equal(t, gather_file_at(file, 0));
  assert_int_equal(gather_file_find(file, "", &t, NULL), GATHER_OK);
  assert_int_equal(gather_file_find(file, "weights", &t, &error), GATHER_NAME_NOT_FOUND);
  assert_null(t);
  assert_non_null(strstr(error.message, "without a name"));
  assert_string_equal(error.file, "a.npy");
  gather_file_close(file);
}

/* No format holds several tensors yet: a file of several is put together here. */
static void find_among(const char *const *names, int64_t count, const char *name, gather_error *error) {
  char file_name[] = "many";
  gather_file_tensor *tensors = calloc((size_t)count, sizeof *tensors);
  assert_non_null(tensors);
  for (int64_t i = 0; i < count; i++) tensors[i].name = names[i];
  gather_file file = {.name = file_name, .len = count, .tensors = tensors};
  const gather_file_tensor *t;
  gather_status status = gather_file_find(&file, name, &t, error);
  if (status == GATHER_OK)
    assert_string_equal(t->name, name);
  else
    assert_int_equal(status, GATHER_NAME_NOT_FOUND);
  free(tensors);
}

static void test_names_among_many(void **state) {
  const char *const names[] = {"layer.1.weight", "layer.0.bias", "layer.0.weight", "tok_embeddings", "layer.2.weight"};
  gather_error error = {.message = ""};
  find_among(names, 5, "layer.0.bias", &error);
  assert_string_equal(error.message, "");
  find_among(names, 5, "layer.0.weigth", &error);
  assert_non_null(strstr(error.message, "'layer.0.weigth' among 5; the nearest are 'layer.0.weight', 'layer."));
  assert_null(strstr(error.message, "tok_embeddings"));
  find_among(names, 5, "tok_embedding", &error);
  assert_non_null(strstr(error.message, "; the nearest is 'tok_embeddings'"));
  find_among(names, 5, "zzzzzzzzzzz", &error);
  assert_null(strstr(error.message, "nearest"));
  find_among(names, 5, NULL, &error);
  assert_non_null(strstr(error.message, "5 tensors"));
}

/* Columns in pieces: found by a piece's own name, and together by the column's. */
static void test_names_of_pieces(void **state) {
  char file_name[] = "pieces";
  gather_file_tensor tensors[] = {{.name = "a@0"}, {.name = "a@1"}, {.name = "b@0"}, {.name = "b@1"}};
  const gather_file_pieces_row rows[] = {{"a", 0, 2}, {"b", 2, 2}};
  gather_file file = {.name = file_name, .len = 4, .tensors = tensors, .pieces = rows, .pieces_len = 2};
  const gather_file_tensor *found;
  gather_error error;
  int64_t first = -1;
  assert_int_equal(gather_file_pieces(&file, "b", &first), 2);
  assert_int_equal(first, 2);
  assert_int_equal(gather_file_pieces(&file, "b@1", &first), 0);
  assert_int_equal(gather_file_pieces(&file, "", &first), 0);
  assert_int_equal(gather_file_find(&file, "b@1", &found, NULL), GATHER_OK);
  assert_ptr_equal(found, &tensors[3]);
  assert_int_equal(gather_file_find(&file, "b", &found, &error), GATHER_NAME_NOT_FOUND);
  assert_null(found);
  assert_non_null(strstr(error.message, "2 chunks, 'b@0' to 'b@1'"));
  file.len = 2, file.pieces_len = 1;
  assert_int_equal(gather_file_pieces(&file, NULL, &first), 2);
  assert_int_equal(first, 0);
}

static void test_long_names(void **state) {
  char a[400], b[400];
  memset(a, 'a', sizeof a);
  memset(b, 'a', sizeof b);
  a[399] = b[399] = '\0';
  b[398] = 'b';
  const char *const names[] = {a, a, a, a};
  gather_error error;
  find_among(names, 4, b, &error);
  assert_non_null(strstr(error.message, "the nearest are 'aaa"));
}

/* 5 GiB without a byte on the disk: more than the addresses of a program of 32 bits, and past 4 GiB for all others. */
static void test_files_beyond_4_gib(void **state) {
  const int64_t size = INT64_C(5) << 30, shape[] = {3};
  char path[] = "/tmp/gather-test-XXXXXX";
  int fd = mkstemp(path);
  assert_true(fd >= 0);
  assert_int_equal(ftruncate(fd, size), 0);
  assert_int_equal(pwrite(fd, "xyz", 3, size - 3), 3);
  assert_int_equal(close(fd), 0);
  const gather_raw raw = {.type = "int8", .rank = 1, .shape = shape, .offset = size - 3};
  gather_file *file;
  gather_error error;
  gather_status status = file_open_raw(file_at(path), &raw, &file, &error);
  const bool fits = sizeof(void *) > 4;
  const bool same = status == GATHER_OK && memcmp(gather_file_at(file, 0)->tensor.data, "xyz", 3) == 0;
  gather_file_close(file);
  assert_int_equal(unlink(path), 0); /* Windows does not delete a file that is mapped */
  assert_int_equal(status, fits ? GATHER_OK : GATHER_OVERFLOW);
  assert_int_equal(same, fits);
}

/* Found wrong only when its header is made: what was made must be freed (a leak checker sees it). */
static void test_a_tensor_proto_that_is_just_too_large(void **state) {
  gather_error error;
  const int64_t shape[] = {INT32_MAX};
  const gather_writing what = {.type = GATHER_TYPE_INT8, .rank = 1, .shape = shape};
  const gather_file_target target = file_to("/tmp/a.pb", &what);
  assert_int_equal(gather_writer_check(&target, &error), GATHER_UNSUPPORTED);
  assert_string_equal(error.input, "output");
}

/* A build without what reads a format says so; of an index too. */
static void test_safetensors_with_and_without_jansson(void **state) {
  static const char *const texts[] = {"\2\0\0\0\0\0\0\0{}", " {\"weight_map\": {}}"};
  static const size_t sizes[] = {10, 19};
  for (size_t i = 0; i < 2; i++) {
    gather_file *file;
    gather_error error;
    gather_status status = file_open(file_in(texts[i], sizes[i], "a"), &file, &error);
#ifdef GATHER_HAVE_JANSSON
    assert_int_equal(status, GATHER_OK);
    assert_string_equal(gather_file_format(file), "safetensors");
    assert_int_equal(gather_file_len(file), 0);
    gather_file_close(file);
#else
    assert_int_equal(status, GATHER_UNSUPPORTED);
    assert_non_null(strstr(error.message, "not supported in this build"));
#endif
  }
}

static void test_table_of_formats(void **state) {
  static const char *const rows[][3] = {
      {"npy", "read write", ".npy"},
      {"raw", "read write", ".bin .raw"},
      {"npz", "read", ".npz"},
      {"arrow", "read", ".arrow .feather"},
      {"gguf", "read", ".gguf"},
#ifdef GATHER_HAVE_JANSSON
      {"safetensors", "read write", ".safetensors"},
      {"safetensors-index", "read", ".safetensors.index.json"},
      {"zarr", "read", ".zarr"},
#else
      {"safetensors", "write", ".safetensors"},
#endif
#ifdef GATHER_HAVE_EXPAT
      {"ir", "read", ".xml"},
#endif
#ifdef GATHER_HAVE_NANOPB
      {"pb", "read write", ".pb"},
      {"onnx", "read", ".onnx"},
#else
      {"pb", "write", ".pb"},
#endif
      {"hdf5", "read", ".h5 .hdf5 .h5ad .nc .nwb"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const gather_format_info *format = gather_format_at(i);
    assert_non_null(format);
    assert_string_equal(format->name, rows[i][0]);
    assert_string_equal(format->abilities, rows[i][1]);
    assert_string_equal(format->extensions, rows[i][2]);
  }
  assert_null(gather_format_at(sizeof rows / sizeof *rows));
}

/* A shorter source has defaults behind it; a longer one only zeros. */
static void test_sizes_of_sources(void **state) {
  struct {
    gather_file_source known;
    char more[16];
  } given = {.known = GATHER_FILE_SOURCE_INIT};
  gather_file *file;
  gather_error error;
  const size_t sizes[] = {sizeof given.known, offsetof(gather_file_source, memory), sizeof given};
  given.known.path = "/nowhere";
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    given.known.size = sizes[i];
    assert_int_equal(gather_file_open(&given.known, &file, &error), GATHER_FILE_NOT_FOUND);
  }
  given.known.size = sizeof(size_t); /* without a path */
  assert_int_equal(gather_file_open(&given.known, &file, &error), GATHER_USAGE);
  given.known.size = sizeof given;
  given.more[15] = 1;
  assert_int_equal(gather_file_open(&given.known, &file, &error), GATHER_USAGE);
  given.known.size = 0;
  assert_int_equal(gather_file_open(&given.known, &file, &error), GATHER_USAGE);
}

/* What contradicts itself. */
static void test_sources_that_are_invalid(void **state) {
  static const int64_t shape[] = {1};
  static const gather_raw raw = {.type = "int8", .rank = 1, .shape = shape};
  gather_file_source both = file_at("/nowhere"), twice = file_at("/nowhere"), negative = file_at("/nowhere");
  gather_file *file;
  gather_error error;
  both.memory = "abc";
  twice.raw = &raw;
  twice.text = true;
  negative.download_bytes = -1;
  assert_int_equal(gather_file_open(&both, &file, &error), GATHER_USAGE);
  assert_int_equal(gather_file_open(&twice, &file, &error), GATHER_USAGE);
  assert_int_equal(gather_file_open(&negative, &file, &error), GATHER_USAGE);
  assert_null(file);
}

/* The column of a text in memory, which need not be said to be text; and it may be freed. */
static void test_text_in_memory(void **state) {
  char text[] = "id,n\n7,1\n8,2\n";
  gather_file_source source = file_in(text, sizeof text - 1, NULL);
  gather_file *file;
  source.text_column = "id";
  assert_int_equal(gather_file_open(&source, &file, NULL), GATHER_OK);
  memset(text, 0, sizeof text);
  const int64_t *numbers = gather_file_at(file, 0)->tensor.data;
  assert_true(numbers[0] == 7 && numbers[1] == 8);
  gather_file_close(file);
}

/* What to write for the address of a page, which a test with a server of its own cannot have. */
static void test_addresses_of_pages(void **state) {
  static const char PAGE[] = "<!DOCTYPE html><html></html>";
  static const struct {
    const char *url, *words;
  } CASES[] = {
      {"https://huggingface.co/owner/repo/blob/main/m.safetensors", "for the hub write hf://owner/repo/m.safetensors"},
      {"https://huggingface.co/owner/repo/blob/v1/a/m.safetensors", "for the hub write hf://owner/repo@v1/a/m.safetensors"},
      {"https://hf.co/datasets/owner/repo/blob/main/a.npy", "for the hub write hf://datasets/owner/repo/a.npy"},
      {"https://github.com/owner/repo/blob/main/a.npy", "use /raw/ instead"},
      {"https://example.org/owner/repo/blob/main/a.npy", "for the hub write hf://OWNER/REPO/FILE"},
      {"https://example.org/a.npy", "a page about it, or a login"},
  };
  for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
    char text[GATHER_SUBSTITUTE_TEXT];
    gather_error error = {.message = "status 401"};
    assert_true(gather_substitute_is(PAGE, sizeof PAGE - 1, sizeof PAGE - 1, CASES[i].url, true, text, sizeof text));
    assert_non_null(strstr(text, CASES[i].words));
    assert_null(strstr(text, "@main"));
    gather_substitute_advise(CASES[i].url, &error);
    assert_true(strstr(CASES[i].url, "/blob/") ? strstr(error.message, CASES[i].words) != NULL : strcmp(error.message, "status 401") == 0);
  }
}

TESTS(test_addresses_of_pages, test_bytes_at_any_address, test_sizes_of_sources, test_sources_that_are_invalid, test_text_in_memory,
      test_arguments_that_are_null, test_raw_descriptions_that_miss_something, test_the_only_tensor, test_names_among_many,
      test_names_of_pieces, test_long_names, test_files_beyond_4_gib, test_a_tensor_proto_that_is_just_too_large,
      test_safetensors_with_and_without_jansson, test_table_of_formats)
