/* SPDX-License-Identifier: MIT
 *
 * print.c: a plan as one line of text, and what plans run on.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "core/kernel/dispatch.h"
#include "core/plan/execution.h"
#include "core/plan/plan_indices.h"
#include "core/system/machine.h"
#include "core/thread/pool.h"

/* Text that grows. `at` also counts what did not fit. */
typedef struct {
  char *text;
  size_t bytes, at;
} plan_line;

GATHER_PRINTF(2, 3) static void add(plan_line *l, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  size_t room = l->at < l->bytes ? l->bytes - l->at : 0;
  int length = vsnprintf(room ? l->text + l->at : NULL, room, format, arguments);
  va_end(arguments);
  if (length > 0) l->at += (size_t)length;
}

static const char *on_bad_name(const gather_plan *plan) {
  switch (plan->rule.on_bad) {
    case GATHER_ON_BAD_ERROR:
      return "error";
    case GATHER_ON_BAD_CLAMP:
      return "clamp";
    case GATHER_ON_BAD_WRAP:
      return "wrap";
    case GATHER_ON_BAD_ZERO:
      return "zero";
    case GATHER_ON_BAD_FILL:
      return "fill";
    case GATHER_ON_BAD_PROMISE:
      return "promise";
    case GATHER_ON_BAD_SKIP:
      return "skip";
    case GATHER_ON_BAD_DEFAULT:
      break;
  }
  return "";
}

static void add_nest(plan_line *l, const gather_plan *plan) {
  for (int32_t i = 0; i + 1 < plan->loop_count; i++) add(l, "%" PRId64 " x ", plan->loops[i].len);
  add(l, "%" PRId64 " of ", plan->loops[plan->loop_count - 1].len);
  for (int32_t c = 0; c < plan->column_count; c++)
    add(l, "%s%" PRId64, c ? "*" : "", plan->column_count > 1 ? gather_column(plan, c)->len : plan->rule.axis_len);
  add(l, " rows x %" PRId64, plan->row_bytes);
  add(l, plan->packed ? " elements of %" PRId32 " bits" : " B", plan->layout.bits);
}

/* Bytes in the largest unit that divides them. */
static void add_bytes(plan_line *l, int64_t bytes) {
  static const char *const UNITS[] = {"B", "KiB", "MiB", "GiB"};
  int unit = 0;
  for (; unit < 3 && bytes >= 1024 && bytes % 1024 == 0; unit++) bytes /= 1024;
  add(l, "%" PRId64 " %s", bytes, UNITS[unit]);
}

/* Why these variants: whether the rows are in cache, and whether the output is large enough for non-temporal stores. */
static void add_reason(plan_line *l, const gather_plan *plan) {
  if (plan->cache_bytes == 0) return;
  add(l, "; data of ");
  add_bytes(l, plan->data_extent.high - plan->data_extent.low);
  add(l, plan->out_of_cache ? ", out of cache (" : ", in cache (");
  add_bytes(l, plan->cache_bytes);
  add(l, "), output of ");
  add_bytes(l, plan->out_extent.high - plan->out_extent.low);
}

static void add_variant(plan_line *l, const gather_variant *variant) {
  add(l, "%s", variant->kernel);
  if (variant->prefetch_lines > 1) add(l, " (%" PRId64 " lines)", variant->prefetch_lines);
  if (variant->nontemporal) add(l, " with non-temporal stores");
}

static void add_variants(plan_line *l, const gather_plan *plan) {
  for (int32_t i = 0; i < plan->variant_count; i++) {
    add(l, "%s", i == 0 ? "; " : i == 1 ? "; or if faster: " : ", ");
    add_variant(l, &plan->variants[i]);
    if (i == 0 || plan->variants[i].isa != plan->variants[i - 1].isa) add(l, ", %s", plan->variants[i].isa);
  }
}

/* What the calibration runs of a kept plan found so far. */
static void add_winners(plan_line *l, const gather_plan *plan) {
  static const char *const ORDERS[GATHER_ORDERS] = {"", " for random indices", " for sorted indices",
                                                    " for neighbouring or repeated indices", " for consecutive indices"};
  gather_winner winner;
  for (int order = 0; order < GATHER_ORDERS; order++) {
    if (!gather_winners_get(plan, (gather_order)order, &winner)) continue;
    add(l, "; fastest%s: ", ORDERS[order]);
    add_variant(l, &plan->variants[winner.variant]);
    add(l, ", %" PRId32 ".%02" PRId32 " times as fast as ", winner.percent / 100, winner.percent % 100);
    add_variant(l, &plan->variants[winner.next]);
  }
}

static void add_axes(plan_line *l, const gather_plan *plan) {
  const int32_t last = plan->column_count - 1;
  if (last > 0 && plan->has_axes) {
    add(l, "axes ");
    for (int32_t c = 0; c <= last; c++) add(l, c < last ? "%d, " : "%d: ", plan->column_axes[c]);
  } else if (last > 0) {
    add(l, "axes %" PRId32 " to %" PRId32 ": ", plan->axis, plan->axis + last);
  } else {
    add(l, "axis %" PRId32 ": ", plan->axis);
  }
}

size_t gather_plan_print(const gather_plan *plan, char *text, size_t bytes) {
  plan_line l = {text, bytes, 0};
  if (bytes) text[0] = '\0';
  add(&l, "%s%s%s, %s, ", plan->op->name, GATHER_RULES_TEXT(plan->op), gather_type_get(plan->type)->name);
  add_axes(&l, plan);
  if (plan->row_count == 0)
    add(&l, "no elements");
  else
    add_nest(&l, plan);
  add(&l, "; %s indices%s, %s, negative %s", gather_type_get(plan->rule.type)->name, plan->rule.swapped ? " (bytes swapped)" : "",
      on_bad_name(plan), plan->rule.negative ? "on" : "off");
  add_reason(&l, plan);
  add_variants(&l, plan);
  add_winners(&l, plan);
  return l.at;
}

/* ---- the machine */

void gather_machine_describe(gather_machine *machine) {
  const size_t size = machine->size;
  const gather_machine full = {.size = size,
                               .cpus = gather_cpu_count(),
                               .usable_memory = gather_usable_memory(),
                               .cpu_features = gather_cpu_features(),
                               .isa = gather_isa_name(),
                               .pool = gather_pool_library()};
  memcpy(machine, &full, size < sizeof full ? size : sizeof full);
}
