/* SPDX-License-Identifier: MIT
 *
 * ir.c: recognises and opens OpenVINO IR (.xml with its .bin). expat parses the XML; a build without expat does not support the format.
 */
#include "io/format/ir/ir.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/error.h"
#include "core/base/heap.h"

/* ---- recognising it */

static const uint8_t *find(const uint8_t *at, const uint8_t *end, const char *text) {
  size_t length = strlen(text);
  for (; (size_t)(end - at) >= length; at++) {
    at = memchr(at, text[0], (size_t)(end - at));
    if (!at || (size_t)(end - at) < length) return NULL;
    if (memcmp(at, text, length) == 0) return at;
  }
  return NULL;
}

static bool begins(const uint8_t *at, const uint8_t *end, const char *text) {
  size_t length = strlen(text);
  return (size_t)(end - at) >= length && memcmp(at, text, length) == 0;
}

static bool is_blank(uint8_t c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

/* The end of a comment or <?...?> at `at`; NULL if it does not end, `at` if there is none. */
static const uint8_t *skip_remark(const uint8_t *at, const uint8_t *end) {
  const char *last = begins(at, end, "<?") ? "?>" : begins(at, end, "<!--") ? "-->" : NULL;
  if (!last) return at;
  const uint8_t *found = find(at, end, last);
  return found ? found + strlen(last) : NULL;
}

/* Whether only blanks or a tag are at the start, so that it is worth reading on. */
static bool may_be_xml(const uint8_t *bytes, int64_t size) {
  int64_t at = size >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
  while (at < size && is_blank(bytes[at])) at++;
  return at == size || bytes[at] == '<';
}

/* *cut: more bytes could change the answer. */
static bool is_net(const uint8_t *bytes, int64_t size, bool *cut) {
  const uint8_t *at = bytes, *end = bytes + size;
  *cut = true;
  if (begins(at, end, "\xef\xbb\xbf")) at += 3;
  for (;;) {
    const uint8_t *start = at;
    while (at < end && is_blank(*at)) at++;
    at = skip_remark(at, end);
    if (!at) return false;
    if (at == start) break;
  }
  if (begins(at, end, "<!DOCTYPE net")) return true; /* refused later, with a reason */
  *cut = end - at < (int64_t)sizeof "<!DOCTYPE net";
  return begins(at, end, "<net") && end - at > 4 && (is_blank(at[4]) || at[4] == '>' || at[4] == '/');
}

static bool recognise(const gather_map *map) {
  enum { FIRST = 1 << 12, MOST = 1 << 24 }; /* remote: remarks before the root element may be so long */
  bool cut, found;
  int64_t size = map->remote && map->size > GATHER_FORMAT_HEAD ? GATHER_FORMAT_HEAD : map->size;
  if (size == 0) return false;
  for (;;) {
    if (gather_map_need(map, 0, size, NULL) != GATHER_OK) return false;
    found = is_net(map->bytes, size, &cut);
    if (!cut || size == map->size || size >= MOST || !may_be_xml(map->bytes, size)) return found;
    size = size < FIRST ? FIRST : 8 * size;
    if (size > map->size) size = map->size;
  }
}

#ifdef GATHER_HAVE_EXPAT

#include <expat.h>

/* ---- the XML, parsed by expat into the tree of ir.h. Elements that do not concern the graph are skipped with their content. Document
 * types are refused: entities can expand without limit. */

/* PIECE_BYTES: expat takes an int. */
enum { MOST_DEPTH = 200, PIECE_BYTES = 64 * 1024 * 1024, DIM_BYTES = 32 };

typedef enum ir_kind {
  IN_OTHER = 0,
  IN_NET,
  IN_LAYERS,
  IN_EDGES,
  IN_LAYER,
  IN_INPUT,
  IN_OUTPUT,
  IN_PORT,
  IN_DIM,
  IN_PORT_MAP,
  IN_BACK_EDGES
} ir_kind;

/* An element that is open. */
typedef struct ir_frame {
  ir_kind kind;
  ir_net *net;
  ir_layer *layer;
  ir_port *port;
  const char *body; /* the body that the port map is for */
} ir_frame;

typedef struct ir_parser {
  ir_reader *reader;
  XML_Parser expat;
  gather_status status; /* of the first error; nothing is read after it */
  int32_t depth;
  ir_frame frames[MOST_DEPTH];
  int64_t dims[GATHER_MAX_RANK]; /* of the port that is open */
  char dim[DIM_BYTES];           /* the text of the <dim> that is open */
  size_t dim_bytes;
} ir_parser;

/* ---- errors and attributes */

/* Expat 2.9 deprecates the older function, whose type has 32 bits on some systems. */
#if XML_MAJOR_VERSION > 2 || XML_MINOR_VERSION >= 9
#define CURRENT_BYTE XML_GetCurrentByteIndex64
#else
#define CURRENT_BYTE XML_GetCurrentByteIndex
#endif

static int64_t here(const ir_parser *p) { return (int64_t)CURRENT_BYTE(p->expat); }

static void stop(ir_parser *p, gather_status status) {
  p->status = status;
  (void)XML_StopParser(p->expat, XML_FALSE);
}

#define STOP(p, status, ...) stop(p, GATHER_IR_FAIL((p)->reader, status, here(p), __VA_ARGS__))

static void *take(ir_parser *p, size_t bytes) {
  void *memory = gather_arena_take(&p->reader->tree, 1, (int64_t)bytes);
  if (!memory) stop(p, GATHER_IR_NO_MEMORY(p->reader));
  return memory;
}

static const char *keep(ir_parser *p, const char *text) {
  if (text[0] == '\0') return "";
  const char *kept = gather_arena_text(&p->reader->file->arena, text, strlen(text));
  if (!kept) stop(p, GATHER_IR_NO_MEMORY(p->reader));
  return kept ? kept : "";
}

static const char *find_attribute(const char **attributes, const char *name) {
  for (; *attributes; attributes += 2)
    if (strcmp(attributes[0], name) == 0) return attributes[1];
  return NULL;
}

/* The text of a required attribute; "" after an error. */
static const char *text_of(ir_parser *p, const char **attributes, const char *element, const char *name) {
  const char *text = find_attribute(attributes, name);
  if (text) return keep(p, text);
  STOP(p, GATHER_FILE_MALFORMED, "a <%s> has no %s", element, name);
  return "";
}

/* A required attribute that is a non-negative number. */
static int64_t number_of(ir_parser *p, const char **attributes, const char *element, const char *name) {
  const char *text = find_attribute(attributes, name);
  int64_t number = 0;
  if (!text)
    STOP(p, GATHER_FILE_MALFORMED, "a <%s> has no %s", element, name);
  else if (!gather_ir_integer(text, &number) || number < 0)
    STOP(p, GATHER_FILE_MALFORMED, "invalid %s '%.40s' of a <%s>", name, text, element);
  return number;
}

/* ---- elements */

static ir_net *new_net(ir_parser *p, const char *name) {
  ir_net *net = take(p, sizeof *net);
  if (!net) return NULL;
  net->name = keep(p, name);
  net->layer_tail = &net->layers;
  net->edge_tail = &net->edges;
  return net;
}

static void begin_net(ir_parser *p, const char *element, const char **attributes, ir_frame *frame) {
  if (strcmp(element, "net") != 0) {
    STOP(p, GATHER_FILE_MALFORMED, "an OpenVINO model is a <net>, this is a <%.40s>", element);
    return;
  }
  int64_t version = number_of(p, attributes, "net", "version");
  if (p->status != GATHER_OK) return;
  if (version != 10 && version != 11) {
    STOP(p, GATHER_UNSUPPORTED, "version %" PRId64 " of OpenVINO IR is not supported; 10 and 11 are", version);
    return;
  }
  const char *name = find_attribute(attributes, "name");
  p->reader->version = version;
  p->reader->net = frame->net = new_net(p, name ? name : "");
  frame->kind = IN_NET;
}

static void begin_layer(ir_parser *p, const char **attributes, ir_frame *frame) {
  ir_layer *layer = take(p, sizeof *layer);
  if (!layer) return;
  const char *output_names = find_attribute(attributes, "output_names");
  layer->offset = here(p);
  layer->id = number_of(p, attributes, "layer", "id");
  if (p->status == GATHER_OK) layer->name = text_of(p, attributes, "layer", "name");
  if (p->status == GATHER_OK) layer->type = text_of(p, attributes, "layer", "type");
  if (p->status == GATHER_OK) layer->version = text_of(p, attributes, "layer", "version");
  if (p->status != GATHER_OK) return;
  layer->output_names = keep(p, output_names ? output_names : "");
  layer->pair_tail = &layer->pairs;
  layer->input_tail = &layer->inputs;
  layer->output_tail = &layer->outputs;
  layer->body_tail = &layer->bodies;
  p->reader->constant_count += gather_ir_is(layer, "Constant");
  frame->net->layer_count++;
  *frame->net->layer_tail = layer;
  frame->net->layer_tail = &layer->next;
  frame->layer = layer;
  frame->kind = IN_LAYER;
}

static void begin_edge(ir_parser *p, const char **attributes, const ir_frame *frame) {
  static const char *const NAMES[] = {"from-layer", "from-port", "to-layer", "to-port"};
  ir_edge *edge = take(p, sizeof *edge);
  if (!edge) return;
  int64_t *const numbers[] = {&edge->from_layer, &edge->from_port, &edge->to_layer, &edge->to_port};
  for (int i = 0; i < 4 && p->status == GATHER_OK; i++) *numbers[i] = number_of(p, attributes, "edge", NAMES[i]);
  edge->offset = here(p);
  *frame->net->edge_tail = edge;
  frame->net->edge_tail = &edge->next;
}

/* expat itself refuses duplicate attributes of an element. */
static void read_data(ir_parser *p, const char **attributes, ir_layer *layer) {
  if (layer->has_data) {
    STOP(p, GATHER_FILE_MALFORMED, "the layer '%.100s' has two <data> elements", layer->name);
    return;
  }
  layer->has_data = true;
  for (; *attributes && p->status == GATHER_OK; attributes += 2) {
    ir_pair *pair = take(p, sizeof *pair);
    if (!pair) return;
    pair->name = keep(p, attributes[0]);
    pair->text = keep(p, attributes[1]);
    layer->pair_count++;
    *layer->pair_tail = pair;
    layer->pair_tail = &pair->next;
  }
}

static void begin_body(ir_parser *p, const char *element, ir_frame *frame) {
  ir_body *body = take(p, sizeof *body);
  if (!body) return;
  body->name = keep(p, element);
  body->net = new_net(p, "");
  *frame->layer->body_tail = body;
  frame->layer->body_tail = &body->next;
  frame->layer->body_count++;
  frame->net = body->net;
  frame->layer = NULL;
  frame->kind = IN_NET;
}

/* Ids may be -1, which means no port. */
static int64_t id_of(const char **attributes, const char *name) {
  const char *text = find_attribute(attributes, name);
  int64_t number;
  return text && gather_ir_integer(text, &number) ? number : -1;
}

static void begin_mapping(ir_parser *p, const char *element, const char **attributes, const ir_frame *frame) {
  bool is_output = strcmp(element, "output") == 0, is_edge = strcmp(element, "edge") == 0;
  if (!is_output && !is_edge && strcmp(element, "input") != 0) return;
  ir_mapping *mapping = take(p, sizeof *mapping);
  if (!mapping) return;
  mapping->body = frame->body;
  mapping->is_output = is_output;
  mapping->changes = is_edge || find_attribute(attributes, "axis");
  mapping->external = is_edge ? -1 : id_of(attributes, "external_port_id");
  mapping->internal = id_of(attributes, is_edge ? "to-layer" : "internal_layer_id");
  mapping->next = frame->layer->mappings;
  frame->layer->mappings = mapping;
}

/* The body of a port map; NULL if the element is not a port map. */
static const char *mapped_body(const char *element) {
  static const char *const NAMES[][2] = {{"port_map", "body"}, {"then_port_map", "then_body"}, {"else_port_map", "else_body"}};
  for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
    if (strcmp(element, NAMES[i][0]) == 0) return NAMES[i][1];
  return NULL;
}

static void begin_port(ir_parser *p, const char **attributes, bool is_output, ir_frame *frame) {
  ir_layer *layer = frame->layer;
  ir_port *port = take(p, sizeof *port);
  if (!port) return;
  const char *names = find_attribute(attributes, "names"), *precision = find_attribute(attributes, "precision");
  port->layer = layer;
  port->is_output = is_output;
  port->offset = here(p);
  port->id = number_of(p, attributes, "port", "id");
  port->names = keep(p, names ? names : "");
  port->precision = keep(p, precision ? precision : "");
  port->position = is_output ? layer->output_count++ : layer->input_count++;
  ir_port ***tail = is_output ? &layer->output_tail : &layer->input_tail;
  **tail = port;
  *tail = &port->next;
  frame->net->port_count++;
  frame->port = port;
  frame->kind = IN_PORT;
}

static void begin_in_layer(ir_parser *p, const char *element, const char **attributes, ir_frame *frame) {
  if (strcmp(element, "data") == 0) {
    read_data(p, attributes, frame->layer);
  } else if (strcmp(element, "input") == 0) {
    frame->kind = IN_INPUT;
  } else if (strcmp(element, "output") == 0) {
    frame->kind = IN_OUTPUT;
  } else if (strcmp(element, "body") == 0 || strcmp(element, "then_body") == 0 || strcmp(element, "else_body") == 0) {
    begin_body(p, element, frame);
  } else if (strcmp(element, "back_edges") == 0) {
    frame->kind = IN_BACK_EDGES;
    frame->body = "body";
  } else if (mapped_body(element)) {
    frame->kind = IN_PORT_MAP;
    frame->body = mapped_body(element);
  }
}

/* Reads an element inside one of the kind `parent`; frame begins as its copy, of the kind IN_OTHER. */
static void begin_element(ir_parser *p, ir_kind parent, const char *element, const char **attributes, ir_frame *frame) {
  if (parent == IN_NET && strcmp(element, "layers") == 0) frame->kind = IN_LAYERS;
  if (parent == IN_NET && strcmp(element, "edges") == 0) frame->kind = IN_EDGES;
  if (parent == IN_LAYERS && strcmp(element, "layer") == 0) begin_layer(p, attributes, frame);
  if (parent == IN_EDGES && strcmp(element, "edge") == 0) begin_edge(p, attributes, frame);
  if (parent == IN_PORT_MAP || parent == IN_BACK_EDGES) begin_mapping(p, element, attributes, frame);
  if (parent == IN_LAYER) begin_in_layer(p, element, attributes, frame);
  if ((parent == IN_INPUT || parent == IN_OUTPUT) && strcmp(element, "port") == 0) begin_port(p, attributes, parent == IN_OUTPUT, frame);
  if (parent == IN_PORT && strcmp(element, "dim") == 0) {
    frame->kind = IN_DIM;
    p->dim_bytes = 0;
  }
}

static void end_dim(ir_parser *p, ir_port *port) {
  int64_t dim;
  p->dim[p->dim_bytes] = '\0';
  if (!gather_ir_integer(p->dim, &dim) || dim < -1)
    STOP(p, GATHER_FILE_MALFORMED, "invalid length '%s' of a port of the layer '%.100s'", p->dim, port->layer->name);
  else if (port->rank == GATHER_MAX_RANK)
    STOP(p, GATHER_UNSUPPORTED, "a port of the layer '%.100s' has more than %d dimensions", port->layer->name, GATHER_MAX_RANK);
  else
    p->dims[port->rank++] = dim;
}

static void end_port(ir_parser *p, ir_port *port) {
  if (port->rank == 0) return;
  int64_t *dims = take(p, (size_t)port->rank * sizeof *dims);
  if (!dims) return;
  memcpy(dims, p->dims, (size_t)port->rank * sizeof *dims);
  port->dims = dims;
}

/* ---- expat's callbacks */

static void XMLCALL on_start(void *data, const XML_Char *element, const XML_Char **attributes) {
  ir_parser *p = data;
  if (p->status != GATHER_OK) return;
  if (p->depth == MOST_DEPTH) {
    STOP(p, GATHER_UNSUPPORTED, "elements are nested deeper than %d levels", MOST_DEPTH);
    return;
  }
  ir_frame *frame = &p->frames[p->depth++];
  if (p->depth == 1) {
    *frame = (ir_frame){0};
    begin_net(p, element, attributes, frame);
  } else {
    *frame = frame[-1];
    frame->kind = IN_OTHER;
    begin_element(p, frame[-1].kind, element, attributes, frame);
  }
}

static void XMLCALL on_end(void *data, const XML_Char *element) {
  ir_parser *p = data;
  (void)element;
  if (p->status != GATHER_OK) return;
  const ir_frame *frame = &p->frames[--p->depth];
  if (frame->kind == IN_DIM) end_dim(p, frame->port);
  if (frame->kind == IN_PORT) end_port(p, frame->port);
}

static void XMLCALL on_text(void *data, const XML_Char *text, int bytes) {
  ir_parser *p = data;
  if (p->status != GATHER_OK || p->depth == 0 || p->frames[p->depth - 1].kind != IN_DIM) return;
  if ((size_t)bytes >= DIM_BYTES - p->dim_bytes) {
    STOP(p, GATHER_FILE_MALFORMED, "a <dim> is too long for a number");
    return;
  }
  memcpy(p->dim + p->dim_bytes, text, (size_t)bytes);
  p->dim_bytes += (size_t)bytes;
}

static void XMLCALL on_doctype(void *data, const XML_Char *name, const XML_Char *system, const XML_Char *public, int has_subset) {
  ir_parser *p = data;
  (void)name, (void)system, (void)public, (void)has_subset;
  if (p->status == GATHER_OK) STOP(p, GATHER_UNSUPPORTED, "a document type (<!DOCTYPE>) is refused: no OpenVINO model needs one");
}

/* ---- the whole file */

static gather_status xml_error(ir_parser *p) {
  if (p->status != GATHER_OK) return p->status;
  enum XML_Error code = XML_GetErrorCode(p->expat);
  if (code == XML_ERROR_NO_MEMORY) return GATHER_IR_NO_MEMORY(p->reader);
  return GATHER_IR_FAIL(p->reader, GATHER_FILE_MALFORMED, here(p), "malformed XML: %s", XML_ErrorString(code));
}

static gather_status feed(ir_parser *p) {
  const gather_map *map = &p->reader->file->map;
  gather_status loaded = gather_map_need(map, 0, map->size, p->reader->error);
  if (loaded != GATHER_OK) return loaded;
  for (int64_t at = 0; at < map->size;) {
    int64_t left = map->size - at, piece = left < PIECE_BYTES ? left : PIECE_BYTES;
    enum XML_Status status = XML_Parse(p->expat, (const char *)map->bytes + at, (int)piece, piece == left ? XML_TRUE : XML_FALSE);
    if (status != XML_STATUS_OK || p->status != GATHER_OK) return xml_error(p);
    at += piece;
  }
  return GATHER_OK;
}

/* Parses the XML into reader->net. */
static gather_status parse(ir_reader *reader) {
  static const XML_Memory_Handling_Suite MEMORY = {gather_heap_malloc, gather_heap_realloc, gather_heap_free};
  ir_parser *p = gather_alloc((int64_t)sizeof *p);
  if (!p) return GATHER_IR_NO_MEMORY(reader);
  p->reader = reader;
  p->expat = XML_ParserCreate_MM(NULL, &MEMORY, NULL);
  gather_status status;
  if (p->expat) {
    XML_SetUserData(p->expat, p);
    XML_SetElementHandler(p->expat, on_start, on_end);
    XML_SetCharacterDataHandler(p->expat, on_text);
    XML_SetStartDoctypeDeclHandler(p->expat, on_doctype);
    status = feed(p);
    XML_ParserFree(p->expat);
  } else {
    status = GATHER_IR_NO_MEMORY(reader);
  }
  gather_free(p);
  return status;
}

/* ---- opening */

static gather_status build(ir_reader *reader) {
  gather_file *file = reader->file;
  gather_graph_file *made = gather_arena_take(&file->arena, 1, (int64_t)sizeof *made);
  file->tensors = gather_arena_take(&file->arena, reader->constant_count, (int64_t)sizeof *file->tensors);
  reader->plain_names = gather_arena_take(&file->arena, reader->constant_count, (int64_t)sizeof *reader->plain_names);
  if (!made || !file->tensors || !reader->plain_names) return GATHER_IR_NO_MEMORY(reader);
  *made = (gather_graph_file){.dialect = "openvino", .version = reader->version};
  GATHER_TRY(gather_ir_build(reader, reader->net, "", NULL, &made->graph));
  file->graph = made;
  file->plain_names = reader->plain_names;
  file->len = reader->tensor_count;
  return GATHER_OK;
}

static gather_status open_model(gather_file *file, gather_error *error) {
  ir_reader reader = {.file = file, .error = error};
  gather_status status = parse(&reader);
  if (status == GATHER_OK) status = build(&reader);
  gather_arena_clear(&reader.tree);
  return status;
}

const gather_format_reader gather_ir_reader = {recognise, open_model};

#else

const gather_format_reader gather_ir_reader = {recognise, NULL};

#endif
