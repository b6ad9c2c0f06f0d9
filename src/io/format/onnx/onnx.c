/* SPDX-License-Identifier: MIT
 *
 * onnx.c: recognises and opens ONNX models and single tensors (TensorProto, .pb), and writes the latter.
 */
#include "io/format/onnx/onnx.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/checked.h"
#include "core/base/error.h"
#include "io/format/format.h"

/* ---- writing a TensorProto: a few fields, without a library. Field numbers in onnx.proto: dims = 1, data_type = 2, string_data = 6,
 * name = 8, raw_data = 9. */

/* A field's tag is its number and its wire type: 0 = varint, 2 = length-delimited. */
enum {
  KEY_DIMS = 1 << 3 | 0,
  KEY_DATA_TYPE = 2 << 3 | 0,
  KEY_STRING_DATA = 6 << 3 | 2,
  KEY_NAME = 8 << 3 | 2,
  KEY_RAW_DATA = 9 << 3 | 2,
  VARINT_MAX = 10
};

static bool carries(const gather_type_info *type) { return type->onnx != 0; }

/* Fails if a TensorProto may not have that many bytes. */
static gather_status check_size(int64_t bytes, gather_error *error) {
  if (bytes >= 0 && bytes <= INT32_MAX) return GATHER_OK;
  return gather_fail_input(error, GATHER_UNSUPPORTED, "output", "a TensorProto (.pb) holds at most 2 GiB; write .npy or .bin");
}

static char *put_varint(char *at, uint64_t value) {
  for (; value >= 0x80; value >>= 7) *at++ = (char)(unsigned char)(value | 0x80);
  *at++ = (char)(unsigned char)value;
  return at;
}

static int64_t varint_bytes(uint64_t value) {
  int64_t bytes = 1;
  for (; value >= 0x80; value >>= 7) bytes++;
  return bytes;
}

static char *put_text(char *at, int key, const char *text, size_t bytes) {
  *at++ = (char)key;
  at = put_varint(at, bytes);
  if (bytes > 0) memcpy(at, text, bytes);
  return at + bytes;
}

static gather_status make_header(const gather_writing *what, int64_t align_bytes, int64_t data_bytes, gather_header *header,
                                 gather_error *error) {
  (void)align_bytes;
  const gather_type_info *type = gather_type_get(what->type);
  const char *name = what->name ? what->name : "";
  int64_t name_bytes = (int64_t)strlen(name);
  if (type->kind == GATHER_KIND_STRING) data_bytes = 0;
  GATHER_TRY(check_size(data_bytes, error));
  GATHER_TRY(check_size(name_bytes, error));
  header->bytes = gather_alloc(name_bytes + (what->rank + 3) * (VARINT_MAX + 1));
  if (!header->bytes) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for the file's header");
  char *at = header->bytes;
  for (int32_t d = 0; d < what->rank; d++) {
    *at++ = (char)KEY_DIMS;
    at = put_varint(at, (uint64_t)what->shape[d]);
  }
  *at++ = (char)KEY_DATA_TYPE;
  at = put_varint(at, (uint64_t)type->onnx);
  if (name_bytes > 0) at = put_text(at, KEY_NAME, name, (size_t)name_bytes);
  if (type->kind != GATHER_KIND_STRING) {
    *at++ = (char)KEY_RAW_DATA;
    at = put_varint(at, (uint64_t)data_bytes);
  }
  header->size = at - header->bytes;
  return check_size(header->size + data_bytes, error);
}

/* The bytes that strings take; -1 if too many. */
static int64_t strings_bytes(const gather_string *strings, int64_t len) {
  int64_t total = 0;
  for (int64_t i = 0; i < len; i++) {
    if (strings[i].bytes > INT32_MAX) return -1;
    int64_t bytes = (int64_t)strings[i].bytes;
    if (!gather_add(total, 1 + varint_bytes((uint64_t)bytes) + bytes, &total)) return -1;
  }
  return total;
}

gather_status gather_pb_strings_size(const gather_string *strings, int64_t len, int64_t header_bytes, int64_t *bytes, gather_error *error) {
  *bytes = strings_bytes(strings, len);
  return check_size(*bytes < 0 ? *bytes : header_bytes + *bytes, error);
}

void gather_pb_strings(const gather_string *strings, int64_t len, char *target) {
  for (int64_t i = 0; i < len; i++) target = put_text(target, KEY_STRING_DATA, strings[i].text, strings[i].bytes);
}

const gather_format_writer gather_pb_writer = {carries, make_header, NULL};

#ifdef GATHER_HAVE_NANOPB

/* ---- the file's tensors */

static gather_status full_name(gather_onnx *onnx, const char *path, const char *name, const char **full) {
  size_t before = strlen(path), length = strlen(name);
  char *text = NULL;
  *full = name;
  if (before == 0) return GATHER_OK;
  GATHER_TRY(gather_onnx_take(onnx, (int64_t)(before + length) + 1, 1, &text));
  memcpy(text, path, before);
  memcpy(text + before, name, length);
  *full = text;
  return GATHER_OK;
}

/* The graphs' constants as the file's tensors. */
static gather_status list_tensors(gather_onnx *onnx) {
  gather_file *file = onnx->file;
  int64_t count = 0;
  const char **plain = NULL;
  for (const gather_onnx_scope *scope = onnx->first; scope; scope = scope->next) count += scope->graph->constant_count;
  GATHER_TRY(gather_onnx_take(onnx, count, sizeof *file->tensors, &file->tensors));
  GATHER_TRY(gather_onnx_take(onnx, count, sizeof *plain, &plain));
  file->plain_names = plain;
  for (const gather_onnx_scope *scope = onnx->first; scope; scope = scope->next)
    for (int64_t i = 0; i < scope->graph->constant_count; i++) {
      gather_file_tensor *tensor = &file->tensors[file->len];
      *tensor = scope->graph->constants[i].tensor;
      plain[file->len++] = tensor->name;
      GATHER_TRY(full_name(onnx, scope->path, tensor->name, &tensor->name));
    }
  return GATHER_OK;
}

/* ---- reading */

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

static const uint8_t MODEL_WIRES[27] = {[1] = NUMBER,   [2] = ANY_LIST, [3] = ANY_LIST,  [4] = ANY_LIST,  [5] = NUMBER,    [6] = ANY_LIST,
                                        [7] = ANY_LIST, [8] = ANY_LIST, [14] = ANY_LIST, [20] = ANY_LIST, [25] = ANY_LIST, [26] = ANY_LIST};

/* The result of scanning the top-level fields. */
typedef struct looks {
  bool tensor, model; /* no field contradicts it */
  bool has_type, has_graph, has_version;
  bool whole; /* the scan reached the end */
} looks;

static void look_at(looks *l, const gather_proto_field *field, bool is_first) {
  uint32_t wire = 1u << field->wire, number = field->number;
  if (number < sizeof TENSOR_WIRES && TENSOR_WIRES[number] != 0 && (TENSOR_WIRES[number] & wire) == 0) l->tensor = false;
  if (number < sizeof MODEL_WIRES && MODEL_WIRES[number] != 0 && (MODEL_WIRES[number] & wire) == 0) l->model = false;
  if (number == 2 && field->wire == GATHER_PROTO_VARINT && field->value < 256) l->has_type = true;
  if (number == GRAPH && field->wire == GATHER_PROTO_BYTES) l->has_graph = true;
  if (is_first && number == 1 && field->wire == GATHER_PROTO_VARINT && field->value > 0 && field->value < 1000) l->has_version = true;
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

static bool recognise_model(const gather_map *map) {
  if (map->size == 0) return false;
  looks l = look(map);
  if (!l.model || (l.tensor && l.has_type)) return false;
  return l.has_version || (l.whole && l.has_graph);
}

static bool recognise_tensor(const gather_map *map) {
  if (map->size == 0) return false;
  looks l = look(map);
  uint8_t first = map->bytes[0];
  return l.tensor && l.has_type && (l.whole || first == 0x08 || first == 0x0a || first == 0x10);
}

/* ---- opening */

static gather_status open_tensor(gather_file *file, gather_error *error) {
  gather_onnx onnx = {.file = file, .error = error};
  gather_proto message = {&file->map, 0, file->map.size};
  GATHER_TRY(gather_onnx_take(&onnx, 1, sizeof *file->tensors, &file->tensors));
  file->len = 1;
  return gather_onnx_tensor(&onnx, message, &file->tensors[0]);
}

/* A model while it is read. */
typedef struct model_parts {
  int64_t version;
  gather_proto_field graph;
  gather_function *functions;
  int64_t function_count;
} model_parts;

/* The singular fields of a model; the last graph counts. */
static gather_status read_head(gather_onnx *onnx, gather_proto message, model_parts *model) {
  static const gather_onnx_import FIRST = {"", 1};
  static const gather_onnx_row FIELDS[] = {{IR_VERSION, GATHER_ONNX_NUMBER, offsetof(model_parts, version), NULL},
                                           {GRAPH, GATHER_ONNX_FIELD, offsetof(model_parts, graph), NULL},
                                           {0}};
  GATHER_TRY(gather_onnx_imports_read(onnx, message, IMPORT));
  GATHER_TRY(gather_onnx_read(onnx, message, FIELDS, model));
  /* Before IR version 3, models had no imports, and there was one operator set. */
  if (onnx->imports.count == 0 && model->version < 3) onnx->imports = (gather_onnx_imports){&FIRST, 1};
  if (model->graph.number == 0) return GATHER_ONNX_WRONG(onnx, onnx->file->map.size, "the model has no graph");
  return gather_onnx_is(onnx, &model->graph, GATHER_PROTO_BYTES);
}

static gather_status add_function(gather_onnx *onnx, const gather_proto_field *field, void *into) {
  model_parts *model = into;
  return gather_onnx_function(onnx, field->inner, &model->functions[model->function_count++]);
}

static gather_status open_model(gather_file *file, gather_error *error) {
  gather_onnx onnx = {.file = file, .error = error};
  gather_proto message = {&file->map, 0, file->map.size};
  gather_graph_file *model = NULL;
  model_parts read = {0};
  int64_t counts[FUNCTION + 1];
  onnx.last = &onnx.first;
  GATHER_TRY(gather_onnx_take(&onnx, 1, sizeof *model, &model));
  GATHER_TRY(read_head(&onnx, message, &read));
  GATHER_TRY(gather_onnx_graph(&onnx, read.graph.inner, NULL, "", 1, &model->graph));
  GATHER_TRY(gather_onnx_count(&onnx, message, FUNCTION + 1, counts));
  GATHER_TRY(gather_onnx_take(&onnx, counts[FUNCTION], sizeof *read.functions, &read.functions));
  GATHER_TRY(gather_onnx_each(&onnx, message, FUNCTION, add_function, &read));
  GATHER_TRY(list_tensors(&onnx));
  model->dialect = "onnx";
  model->version = read.version;
  model->functions = read.functions;
  model->function_count = read.function_count;
  file->graph = model;
  return GATHER_OK;
}

const gather_format_reader gather_onnx_reader = {recognise_model, open_model};
const gather_format_reader gather_pb_reader = {recognise_tensor, open_tensor};

#endif
