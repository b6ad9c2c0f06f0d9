/* SPDX-License-Identifier: MIT
 *
 * test_values.c: what texts and bytes are taken for: values of attributes, numbers, and what is saved in place of a file.
 */
#include "core/base/error.h"
#include "gather/file.h"
#include "io/format/format.h"
#include "io/format/graph.c" /* all of it: its inside is looked at, too */
#include "support/unit.h"

/* ---- attributes */

static gather_attribute text_attribute(const char *text) {
  return (gather_attribute){.name = "a", .kind = GATHER_ATTRIBUTE_TEXT, .text = {text, strlen(text)}};
}

static void test_integers(void **state) {
  static const struct {
    const char *text;
    int64_t value;
  } CASES[] = {
      {"0", 0},
      {"-0", 0},
      {"+7", 7},
      {"  -12 ", -12},
      {"00012", 12},
      {"9223372036854775807", INT64_MAX},
      {"-9223372036854775808", INT64_MIN},
  };
  static const char *const WRONG[] = {ITEMS("9223372036854775808", "-9223372036854775809", "92233720368547758070", "", " ", "-", "+", "+-1",
                                            "1 2", "1.0", "1:", "1/", "\t1")};
  for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
    const gather_attribute attribute = text_attribute(CASES[i].text);
    int64_t value = 99;
    if (!gather_attribute_integer(&attribute, &value)) fail_msg("'%s'", CASES[i].text);
    assert_true(value == CASES[i].value);
  }
  for (size_t i = 0; i < COUNT(WRONG); i++) {
    const gather_attribute attribute = text_attribute(WRONG[i]);
    int64_t value = 99;
    if (gather_attribute_integer(&attribute, &value)) fail_msg("'%s'", WRONG[i]);
    assert_true(value == 99);
  }
  /* In ONNX a text is no number, and a number has no text. */
  gather_attribute attribute = text_attribute("7");
  int64_t value = 99;
  bool flag = false;
  attribute.type = "STRING";
  assert_false(gather_attribute_integer(&attribute, &value));
  assert_false(gather_attribute_flag(&attribute, &flag));
  attribute = (gather_attribute){.kind = GATHER_ATTRIBUTE_INT, .type = "INT", .integer = -5};
  assert_true(gather_attribute_integer(&attribute, &value));
  assert_int_equal(value, -5);
  assert_true(gather_attribute_flag(&attribute, &flag));
  assert_true(flag);
  attribute.integer = 0;
  assert_true(gather_attribute_flag(&attribute, &flag));
  assert_false(flag);
  attribute.kind = GATHER_ATTRIBUTE_FLOAT;
  assert_false(gather_attribute_flag(&attribute, &flag));
}

static void test_flags(void **state) {
  static const struct {
    const char *text;
    int value; /* -1 = it is none */
  } CASES[] = {{"true", 1}, {"TRUE", 1}, {"True", 1},   {"1", 1},      {"false", 0}, {"FALSE", 0}, {"0", 0},   {"tru", -1},
               {"", -1},    {"2", -1},   {"truer", -1}, {"falsy", -1}, {"fals", -1}, {"01", -1},   {"10", -1}, {" 1", -1}};
  for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
    const gather_attribute attribute = text_attribute(CASES[i].text);
    bool value = false;
    if (gather_attribute_flag(&attribute, &value) != (CASES[i].value >= 0)) fail_msg("'%s'", CASES[i].text);
    if (CASES[i].value >= 0) assert_int_equal(value, CASES[i].value);
  }
}

static void test_attributes_by_name(void **state) {
  static const int64_t numbers[] = {3, 4};
  static const gather_file_tensor stored = {.tensor = {.type = GATHER_TYPE_FLOAT32}};
  const gather_attribute given[] = {
      {.name = "once", .kind = GATHER_ATTRIBUTE_INT, .type = "INT", .integer = 5},
      {.name = "twice", .kind = GATHER_ATTRIBUTE_INT, .type = "INT"},
      {.name = "bodies", .kind = GATHER_ATTRIBUTE_GRAPH, .type = "GRAPHS"},
      {.name = "twice", .kind = GATHER_ATTRIBUTE_INT, .type = "INT"},
      {.name = "bodies", .kind = GATHER_ATTRIBUTE_GRAPH, .type = "GRAPHS"},
      {.name = "list", .kind = GATHER_ATTRIBUTE_INTS, .type = "INTS", .integers = numbers, .count = 2},
      {.name = "stored", .kind = GATHER_ATTRIBUTE_TENSOR, .type = "TENSOR", .tensor = &stored},
      {.name = "text", .kind = GATHER_ATTRIBUTE_TEXT, .type = "STRING", .text = {"t", 1}},
      {.name = "value_ints", .kind = GATHER_ATTRIBUTE_INTS, .type = "INTS"},
      {.name = "real", .kind = GATHER_ATTRIBUTE_FLOAT, .type = "FLOAT", .number = 1.5f},
      {.name = "text of IR", .kind = GATHER_ATTRIBUTE_TEXT, .text = {"t", 1}},
  };
  const gather_node node = {.attributes = given, .attribute_count = (int32_t)(sizeof given / sizeof *given)};
  const gather_attribute defaults[] = {{.name = "once", .integer = 6}, {.name = "default", .integer = 7}};
  const gather_function function = {.defaults = defaults, .default_count = 2};
  int64_t shape[1];
  gather_tensor tensor = {0};
  assert_ptr_equal(gather_node_attribute(&node, "once"), &given[0]);
  assert_ptr_equal(gather_node_attribute(&node, "twice"), &attribute_twice);
  assert_ptr_equal(gather_node_attribute(&node, "bodies"), &given[2]);
  assert_null(gather_node_attribute(&node, "none"));
  assert_ptr_equal(gather_function_attribute(&function, &node, "once"), &given[0]);
  assert_ptr_equal(gather_function_attribute(&function, &node, "default"), &defaults[1]);
  assert_null(gather_function_attribute(&function, &node, "none"));
  assert_null(gather_function_attribute(NULL, &node, "default"));
  assert_ptr_equal(gather_constant_attribute(&node), &given[8]);
  assert_true(gather_attribute_tensor(&given[0], shape, &tensor));
  assert_int_equal(tensor.rank, 0);
  assert_int_equal(*(const int64_t *)tensor.data, 5);
  assert_true(gather_attribute_tensor(&given[5], shape, &tensor));
  assert_int_equal(tensor.rank, 1);
  assert_int_equal(tensor.shape[0], 2);
  assert_int_equal(((const int64_t *)tensor.data)[1], 4);
  assert_true(gather_attribute_tensor(&given[6], shape, &tensor));
  assert_int_equal(tensor.type, GATHER_TYPE_FLOAT32);
  assert_true(gather_attribute_tensor(&given[7], shape, &tensor));
  assert_int_equal(tensor.type, GATHER_TYPE_STRING);
  assert_ptr_equal(tensor.data, &given[7].text);
  assert_true(gather_attribute_tensor(&given[9], shape, &tensor));
  assert_true(tensor.type == GATHER_TYPE_FLOAT32 && tensor.rank == 0 && *(const float *)tensor.data == 1.5f);
  assert_false(gather_attribute_tensor(&given[10], shape, &tensor));
  assert_false(gather_attribute_tensor(&given[2], shape, &tensor));
}

static void test_wrong_attributes(void **state) {
  static const gather_attribute REFERENCE = {.kind = GATHER_ATTRIBUTE_REFERENCE, .type = "INT", .text = {"outer", 5}},
                                TYPED = {.kind = GATHER_ATTRIBUTE_TEXT, .type = "STRING", .text = {"x", 1}},
                                TEXT = {.kind = GATHER_ATTRIBUTE_TEXT, .text = {"x", 1}};
  const struct {
    const gather_attribute *attribute;
    gather_status status;
    const char *words;
  } CASES[] = {{&REFERENCE, GATHER_UNSUPPORTED, "attribute 'axis' refers to attribute 'outer' of the calling node"},
               {&attribute_twice, GATHER_FILE_MALFORMED, "attribute 'axis' is given twice"},
               {&TYPED, GATHER_FILE_MALFORMED, "attribute 'axis' must have type INT, not STRING"},
               {&TEXT, GATHER_FILE_MALFORMED, "attribute 'axis' must be a number, not 'x'"}};
  for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
    gather_error error;
    assert_int_equal(gather_attribute_wrong(CASES[i].attribute, "axis", "INT", "a number", &error), CASES[i].status);
    assert_non_null(strstr(error.message, CASES[i].words));
  }
  const gather_alias second = {NULL, "b", "value of b"}, first = {(gather_alias *)(uintptr_t)&second, "a", "value of a"};
  const gather_graph graph = {.aliases = &first};
  assert_string_equal(gather_graph_alias(&graph, "a"), "value of a");
  assert_string_equal(gather_graph_alias(&graph, "b"), "value of b");
  assert_null(gather_graph_alias(&graph, "c"));
}

/* ---- contents */
#define BYTES(text) text, sizeof text - 1

typedef struct {
  const char *bytes;
  size_t size;
} content;

static void test_what_is_text(void **state) {
  /* In encodings of two bytes a character, too, but for XML; a list with a wrong byte behind its beginning is one. */
  static const content TEXTS[] = {ITEMS({BYTES("")}, {BYTES("1 2 3\n")}, {BYTES("\xef\xbb\xbf 1,2")}, {BYTES("\xef\xbb")},
                                        {BYTES("a\tb\r\n\f\v")}, {BYTES("\xc3\xa9")}, {BYTES("\xff\xfe\x31\0")}, {BYTES("\xfe\xff\0\x31")},
                                        {BYTES("\xff")}, {BYTES("12345678\0")}, {BYTES("-2345678\x7f")}, {BYTES("+2345678\1")},
                                        {BYTES(" 9345678\1")})};
  static const content OTHERS[] = {ITEMS({BYTES("\xff\xfe<\0?\0")}, {BYTES("\xfe\xff\0<")}, {BYTES("\xff\xff\0\0")},
                                         {BYTES("\xfe\xfe\0\0")}, {BYTES("<net>")}, {BYTES(" \n{\"a\":1}")}, {BYTES("\xef\xbb\xbf<")},
                                         {BYTES("123\0005678")}, {BYTES("1234567\0")}, {BYTES("a2345678\0")}, {BYTES("/2345678\0")},
                                         {BYTES(":2345678\0")}, {BYTES("        \0")}, {BYTES("\x93NUMPY\1\0")}, {BYTES("\x1b[1m")})};
  for (size_t i = 0; i < COUNT(TEXTS); i++)
    if (!gather_file_is_text(TEXTS[i].bytes, TEXTS[i].size)) fail_msg("text %zu", i);
  for (size_t i = 0; i < COUNT(OTHERS); i++)
    if (gather_file_is_text(OTHERS[i].bytes, OTHERS[i].size)) fail_msg("other %zu", i);
}

static void test_what_is_saved_in_place_of_a_file(void **state) {
#define LFS "version https://git-lfs.github.com/spec/v1\n"
  static const struct {
    const char *bytes;
    size_t size;
    int64_t more;      /* bytes of the file behind these */
    const char *words; /* NULL = it is none */
  } CASES[] = {
      {BYTES(LFS "oid sha256:ab\nsize 12\n"), 0, "which has 12 bytes: 'git lfs pull'"},
      {BYTES(LFS "oid sha256:ab\nsize 12"), 0, "which has 12 bytes: 'git lfs pull'"},
      {BYTES(LFS "size x\n"), 0, "not the file itself: 'git lfs pull'"},
      {BYTES(LFS "size :\n"), 0, "not the file itself: 'git lfs pull'"},
      {BYTES(LFS "size 99999999999999999999999\n"), 0, "not the file itself, which has "},
      {BYTES(LFS "oid sha256:ab\nsize 12\n"), 5000, NULL},
      {BYTES(LFS "\x1b[1m"), 0, "Git LFS pointer"},
      {BYTES("outs:\n- md5: ab\n"), 0, "a DVC pointer"},
      {BYTES("../../.git/annex/objects/k"), 0, "a git-annex pointer"},
      {BYTES("<html>"), 0, "it is a web page"},
      {BYTES("<HTML/"), 0, "it is a web page"},
      {BYTES("<head\n"), 0, "it is a web page"},
      {BYTES("<!-- a --> <?xml version='1.0'?>\n<body class='x'>"), 0, "it is a web page"},
      {BYTES("<Error><Code>NoSuchKey</Code></Error>"), 0, "(XML: NoSuchKey), not the file itself"},
      {BYTES("<Error a='b'><Message>SECRET</Message>"), 0, "(XML), not the file itself"},
      {BYTES("<Error><Code>cut"), 0, "(XML: cut), not the file itself"},
      {BYTES("{\"error\":\"a\nb\rc\"}"), 0, "(JSON: a b c), not the file itself"},
      {BYTES("{ \"message\" : \n \"cut"), 0, "(JSON: cut), not the file itself"},
      {BYTES("{\"errors\":[1]}"), 0, "(JSON), not the file itself"},
      {BYTES("{\"error\":\"a\"}"), 1 << 16, NULL},
      {BYTES("\0\0\0\1Bud1"), 0, "a .DS_Store"},
      {BYTES("\0\5\x16\7\0\2\0\0Mac OS X        \0\2"), 0,
       "an AppleDouble file, in which macOS keeps the attributes of another file: open b"},
  };
  static const content FILES[] = {ITEMS({BYTES("")}, {BYTES("\xef\xbb\xbf \n")}, {BYTES("1 2 3")}, {BYTES(LFS "\1")}, {BYTES(LFS "\x7f")},
                                        {BYTES("outs:\n- sha: ab\n")}, {BYTES("../.git/other")}, {BYTES("<html")}, {BYTES("<htmlx>")},
                                        {BYTES("<tablet>")}, {BYTES("<!-- a ")}, {BYTES("<!-- a -->")}, {BYTES("<?xml?><net>")},
                                        {BYTES("<Errors>")}, {BYTES("<Error")}, {BYTES("{\"error\" ")}, {BYTES("{\"error\" 5")},
                                        {BYTES("{\"error\":")}, {BYTES("{\"name\":\"error\"}")}, {BYTES("{ ")}, {BYTES("\0\0\0\1Bud")},
                                        {BYTES("\0\5\x16\7\0\2\0\0Mac OS X        \0")})};
  static const char *const NAMES[] = {"d/._b", "._b", "d/._", "b", "http://h/x"};
  for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
    for (size_t k = 0; k < sizeof NAMES / sizeof *NAMES; k++) {
      char text[GATHER_SUBSTITUTE_TEXT] = "";
      const bool is_url = k == 4;
      const bool is = gather_substitute_is(CASES[i].bytes, (int64_t)CASES[i].size, (int64_t)CASES[i].size + CASES[i].more, NAMES[k], is_url,
                                           text, sizeof text);
      if (is != (CASES[i].words != NULL)) fail_msg("case %zu: '%s'", i, text);
      if (!is) continue;
      assert_null(strstr(text, "SECRET"));
      const bool opens = strstr(text, ": open ") != NULL;
      if (strstr(CASES[i].words, "AppleDouble")) assert_int_equal(opens, k < 2);
      if (is_url && strstr(CASES[i].words, "web page")) assert_non_null(strstr(text, "the server answered with a web page"));
      if (is_url && strstr(CASES[i].words, "itself") && strchr(CASES[i].words, '(')) assert_non_null(strstr(text, "not with the file"));
      if (k == 0 && !strstr(text, CASES[i].words)) fail_msg("case %zu: '%s'", i, text);
    }
  for (size_t i = 0; i < COUNT(FILES); i++)
    for (size_t k = 0; k < COUNT(NAMES); k++) {
      char text[GATHER_SUBSTITUTE_TEXT] = "";
      const int64_t bytes = (int64_t)FILES[i].size;
      if (gather_substitute_is(FILES[i].bytes, bytes, bytes, NAMES[k], k == 4, text, sizeof text)) fail_msg("file %zu: '%s'", i, text);
    }
  /* All of a long code is not shown. */
  char text[GATHER_SUBSTITUTE_TEXT], answer[300] = "{\"detail\":\"";
  memset(answer + 11, 'd', 200);
  assert_true(gather_substitute_is(answer, 211, 211, "a", false, text, sizeof text));
  assert_non_null(strstr(text, "dddd), not"));
  assert_true(strlen(text) < 160);
  memcpy(answer, "<Error><Code>", 13);
  assert_true(gather_substitute_is(answer, 211, 211, "a", false, text, sizeof text));
  assert_true(strlen(text) < 160);
}

static void test_advice_for_pages(void **state) {
  static const struct {
    const char *url, *advice; /* NULL: it is not the address of a page */
  } CASES[] = {{"https://huggingface.co/o/r/blob/main/f", "hf://o/r/f"},
               {"https://huggingface.co/o/r/blob/mair/f", "hf://o/r@mair/f"},
               {"https://huggingface.co/o/r/blob/mains/f", "hf://o/r@mains/f"},
               {"https://huggingface.co/o/r/blob/main", "hf://OWNER/REPO/FILE"},
               {"HTTPS://h/o/r/blob/main/f", "hf://OWNER/REPO/FILE"},
               {"https://h/o/r/f", NULL},
               {"https://h", NULL},
               {"h/o/blob/x", NULL},
               {"s3://b/o/blob/x", NULL},
               {"hf://o/r/blob/x", NULL}};
  for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
    gather_error error = {.message = "status 404"};
    gather_substitute_advise(CASES[i].url, &error);
    if (!CASES[i].advice) assert_string_equal(error.message, "status 404");
    if (CASES[i].advice && !strstr(error.message, CASES[i].advice)) fail_msg("%s: %s", CASES[i].url, error.message);
    memset(error.message, 'm', sizeof error.message - 1); /* no room for it */
    error.message[sizeof error.message - 1] = '\0';
    gather_substitute_advise(CASES[i].url, &error);
    assert_int_equal(error.message[sizeof error.message - 2], 'm');
    gather_substitute_advise(CASES[i].url, NULL);
  }
}

static void amounts_of_memory(void **state) {
  char text[32];
  static const struct {
    int64_t amount;
    const char *text;
  } AMOUNTS[] = {{0, "0 bytes"},         {1, "1 byte"},       {1023, "1023 bytes"},
                 {1024, "1.00 KiB"},     {102400, "100 KiB"}, {INT64_C(1) << 40, "1.00 TiB"},
                 {INT64_MAX, "8.00 EiB"}};
  for (size_t i = 0; i < sizeof AMOUNTS / sizeof *AMOUNTS; i++)
    assert_string_equal(gather_text_bytes(AMOUNTS[i].amount, text, sizeof text), AMOUNTS[i].text);
}

TESTS(test_integers, test_flags, test_attributes_by_name, test_wrong_attributes, test_what_is_text, test_what_is_saved_in_place_of_a_file,
      test_advice_for_pages, amounts_of_memory)
