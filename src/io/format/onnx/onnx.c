/* SPDX-License-Identifier: MIT
 *
 * onnx.c: recognises and opens ONNX models and single tensors (TensorProto).
 */
#include "io/format/onnx/onnx.h"

#ifdef GATHER_HAVE_NANOPB

enum { IR_VERSION = 1, GRAPH = 7, IMPORT = 8, FUNCTION = 25 };

/* ---- recognising them by their bytes */

/* A set of wire types that a field may have. */
enum { ANY_LIST = 1 << GATHER_PROTO_BYTES, NUMBER = 1 << GATHER_PROTO_VARINT };

static const uint8_t TENSOR_WIRES[17] = {[1] = NUMBER | ANY_LIST,  [2] = NUMBER,
                                         [3] = ANY_LIST,           [4] = 1 << GATHER_PROTO_FIXED32 | ANY_LIST,
                                         [5] = NUMBER | ANY_LIST,  [6] = ANY_LIST,
                                         [7] = NUMBER | ANY_LIST,  [8] = ANY_LIST,
                                         [9] = ANY_LIST,           [10] = 1 << GATHER_PROTO_FIXED64 | ANY_LIST,
                                         [11] = NUMBER | ANY_LIST, [12] = ANY_LIST,
                                         [13] = ANY_LIST,          [14] = NUMBER,
                                         [16] = ANY_LIST};
static const uint8_t MODEL_WIRES[27] = {
    [1] = NUMBER,   [2] = ANY_LIST, [3] = ANY_LIST,  [4] = ANY_LIST,  [5] = NUMBER,    [6] = ANY_LIST,
    [7] = ANY_LIST, [8] = ANY_LIST, [14] = ANY_LIST, [20] = ANY_LIST, [25] = ANY_LIST, [26] = ANY_LIST};

/* The result of scanning the top-level fields. */
typedef struct looks {
  bool tensor, model; /* no field contradicts it */
  bool has_type, has_graph, has_version;
  bool whole; /* the scan reached the end */
} looks;

static void look_at(looks *l, const gather_proto_field *field, bool is_first) {
  uint32_t wire = 1u << field->wire, number = field->number;
  if (number < sizeof TENSOR_WIRES && TENSOR_WIRES[number] != 0 && (TENSOR_WIRES[number] & wire) == 0)
    l->tensor = false;
  if (number < sizeof MODEL_WIRES && MODEL_WIRES[number] != 0 && (MODEL_WIRES[number] & wire) == 0) l->model = false;
  if (number == 2 && field->wire == GATHER_PROTO_VARINT && field->value < 256) l->has_type = true;
  if (number == GRAPH && field->wire == GATHER_PROTO_BYTES) l->has_graph = true;
  if (is_first && number == 1 && field->wire == GATHER_PROTO_VARINT && field->value > 0 && field->value < 1000)
    l->has_version = true;
}

/* Truncated files are recognised too: opening them reports what is wrong. */
static looks look(const gather_map *map) {
  looks l = {.tensor = true, .model = true};
  gather_proto message = {map, 0, map->size};
  for (bool is_first = true;; is_first = false) {
    gather_proto_field field;
    if (gather_proto_next(&message, &field)) return l;
    if (field.number == 0) break;
    look_at(&l, &field, is_first);
    if (!l.tensor && !l.model) return l;
  }
  l.whole = true;
  return l;
}

bool gather_onnx_recognise(const gather_map *map) {
  if (map->size == 0) return false;
  looks l = look(map);
  if (!l.model || (l.tensor && l.has_type)) return false;
  return l.has_version || (l.whole && l.has_graph);
}

bool gather_pb_recognise(const gather_map *map) {
  if (map->size == 0) return false;
  looks l = look(map);
  uint8_t first = map->bytes[0];
  return l.tensor && l.has_type && (l.whole || first == 0x08 || first == 0x0a || first == 0x10);
}

/* ---- opening */

gather_status gather_pb_open(gather_file *file, gather_error *error) {
  gather_onnx onnx = {.file = file, .error = error};
  gather_proto message = {&file->map, 0, file->map.size};
  GATHER_TRY(gather_onnx_take(&onnx, 1, sizeof *file->tensors, &file->tensors));
  file->len = 1;
  return gather_onnx_tensor(&onnx, message, &file->tensors[0]);
}

/* The singular fields of a model; the last graph counts. */
static gather_status read_head(gather_onnx *onnx, gather_proto message, gather_graph_file *model,
                               gather_proto_field *graph) {
  static const gather_onnx_import FIRST = {"", 1};
  *graph = (gather_proto_field){0};
  GATHER_TRY(gather_onnx_imports_read(onnx, message, IMPORT));
  for (;;) {
    gather_proto_field field;
    GATHER_TRY(gather_onnx_next(onnx, &message, &field));
    if (field.number == 0) break;
    if (field.number == GRAPH) *graph = field;
    if (field.number != IR_VERSION) continue;
    GATHER_TRY(gather_onnx_is(onnx, &field, GATHER_PROTO_VARINT));
    model->version = (int64_t)field.value;
  }
  /* Before IR version 3, models had no imports, and there was one operator set. */
  if (onnx->imports.count == 0 && model->version < 3) onnx->imports = (gather_onnx_imports){&FIRST, 1};
  if (graph->number == 0) return GATHER_ONNX_WRONG(onnx, onnx->file->map.size, "the model has no graph");
  return gather_onnx_is(onnx, graph, GATHER_PROTO_BYTES);
}

static gather_status read_functions(gather_onnx *onnx, gather_proto message, gather_graph_file *model) {
  int64_t counts[FUNCTION + 1];
  gather_function *functions = NULL;
  GATHER_TRY(gather_onnx_count(onnx, message, FUNCTION + 1, counts));
  GATHER_TRY(gather_onnx_take(onnx, counts[FUNCTION], sizeof *functions, &functions));
  model->functions = functions;
  for (;;) {
    gather_proto_field field;
    GATHER_TRY(gather_onnx_next(onnx, &message, &field));
    if (field.number == 0) return GATHER_OK;
    if (field.number != FUNCTION) continue;
    GATHER_TRY(gather_onnx_is(onnx, &field, GATHER_PROTO_BYTES));
    GATHER_TRY(gather_onnx_function(onnx, field.inner, &functions[model->function_count++]));
  }
}

gather_status gather_onnx_open(gather_file *file, gather_error *error) {
  gather_onnx onnx = {.file = file, .error = error};
  gather_proto message = {&file->map, 0, file->map.size};
  gather_proto_field graph;
  gather_graph_file *model = NULL;
  onnx.last = &onnx.first;
  GATHER_TRY(gather_onnx_take(&onnx, 1, sizeof *model, &model));
  model->dialect = "onnx";
  GATHER_TRY(read_head(&onnx, message, model, &graph));
  GATHER_TRY(gather_onnx_graph(&onnx, graph.inner, NULL, "", 1, &model->graph));
  GATHER_TRY(read_functions(&onnx, message, model));
  GATHER_TRY(gather_onnx_list_tensors(&onnx));
  file->graph = model;
  return GATHER_OK;
}

#endif
