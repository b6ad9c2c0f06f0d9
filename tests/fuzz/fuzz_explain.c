/* SPDX-License-Identifier: MIT
 *
 * fuzz_explain.c: any bytes as a model; the operands of each of its gather nodes, with nothing and with a tensor for each input, held
 * to the promises of model.h; then what explain.h makes of them: the drawing for a screen, the picture, and the facts.
 */
#include <string.h>

#include "fuzz/given.h"
#include "gather/explain.h"

static void see_end(gather_status status, const char *text, size_t bytes, const char *end) {
  size_t length = strlen(end);
  fuzz_check(status == GATHER_OK && bytes > length, "a drawing is not empty");
  if (!text) return;
  fuzz_check(!memchr(text, '\0', bytes) && text[bytes] == '\0', "a drawing is text");
  fuzz_check(memcmp(text + bytes - length, end, length) == 0, "a drawing has its end");
}

static void draw(const gather_explain *drawing, int32_t width, bool ascii) {
  gather_explain_text_options options = GATHER_EXPLAIN_TEXT_OPTIONS_INIT;
  char *text = NULL;
  size_t bytes = 0;
  options.width = width;
  options.ascii = ascii;
  options.colour = !ascii;
  gather_status status = gather_explain_text(drawing, &options, &text, &bytes, NULL);
  see_end(status, text, bytes, "\n");
  for (size_t i = 0; ascii && i < bytes; i++)
    fuzz_check((unsigned char)text[i] >= 0x20 || text[i] == '\n', "a drawing cannot move the cursor");
  gather_text_free(text);
}

static void draw_svg(const gather_explain *drawing) {
  char *text = NULL;
  size_t bytes = 0;
  gather_status status = gather_explain_svg(drawing, &text, &bytes, NULL);
  see_end(status, text, bytes, "</svg>\n");
  gather_text_free(text);
}

/* Every cell is within its tensors. */
static void see_facts(const gather_explain *drawing) {
  const gather_explain_facts *facts = gather_explain_facts_of(drawing);
  gather_explain_cell cell;
  fuzz_see_text(facts->formula);
  for (int64_t i = 0; i < facts->cell_count; i++) {
    fuzz_check(gather_explain_cell_at(drawing, i, &cell), "there are as many cells as is said");
    for (int32_t d = 0; d < facts->output_rank; d++)
      fuzz_check(cell.out[d] >= 0 && cell.out[d] < facts->output_shape[d], "a cell is in the output");
    for (int32_t d = 0; cell.has_source && d < facts->data_rank; d++)
      fuzz_check(cell.data[d] >= 0 && cell.data[d] < facts->data_shape[d], "a source is in the data");
  }
  fuzz_check(!gather_explain_cell_at(drawing, facts->cell_count, &cell), "and no more");
}

static void explain(gather_model_operands *operands) {
  gather_explain *drawing = NULL;
  gather_error error = {.status = GATHER_OK};
  gather_status status = gather_explain_create_node(operands, NULL, NULL, &drawing, &error);
  fuzz_check((status == GATHER_OK) == (drawing != NULL), "there is a drawing or an error");
  fuzz_check(status == GATHER_OK || (error.status == status && error.message[0] != '\0'), "what is not drawn is explained");
  if (status == GATHER_OK) {
    draw(drawing, 1000, false);
    draw(drawing, 1, true);
    draw_svg(drawing);
    see_facts(drawing);
  }
  gather_explain_destroy(drawing);
  gather_model_operands_destroy(operands);
}

static void find(const gather_model *model, const char *path, const gather_check_options *options) {
  gather_model_operands *operands = NULL;
  gather_error error;
  gather_status status = gather_model_operands_find(model, path, options, &operands, &error);
  fuzz_check((status == GATHER_OK) == (operands != NULL), "there are operands or an error");
  if (status != GATHER_OK) {
    fuzz_check(error.status == status && error.message[0] != '\0', "an error says something");
    return;
  }
  const gather_model_operands_info *info = gather_model_operands_describe(operands);
  const gather_model_node *node = info->node;
  fuzz_see_node(node);
  for (int64_t i = 0; i < info->missing_count; i++) {
    fuzz_see_text(info->missing[i]);
    fuzz_check(!node->indices.value || !node->axis_known, "nothing is missing where all is known");
  }
  explain(operands);
}

static void find_node(const gather_model *model, const char *path, const fuzz_given *g) {
  find(model, path, NULL);
  find(model, path, &g->options);
}

static void find_each(const gather_model *model, const fuzz_given *g) {
  fuzz_each_node(model, g, find_node);
  find(model, NULL, &g->options);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) { return fuzz_model(bytes, size, find_each); }
