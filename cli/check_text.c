/* SPDX-License-Identifier: MIT
 *
 * check_text.c: the report of `gather check` for people: one line for all, one line per node, and below it what a bad or unknown
 * one needs.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "report.h"

enum { OP_BYTES = 100, SHAPES_BYTES = 200, WIDEST_SHAPES = 44 };

/* The words of one node's line, and how wide they are. */
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
    int len = dim->min == dim->max
                  ? snprintf(text + at, bytes - at, "%s%" PRId64, before, dim->min)
                  : snprintf(text + at, bytes - at, "%s%.30s", before, dim->symbol ? dim->symbol : "?");
    at += (size_t)len;
  }
  (void)snprintf(text + at, bytes - at, operand->rank ? "]" : "[]");
}

static line line_of(const gather_model_node *node) {
  line l = {.axis = "axis ?"};
  (void)snprintf(l.op, sizeof l.op, "%s %s", node->op, node->rules ? node->rules->rules : "of an unknown version");
  if (node->axis_known) (void)snprintf(l.axis, sizeof l.axis, "axis %" PRId64, node->axis);
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

static void put_wide(const char *text, int width) {
  gather_cli_put(stdout, text);
  int left = width - columns_of(text);
  printf("%*s", left > 0 ? left + 2 : 2, "");
}

/* A line of words under a node. */
static void put_word(const char *label, const char *text) {
  if (!*text) return;
  printf("         %-8s ", label);
  gather_cli_put(stdout, text);
  putchar('\n');
}

static void put_operand(const char *role, const gather_operand *operand, const char *more) {
  char text[700], shape[SHAPES_BYTES] = "";
  const gather_type_info *type = gather_type_get(operand->type);
  add_shape(shape, sizeof shape, operand);
  (void)snprintf(text, sizeof text, "%.200s %s %s%s", operand->name, type ? type->name : "of unknown type", shape,
                 more);
  put_word(role, text);
}

static void put_operands(const gather_model_node *node) {
  char more[200];
  (void)snprintf(more, sizeof more, ", %s", gather_source_name(node->data.source));
  put_operand("data", &node->data, more);
  size_t at = (size_t)snprintf(more, sizeof more, ", %s", gather_source_name(node->indices.source));
  if (node->indices_known && node->index_count > 0) {
    const char *format = node->value_is_unsigned ? ": %" PRId64 " from %" PRIu64 " to %" PRIu64
                                                 : ": %" PRId64 " from %" PRId64 " to %" PRId64;
    at += (size_t)snprintf(more + at, sizeof more - at, format, node->index_count, node->min, node->max);
    if (node->bad_known) (void)snprintf(more + at, sizeof more - at, ", %" PRId64 " out of range", node->bad);
  }
  put_operand("indices", &node->indices, more);
  put_operand("output", &node->output, "");
}

static void put_said(int indent, const char *who, const char *text) {
  printf("%*s%-12s ", indent, "", who);
  gather_cli_put(stdout, text);
  putchar('\n');
}

void gather_cli_put_bad(const gather_model_node *node, int indent) {
  if (*node->cause) put_said(indent, "likely", node->cause);
  for (size_t i = 0; i < gather_runtime_count(); i++)
    put_said(indent, gather_runtime_name(i), gather_runtime_behaviour(i, node));
}

void gather_cli_node_text(const gather_model_node *node, char *text, size_t bytes) {
  if (*node->name)
    snprintf(text, bytes, "%s/%s", node->graph, node->name);
  else
    snprintf(text, bytes, "%s/%s_%" PRId64, node->graph, node->op, node->number);
}

void gather_cli_put_node(const gather_model_node *node) {
  char number[64];
  snprintf(number, sizeof number, "%s_%" PRId64, node->op, node->number);
  gather_cli_put(stdout, node->graph);
  putchar('/');
  gather_cli_put(stdout, *node->name ? node->name : number);
}

static void put_node(const char *give, const gather_model_node *node, const widths *w) {
  line l = line_of(node);
  printf("%-8s ", gather_verdict_name(node->verdict));
  put_wide(l.op, w->op);
  put_wide(l.axis, w->axis);
  put_wide(l.shapes, w->shapes);
  gather_cli_put_node(node);
  putchar('\n');
  bool has_bad = node->verdict == GATHER_VERDICT_BAD || node->bad > 0; /* also bad ones that the rules repair */
  if (has_bad) put_operands(node);
  put_word(node->verdict == GATHER_VERDICT_OK ? "note" : "why", node->reason);
  if (give) put_word("give", give);
  if (!node->type_listed) printf("         note     %s does not list these types\n", node->rules->rules);
  if (has_bad) gather_cli_put_bad(node, 9);
}

/* How many of the unknown nodes are not executed, in brackets; "". */
static const char *not_executed(const gather_check *check, char *text, size_t bytes) {
  int64_t skipped = 0;
  for (int64_t i = 0; i < gather_check_count(check); i++) skipped += gather_check_at(check, i)->not_executed;
  *text = '\0';
  if (skipped > 0) (void)snprintf(text, bytes, " (%" PRId64 " not executed)", skipped);
  return text;
}

void gather_cli_check_text(const gather_cli_args *args, const gather_cli_advice *advice, const gather_check *check) {
  int64_t count = gather_check_count(check), bad = gather_check_verdicts(check, GATHER_VERDICT_BAD);
  bool quiet = args->value[GATHER_CLI_QUIET] != NULL;
  const gather_model *model = advice->model;
  widths w = {0, 0, 0};
  char skipped[60];
  if (quiet && bad == 0) return;
  gather_cli_put(stdout, args->argument[0]);
  printf(": %s, ", gather_file_format(gather_model_file(model)));
  if (count == 0)
    fputs("no gather nodes", stdout);
  else
    printf("%" PRId64 " gather %s: %" PRId64 " ok, %" PRId64 " unknown%s, %" PRId64 " bad", count,
           count == 1 ? "node" : "nodes", gather_check_verdicts(check, GATHER_VERDICT_OK),
           gather_check_verdicts(check, GATHER_VERDICT_UNKNOWN), not_executed(check, skipped, sizeof skipped), bad);
  gather_cli_put_not_checked(model, "; ", " is not looked at", " are not looked at");
  puts(count == 0 ? "" : "\n");
  gather_cli_put_unreadable(gather_model_file(model));
  for (int pass = 0; pass < 2; pass++)
    for (int64_t i = 0; i < count; i++) {
      const gather_model_node *node = gather_check_at(check, i);
      if (quiet && node->verdict != GATHER_VERDICT_BAD && node->bad == 0) continue;
      line l = line_of(node);
      if (pass == 0)
        widen(&w, &l);
      else
        put_node(advice->texts[i], node, &w);
    }
}
