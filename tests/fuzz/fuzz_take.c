/* SPDX-License-Identifier: MIT
 *
 * fuzz_take.c: any bytes as a file of any format, and rows, elements or slices of one of its tensors under any options: no memory outside
 * the tensors is touched, an index error is true, and after an error the output is as it was.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz/choices.h"
#include "fuzz/fuzz.h"
#include "support/open_file.h"

enum { OUTPUT_MAX = 1 << 18, DATA_MAX = 1 << 20, BEFORE = 0x5a };

typedef struct take {
  const gather_op *op;
  gather_tensor data;
  fuzz_indices indices;
  gather_options options;
  gather_plan *plan;
  bool fresh;
} take;

static const gather_status EXPECTED[] = {GATHER_SHAPE_MISMATCH,
                                         GATHER_RANK_MISMATCH,
                                         GATHER_AXIS_OUT_OF_RANGE,
                                         GATHER_BATCH_DIMS_OUT_OF_RANGE,
                                         GATHER_INDEX_OUT_OF_RANGE,
                                         GATHER_TYPE_UNSUPPORTED,
                                         GATHER_OVERFLOW,
                                         GATHER_UNSUPPORTED,
                                         GATHER_USAGE};

static void check_error(gather_status status, const gather_error *error) {
  bool known = false;
  for (size_t i = 0; i < sizeof EXPECTED / sizeof *EXPECTED; i++) known = known || status == EXPECTED[i];
  fuzz_check(known && error->status == status && error->message[0] != '\0', "a take fails for a known reason");
  if (status != GATHER_INDEX_OUT_OF_RANGE) return;
  bool below = !error->value_is_unsigned && error->value < error->low;
  bool above = error->value_is_unsigned ? (uint64_t)error->value > (uint64_t)error->high : error->value > error->high;
  fuzz_check(error->low > error->high || below || above, "a bad index is outside of the range");
  fuzz_check(error->bad_count >= 1 && error->bad_count <= FUZZ_INDICES, "the bad indices are counted");
}

static void choose(fuzz_choices *choices, take *t) {
  int64_t len = 1;
  int ops = 0;
  while (gather_op_at((size_t)ops)) ops++;
  t->op = gather_op_at((size_t)fuzz_choose(choices, ops));
  if (gather_family_get(t->op->family)->function || t->op->family == GATHER_FAMILY_STABLEHLO)
    t->op = gather_op_at(0); /* these need more than an axis */
  t->options = (gather_options)GATHER_OPTIONS_INIT;
  t->options.axis = fuzz_choose(choices, 6) - 2;
  const bool no_axis = t->op->axis_source == GATHER_AXIS_SOURCE_NONE;
  if (no_axis && t->options.axis > -2) t->options.axis = 0; /* -2: one that it must refuse */
  t->options.batch_dims = fuzz_choose(choices, 4) == 0 ? fuzz_choose(choices, 5) - 2 : 0;
  t->options.on_bad = (gather_on_bad)fuzz_choose(choices, (int)GATHER_ON_BAD_FILL + 1);
  t->options.negative = (gather_negative)fuzz_choose(choices, 4);
  t->options.fill = fuzz_choose_fill(choices, &t->data);
  t->fresh = fuzz_choose(choices, 2) == 1;
  int64_t axis = t->options.axis < 0 ? t->options.axis + t->data.rank : t->options.axis;
  if (axis >= 0 && axis < t->data.rank) len = t->data.shape[axis];
  int32_t rank = t->op->family != GATHER_FAMILY_ELEMENTS ? fuzz_choose(choices, 4) : t->data.rank;
  fuzz_choose_indices(choices, rank, len, &t->indices);
}

static bool is_as_before(const uint8_t *out, int64_t bytes) {
  for (int64_t i = 0; i < bytes; i++)
    if (out[i] != BEFORE) return false;
  return true;
}

static void run(const take *t) {
  int64_t shape[GATHER_MAX_RANK], bad = -1;
  gather_error error, other;
  gather_run run = GATHER_RUN_INIT;
  gather_tensor out = {.type = t->data.type, .item_bytes = t->data.item_bytes, .shape = shape};
  out.rank = gather_plan_shape(t->plan, shape);
  fuzz_check(gather_tensor_check(&out, NULL) == GATHER_OK, "a plan has a sane output");
  int64_t bytes = gather_tensor_bytes(&out);
  if (bytes > OUTPUT_MAX) return;
  uint8_t *memory = malloc(bytes ? (size_t)bytes : 1);
  if (!memory) abort();
  if (bytes) memset(memory, BEFORE, (size_t)bytes);
  run.data = t->data.data;
  run.indices = t->indices.memory;
  run.out = memory;
  run.bad_count = &bad;
  run.fresh_output = t->fresh;
  gather_status checked = gather_plan_check(t->plan, &run, &other), status = gather_plan_run(t->plan, &run, &error);
  fuzz_check(checked == status, "a check says what a run does");
  if (status != GATHER_OK) {
    check_error(status, &error);
    fuzz_check(t->fresh || is_as_before(memory, bytes), "an output stays as it was after an error");
  } else {
    fuzz_check(bad >= 0 && bad <= FUZZ_INDICES, "repaired indices are counted");
  }
  free(memory);
}

static void take_from(fuzz_choices *choices, const gather_file_tensor *tensor) {
  take t = {.data = tensor->tensor};
  gather_error error;
  char text[512];
  if (tensor->bytes > DATA_MAX) return;
  choose(choices, &t);
  gather_status status = gather_plan_create(t.op, &t.data, &t.indices.tensor, NULL, &t.options, &t.plan, &error);
  if (status == GATHER_OK) {
    (void)gather_plan_print(t.plan, text, sizeof text);
    run(&t);
  } else {
    check_error(status, &error);
  }
  gather_plan_destroy(t.plan);
  free(t.indices.memory);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  fuzz_choices choices = {.bytes = bytes};
  gather_file *file = NULL;
  gather_error error;
  gather_status status;
  if (size < FUZZ_CHOICES) return 0;
  bytes += FUZZ_CHOICES;
  size -= FUZZ_CHOICES;
#ifdef GATHER_HAVE_EXPAT
  if (!fuzz_open_ir(bytes, size, &file, &status, &error))
#endif
    status = file_open(file_in(bytes, size, "fuzz"), &file, &error);
  const gather_file_tensor *tensor = status == GATHER_OK ? fuzz_choose_tensor(&choices, file) : NULL;
  if (tensor) take_from(&choices, tensor);
  gather_file_close(file);
  return 0;
}
