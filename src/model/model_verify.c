/* SPDX-License-Identifier: MIT
 *
 * model_verify.c: one gather node: its operands, its indices, and the verdict. The code that gathers also checks the indices here.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/tensor.h"
#include "core/kernel/index_types.h"
#include "gather/tree.h"
#include "model/model_check.h"
#include "model/writing_check.h"

/* ---- what each number of an index selects on: its axis, the length of that axis, and the smallest and the largest of these numbers. An
 * index has one number, or is a tuple of them (GatherND) */

/* The smallest and the largest of one row of indices. */
#define GATHER_SCAN(ctype, suffix, ENUM, is_signed)                                                                              \
  static void scan_##suffix(const char *at, int64_t step, int64_t count, bool swapped, bool first, gather_model_component *to) { \
    ctype low = first ? load_##suffix(at, swapped) : (ctype)to->min, high = first ? low : (ctype)to->max;                        \
    for (int64_t i = 0; i < count; i++) {                                                                                        \
      ctype value = load_##suffix(at + i * step, swapped);                                                                       \
      low = value < low ? value : low;                                                                                           \
      high = value > high ? value : high;                                                                                        \
    }                                                                                                                            \
    to->min = (int64_t)low;                                                                                                      \
    to->max = (int64_t)high;                                                                                                     \
  }

GATHER_INDEX_TYPES_LIST(GATHER_SCAN)

static void scan_row(const gather_tensor *tensor, const char *at, int64_t step, int64_t count, bool first, gather_model_component *to) {
  bool swapped = (tensor->flags & GATHER_TENSOR_BYTE_SWAPPED) != 0;
  switch (tensor->type) {
#define GATHER_SCAN_CASE(ctype, suffix, ENUM, is_signed) \
  case GATHER_TYPE_##ENUM:                               \
    scan_##suffix(at, step, count, swapped, first, to);  \
    break;
    GATHER_INDEX_TYPES_LIST(GATHER_SCAN_CASE)
#undef GATHER_SCAN_CASE
    default:
      break;
  }
}

/* min and max of a tensor that is not empty, row by row along the last dimension. */
static void scan(const gather_tensor *tensor, gather_model_component *to) {
  int64_t strides[GATHER_MAX_RANK], at[GATHER_MAX_RANK] = {0};
  int32_t last = tensor->rank - 1;
  const char *base = tensor->data;
  gather_tensor_strides(tensor, strides);
  int64_t count = last < 0 ? 1 : tensor->shape[last], step = last < 0 ? 0 : strides[last];
  for (bool first = true, more = true; more; first = false) {
    scan_row(tensor, base, step, count, first, to);
    int32_t d = last - 1;
    for (; d >= 0; d--) {
      base += strides[d];
      if (++at[d] < tensor->shape[d]) break;
      base -= strides[d] * tensor->shape[d];
      at[d] = 0;
    }
    more = d >= 0;
  }
}

/* The numbers of one component: without the last dimension, which has all of a tuple. */
static void scan_component(const gather_tensor *tensor, int32_t component, gather_model_component *to) {
  int64_t strides[GATHER_MAX_RANK];
  gather_tensor view = *tensor;
  gather_tensor_strides(tensor, strides);
  view.rank--;
  view.strides = strides;
  view.data = (char *)tensor->data + component * strides[view.rank];
  scan(&view, to);
}

static bool is_below(const gather_model_node *out, int64_t a, int64_t b) {
  return out->value_is_unsigned ? (uint64_t)a < (uint64_t)b : a < b;
}

static void scan_all(gather_model_node *out, gather_model_component *components, int32_t count, bool tuples) {
  const gather_tensor *tensor = out->indices.value;
  out->index_count = gather_tensor_len(tensor);
  out->value_is_unsigned = tensor->type == GATHER_TYPE_UINT64;
  for (int32_t c = 0; out->index_count > 0 && c < count; c++) {
    gather_model_component *to = &components[c];
    if (tuples)
      scan_component(tensor, c, to);
    else
      scan(tensor, to);
    if (c == 0 || is_below(out, to->min, out->min)) out->min = to->min;
    if (c == 0 || is_below(out, out->max, to->max)) out->max = to->max;
  }
}

/* How many numbers an index has; -1 if not known. */
static int64_t tuple_len(const gather_model_node *out) {
  const gather_operand *indices = &out->indices;
  if (!out->rules || out->rules->tuples == GATHER_TUPLES_NONE) return 1;
  if (indices->rank < 1 || !gather_is_exact(&indices->dims[indices->rank - 1])) return -1;
  return indices->dims[indices->rank - 1].min;
}

/* Whether that many axes of data exist from the node's axis on. */
static bool fits(const gather_model_node *out, int64_t count) {
  return out->axis_known && count >= 0 && out->data.rank >= 1 && out->axis >= 0 && out->axis <= out->data.rank &&
         count <= out->data.rank - out->axis;
}

/* Fills in what each number of an index selects on, and the smallest and largest of them all, once the operands are set. */
static gather_status find_components(gather_check *check, gather_model_node *out, gather_error *error) {
  const int64_t len = tuple_len(out);
  const bool tuples = out->rules && out->rules->tuples != GATHER_TUPLES_NONE && len <= GATHER_MAX_RANK;
  const int32_t count = !tuples ? 1 : len < 0 ? 0 : (int32_t)len;
  gather_model_component *components = gather_arena_take(&check->arena, count, sizeof *components);
  if (!components) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory while checking the model");
  out->component_count = -1;
  if (fits(out, len)) {
    out->components = components;
    out->component_count = count;
    for (int32_t c = 0; c < count; c++) {
      const gather_dim *dim = &out->data.dims[out->axis + c];
      components[c].axis = out->axis + c;
      components[c].len = gather_is_exact(dim) ? dim->min : -1;
    }
  }
  if (out->indices_known && !check->probe) scan_all(out, components, count, tuples);
  return GATHER_OK;
}

/* The dimensions that data and indices share: all but the axis, or the first ones of a batch. */
static bool is_shared(const gather_model_node *out, int32_t d) {
  return out->rules->off_axis == GATHER_OFF_AXIS_NONE ? d < out->batch_dims : d != out->axis;
}

/* Whether the lengths that data and indices share fit, whatever those are that are not known. */
static bool lengths_fit(const gather_model_node *out) {
  const gather_operand *data = &out->data, *indices = &out->indices;
  const bool shorter = out->rules->off_axis == GATHER_OFF_AXIS_AT_MOST;
  if (data->rank < 0 || (out->rules->off_axis != GATHER_OFF_AXIS_NONE && indices->rank != data->rank)) return false;
  for (int32_t d = 0; d < data->rank; d++) {
    if (!is_shared(out, d)) continue;
    if (d >= indices->rank) return false;
    const gather_dim *a = &indices->dims[d], *b = &data->dims[d];
    if (!(shorter ? a->max <= b->min : gather_is_exact(a) && gather_is_exact(b) && a->min == b->min)) return false;
  }
  return true;
}

/* Whether indices that are not known are in range all the same: each is within the bounds. */
static bool stays_in_range(const gather_scope *scope, const gather_model_node *out, gather_dim *bounds) {
  const gather_known *known = gather_scope_find(scope, out->indices.name);
  if (!known || known->unreadable || !gather_type_is_index(known->type) || !out->axis_known || out->component_count < 1 ||
      out->rules->on_bad != GATHER_ON_BAD_ERROR || !lengths_fit(out))
    return false;
  *bounds = gather_bounds_of(known);
  for (int32_t c = 0; c < out->component_count; c++) {
    const int64_t least = out->data.dims[out->components[c].axis].min;
    if (bounds->max >= least || bounds->min < (out->rules->negative ? -least : 0)) return false;
  }
  return true;
}

/* ---- operands, and what is said of a node */

static gather_status no_memory(gather_error *error) {
  return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory while checking the model");
}

static gather_operand operand_of(const gather_scope *scope, const gather_node *node, int32_t i) {
  gather_operand operand = {.name = i < node->input_count ? node->inputs[i] : "", .rank = -1};
  const gather_known *known = gather_scope_find(scope, operand.name);
  if (*operand.name) operand.source = GATHER_SOURCE_COMPUTED;
  if (!known) return operand;
  operand.type = known->type;
  operand.source = known->source;
  operand.rank = known->rank;
  operand.dims = known->dims;
  operand.value = known->tensor;
  operand.unreadable = known->unreadable;
  return operand;
}

static gather_operand output_of(const gather_scope *scope, const gather_node *node) {
  gather_operand operand = {.name = node->output_count > 0 ? node->outputs[0] : "", .rank = -1};
  const gather_known *known = gather_scope_find(scope, operand.name);
  if (!known) return operand;
  operand.type = known->type;
  operand.rank = known->rank;
  operand.dims = known->dims;
  operand.source = known->source;
  operand.value = known->tensor;
  return operand;
}

static gather_status say(gather_check *check, gather_model_node *out, gather_error *error, const char *text) {
  out->reason = gather_arena_text(&check->arena, text, strlen(text));
  return out->reason ? GATHER_OK : no_memory(error);
}

/* What is wrong with a node of which it is not known whether it is executed. */
static gather_status perhaps_bad(gather_check *check, gather_model_node *out, const gather_error *why, gather_error *error) {
  char text[sizeof why->message + 640];
  (void)snprintf(text, sizeof text, "%s decides whether the node is executed, and is not known; if executed: %s", check->perhaps,
                 why->message);
  out->bad_known = false;
  out->bad = 0;
  out->verdict = GATHER_VERDICT_UNKNOWN;
  return say(check, out, error, text);
}

static gather_status bad(gather_check *check, gather_model_node *out, const gather_error *why, gather_error *error) {
  /* Runtimes refuse a malformed model also where the node would not be executed. */
  if (check->perhaps && why->status != GATHER_FILE_MALFORMED) return perhaps_bad(check, out, why, error);
  gather_error *kept = gather_arena_take(&check->arena, 1, sizeof *kept);
  if (!kept) return no_memory(error);
  *kept = *why;
  if (!kept->op) kept->op = out->op;
  if (!kept->rules && out->rules) kept->rules = out->rules->rules;
  out->verdict = GATHER_VERDICT_BAD;
  out->error = kept;
  return say(check, out, error, kept->message);
}

static void operand_shape(const gather_operand *operand, gather_shape *shape) {
  shape->rank = operand->rank;
  if (operand->rank > 0) memcpy(shape->dims, operand->dims, (size_t)operand->rank * sizeof *shape->dims);
}

/* A constant whose external data cannot be read. */
static gather_status unreadable(gather_check *check, const char *what, const char *name, const gather_file_tensor *tensor,
                                gather_model_node *out, gather_error *error) {
  char text[sizeof((gather_error *)0)->message + 160];
  gather_error why;
  if (gather_file_tensor_check(tensor, &why) == GATHER_OK) return GATHER_OK;
  (void)snprintf(text, sizeof text, "the %s '%.100s' cannot be read: %s", what, name, why.message);
  return say(check, out, error, text);
}

/* Says where indices come from that are unknown before the model runs. */
static gather_status unknown_indices(gather_check *check, const gather_scope *scope, gather_model_node *out, gather_error *error) {
  char text[512];
  const gather_known *known = gather_scope_find(scope, out->indices.name);
  if (out->indices.unreadable) return unreadable(check, "indices", out->indices.name, out->indices.unreadable, out, error);
  if (known && known->tensor && gather_type_is_index(known->tensor->type))
    (void)snprintf(text, sizeof text, "the indices '%.100s' are %" PRId64 " repeated elements, too many to check", out->indices.name,
                   gather_tensor_len(known->tensor));
  else if (out->indices.source == GATHER_SOURCE_INPUT)
    (void)snprintf(text, sizeof text, "the indices come from the input '%.100s', which was not given", out->indices.name);
  else if (known && known->origin)
    (void)snprintf(text, sizeof text, "the indices '%.100s' come from the input '%.100s', which was not given", out->indices.name,
                   known->origin);
  else if (known && known->maker)
    (void)snprintf(text, sizeof text, "the indices '%.100s' are computed by %.60s '%.100s' when the model runs", out->indices.name,
                   known->maker->op, known->maker->name);
  else if (known && known->declared_input)
    (void)snprintf(text, sizeof text, "the indices come from '%.100s', an input of %.200s", out->indices.name, out->graph);
  else if (known && known->producer > 0)
    (void)snprintf(text, sizeof text, "the indices '%.100s' come from nodes that form a cycle", out->indices.name);
  else
    (void)snprintf(text, sizeof text, "nothing in the model produces the indices '%.100s'", out->indices.name);
  return say(check, out, error, text);
}

static bool is_listed(const gather_op *op, gather_type data, gather_type indices) {
  return (data == GATHER_TYPE_NONE || (op->types >> data & 1)) && (indices == GATHER_TYPE_NONE || (op->index_types >> indices & 1));
}

enum { MOST_STEPS = 8 };

static bool is_small_constant(const gather_known *known) {
  const gather_type_info *type = gather_type_get(known->type);
  bool integer = type && (type->kind == GATHER_KIND_INT || type->kind == GATHER_KIND_UINT);
  bool constant = known->source == GATHER_SOURCE_INITIALIZER || known->source == GATHER_SOURCE_CONSTANT;
  return constant && integer && (type->bits == 4 || type->bits == 8);
}

/* Whether a node may be a step of a dequantisation, which goes on to its input number 0. */
static bool dequantizes(const gather_model *model, const gather_node *node) {
  static const char *const STEPS[] = {"DequantizeLinear", "Convert", "Subtract", "Multiply", "Reshape"};
  if (node->input_count < 1) return false;
  for (size_t i = 0; i < sizeof STEPS / sizeof *STEPS; i++)
    if (gather_model_same_op(model, node->op, STEPS[i])) return true;
  return false;
}

/* Whether constants of 4 or 8 bits are dequantised to this value, by other nodes; NULL is not. */
static bool is_dequantized(const gather_model *model, const gather_scope *scope, const gather_known *known) {
  for (int step = 0; known && known->maker && step < MOST_STEPS; step++) {
    if (!dequantizes(model, known->maker)) return false;
    known = gather_scope_find(scope, known->maker->inputs[0]);
    if (known && is_small_constant(known)) return true;
  }
  return false;
}

/* A file of a few bytes may have an Expand to any length. */
static bool may_look(gather_check *check, const gather_tensor *indices) {
  int64_t len = gather_tensor_len(indices);
  bool repeated = false;
  for (int32_t d = 0; indices->strides && d < indices->rank; d++)
    repeated = repeated || (indices->strides[d] == 0 && indices->shape[d] > 1);
  if (!repeated) return true;
  if (len > check->repeated_left) return false;
  check->repeated_left -= len;
  return true;
}

static gather_status describe(gather_check *check, const gather_scope *scope, const gather_node *node, const gather_options *options,
                              gather_model_node *out, gather_error *error) {
  const bool has_axis = !out->rules || out->rules->axis_source != GATHER_AXIS_SOURCE_NONE;
  int32_t axis;
  out->name = node->name;
  out->domain = node->domain;
  out->opset = node->opset;
  out->op = out->rules ? out->rules->name : node->op;
  out->data = operand_of(scope, node, 0);
  const gather_node_inputs *inputs = gather_inputs_of(out->rules);
  out->indices = operand_of(scope, node, inputs->indices);
  out->updates = inputs->updates < 0 ? (gather_operand){.name = "", .rank = -1} : operand_of(scope, node, inputs->updates);
  out->output = output_of(scope, node);
  out->axis_known = options->axis != GATHER_AXIS_UNKNOWN;
  out->axis = !out->axis_known ? 0 : has_axis ? options->axis : options->batch_dims;
  if (out->axis_known && has_axis && out->data.rank > 0 && gather_wrap_axis(options->axis, out->data.rank, &axis)) out->axis = axis;
  out->batch_dims = options->batch_dims;
  const bool in_input = out->rules && out->rules->axis_source == GATHER_AXIS_SOURCE_INPUT && node->input_count > inputs->axis;
  out->axis_name = in_input ? node->inputs[inputs->axis] : "";
  const gather_known *input = *out->axis_name ? gather_scope_find(scope, out->axis_name) : NULL;
  if (input && !out->axis_known) out->axis_unreadable = input->unreadable;
  out->data_dequantized = is_dequantized(check->model, scope, gather_scope_find(scope, out->data.name));
  out->type_listed = !out->rules || is_listed(out->rules, out->data.type, out->indices.type);
  out->reason = out->cause = out->reduction = "";
  out->indices_known = out->indices.value && gather_type_is_index(out->indices.value->type);
  if (out->indices_known && !may_look(check, out->indices.value)) {
    out->indices.value = NULL;
    out->indices_known = false;
  }
  return find_components(check, out, error);
}

/* Says why a node is not judged, where that is so. */
static gather_status not_judged(gather_check *check, gather_model_node *out, gather_error *error) {
  out->not_executed = check->not_executed != NULL;
  if (check->not_executed) return say(check, out, error, check->not_executed);
  return check->uncalled ? say(check, out, error, check->uncalled) : GATHER_OK;
}

/* Rules and operands of a node without attributes. *done: the node is not checked, for a reason that is given. */
static gather_status begin(gather_check *check, const gather_scope *scope, const gather_node *node, gather_model_node *out, bool *done,
                           gather_error *error) {
  gather_options options = GATHER_OPTIONS_INIT;
  out->rules = gather_model_rules(check->model, node);
  GATHER_TRY(describe(check, scope, node, &options, out, error));
  *done = check->probe || check->not_executed || check->uncalled;
  return check->probe ? GATHER_OK : not_judged(check, out, error);
}

/* Whether the elements are known, and not too many to check; NULL: not known. */
static bool may_read(gather_check *check, const gather_tensor *tensor) { return tensor && may_look(check, tensor); }

/* ---- a GatherTree node: its data are step_ids, its indices parent_ids, and its axis is that of the beams */

enum { TREE_OPERANDS = 4, TREE_AXIS = 2 };

static const char *const TREE_NAMES[TREE_OPERANDS] = {"step_ids", "parent_ids", "max_seq_len", "end_token"};

/* All types that are known are one. */
static gather_status check_types(const gather_operand operands[TREE_OPERANDS], gather_type *type, gather_error *why) {
  *type = GATHER_TYPE_NONE;
  for (int i = 0; i < TREE_OPERANDS; i++) {
    if (operands[i].type == GATHER_TYPE_NONE) continue;
    if (*type == GATHER_TYPE_NONE) *type = operands[i].type;
    if (operands[i].type != *type)
      return gather_fail_input(why, GATHER_TYPE_MISMATCH, TREE_NAMES[i], "%s is %s, the inputs before it are %s", TREE_NAMES[i],
                               gather_type_get(operands[i].type)->name, gather_type_get(*type)->name);
  }
  return GATHER_OK;
}

static gather_status find_tree_fault(const gather_operand operands[TREE_OPERANDS], gather_error *why) {
  gather_shape shapes[TREE_OPERANDS], out;
  gather_type type;
  for (int i = 0; i < TREE_OPERANDS; i++) {
    if (!*operands[i].name) return gather_fail(why, GATHER_FILE_MALFORMED, "the node has no %s", TREE_NAMES[i]);
    operand_shape(&operands[i], &shapes[i]);
  }
  GATHER_TRY(check_types(operands, &type, why));
  return gather_tree_infer_shape(&shapes[0], &shapes[1], &shapes[2], &shapes[3], &out, why);
}

static gather_status unknown_sequence_lengths(gather_check *check, const gather_operand *lens, gather_model_node *out,
                                              gather_error *error) {
  char text[400];
  (void)snprintf(text, sizeof text,
                 "the parents are known, but which of them count is not: max_seq_len '%.100s' is known when the model runs", lens->name);
  return say(check, out, error, text);
}

/* step_ids and end_token are not read: their types and shapes are those of the parents. */
static gather_status compare_tree(gather_check *check, const gather_operand operands[TREE_OPERANDS], gather_model_node *out,
                                  gather_error *error) {
  const gather_tensor *parents = operands[1].value, *lens = operands[2].value;
  const gather_tensor steps = {.type = parents->type, .rank = parents->rank, .shape = parents->shape};
  const gather_tensor end = {.type = parents->type};
  gather_options options = GATHER_OPTIONS_INIT;
  gather_error why;
  options.executor = check->options.executor;
  gather_status status = gather_tree_check(&steps, parents, lens, &end, &options, &why);
  if (status == GATHER_OUT_OF_MEMORY) return gather_fail(error, status, "%s", why.message);
  out->bad_known = status == GATHER_OK || (status == GATHER_INDEX_OUT_OF_RANGE && why.axis == TREE_AXIS);
  out->bad = out->bad_known && status != GATHER_OK ? why.bad_count : 0;
  out->index_count = gather_tensor_len(parents);
  out->verdict = GATHER_VERDICT_OK;
  return status == GATHER_OK ? GATHER_OK : bad(check, out, &why, error);
}

static gather_status verify_tree(gather_check *check, const gather_scope *scope, const gather_node *node, gather_model_node *out,
                                 gather_error *error) {
  gather_operand operands[TREE_OPERANDS];
  gather_error why;
  bool done = false;
  GATHER_TRY(begin(check, scope, node, out, &done, error));
  out->axis = TREE_AXIS, out->axis_known = true;
  GATHER_TRY(find_components(check, out, error));
  if (done) return GATHER_OK;
  for (int i = 0; i < TREE_OPERANDS; i++) operands[i] = operand_of(scope, node, i);
  operands[1].value = may_read(check, operands[1].value) ? operands[1].value : NULL;
  operands[2].value = may_read(check, operands[2].value) ? operands[2].value : NULL;
  if (find_tree_fault(operands, &why) != GATHER_OK) return bad(check, out, &why, error);
  if (!operands[1].value) return unknown_indices(check, scope, out, error);
  if (!operands[2].value) return unknown_sequence_lengths(check, &operands[2], out, error);
  return compare_tree(check, operands, out, error);
}

/* ---- any other gather node */

/* Whether the node is valid apart from its indices: operands, types, ranks, axis, shapes. GATHER_OK or what is
 * wrong. */
static gather_status find_fault(const gather_model_node *out, const gather_options *options, gather_error *why) {
  gather_shape shapes[3];
  gather_op room;
  const gather_op *rules = gather_reading_rules(out->rules, &room);
  if (!*out->data.name || !*out->indices.name)
    return gather_fail(why, GATHER_FILE_MALFORMED, "the node has no %s", *out->data.name ? "indices" : "data");
  if (out->indices.type != GATHER_TYPE_NONE && !gather_type_is_index(out->indices.type))
    return gather_fail_input(why, GATHER_TYPE_UNSUPPORTED, "indices", "indices of type %s are not integers",
                             gather_type_get(out->indices.type)->name);
  if (!out->axis_known && out->rules->axis_source == GATHER_AXIS_SOURCE_NONE) return GATHER_OK; /* nor batch_dims */
  operand_shape(&out->data, &shapes[0]);
  operand_shape(&out->indices, &shapes[1]);
  return gather_infer_shape(rules, &shapes[0], &shapes[1], options, &shapes[2], why);
}

/* The first component of an index whose axis has no known length; NULL. */
static const gather_model_component *endless(const gather_model_node *out) {
  for (int32_t c = 0; c < out->component_count; c++)
    if (out->components[c].len < 0) return &out->components[c];
  return NULL;
}

/* What is declared of axis number `axis` of a value; NULL. */
static const gather_dim *declared_dim(const gather_known *known, int64_t axis) {
  const gather_value *declared = known ? known->declared : NULL;
  if (declared && axis < 0) axis += declared->rank;
  return declared && axis >= 0 && axis < declared->rank ? &declared->dims[axis] : NULL;
}

static gather_status unknown_length(gather_check *check, const gather_scope *scope, gather_model_node *out, gather_error *error) {
  char text[512];
  const gather_operand *data = &out->data;
  const gather_model_component *component = endless(out);
  const gather_known *known = gather_scope_find(scope, data->name);
  const int64_t axis = component ? component->axis : out->axis;
  const gather_dim *declared = out->axis_known ? declared_dim(known, axis) : NULL;
  const gather_dim dim = declared ? gather_check_dim(check, declared) : gather_any_dim;
  const char *symbol = component && data->dims[axis].symbol ? data->dims[axis].symbol : dim.symbol;
  if (!out->axis_known)
    (void)snprintf(text, sizeof text, "the axis is not known before the model runs");
  else if (declared && gather_is_exact(&dim))
    (void)snprintf(text, sizeof text,
                   "the length %" PRId64 " of the data '%.100s' along axis %" PRId64 " is only declared: runtimes do not enforce it",
                   dim.min, data->name, axis);
  else if (!component && !declared)
    (void)snprintf(text, sizeof text, "the shape of the data '%.100s' is not known", data->name);
  else if (symbol)
    (void)snprintf(text, sizeof text, "the data '%.100s' has the length '%.100s' along axis %" PRId64 ", a dimension that was not given",
                   data->name, symbol, axis);
  else
    (void)snprintf(text, sizeof text, "the length of the data '%.100s' along axis %" PRId64 " is not known", data->name, axis);
  return say(check, out, error, text);
}

/* The indices are not known, but what computes them keeps them in range. */
static gather_status in_bounds(gather_check *check, gather_model_node *out, gather_dim bounds, gather_error *error) {
  char text[320];
  (void)snprintf(text, sizeof text, "the indices '%.100s' are computed when the model runs, and always in [%" PRId64 ", %" PRId64 "]",
                 out->indices.name, bounds.min, bounds.max);
  out->verdict = GATHER_VERDICT_OK;
  return say(check, out, error, text);
}

static gather_status unknown_fit(gather_check *check, gather_model_node *out, gather_error *error) {
  char text[320];
  (void)snprintf(text, sizeof text, "whether the lengths of the indices '%.100s' fit those of the data '%.100s' is not known",
                 out->indices.name, out->data.name);
  return say(check, out, error, text);
}

/* The shape of a tensor of bytes with the lengths of the indexed axes, otherwise as small as the rules allow: only the
 * indices are checked. */
static gather_status stand_in(const gather_model_node *out, const gather_options *options, int64_t *shape, gather_error *why) {
  const gather_tensor *indices = out->indices.value;
  gather_dim_source sources[GATHER_MAX_RANK];
  const int64_t tuple_len = indices->rank > 0 ? indices->shape[indices->rank - 1] : 0;
  int32_t rank;
  gather_op room;
  GATHER_TRY(gather_output_sources(gather_reading_rules(out->rules, &room), out->data.rank, indices->rank, tuple_len, options, sources,
                                   &rank, why));
  for (int32_t d = 0; d < out->data.rank; d++) shape[d] = 1;
  for (int32_t d = 0; d < rank; d++)
    for (int32_t k = 0; sources[d].data >= 0 && sources[d].indices >= 0 && k < sources[d].count; k++)
      shape[sources[d].data + k] = indices->shape[sources[d].indices + k];
  for (int32_t c = 0; c < out->component_count; c++) shape[out->components[c].axis] = out->components[c].len;
  return GATHER_OK;
}

/* Whether every index is in the range of its axis. */
static gather_status check_range(const gather_check *check, const gather_model_node *out, gather_options options, gather_tensor *data,
                                 int64_t shape[GATHER_MAX_RANK], gather_error *why) {
  gather_op room;
  const gather_op *rules = gather_reading_rules(out->rules, &room);
  gather_plan *plan = NULL;
  gather_run run = GATHER_RUN_INIT;
  *data = (gather_tensor){.type = GATHER_TYPE_UINT8, .rank = out->data.rank, .shape = shape};
  options.on_bad = GATHER_ON_BAD_ERROR;
  run.indices = out->indices.value->data;
  run.executor = check->options.executor;
  GATHER_TRY(stand_in(out, &options, shape, why));
  gather_status status = gather_plan_create(rules, data, out->indices.value, NULL, &options, &plan, why);
  if (status == GATHER_OK) status = gather_plan_check(plan, &run, why);
  gather_plan_destroy(plan);
  return status;
}

/* The document forbids it, or does not say which update is left; runtimes accept it. */
static gather_status repeated(gather_check *check, gather_model_node *out, const gather_error *why, gather_error *error) {
  gather_error *kept = gather_arena_take(&check->arena, 1, sizeof *kept);
  if (!kept) return no_memory(error);
  *kept = *why;
  out->repeated = kept;
  return say(check, out, error, kept->message);
}

static gather_status unknown_updates(gather_check *check, gather_model_node *out, gather_error *error) {
  char text[320];
  (void)snprintf(text, sizeof text, "the indices are valid, but whether the updates '%.100s' have the shape that they need is not known",
                 out->updates.name);
  out->verdict = GATHER_VERDICT_UNKNOWN;
  return say(check, out, error, text);
}

static gather_status compare(gather_check *check, const gather_scope *scope, const gather_node *node, gather_model_node *out,
                             const gather_options *options, gather_error *error) {
  int64_t shape[GATHER_MAX_RANK];
  gather_error why;
  gather_tensor data;
  gather_status status = gather_op_is_cache(out->rules) ? GATHER_OK : check_range(check, out, *options, &data, shape, &why);
  if (status == GATHER_OK && gather_op_writes(out->rules)) status = gather_writing_compare(check, scope, node, out, options, &data, &why);
  if (status == GATHER_OUT_OF_MEMORY) return no_memory(error);
  if (status == GATHER_UNSUPPORTED && gather_op_writes(out->rules)) return say(check, out, error, why.message);
  const bool out_of_range = status == GATHER_INDEX_OUT_OF_RANGE;
  out->bad_known = status == GATHER_OK || status == GATHER_INDEX_REPEATED || out_of_range;
  out->bad = out_of_range && gather_writing_is_of_indices(&why) ? why.bad_count : 0;
  out->verdict = GATHER_VERDICT_OK;
  if (status == GATHER_INDEX_REPEATED) GATHER_TRY(repeated(check, out, &why, error));
  const bool valid = status == GATHER_OK || status == GATHER_INDEX_REPEATED;
  if (valid) return gather_writing_updates_fit(out, options) ? GATHER_OK : unknown_updates(check, out, error);
  if (status != GATHER_INDEX_OUT_OF_RANGE || out->rules->on_bad == GATHER_ON_BAD_ERROR) return bad(check, out, &why, error);
  char text[160];
  (void)snprintf(text, sizeof text, "%" PRId64 " of %" PRId64 " indices %s out of range: zeros under the rules %s", out->bad,
                 out->index_count, out->bad == 1 ? "is" : "are", out->rules->rules);
  return say(check, out, error, text);
}

static gather_status unknown_version(gather_check *check, const gather_node *node, gather_model_node *out, gather_error *error) {
  char text[400];
  gather_model_version_text(check->model, node, text, sizeof text);
  return say(check, out, error, text);
}

static gather_status verify(gather_check *check, const gather_scope *scope, const gather_node *node, gather_model_node *out,
                            gather_error *error) {
  gather_options options;
  gather_error why;
  gather_dim bounds;
  gather_status attributes = gather_node_options(check->model, scope, node, &options, &why);
  out->rules = gather_model_rules(check->model, node);
  GATHER_TRY(describe(check, scope, node, &options, out, error));
  if (check->probe) return GATHER_OK;
  if (!out->rules) return unknown_version(check, node, out, error);
  out->reduction = gather_writing_reduction(scope, node, out->rules);
  if (check->not_executed || check->uncalled) return not_judged(check, out, error);
  if (attributes == GATHER_FILE_MALFORMED) return bad(check, out, &why, error);
  const bool writes = gather_op_writes(out->rules), cache = gather_op_is_cache(out->rules);
  gather_status status = cache ? GATHER_OK : find_fault(out, &options, &why);
  if (status == GATHER_OK && writes) status = gather_writing_fault(scope, node, out, &options, &why);
  if (status == GATHER_OK && gather_op_is_quantized(out->rules)) status = gather_quantized_fault(scope, node, &why);
  check->places[out - check->nodes].refused = status == GATHER_UNSUPPORTED;
  if (status == GATHER_UNSUPPORTED) return say(check, out, error, why.message);
  if (status != GATHER_OK) return bad(check, out, &why, error);
  const bool zeros = cache && !*out->indices.name; /* write_indices that are left out */
  /* Not the offsets of bags, or the shape of updates, too. */
  const bool index_alone = !writes || (*out->updates.name && gather_writing_updates_fit(out, &options));
  if (!out->indices_known && !cache && index_alone && stays_in_range(scope, out, &bounds)) return in_bounds(check, out, bounds, error);
  if (!out->indices_known && !zeros) return unknown_indices(check, scope, out, error);
  if (out->axis_unreadable) return unreadable(check, "axis", out->axis_name, out->axis_unreadable, out, error);
  if (out->component_count < 0 || endless(out)) return unknown_length(check, scope, out, error);
  if (out->index_count > 0 && !lengths_fit(out)) return unknown_fit(check, out, error);
  return compare(check, scope, node, out, &options, error);
}

/* A node of another operator with a function of its own. */
static gather_status verify_own(gather_check *check, const gather_scope *scope, const gather_node *node, gather_model_node *out,
                                gather_error *error) {
  bool done;
  GATHER_TRY(begin(check, scope, node, out, &done, error));
  return done ? GATHER_OK : say(check, out, error, "indices of this operator are not checked");
}

gather_status gather_check_node(gather_check *check, const gather_scope *scope, const gather_node *node, gather_model_node *out,
                                gather_error *error) {
  const gather_op *rules = gather_model_rules(check->model, node);
  if (gather_op_is_tree(rules)) return verify_tree(check, scope, node, out, error);
  return (gather_op_has_function(rules) && !gather_op_writes(rules) ? verify_own : verify)(check, scope, node, out, error);
}
