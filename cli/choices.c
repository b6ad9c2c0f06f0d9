/* SPDX-License-Identifier: MIT
 *
 * choices.c: the fixed values of options. Those of the library come from its tables.
 */
#include "choices.h"

#include <stdio.h>
#include <string.h>

#include "fail.h"
#include "gather/codec.h"
#include "gather/scatter.h"
#include "gather/table.h"
#include "terminal.h"

/* promise runs as clamp: the fastest repair, and no memory outside the tensors is touched whatever the indices are. */
static const gather_cli_policy POLICIES[] = {
    {"error", "raise", GATHER_ON_BAD_ERROR, true, true}, {"clamp", "clip", GATHER_ON_BAD_CLAMP, true, true},
    {"wrap", NULL, GATHER_ON_BAD_WRAP, true, true},      {"zero", NULL, GATHER_ON_BAD_ZERO, true, false},
    {"promise", NULL, GATHER_ON_BAD_CLAMP, true, false}, {"skip", NULL, GATHER_ON_BAD_SKIP, false, true},
};
enum { POLICY_COUNT = sizeof POLICIES / sizeof *POLICIES, SHOWN = 4 };

const gather_cli_policy *gather_cli_policy_at(int i) { return i < POLICY_COUNT ? &POLICIES[i] : NULL; }

static const char *word(const char *const *words, int count, int i) { return i < count ? words[i] : NULL; }
#define WORD(i, ...) word((const char *const[]){__VA_ARGS__}, (int)(sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *)), i)

bool gather_cli_command_writes(const gather_cli_command *command) {
  return command && (command->id == GATHER_CLI_COMMAND_SCATTER || command->id == GATHER_CLI_COMMAND_BAG);
}

const gather_cli_command *gather_cli_rules_command(const gather_cli_args *args) {
  if (args->command->id != GATHER_CLI_COMMAND_EXPLAIN) return args->command;
  if (args->value[GATHER_CLI_DRAW_SCATTER]) return gather_cli_command_at(GATHER_CLI_COMMAND_SCATTER);
  if (args->value[GATHER_CLI_ELEMENTS]) return gather_cli_command_at(GATHER_CLI_COMMAND_ELEMENTS);
  return gather_cli_command_at(args->value[GATHER_CLI_DRAW_ND] ? GATHER_CLI_COMMAND_ND : GATHER_CLI_COMMAND_TAKE);
}

/* Synonyms come after the policies' own names. */
static const char *policy_word(const gather_cli_command *command, int i) {
  const bool writes = gather_cli_command_writes(command);
  for (int k = 0; k < POLICY_COUNT; k++)
    if ((writes ? POLICIES[k].writes : POLICIES[k].reads) && i-- == 0) return POLICIES[k].name;
  if (!writes && i-- == 0) return "fill=";
  for (int k = 0; k < POLICY_COUNT; k++)
    if (POLICIES[k].also && i-- == 0) return POLICIES[k].also;
  return NULL;
}

gather_family gather_cli_command_family(const gather_cli_command *command) {
  switch (command->id) {
    case GATHER_CLI_COMMAND_TAKE:
      return GATHER_FAMILY_GATHER;
    case GATHER_CLI_COMMAND_ELEMENTS:
      return GATHER_FAMILY_ELEMENTS;
    case GATHER_CLI_COMMAND_ND:
      return GATHER_FAMILY_ND;
    default:
      return (gather_family)0;
  }
}

static bool has_command(gather_family family) {
  for (int i = 0; i < GATHER_CLI_COMMAND_COUNT; i++)
    if (gather_cli_command_family(gather_cli_command_at((gather_cli_command_id)i)) == family) return true;
  return false;
}

/* The function of the operators of a command that writes: as in family.def. */
static bool has_function(const gather_cli_command *command, const gather_op *op) {
  const char *function = gather_family_get(op->family)->function;
  if (!function || strcmp(op->dialect, "stablehlo") == 0) return false; /* which has no command */
  return strcmp(function, command->id == GATHER_CLI_COMMAND_BAG ? "gather_embedding_bag" : "gather_scatter_apply") == 0;
}

bool gather_cli_command_has(const gather_cli_command *command, const gather_op *op) {
  if (gather_cli_command_writes(command)) return has_function(command, op);
  /* An operator of another name (GatherBlockQuantized) does more than its family. */
  if (strcmp(op->name, gather_family_get(op->family)->name) != 0) return false;
  if (!command || command->id == GATHER_CLI_COMMAND_EXPLAIN) return has_command(op->family); /* take, --elements, --nd */
  return gather_cli_command_family(command) == op->family;
}

/* Each name once: onnx-13 is a version of both operators. */
static const char *rules_word(const gather_cli_command *command, int i) {
  for (size_t k = 0; gather_op_at(k); k++) {
    const gather_op *op = gather_op_at(k);
    bool seen = !gather_cli_command_has(command, op);
    for (size_t j = 0; j < k && !seen; j++)
      seen = gather_cli_command_has(command, gather_op_at(j)) && strcmp(gather_op_at(j)->rules, op->rules) == 0;
    if (!seen && i-- == 0) return op->rules;
  }
  return NULL;
}

/* In the order of the enum. */
static const char *reduction_word(const gather_cli_command *command, int i) {
  if (command && command->id == GATHER_CLI_COMMAND_BAG) return WORD(i, "sum", "mean", "max");
  return gather_reduction_name((gather_reduction)i);
}

static const char *type_word(int i) {
  for (int t = 1; t < 64; t++) {
    const gather_type_info *info = gather_type_get((gather_type)t);
    if (!info || info->kind == GATHER_KIND_OPAQUE || info->kind == GATHER_KIND_STRING) continue; /* not of raw bytes */
    if (i-- == 0) return info->name;
  }
  return NULL;
}

static const char *index_type_word(int i) {
  for (int t = 1; t < 64; t++) {
    const gather_type_info *info = gather_type_get((gather_type)t);
    bool whole = info && (info->kind == GATHER_KIND_INT || info->kind == GATHER_KIND_UINT) && info->bits >= 8;
    if (whole && i-- == 0) return info->name;
  }
  return NULL;
}

/* Those whose rows are decoded. */
static const char *codec_word(int i) {
  const gather_codec_info *info;
  for (int number = 1; (info = gather_codec_get((gather_codec)number)) != NULL; number++)
    if (info->kind != GATHER_CODEC_REFUSED && i-- == 0) return info->name;
  return NULL;
}

const char *gather_cli_choice(gather_cli_option_id id, const gather_cli_command *command, int i) {
  switch (id) {
    case GATHER_CLI_RULES:
      return rules_word(command, i);
    case GATHER_CLI_ON_BAD:
      return policy_word(command, i);
    case GATHER_CLI_REDUCTION:
      return reduction_word(command, i);
    case GATHER_CLI_ACCUMULATE:
      return WORD(i, "steps", "halves", "wide");
    case GATHER_CLI_NEGATIVE:
      return WORD(i, "on", "off");
    case GATHER_CLI_ENGINE:
      return WORD(i, gather_engine_name(GATHER_ENGINE_AUTO), gather_engine_name(GATHER_ENGINE_MMAP),
                  gather_engine_name(GATHER_ENGINE_PREAD), gather_engine_name(GATHER_ENGINE_URING), gather_engine_name(GATHER_ENGINE_HTTP),
                  gather_engine_name(GATHER_ENGINE_OVERLAPPED));
    case GATHER_CLI_GAP:
      return WORD(i, "auto");
    case GATHER_CLI_AS:
      return WORD(i, "float32", "float16", "bfloat16");
    case GATHER_CLI_CODEC:
      return codec_word(i);
    case GATHER_CLI_PASSES:
      return WORD(i, "1", "2");
    case GATHER_CLI_TYPE:
      return type_word(i);
    case GATHER_CLI_I_TYPE:
      return index_type_word(i);
    case GATHER_CLI_COLOR:
      return WORD(i, "auto", "always", "never");
    default:
      return NULL;
  }
}

typedef struct choosing {
  gather_cli_option_id id;
  const gather_cli_command *command;
} choosing;

static const char *choice_at(const void *context, int i) {
  const choosing *of = context;
  return gather_cli_choice(of->id, of->command, i);
}

/* Lists the choices that begin with the value, if there are several: float may mean float64 or float32. */
static bool list_longer(const choosing *of, const char *value, char *text, size_t bytes) {
  size_t len = strlen(value), used = 0;
  const char *choice;
  int found = 0;
  for (int i = 0; len >= 2 && (choice = choice_at(of, i)) != NULL; i++) {
    if (strncmp(choice, value, len) != 0 || used + strlen(choice) + 32 > bytes) continue;
    if (found++ >= SHOWN) continue;
    used += (size_t)snprintf(text + used, bytes - used, "%s%s", found > 1 ? ", " : "; did you mean one of ", choice);
  }
  if (found > 1) (void)snprintf(text + used, bytes - used, "%s?", found > SHOWN ? ", ..." : "");
  return found > 1;
}

char *gather_cli_choice_hint(gather_cli_option_id id, const gather_cli_command *command, const char *value, char *text, size_t bytes) {
  const choosing of = {id, command};
  int count = 0;
  while (gather_cli_choice(id, command, count)) count++;
  if (list_longer(&of, value, text, bytes)) return text;
  const char *nearest = gather_cli_nearest(value, count, choice_at, &of);
  if (nearest)
    (void)snprintf(text, bytes, "; did you mean '%s'?", nearest);
  else
    text[0] = 0;
  return text;
}

gather_status gather_cli_colour_option(const gather_cli_args *args, gather_error *error) {
  const char *value = args->value[GATHER_CLI_COLOR];
  char hint[160];
  for (int i = 0; value && gather_cli_choice(GATHER_CLI_COLOR, NULL, i); i++)
    if (strcmp(value, gather_cli_choice(GATHER_CLI_COLOR, NULL, i)) == 0) {
      gather_cli_terminal_colour_set((gather_cli_colour)i); /* the words are in the order of the enum */
      return GATHER_OK;
    }
  if (!value) return GATHER_OK;
  return gather_cli_fail(error, GATHER_USAGE, "--color takes auto, always or never, not '%.100s'%s", value,
                         gather_cli_choice_hint(GATHER_CLI_COLOR, NULL, value, hint, sizeof hint));
}
