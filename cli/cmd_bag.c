/* SPDX-License-Identifier: MIT
 *
 * cmd_bag.c: `gather bag`: the sum, mean or maximum of rows of TABLE, bag by bag.
 */
#include <stdlib.h>

#include "commands.h"
#include "report.h"
#include "scatter_job.h"
#include "writing.h"

typedef struct bag {
  gather_cli_job job; /* TABLE and INDICES are its data and indices; output and policies are those of take */
  gather_cli_input offsets, segment_ids, weights;
  gather_bags bags;
  gather_scatter_options options;
  void *scratch; /* with --dry-run: where the rows are summed */
} bag;

/* ---- the line */

/* The operators of documents, by the form of the bags. */
static const char *const OFFSETS[] = {"EmbeddingBagOffsets", "EmbeddingBagOffsetsSum", NULL};
static const char *const PACKED[] = {"EmbeddingBagPacked", "EmbeddingBagPackedSum", NULL};
static const char *const SEGMENTS[] = {"EmbeddingSegmentsSum", NULL};

static gather_status read_form(bag *b, const char *const **names, gather_error *error) {
  const gather_cli_args *args = b->job.args;
  const bool offsets = args->argument_count > 2, ids = args->value[GATHER_CLI_SEGMENT_IDS] != NULL;
  *names = offsets ? OFFSETS : ids ? SEGMENTS : PACKED;
  if (offsets && ids) return gather_cli_fail(error, GATHER_USAGE, "OFFSETS and --segment-ids cannot be combined");
  if (ids != (args->value[GATHER_CLI_SEGMENTS] != NULL))
    return gather_cli_fail(error, GATHER_USAGE, "--segment-ids needs --segments, the number of bags, and no other form has it");
  if (!offsets && args->value[GATHER_CLI_LAST_OFFSET]) return gather_cli_fail(error, GATHER_USAGE, "--last-offset needs OFFSETS");
  if (!offsets && !ids && args->value[GATHER_CLI_DEFAULT_INDEX])
    return gather_cli_fail(error, GATHER_USAGE, "--default-index needs OFFSETS or --segment-ids: a packed bag is not empty");
  return GATHER_OK;
}

static gather_status read_line(bag *b, gather_error *error) {
  const gather_cli_args *args = b->job.args;
  static const gather_scatter_options INIT = GATHER_SCATTER_OPTIONS_INIT;
  static const gather_bags BAGS = GATHER_BAGS_INIT;
  const char *const *names;
  const char *const more[] = {args->value[GATHER_CLI_SEGMENT_IDS], args->value[GATHER_CLI_WEIGHTS]};
  int streams = 0;
  b->options = INIT;
  b->options.reduction = GATHER_REDUCTION_ADD;
  b->bags = BAGS;
  GATHER_CLI_TRY(read_form(b, &names, error));
  GATHER_CLI_TRY(gather_cli_number(args, GATHER_CLI_SEGMENTS, 0, INT64_MAX, 0, &b->bags.segments, error));
  GATHER_CLI_TRY(gather_cli_number(args, GATHER_CLI_DEFAULT_INDEX, -1, INT64_MAX, -1, &b->bags.default_index, error));
  GATHER_CLI_TRY(gather_cli_scatter_line(&b->job, names, &b->options, error));
  if (b->options.reduction == GATHER_REDUCTION_ADD) b->job.reduction = "sum"; /* as the documents have it */
  b->bags.last_offset = args->value[GATHER_CLI_LAST_OFFSET] != NULL;
  for (int i = 0; i < args->argument_count; i++) streams += gather_cli_is_stdin(args->argument[i]);
  for (int i = 0; i < 2; i++) streams += more[i] && gather_cli_is_stdin(more[i]);
  if (streams < 2) return GATHER_OK;
  return gather_cli_fail(error, GATHER_USAGE, "only one input can be standard input");
}

/* ---- inputs and output */

static gather_status open_inputs(bag *b, gather_error *error) {
  const gather_cli_args *args = b->job.args;
  const char *ids = args->value[GATHER_CLI_SEGMENT_IDS], *weights = args->value[GATHER_CLI_WEIGHTS];
  GATHER_CLI_TRY(gather_cli_scatter_open(&b->job, error));
  GATHER_CLI_TRY(gather_cli_job_slice(&b->job, error));
  b->bags.indices = &b->job.indices.tensor.tensor;
  if (args->argument_count > 2) {
    GATHER_CLI_TRY(gather_cli_input_typed(args->argument[2], GATHER_TYPE_NONE, "offsets", &b->offsets, error));
    b->bags.offsets = &b->offsets.tensor.tensor;
  }
  if (ids) {
    GATHER_CLI_TRY(gather_cli_input_typed(ids, GATHER_TYPE_NONE, "segment_ids", &b->segment_ids, error));
    b->bags.segment_ids = &b->segment_ids.tensor.tensor;
  }
  if (!weights) return GATHER_OK;
  GATHER_CLI_TRY(gather_cli_scatter_input(&b->job, weights, "weights", &b->weights, error));
  b->bags.weights = &b->weights.tensor.tensor;
  return GATHER_OK;
}

static gather_status spare(const bag *b, gather_error *error) {
  const char *path = b->job.to_stdout ? NULL : b->job.output;
  GATHER_CLI_TRY(gather_cli_writing_spare(path, &b->offsets, "OFFSETS", error));
  GATHER_CLI_TRY(gather_cli_writing_spare(path, &b->segment_ids, "--segment-ids", error));
  return gather_cli_writing_spare(path, &b->weights, "--weights", error);
}

/* One row of TABLE for each bag. */
static gather_status shape_output(bag *b, gather_error *error) {
  gather_cli_job *job = &b->job;
  const gather_tensor *table = &job->data.tensor.tensor;
  gather_tensor out = {.type = table->type, .rank = table->rank, .shape = job->shape, .item_bytes = table->item_bytes};
  if (table->rank < 1) {
    (void)gather_cli_fail(error, GATHER_RANK_MISMATCH, "the table is 0-D");
    error->input = "data";
    return GATHER_RANK_MISMATCH;
  }
  GATHER_CLI_TRY(gather_bags_count(&b->bags, &job->shape[0], error));
  for (int32_t d = 1; d < table->rank; d++) job->shape[d] = table->shape[d];
  job->writing.rank = table->rank;
  job->bytes = gather_tensor_bytes(&out);
  if (job->bytes < 0) return gather_cli_fail(error, GATHER_OVERFLOW, "the output's size does not fit in memory");
  job->index_count = gather_tensor_len(b->bags.indices);
  (void)snprintf(job->plan_text, sizeof job->plan_text, "%s of %lld indices in %lld bags", job->reduction, (long long)job->index_count,
                 (long long)job->shape[0]);
  GATHER_CLI_TRY(spare(b, error));
  return gather_cli_job_output(job, error);
}

/* ---- running */

static gather_status sum(bag *b, void *memory, gather_error *error) {
  gather_cli_job *job = &b->job;
  gather_tensor out = {.data = memory,
                       .type = job->writing.type,
                       .rank = job->writing.rank,
                       .shape = job->shape,
                       .item_bytes = job->writing.item_bytes,
                       .flags = job->data.tensor.tensor.flags & (uint32_t)GATHER_TENSOR_BYTE_SWAPPED};
  GATHER_CLI_TRY(gather_cli_job_workers(job, error));
  b->options.executor = &job->progress.executor;
  b->options.bad_count = &job->bad_count;
  gather_status status = gather_embedding_bag(job->op, &job->data.tensor.tensor, &b->bags, &out, &b->options, error);
  gather_cli_progress_end(&job->progress);
  return status;
}

static gather_status sum_for_nothing(bag *b, gather_error *error) {
  b->scratch = malloc(b->job.bytes > 0 ? (size_t)b->job.bytes : 1);
  if (!b->scratch) return gather_cli_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for %lld bytes", (long long)b->job.bytes);
  return sum(b, b->scratch, error);
}

static gather_status run(bag *b, gather_error *error) {
  GATHER_CLI_TRY(read_line(b, error));
  b->job.begin = gather_cli_now();
  GATHER_CLI_TRY(open_inputs(b, error));
  GATHER_CLI_TRY(shape_output(b, error));
  if (b->job.args->value[GATHER_CLI_DRY_RUN]) {
    GATHER_CLI_TRY(sum_for_nothing(b, error));
  } else {
    GATHER_CLI_TRY(gather_cli_job_create_writer(&b->job, error));
    GATHER_CLI_TRY(sum(b, gather_writer_data_at(b->job.writer, 0), error));
  }
  return gather_cli_job_commit(&b->job, error);
}

int gather_cli_cmd_bag(const gather_cli_args *args) {
  static bag b; /* large, and used once */
  gather_error error;
  b.job.args = args;
  gather_status status = run(&b, &error);
  if (status == GATHER_OK) gather_cli_job_answer(&b.job);
  int code = status == GATHER_OK ? 0 : gather_cli_report(args, &error);
  gather_cli_input_close(&b.offsets);
  gather_cli_input_close(&b.segment_ids);
  gather_cli_input_close(&b.weights);
  free(b.scratch);
  gather_cli_job_clear(&b.job);
  return code;
}
