/* SPDX-License-Identifier: MIT
 *
 * check_text.c: the report of `gather check` for people: one line for all, and a block per node that is bad or unknown.
 */
#include <inttypes.h>
#include <stdio.h>

#include "check.h"
#include "report.h"

static void put_operand(const char *role, const gather_operand *operand, bool has_source) {
  const gather_type_info *type = gather_type_get(operand->type);
  printf("  %-8s", role);
  gather_cli_put(stdout, operand->name);
  printf(" %s ", type ? type->name : "of unknown type");
  if (operand->rank < 0) fputs("[?...]", stdout);
  for (int32_t d = 0; d < operand->rank; d++) {
    const gather_dim *dim = &operand->dims[d];
    fputs(d ? ", " : "[", stdout);
    if (dim->min == dim->max)
      printf("%" PRId64, dim->min);
    else
      gather_cli_put(stdout, dim->symbol ? dim->symbol : "?");
  }
  if (operand->rank >= 0) fputs(operand->rank ? "]" : "[]", stdout);
  if (has_source) printf(", %s", gather_source_name(operand->source));
  putchar('\n');
}

static void put_range(const gather_model_node *node) {
  if (!node->indices_known || node->index_count == 0) return;
  const char *format =
      node->value_is_unsigned ? "  values  %" PRIu64 " to %" PRIu64 : "  values  %" PRId64 " to %" PRId64;
  printf(format, node->min, node->max);
  printf(", %" PRId64 " of them", node->index_count);
  if (node->bad_known) printf(", %" PRId64 " out of range", node->bad);
  putchar('\n');
}

static void put_place(const gather_error *error) {
  if (error->status != GATHER_INDEX_OUT_OF_RANGE) return;
  char place[512];
  printf("  first   %s of the indices\n",
         gather_cli_shape_text(place, sizeof place, error->position_rank, error->position));
}

void gather_cli_put_bad(const gather_model_node *node) {
  put_place(node->error);
  if (*node->cause) printf("  likely  %s\n", node->cause);
  for (size_t i = 0; i < gather_runtime_count(); i++)
    printf("  %-12s %s\n", gather_runtime_name(i), gather_runtime_behaviour(i, node));
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

static void put_node(const gather_model_node *node) {
  printf("\n%s: ", gather_verdict_name(node->verdict));
  gather_cli_put_node(node);
  printf(" (%s %s", node->op, node->rules ? node->rules->rules : "of an unknown version");
  if (node->axis_known) printf(", axis %" PRId64, node->axis);
  if (node->batch_dims) printf(", batch_dims %" PRId64, node->batch_dims);
  puts(")");
  put_operand("data", &node->data, true);
  put_operand("indices", &node->indices, true);
  put_operand("output", &node->output, false);
  put_range(node);
  if (*node->reason) {
    fputs("  why     ", stdout);
    gather_cli_put(stdout, node->reason);
    putchar('\n');
  }
  if (!node->type_listed) printf("  note    %s does not list these types\n", node->rules->rules);
  if (node->verdict == GATHER_VERDICT_BAD) gather_cli_put_bad(node);
}

void gather_cli_check_text(const gather_cli_args *args, const gather_model *model, const gather_check *check) {
  int64_t count = gather_check_count(check), bad = gather_check_verdicts(check, GATHER_VERDICT_BAD);
  bool quiet = args->value[GATHER_CLI_QUIET] != NULL;
  if (quiet && bad == 0) return;
  gather_cli_put(stdout, args->argument[0]);
  printf(": %s, ", gather_file_format(gather_model_file(model)));
  if (count == 0)
    puts("no gather nodes");
  else
    printf("%" PRId64 " gather %s: %" PRId64 " ok, %" PRId64 " unknown, %" PRId64 " bad\n", count,
           count == 1 ? "node" : "nodes", gather_check_verdicts(check, GATHER_VERDICT_OK),
           gather_check_verdicts(check, GATHER_VERDICT_UNKNOWN), bad);
  for (int64_t i = 0; i < count; i++) {
    const gather_model_node *node = gather_check_at(check, i);
    bool said = node->verdict == GATHER_VERDICT_BAD || node->bad > 0 || !node->type_listed;
    if (said || (!quiet && node->verdict == GATHER_VERDICT_UNKNOWN)) put_node(node);
  }
}
