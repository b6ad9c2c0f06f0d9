/* SPDX-License-Identifier: MIT
 *
 * test_infer_rules.c: shapes and values that a check infers in graphs that are built here: forms that no exporter writes and that the
 * packages beside which other tests compare do not accept. Also gather_check_find, and a GatherTree without ranks.
 */
#include <stdio.h>

#include "gather/model.h"
#include "io/format/graph.h"
#include "model/model_internal.h"
#include "support/fail_each.h"

enum { MOST = 4, ROOM = 2000 };
#define ANY \
  { 0, GATHER_DIM_UNBOUNDED, NULL }
#define LEN(n) \
  { n, n, NULL }

/* A value that the graph declares: rank -1 is unknown. */
typedef struct {
  const char *name;
  int32_t rank;
  gather_dim dims[MOST];
} declared;

/* A list of integers. */
typedef struct {
  const char *name;
  int64_t count, values[6];
} list;

typedef struct {
  const char *op, *inputs[MOST + 1];
  struct {
    const char *name;
    const char *text; /* IR */
    int64_t number;   /* ONNX */
  } attributes[MOST];
} step;

/* The last step makes "y". wanted: its shape ("[2, 0..5, ?]", "none"), and " = " and its elements where they are known. */
typedef struct {
  bool openvino;
  declared inputs[MOST];
  list lists[MOST];
  step steps[2];
  const char *wanted;
} rule_case;

static const rule_case CASES[] = {
    /* axes as an input */
    {false,
     {{"x", 3, {LEN(2), LEN(3), LEN(4)}}},
     {{"axes", 1, {1}}},
     {{"ReduceSum", {"x", "axes"}, {{"keepdims", NULL, 0}}}},
     "[2, 4]"},
    {false,
     {{"x", 3, {LEN(2), LEN(3), LEN(4)}}},
     {{"axes", 2, {-1, 0}}},
     {{"ReduceSum", {"x", "axes"}, {{"keepdims", NULL, 0}}}},
     "[3]"},
    {false,
     {{"x", 3, {LEN(2), LEN(3), LEN(4)}}},
     {{"axes", 1, {-2}}},
     {{"ReduceMax", {"x", "axes"}, {{0}}}},
     "[2, 1, 4]"},
    {false, {{"x", 3, {LEN(2), LEN(3), LEN(4)}}}, {{"axes", 1, {3}}}, {{"ReduceMax", {"x", "axes"}, {{0}}}}, "none"},
    {false, {{"x", 2, {LEN(2), LEN(3)}}}, {{"axes", 0, {0}}}, {{"ReduceSum", {"x", "axes"}, {{0}}}}, "[1, 1]"},
    {false,
     {{"x", 2, {LEN(2), LEN(3)}}},
     {{"axes", 0, {0}}},
     {{"ReduceSum", {"x", "axes"}, {{"noop_with_empty_axes", NULL, 1}}}},
     "[2, 3]"},
    {true, {{"x", 3, {LEN(2), LEN(3), LEN(4)}}}, {{"axes", 1, {1}}}, {{"ReduceSum", {"x", "axes"}, {{0}}}}, "[2, 4]"},
    {true,
     {{"x", 3, {LEN(2), LEN(3), LEN(4)}}},
     {{"axes", 1, {1}}},
     {{"ReduceSum", {"x", "axes"}, {{"keep_dims", "true", 0}}}},
     "[2, 1, 4]"},
    /* axes that are not known: at most their number is */
    {false,
     {{"x", 3, {LEN(2), LEN(3), LEN(4)}}, {"axes", 1, {LEN(1)}}},
     {{0}},
     {{"ReduceSum", {"x", "axes"}, {{"keepdims", NULL, 0}}}},
     "[?, ?]"},
    {false,
     {{"x", 3, {LEN(2), LEN(3), LEN(4)}}, {"axes", 1, {LEN(2)}}},
     {{0}},
     {{"ReduceSum", {"x", "axes"}, {{"keepdims", NULL, 0}}}},
     "none"},
    {false,
     {{"x", 3, {LEN(2), LEN(3), LEN(4)}}, {"axes", 1, {LEN(0)}}},
     {{0}},
     {{"ReduceSum", {"x", "axes"}, {{"keepdims", NULL, 0}}}},
     "none"},
    {false,
     {{"x", 3, {LEN(2), LEN(3), LEN(4)}}, {"axes", 1, {ANY}}},
     {{0}},
     {{"ReduceSum", {"x", "axes"}, {{"keepdims", NULL, 0}}}},
     "none"},
    {false,
     {{"x", 3, {LEN(2), LEN(3), LEN(4)}}, {"axes", -1, {ANY}}},
     {{0}},
     {{"ReduceSum", {"x", "axes"}, {{"keepdims", NULL, 0}}}},
     "none"},
    {false,
     {{"x", 3, {LEN(2), LEN(3), LEN(4)}}, {"axes", -1, {ANY}}},
     {{0}},
     {{"ReduceSum", {"x", "axes"}, {{0}}}},
     "[?, ?, ?]"},
    {false,
     {{"x", 3, {LEN(2), LEN(3), LEN(4)}}, {"axes", 1, {LEN(1)}}},
     {{0}},
     {{"ReduceSum", {"x", "axes"}, {{"noop_with_empty_axes", NULL, 1}}}},
     "[?, ?, ?]"},
    {false,
     {{"x", 3, {LEN(2), LEN(3), LEN(4)}}, {"axes", 1, {ANY}}},
     {{0}},
     {{"ReduceSum", {"x", "axes"}, {{"noop_with_empty_axes", NULL, 1}}}},
     "[?, ?, ?]"},
    /* starts that are not known */
    {false,
     {{"x", 3, {LEN(2), LEN(5), LEN(4)}}, {"s", 1, {LEN(1)}}},
     {{"e", 1, {3}}, {"a", 1, {1}}},
     {{"Slice", {"x", "s", "e", "a"}, {{0}}}},
     "[2, 0..5, 4]"},
    {false,
     {{"x", 3, {LEN(2), LEN(5), LEN(4)}}, {"s", 1, {LEN(1)}}},
     {{"e", 1, {3}}, {"a", 1, {-1}}},
     {{"Slice", {"x", "s", "e", "a"}, {{0}}}},
     "[2, 5, 0..4]"},
    {false,
     {{"x", 3, {LEN(2), LEN(5), ANY}}, {"s", 1, {LEN(1)}}},
     {{"e", 1, {3}}},
     {{"Slice", {"x", "s", "e"}, {{0}}}},
     "[0..2, 0..5, ?]"},
    {false, {{"x", 1, {LEN(5)}}, {"s", 1, {LEN(1)}}}, {{"e", 1, {3}}}, {{"Slice", {"x", "s", "e"}, {{0}}}}, "[0..5]"},
    {true,
     {{"x", 2, {LEN(2), LEN(5)}}, {"s", 1, {LEN(1)}}},
     {{"e", 1, {3}}, {"b", 1, {1}}, {"a", 1, {0}}},
     {{"Slice", {"x", "s", "e", "b", "a"}, {{0}}}},
     "[0..2, 5]"},
    /* one element, which may be the first: of a constant, and of a shape that is only partly known */
    {true,
     {{0}},
     {{"x", 3, {5, 6, 7}}, {"b", 1, {0}}, {"e", 1, {1}}},
     {{"StridedSlice", {"x", "b", "e"}, {{"shrink_axis_mask", "1", 0}}}},
     "[] = 5"},
    {true,
     {{0}},
     {{"x", 3, {5, 6, 7}}, {"b", 1, {-3}}, {"e", 1, {-2}}},
     {{"StridedSlice", {"x", "b", "e"}, {{"shrink_axis_mask", "1", 0}}}},
     "[] = 5"},
    {true,
     {{0}},
     {{"x", 3, {5, 6, 7}}, {"b", 1, {2}}, {"e", 1, {3}}},
     {{"StridedSlice", {"x", "b", "e"}, {{"shrink_axis_mask", "1", 0}}}},
     "[] = 7"},
    {true,
     {{0}},
     {{"x", 3, {5, 6, 7}}, {"b", 1, {3}}, {"e", 1, {4}}},
     {{"StridedSlice", {"x", "b", "e"}, {{"shrink_axis_mask", "1", 0}}}},
     "[]"},
    {true,
     {{"x", 3, {LEN(5), ANY, LEN(7)}}},
     {{"b", 1, {0}}, {"e", 1, {1}}},
     {{"ShapeOf", {"x"}, {{0}}}, {"StridedSlice", {"z", "b", "e"}, {{"shrink_axis_mask", "1", 0}}}},
     "[] = 5"},
    {true,
     {{"x", 3, {LEN(5), ANY, LEN(7)}}},
     {{"b", 1, {-1}}, {"e", 1, {3}}},
     {{"ShapeOf", {"x"}, {{0}}}, {"StridedSlice", {"z", "b", "e"}, {{"shrink_axis_mask", "1", 0}}}},
     "[] = 7"},
    {true,
     {{"x", 3, {LEN(5), ANY, LEN(7)}}},
     {{"b", 1, {1}}, {"e", 1, {2}}},
     {{"ShapeOf", {"x"}, {{0}}}, {"StridedSlice", {"z", "b", "e"}, {{"shrink_axis_mask", "1", 0}}}},
     "[]"},
    {true,
     {{0}},
     {{"x", 4, {5, 6, 7, 8}}, {"t", 2, {2, 2}}, {"b", 2, {0, 0}}, {"e", 2, {1, 2}}},
     {{"Reshape", {"x", "t"}, {{"special_zero", "false", 0}}},
      {"StridedSlice", {"z", "b", "e"}, {{"shrink_axis_mask", "1,0", 0}}}},
     "[2] = 5 6"},
    {true,
     {{0}},
     {{"x", 4, {5, 6, 7, 8}}, {"t", 2, {2, 2}}, {"b", 1, {1}}, {"e", 1, {2}}},
     {{"Reshape", {"x", "t"}, {{"special_zero", "false", 0}}}, {"StridedSlice", {"z", "b", "e"}, {{0}}}},
     "[1, 2] = 7 8"},
    {false,
     {{0}},
     {{"x", 4, {5, 6, 7, 8}}, {"t", 2, {2, 2}}, {"b", 1, {1}}, {"e", 1, {2}}},
     {{"Reshape", {"x", "t"}, {{0}}}, {"Slice", {"z", "b", "e"}, {{0}}}},
     "[1, 2] = 7 8"},
    {false,
     {{0}},
     {{"x", 4, {5, 6, 7, 8}}, {"t", 2, {2, 2}}},
     {{"Reshape", {"x", "t"}, {{0}}}, {"Transpose", {"z"}, {{0}}}},
     "[2, 2] = 5 7 6 8"},
    /* elements that are joined, stretched, repeated */
    {false,
     {{0}},
     {{"x", 2, {5, 6}}, {"v", 1, {7}}, {"w", 3, {8, 9, 10}}},
     {{"Concat", {"x", "v", "w"}, {{"axis", NULL, 0}}}},
     "[6] = 5 6 7 8 9 10"},
    {false,
     {{"s", 2, {LEN(5), LEN(6)}}},
     {{"v", 1, {7}}},
     {{"Shape", {"s"}, {{0}}}, {"Concat", {"v", "z", "v"}, {{"axis", NULL, 0}}}},
     "[4] = 7 5 6 7"},
    {false, {{0}}, {{"x", 1, {5}}, {"t", 2, {2, 3}}}, {{"Expand", {"x", "t"}, {{0}}}}, "[2, 3] = 5 5 5 5 5 5"},
    {false, {{0}}, {{"x", 2, {5, 6}}, {"t", 2, {2, 2}}}, {{"Expand", {"x", "t"}, {{0}}}}, "[2, 2] = 5 6 5 6"},
    {false, {{0}}, {{"x", 2, {5, 6}}, {"t", 1, {2}}}, {{"Tile", {"x", "t"}, {{0}}}}, "[4] = 5 6 5 6"},
    /* the view of a slice, with a step, a new axis, an ellipsis, masks */
    {true,
     {{0}},
     {{"x", 5, {5, 6, 7, 8, 9}}, {"b", 1, {1}}, {"e", 1, {5}}, {"s", 1, {2}}},
     {{"StridedSlice", {"x", "b", "e", "s"}, {{0}}}},
     "[2] = 6 8"},
    {true,
     {{0}},
     {{"x", 3, {5, 6, 7}}, {"b", 2, {0, 1}}, {"e", 2, {0, 9}}},
     {{"StridedSlice", {"x", "b", "e"}, {{"new_axis_mask", "1,0", 0}}}},
     "[1, 2] = 6 7"},
    {true,
     {{0}},
     {{"x", 3, {5, 6, 7}}, {"b", 1, {0}}, {"e", 1, {0}}},
     {{"StridedSlice", {"x", "b", "e"}, {{"ellipsis_mask", "1", 0}}}},
     "[3] = 5 6 7"},
    {true,
     {{0}},
     {{"x", 3, {5, 6, 7}}, {"b", 1, {2}}, {"e", 1, {1}}},
     {{"StridedSlice", {"x", "b", "e"}, {{"begin_mask", "1", 0}, {"end_mask", "1", 0}}}},
     "[3] = 5 6 7"},
    {true,
     {{0}},
     {{"x", 3, {5, 6, 7}}, {"b", 1, {-1}}, {"e", 1, {-9}}, {"s", 1, {-1}}},
     {{"StridedSlice", {"x", "b", "e", "s"}, {{0}}}},
     "[3] = 7 6 5"},
    /* axes of a Broadcast */
    {true,
     {{0}},
     {{"x", 3, {7, 8, 9}}, {"t", 3, {2, 3, 2}}, {"a", 1, {1}}},
     {{"Broadcast", {"x", "t", "a"}, {{"mode", "explicit", 0}}}},
     "[2, 3, 2] = 7 7 8 8 9 9 7 7 8 8 9 9"},
    {true,
     {{0}},
     {{"x", 2, {7, 8}}, {"t", 2, {2, 2}}, {"a", 1, {0}}},
     {{"Broadcast", {"x", "t", "a"}, {{"mode", "explicit", 0}}}},
     "[2, 2] = 7 7 8 8"},
    {true,
     {{0}},
     {{"x", 2, {7, 8}}, {"t", 2, {2, 2}}, {"a", 1, {2}}},
     {{"Broadcast", {"x", "t", "a"}, {{"mode", "explicit", 0}}}},
     "[2, 2]"},
    {true,
     {{0}},
     {{"x", 2, {7, 8}}, {"t", 2, {2, 2}}, {"a", 2, {0, 1}}},
     {{"Broadcast", {"x", "t", "a"}, {{"mode", "explicit", 0}}}},
     "[2, 2]"},
    /* blocks of depth of one axis */
    {true,
     {{"x", 3, {LEN(1), LEN(8), LEN(3)}}},
     {{0}},
     {{"DepthToSpace", {"x"}, {{"block_size", "2", 0}}}},
     "[1, 4, 6]"},
    {true,
     {{"x", 3, {LEN(1), LEN(4), LEN(6)}}},
     {{0}},
     {{"SpaceToDepth", {"x"}, {{"block_size", "2", 0}}}},
     "[1, 8, 3]"},
    {true, {{"x", 2, {LEN(8), LEN(3)}}}, {{0}}, {{"DepthToSpace", {"x"}, {{"block_size", "2", 0}}}}, "none"},
    /* ranks that differ */
    {false,
     {{"x", 2, {LEN(2), LEN(3)}}, {"v", 3, {LEN(2), LEN(3), LEN(4)}}},
     {{0}},
     {{"Concat", {"x", "v"}, {{"axis", NULL, 0}}}},
     "none"},
    {false,
     {{"x", 3, {LEN(2), LEN(3), LEN(4)}}, {"v", 2, {LEN(2), LEN(3)}}},
     {{0}},
     {{"Concat", {"x", "v"}, {{"axis", NULL, 1}}}},
     "none"},
    {false,
     {{"x", 2, {LEN(2), LEN(3)}}, {"v", 2, {LEN(2), LEN(5)}}},
     {{0}},
     {{"Concat", {"x", "v"}, {{"axis", NULL, 1}}}},
     "[2, 8]"},
    {false,
     {{"x", 3, {LEN(2), LEN(3), ANY}}, {"v", 3, {LEN(4), ANY, LEN(7)}}},
     {{0}},
     {{"Concat", {"x", "v"}, {{"axis", NULL, 0}}}},
     "[6, 3, 7]"},
    {false,
     {{"x", 2, {LEN(2), LEN(3)}}, {"v", -1, {ANY}}},
     {{0}},
     {{"Concat", {"x", "v"}, {{"axis", NULL, 1}}}},
     "[2, 3..?]"},
    /* nothing to convolve */
    {false,
     {{"x", 3, {LEN(1), LEN(4), LEN(0)}}, {"w", 3, {LEN(4), LEN(3), LEN(3)}}},
     {{0}},
     {{"ConvTranspose", {"x", "w"}, {{0}}}},
     "[1, 3, ?]"},
    {false,
     {{"x", 3, {LEN(1), LEN(4), LEN(1)}}, {"w", 3, {LEN(4), LEN(3), LEN(3)}}},
     {{0}},
     {{"ConvTranspose", {"x", "w"}, {{0}}}},
     "[1, 3, 3]"},
};

/* ---- graphs */

typedef struct {
  gather_value inputs[MOST + 1];
  gather_constant constants[MOST + 2];
  gather_attribute attributes[2][MOST];
  gather_node nodes[3];
  int64_t counts[MOST];
  gather_graph graph;
  gather_graph_file file;
} built;

static void add_list(built *b, const char *name, const int64_t *values, int32_t rank, const int64_t *count) {
  gather_constant *made = &b->constants[b->graph.constant_count++];
  *made = (gather_constant){.tensor = {.name = name}, .is_initializer = true};
  made->tensor.tensor = tensor_of(GATHER_TYPE_INT64, values, rank, count);
}

static void add_node(built *b, bool openvino, const step *s, const char *const *output) {
  const int32_t number = (int32_t)b->graph.node_count++;
  gather_node *node = &b->nodes[number];
  *node = (gather_node){.name = "s",
                        .op = s->op,
                        .domain = openvino ? "opset8" : "",
                        .opset = openvino ? 8 : 18,
                        .inputs = s->inputs,
                        .outputs = output,
                        .output_count = 1,
                        .attributes = b->attributes[number]};
  while (node->input_count <= MOST && s->inputs[node->input_count]) node->input_count++;
  for (int i = 0; i < MOST && s->attributes[i].name; i++) {
    gather_attribute *made = &b->attributes[number][node->attribute_count++];
    *made =
        (gather_attribute){.name = s->attributes[i].name, .kind = GATHER_ATTRIBUTE_INT, .type = "INT", .text = {"", 0}};
    made->integer = s->attributes[i].number;
    if (!openvino) continue;
    made->kind = GATHER_ATTRIBUTE_TEXT, made->type = NULL;
    made->text = (gather_string){s->attributes[i].text, strlen(s->attributes[i].text)};
  }
}

static void build(built *b, const rule_case *c) {
  static const char *const Z[] = {"z"}, *const Y[] = {"y"}, *const OUT[] = {"out"}, *const LOOK[] = {"y", "at", "axis"};
  static const int64_t ZERO[] = {0}, ONE[] = {1};
  memset(b, 0, sizeof *b);
  b->graph = (gather_graph){.name = "", .nodes = b->nodes, .inputs = b->inputs, .constants = b->constants};
  b->file = (gather_graph_file){.dialect = c->openvino ? "openvino" : "onnx", .graph = &b->graph};
  for (int i = 0; i < MOST && c->inputs[i].name; i++)
    b->inputs[b->graph.input_count++] = (gather_value){
        .name = c->inputs[i].name, .type = GATHER_TYPE_INT64, .rank = c->inputs[i].rank, .dims = c->inputs[i].dims};
  for (int i = 0; i < MOST && c->lists[i].name; i++) {
    b->counts[i] = c->lists[i].count;
    add_list(b, c->lists[i].name, c->lists[i].values, 1, &b->counts[i]);
  }
  add_list(b, "at", ZERO, 1, ONE);
  add_list(b, "axis", ZERO, 0, NULL);
  const bool two = c->steps[1].op != NULL;
  if (two) add_node(b, c->openvino, &c->steps[0], Z);
  add_node(b, c->openvino, &c->steps[two], Y);
  b->nodes[b->graph.node_count++] = (gather_node){.name = "g",
                                                  .op = "Gather",
                                                  .domain = c->openvino ? "opset8" : "",
                                                  .opset = c->openvino ? 8 : 18,
                                                  .inputs = LOOK,
                                                  .input_count = c->openvino ? 3 : 2,
                                                  .outputs = OUT,
                                                  .output_count = 1};
}

/* ---- what is known, as text */

static size_t print_dims(char *text, const gather_operand *operand) {
  size_t at = (size_t)sprintf(text, "[");
  if (operand->rank < 0) return (size_t)sprintf(text, "none");
  for (int32_t d = 0; d < operand->rank; d++) {
    const gather_dim *dim = &operand->dims[d];
    at += (size_t)sprintf(text + at, "%s", d ? ", " : "");
    if (dim->min == dim->max) {
      at += (size_t)sprintf(text + at, "%d", (int)dim->min);
      continue;
    }
    if (dim->min > 0 || dim->max != GATHER_DIM_UNBOUNDED) at += (size_t)sprintf(text + at, "%d..", (int)dim->min);
    at += dim->max == GATHER_DIM_UNBOUNDED ? (size_t)sprintf(text + at, "?")
                                           : (size_t)sprintf(text + at, "%d", (int)dim->max);
  }
  return at + (size_t)sprintf(text + at, "]");
}

/* Elements of int64 or int32, by a gather of all of them. */
static void print_elements(char *text, const gather_tensor *value) {
  int64_t out[64], none = 0, shape[GATHER_MAX_RANK];
  gather_tensor ids = tensor_of(GATHER_TYPE_INT64, &none, 1, &none),
                to = {.type = value->type, .rank = value->rank, .data = out};
  size_t at = (size_t)sprintf(text, " =");
  const int64_t len = gather_tensor_len(value);
  assert_in_range(len, 1, 64);
  for (int32_t d = 0; d < value->rank; d++) shape[d] = value->shape[d];
  to.shape = shape;
  if (value->rank == 0)
    memcpy(out, value->data, (size_t)gather_tensor_bytes(value));
  else
    assert_status(gather_apply(op_of("GatherND", "openvino-8"), value, &ids, &to, NULL, NULL), GATHER_OK);
  for (int64_t i = 0; i < len; i++) {
    int32_t narrow;
    memcpy(&narrow, (const char *)out + i * 4, sizeof narrow);
    at += (size_t)sprintf(text + at, " %d", value->type == GATHER_TYPE_INT32 ? (int)narrow : (int)out[i]);
  }
}

/* Checks a case; once there is memory for it, it must be as wanted. */
static gather_status use_case(const void *context, gather_error *error) {
  static built b;
  const rule_case *c = context;
  gather_model *model = NULL;
  gather_check *check = NULL;
  const gather_model_node *node;
  char text[ROOM];
  build(&b, c);
  gather_status status = gather_model_from_graph(&b.file, &model, error);
  if (status == GATHER_OK) status = gather_model_check(model, NULL, &check, error);
  if (status == GATHER_OK) {
    assert_status(gather_check_find(check, "g", &node, error), GATHER_OK);
    const size_t at = print_dims(text, &node->data);
    if (node->data.value) print_elements(text + at, node->data.value);
    if (strcmp(text, c->wanted) != 0)
      fail_msg("case %d, %s: '%s', not '%s'", (int)(c - CASES), c->steps[0].op, text, c->wanted);
  }
  gather_check_destroy(check);
  gather_model_close(model);
  return status;
}

static void shapes_and_values(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT(CASES); i++) {
    gather_error error = dirty_error();
    assert_status(use_case(&CASES[i], &error), GATHER_OK);
  }
}

/* No result is made of what could not be followed for lack of memory. */
static void rules_without_memory(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT(CASES); i++) assert_true(fail_each(use_case, &CASES[i], GATHER_OK) > 10);
}

/* A Reshape may have as many dimensions as a tensor has, and no more. */
static void the_largest_rank(void **state) {
  (void)state;
  for (int64_t rank = GATHER_MAX_RANK - 1; rank <= GATHER_MAX_RANK + 1; rank++) {
    static const rule_case ONLY = {false, {{"x", 1, {LEN(1)}}}, {{0}}, {{"Reshape", {"x", "t"}, {{0}}}}, ""};
    int64_t ones[GATHER_MAX_RANK + 1];
    built b;
    gather_model *model;
    gather_check *check;
    for (int i = 0; i <= GATHER_MAX_RANK; i++) ones[i] = 1;
    build(&b, &ONLY);
    add_list(&b, "t", ones, 1, &rank);
    assert_status(gather_model_from_graph(&b.file, &model, NULL), GATHER_OK);
    assert_status(gather_model_check(model, NULL, &check, NULL), GATHER_OK);
    assert_int_equal(gather_check_at(check, 0)->data.rank, rank <= GATHER_MAX_RANK ? rank : -1);
    gather_check_destroy(check);
    gather_model_close(model);
  }
}

/* ---- the node of a name */

static void find_nodes(int count, const char *const *names, const char *name, gather_status status, int64_t number) {
  static const char *const INPUTS[] = {"x", "at"}, *const OUTPUTS[3][1] = {{"a"}, {"b"}, {"c"}};
  static const gather_dim DIMS[] = {LEN(4)};
  gather_value inputs[] = {{.name = "x", .type = GATHER_TYPE_INT64, .rank = 1, .dims = DIMS},
                           {.name = "at", .type = GATHER_TYPE_INT64, .rank = 1, .dims = DIMS}};
  gather_node nodes[3];
  gather_graph graph = {.name = "", .nodes = nodes, .node_count = count, .inputs = inputs, .input_count = 2};
  gather_graph_file file = {.dialect = "onnx", .graph = &graph};
  gather_model *model;
  gather_check *check;
  const gather_model_node *node = (const gather_model_node *)names;
  gather_error error = dirty_error();
  for (int i = 0; i < count; i++)
    nodes[i] = (gather_node){.name = names[i],
                             .op = "Gather",
                             .domain = "",
                             .opset = 13,
                             .inputs = INPUTS,
                             .input_count = 2,
                             .outputs = OUTPUTS[i],
                             .output_count = 1};
  assert_status(gather_model_from_graph(&file, &model, &error), GATHER_OK);
  assert_status(gather_model_check(model, NULL, &check, &error), GATHER_OK);
  assert_status(gather_check_find(check, name, &node, &error), status);
  assert_ptr_equal(node, status == GATHER_OK ? gather_check_at(check, number) : NULL);
  if (status == GATHER_NAME_NOT_FOUND && count > 0 && *names[0]) assert_non_null(strstr(error.message, names[0]));
  if (status == GATHER_USAGE) assert_non_null(strstr(error.message, name));
  assert_status(gather_check_find(check, name, &node, NULL), status);
  gather_check_destroy(check);
  gather_model_close(model);
}

static void nodes_by_name(void **state) {
  static const char *const NAMES[] = {"first", "second", "first"}, *const UNNAMED[] = {"", ""};
  (void)state;
  find_nodes(2, NAMES, "first", GATHER_OK, 0);
  find_nodes(2, NAMES, "second", GATHER_OK, 1);
  find_nodes(1, NAMES, NULL, GATHER_OK, 0);
  find_nodes(1, NAMES, "second", GATHER_NAME_NOT_FOUND, 0);
  find_nodes(2, NAMES, "firs", GATHER_NAME_NOT_FOUND, 0);
  find_nodes(2, NAMES, NULL, GATHER_NAME_NOT_FOUND, 0);
  find_nodes(2, UNNAMED, "first", GATHER_NAME_NOT_FOUND, 0);
  find_nodes(0, NAMES, NULL, GATHER_NAME_NOT_FOUND, 0);
  find_nodes(3, NAMES, "first", GATHER_USAGE, 0);
  find_nodes(3, NAMES, "second", GATHER_OK, 1);
}

/* ---- GatherTree */

/* Of operands whose ranks are unknown, and of one without dimensions, no lengths are read. */
static void a_tree_without_ranks(void **state) {
  static const char *const INPUTS[] = {"steps", "parents", "lens", "end"}, *const OUT[] = {"out"};
  static const gather_dim DIMS[] = {LEN(3), LEN(2), LEN(4)};
  (void)state;
  for (int known = 0; known < 16; known++) {
    static const int32_t RANKS[] = {3, 3, 1, 0};
    gather_value inputs[4];
    for (int i = 0; i < 4; i++)
      inputs[i] = (gather_value){.name = INPUTS[i],
                                 .type = GATHER_TYPE_INT32,
                                 .rank = known >> i & 1 ? RANKS[i] : -1,
                                 .dims = known >> i & 1 && i < 3 ? DIMS + (i == 2) : NULL};
    gather_node node = {.name = "t",
                        .op = "GatherTree",
                        .domain = "opset1",
                        .opset = 1,
                        .inputs = INPUTS,
                        .input_count = 4,
                        .outputs = OUT,
                        .output_count = 1};
    gather_graph graph = {.name = "", .nodes = &node, .node_count = 1, .inputs = inputs, .input_count = 4};
    gather_graph_file file = {.dialect = "openvino", .graph = &graph};
    gather_model *model;
    gather_check *check;
    assert_status(gather_model_from_graph(&file, &model, NULL), GATHER_OK);
    assert_status(gather_model_check(model, NULL, &check, NULL), GATHER_OK);
    assert_string_equal(gather_verdict_name(gather_check_at(check, 0)->verdict), "unknown");
    gather_check_destroy(check);
    gather_model_close(model);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(shapes_and_values), cmocka_unit_test(rules_without_memory), cmocka_unit_test(the_largest_rank),
      cmocka_unit_test(nodes_by_name),     cmocka_unit_test(a_tree_without_ranks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
