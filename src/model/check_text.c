/* SPDX-License-Identifier: MIT
 *
 * check_text.c: a check as text for people: one summary line, one line per node, and details below bad and unknown nodes. Parts of it
 * concern a whole model: nodes that are not checked, tensors that cannot be read.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/struct.h"
#include "io/format/text/utf8.h"
#include "model/model_check.h"

/* ---- of a whole model */

enum { MOST_FILES = 4 };

typedef struct cause {
  gather_error first; /* why the first of them cannot be read */
  int64_t count;      /* of tensors */
} cause;

/* Adds a tensor to those with the same status and file; false where there are too many files. */
static bool add(cause *causes, int *count, const gather_error *why) {
  for (int i = 0; i < *count; i++) {
    if (causes[i].first.status != why->status || strcmp(causes[i].first.file, why->file) != 0) continue;
    causes[i].count++;
    return true;
  }
  if (*count == MOST_FILES) return false;
  causes[(*count)++] = (cause){*why, 1};
  return true;
}

/* Adds a line for each file that is missing or too short. all: where the rest is listed; NULL. */
static void file_unreadable_lines(const gather_file *file, const char *all, gather_growing *to) {
  cause causes[MOST_FILES];
  gather_error why;
  int count = 0;
  int64_t more = 0;
  for (int64_t i = 0; file && i < gather_file_len(file); i++) {
    const gather_file_tensor *tensor = gather_file_at(file, i);
    if (gather_file_is_remote(tensor) || gather_file_tensor_check(tensor, &why) == GATHER_OK) continue;
    more += !add(causes, &count, &why);
  }
  for (int i = 0; i < count; i++) {
    gather_growing_print(to, "%" PRId64 " %s cannot be read: ", causes[i].count, causes[i].count == 1 ? "tensor" : "tensors");
    gather_text_put(to, causes[i].first.message);
    gather_growing_char(to, '\n');
  }
  if (more > 0) gather_growing_print(to, "%" PRId64 " more in other files cannot be read%s%s\n", more, all ? "; " : "", all ? all : "");
}

gather_status gather_file_unreadable_text(const gather_file *file, const char *all, char **text, gather_error *error) {
  gather_growing to = {0};
  file_unreadable_lines(file, all, &to);
  return gather_growing_finish(&to, "the tensors that cannot be read", text, NULL, error);
}

/* Adds "2 ScatterND nodes and 1 ScatterUpdate node", and returns how many nodes that are. */
static int64_t not_checked_words(const gather_model *model, gather_growing *to) {
  const int64_t count = model->info.not_checked_count;
  int64_t nodes = 0;
  for (int64_t i = 0; i < count; i++) {
    const int64_t here = model->info.not_checked[i].nodes;
    const char *between = i == 0 ? "" : i == count - 1 ? " and " : ", ";
    gather_growing_print(to, "%s%" PRId64 " %s %s", between, here, model->info.not_checked[i].op, here == 1 ? "node" : "nodes");
    nodes += here;
  }
  return nodes;
}

/* ---- of a check */

enum { OP_BYTES = 100, SHAPES_BYTES = 200, WIDEST_SHAPES = 44 };

/* The texts of one node's line, and their widths. */
typedef struct line {
  char op[OP_BYTES], axis[32], shapes[SHAPES_BYTES];
} line;

typedef struct widths {
  int op, axis, shapes;
} widths;

static int columns_of(const char *text) {
  int columns = 0;
  for (; *text; text++) columns += ((unsigned char)*text & 0xc0) != 0x80;
  return columns;
}

static void add_shape(char *text, size_t bytes, const gather_operand *operand) {
  size_t at = strlen(text);
  if (operand->rank < 0) {
    (void)snprintf(text + at, bytes - at, "[?...]");
    return;
  }
  for (int32_t d = 0; d < operand->rank && at + 60 < bytes; d++) {
    const gather_dim *dim = &operand->dims[d];
    const char *before = d ? ", " : "[";
    int len = dim->min == dim->max ? snprintf(text + at, bytes - at, "%s%" PRId64, before, dim->min)
                                   : snprintf(text + at, bytes - at, "%s%.30s", before, dim->symbol ? dim->symbol : "?");
    at += (size_t)len;
  }
  (void)snprintf(text + at, bytes - at, operand->rank ? "]" : "[]");
}

/* How many numbers a tuple has. */
static void tuples_text(const gather_model_node *node, char *text, size_t bytes) {
  if (node->component_count < 0)
    (void)snprintf(text, bytes, "tuples");
  else
    (void)snprintf(text, bytes, "tuples of %" PRId32, node->component_count);
}

static line line_of(const gather_model_node *node) {
  line l = {.axis = "axis ?"};
  (void)snprintf(l.op, sizeof l.op, "%s %s", node->op, node->rules ? node->rules->rules : "of an unknown version");
  if (node->rules && node->rules->tuples != GATHER_TUPLES_NONE)
    tuples_text(node, l.axis, sizeof l.axis);
  else if (node->axis_known)
    (void)snprintf(l.axis, sizeof l.axis, "axis %" PRId64, node->axis);
  size_t at = strlen(l.axis);
  if (node->batch_dims) (void)snprintf(l.axis + at, sizeof l.axis - at, " batch %" PRId64, node->batch_dims);
  add_shape(l.shapes, sizeof l.shapes / 2, &node->data);
  at = strlen(l.shapes);
  (void)snprintf(l.shapes + at, sizeof l.shapes - at, " by ");
  add_shape(l.shapes, sizeof l.shapes, &node->indices);
  return l;
}

static void widen(widths *w, const line *l) {
  int op = columns_of(l->op), axis = columns_of(l->axis), shapes = columns_of(l->shapes);
  if (op > w->op) w->op = op;
  if (axis > w->axis) w->axis = axis;
  if (shapes > w->shapes && shapes <= WIDEST_SHAPES) w->shapes = shapes;
}

static void put_wide(gather_growing *to, const char *text, int width) {
  gather_text_put(to, text);
  int left = width - columns_of(text);
  gather_growing_print(to, "%*s", left > 0 ? left + 2 : 2, "");
}

/* A line of text under a node. */
static void put_word(gather_growing *to, const char *label, const char *text) {
  if (!*text) return;
  gather_growing_print(to, "         %-8s ", label);
  gather_text_put(to, text);
  gather_growing_char(to, '\n');
}

static void put_operand(gather_growing *to, const char *role, const gather_operand *operand, const char *more) {
  char text[700], shape[SHAPES_BYTES] = "";
  const gather_type_info *type = gather_type_get(operand->type);
  add_shape(shape, sizeof shape, operand);
  (void)snprintf(text, sizeof text, "%.200s %s %s%s", operand->name, type ? type->name : "of unknown type", shape, more);
  put_word(to, role, text);
}

/* ": 4 from 0 to 9"; for tuples ": 4 numbers, 0 to 9 on axis 0, -1 to 2 on axis 1". */
static size_t ranges_text(const gather_model_node *node, char *text, size_t bytes) {
  const bool tuples = node->rules && node->rules->tuples != GATHER_TUPLES_NONE && node->component_count > 0;
  const char *one = node->value_is_unsigned ? " from %" PRIu64 " to %" PRIu64 : " from %" PRId64 " to %" PRId64;
  const char *many = node->value_is_unsigned ? ", %" PRIu64 " to %" PRIu64 : ", %" PRId64 " to %" PRId64;
  size_t at = (size_t)snprintf(text, bytes, ": %" PRId64 "%s", node->index_count, tuples ? " numbers" : "");
  if (!tuples) return at + (size_t)snprintf(text + at, bytes - at, one, node->min, node->max);
  for (int32_t c = 0; c < node->component_count && at + 80 < bytes; c++) {
    const gather_model_component *component = &node->components[c];
    at += (size_t)snprintf(text + at, bytes - at, many, component->min, component->max);
    at += (size_t)snprintf(text + at, bytes - at, " on axis %" PRId64, component->axis);
  }
  return at;
}

static void put_operands(gather_growing *to, const gather_model_node *node) {
  char more[400];
  (void)snprintf(more, sizeof more, ", %s", gather_source_name(node->data.source));
  put_operand(to, "data", &node->data, more);
  size_t at = (size_t)snprintf(more, sizeof more, ", %s", gather_source_name(node->indices.source));
  if (node->indices_known && node->index_count > 0) {
    at += ranges_text(node, more + at, sizeof more - at);
    if (node->bad_known) (void)snprintf(more + at, sizeof more - at, ", %" PRId64 " out of range", node->bad);
  }
  put_operand(to, "indices", &node->indices, more);
  put_operand(to, "output", &node->output, "");
}

static void put_said(gather_growing *to, int indent, const char *who, const char *text) {
  gather_growing_print(to, "%*s%-12s ", indent, "", who);
  gather_text_put(to, text);
  gather_growing_char(to, '\n');
}

void gather_model_bad_text(const gather_model_node *node, int indent, gather_growing *to) {
  for (size_t i = 0; gather_runtime_name(i); i++) put_said(to, indent, gather_runtime_name(i), gather_runtime_behaviour(i, node));
}

/* The path, of any length. */
static void put_path(gather_growing *to, const gather_model_node *node) {
  char number[64];
  (void)snprintf(number, sizeof number, "%s_%" PRId64, node->op, node->number);
  gather_text_put(to, node->graph);
  gather_growing_char(to, '/');
  gather_text_put(to, *node->name ? gather_path_name(node->name) : number);
}

/* Without command-line syntax: "a tensor for 'a', a tensor for 'b'". */
static void write_neutral(const gather_advice *advice, char *text, size_t bytes) {
  size_t at = 0;
  text[0] = '\0';
  for (int64_t i = 0; i < advice->count && at < bytes; i++) {
    int len = snprintf(text + at, bytes - at, "%s%s '%.100s'", i ? ", " : "",
                       advice->kind == GATHER_ADVICE_DIMS ? "a length for" : "a tensor for", advice->names[i]);
    at += len > 0 ? (size_t)len : 0;
  }
}

static void put_advice(gather_growing *to, const gather_check_text_options *options, int64_t i) {
  char text[700];
  const gather_advice *advice = options->advice ? gather_check_advice_at(options->advice, i) : NULL;
  if (!advice || advice->kind == GATHER_ADVICE_NONE) return;
  text[0] = '\0';
  if (options->writer)
    options->writer(options->context, advice, text, sizeof text);
  else
    write_neutral(advice, text, sizeof text);
  put_word(to, "give", text);
}

static bool has_bad(const gather_model_node *node) {
  return node->verdict == GATHER_VERDICT_BAD || node->bad > 0 || node->repeated; /* also bad ones that the rules repair */
}

static void put_node(gather_growing *to, const gather_check_text_options *options, const gather_model_node *node, int64_t i,
                     const widths *w) {
  line l = line_of(node);
  gather_growing_print(to, "%-8s ", gather_verdict_name(node->verdict));
  put_wide(to, l.op, w->op);
  put_wide(to, l.axis, w->axis);
  put_wide(to, l.shapes, w->shapes);
  put_path(to, node);
  gather_growing_char(to, '\n');
  if (has_bad(node)) put_operands(to, node);
  put_word(to, node->verdict == GATHER_VERDICT_OK ? "note" : "why", node->reason);
  put_advice(to, options, i);
  if (!node->type_listed) gather_growing_print(to, "         note     %s does not list these types\n", node->rules->rules);
  if (has_bad(node) && *node->cause) put_said(to, 9, "likely", node->cause);
  if (has_bad(node)) gather_model_bad_text(node, 9, to);
}

/* How many of the unknown nodes are not executed, in brackets; "". */
static const char *not_executed(const gather_check *check, char *text, size_t bytes) {
  int64_t skipped = 0;
  for (int64_t i = 0; i < check->count; i++) skipped += gather_check_at(check, i)->not_executed;
  *text = '\0';
  if (skipped > 0) (void)snprintf(text, bytes, " (%" PRId64 " not executed)", skipped);
  return text;
}

/* The summary line. */
static void put_counts(gather_growing *to, const gather_check *check, const gather_check_text_options *options) {
  int64_t count = check->count;
  char skipped[60];
  const gather_file *file = check->model->file; /* NULL: the model was made in memory */
  gather_text_put(to, options->name ? options->name : "model");
  gather_growing_print(to, ": %s, ", file ? gather_file_format(file) : check->model->info.dialect);
  if (count == 0)
    gather_growing_text(to, "no gather nodes");
  else
    gather_growing_print(to, "%" PRId64 " gather %s: %" PRId64 " ok, %" PRId64 " unknown%s, %" PRId64 " bad", count,
                         count == 1 ? "node" : "nodes", check->info.ok, check->info.unknown, not_executed(check, skipped, sizeof skipped),
                         check->info.bad);
  if (check->model->info.not_checked_count > 0) {
    gather_growing_text(to, "; ");
    int64_t nodes = not_checked_words(check->model, to);
    gather_growing_text(to, nodes == 1 ? " is not checked" : " are not checked");
  }
  gather_growing_text(to, count == 0 || options->compact ? "\n" : "\n\n");
}

static void put_contradictions(gather_growing *to, const gather_check *check) {
  for (int64_t i = 0; i < check->info.contradiction_count; i++) {
    gather_growing_text(to, "contradiction: ");
    gather_text_put(to, check->info.contradictions[i]);
    gather_growing_text(to, "\n");
  }
}

/* Whether a node is shown. */
static bool is_shown(const gather_check_text_options *options, const gather_model_node *node, int64_t i) {
  return (options->node == GATHER_CHECK_TEXT_ALL || options->node == i) && (!options->only_bad || has_bad(node));
}

static void put_nodes(gather_growing *to, const gather_check *check, const gather_check_text_options *options) {
  widths w = {0, 0, 0};
  for (int pass = 0; pass < 2; pass++)
    for (int64_t i = 0; i < check->count; i++) {
      const gather_model_node *node = gather_check_at(check, i);
      if (!is_shown(options, node, i)) continue;
      line l = line_of(node);
      if (pass == 0)
        widen(&w, &l);
      else
        put_node(to, options, node, i, &w);
    }
}

gather_status gather_check_text(const gather_check *check, const gather_check_text_options *options, char **text, size_t *bytes,
                                gather_error *error) {
  gather_check_text_options full = GATHER_CHECK_TEXT_OPTIONS_INIT;
  gather_growing to = {0};
  if (!check || !text) return gather_fail(error, GATHER_USAGE, "the check or the place for its text is NULL");
  GATHER_TRY(gather_struct_read(&full, sizeof full, options, "gather_check_text_options", "GATHER_CHECK_TEXT_OPTIONS_INIT", error));
  if (full.node >= check->count || full.node < GATHER_CHECK_TEXT_HEAD)
    return gather_fail(error, GATHER_USAGE, "no such node %" PRId64 "; the check has %" PRId64 " nodes", full.node, check->count);
  bool nothing = full.only_bad && check->info.bad == 0;
  if (!nothing && full.node < 0) {
    put_counts(&to, check, &full);
    file_unreadable_lines(check->model->file, full.unreadable_all, &to);
    put_contradictions(&to, check);
  }
  if (!nothing) put_nodes(&to, check, &full);
  return gather_growing_finish(&to, "the text of a check", text, bytes, error);
}
