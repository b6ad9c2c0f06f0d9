/* SPDX-License-Identifier: MIT
 *
 * fuzz_explain.c: any bytes as a model; the operands of each of its gather nodes, with nothing and with a tensor for each input, held
 * to the promises of model.h; then what `gather explain` makes of them: the drawing for a screen, the picture, and the JSON.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../cli/explain.h"
#include "../../cli/take.h"
#include "fuzz/given.h"

enum { MOST_NODES = 16 };

static void see_end(const gather_cli_buffer *buffer, const char *end) {
  size_t length = strlen(end);
  fuzz_check(!buffer->failed && buffer->bytes > length, "a drawing is not empty");
  fuzz_check(memcmp(buffer->text + buffer->bytes - length, end, length) == 0, "a drawing has its end");
  fuzz_check(!memchr(buffer->text, '\0', buffer->bytes), "a drawing is text");
}

static void draw(gather_cli_explain *ex, int columns, bool ascii) {
  gather_error error;
  gather_cli_buffer text = {0}, picture = {0};
  if (gather_cli_explain_layout(ex, columns, &error) != GATHER_OK) return;
  gather_cli_explain_text(ex, &text, ascii, !ascii);
  see_end(&text, "\n");
  for (size_t i = 0; ascii && i < text.bytes; i++)
    fuzz_check((unsigned char)text.text[i] >= 0x20 || text.text[i] == '\n', "a drawing cannot move the cursor");
  gather_cli_explain_svg(ex, &picture);
  see_end(&picture, "</svg>\n");
  gather_cli_buffer_clear(&text);
  gather_cli_buffer_clear(&picture);
}

static void explain(gather_model_operands *operands) {
  static gather_cli_explain ex;
  static const gather_options INIT = GATHER_OPTIONS_INIT;
  static FILE *nowhere;
  gather_cli_args args = {.command = gather_cli_command_find("explain"), .argument = {"fuzz"}, .argument_count = 1};
  gather_error error = {.status = GATHER_OK};
  memset(&ex, 0, sizeof ex);
  ex.job.args = &args;
  ex.job.options = INIT;
  ex.operands = operands;
  gather_status status = gather_cli_explain_operands(&ex, &error);
  if (status == GATHER_OK) status = gather_cli_explain_ready(&ex, &error);
  fuzz_check(status == GATHER_OK || (error.status == status && error.message[0] != '\0'),
             "what is not drawn is explained");
  if (status == GATHER_OK) {
    draw(&ex, 12, false);
    draw(&ex, 3, true);
    if (!nowhere) nowhere = fopen("/dev/null", "w");
    if (nowhere) gather_cli_explain_json(&ex, nowhere);
  }
  gather_cli_explain_clear(&ex);
}

static void find(const gather_model *model, const char *path, const gather_check_options *options) {
  gather_model_operands *operands = NULL;
  gather_error error;
  const char *name;
  gather_status status = gather_model_operands_find(model, path, options, &operands, &error);
  fuzz_check((status == GATHER_OK) == (operands != NULL), "there are operands or an error");
  if (status != GATHER_OK) {
    fuzz_check(error.status == status && error.message[0] != '\0', "an error says something");
    return;
  }
  const gather_model_node *node = gather_model_operands_node(operands);
  fuzz_see_node(node);
  for (int64_t i = 0; (name = gather_model_operands_missing(operands, i)) != NULL; i++) {
    fuzz_see_text(name);
    fuzz_check(!node->indices.value || !node->axis_known, "nothing is missing where all is known");
  }
  explain(operands);
}

static void find_each(const gather_model *model, const gather_check_options *options) {
  gather_check *check = NULL;
  char path[400];
  if (gather_model_check(model, NULL, &check, NULL) != GATHER_OK) return;
  int64_t count = gather_check_count(check);
  for (int64_t i = 0; i < count && i < MOST_NODES; i++) {
    const gather_model_node *node = gather_check_at(check, i);
    if (*node->name)
      (void)snprintf(path, sizeof path, "%s/%s", node->graph, node->name);
    else
      (void)snprintf(path, sizeof path, "%s/%s_%lld", node->graph, node->op, (long long)node->number);
    find(model, path, NULL);
    find(model, path, options);
  }
  find(model, NULL, options);
  gather_check_destroy(check);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  gather_file *file = NULL;
  gather_model *model = fuzz_open_model(bytes, size, &file);
  static fuzz_given g;
  if (model) {
    fuzz_give(gather_file_graph(file)->graph, bytes, size, &g);
    find_each(model, &g.options);
  }
  gather_model_close(model);
  gather_file_close(file);
  return 0;
}
