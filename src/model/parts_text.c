/* SPDX-License-Identifier: MIT
 *
 * parts_text.c: parts of the text of a check that concern a whole model: nodes that are not checked, tensors that cannot be read.
 */
#include <inttypes.h>
#include <string.h>

#include "core/base/error.h"
#include "io/format/text/utf8.h"
#include "model/check_text.h"

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

void gather_file_unreadable_lines(const gather_file *file, const char *all, gather_growing *to) {
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
    gather_growing_print(to, "%" PRId64 " %s cannot be read: ", causes[i].count,
                         causes[i].count == 1 ? "tensor" : "tensors");
    gather_text_put(to, causes[i].first.message);
    gather_growing_char(to, '\n');
  }
  if (more > 0)
    gather_growing_print(to, "%" PRId64 " more in other files cannot be read%s%s\n", more, all ? "; " : "",
                         all ? all : "");
}

gather_status gather_file_unreadable_text(const gather_file *file, const char *all, char **text, gather_error *error) {
  gather_growing to = {0};
  gather_file_unreadable_lines(file, all, &to);
  return gather_growing_finish(&to, "the tensors that cannot be read", text, NULL, error);
}

int64_t gather_model_not_checked_words(const gather_model *model, gather_growing *to) {
  int64_t count = gather_model_not_checked_count(model), nodes = 0;
  for (int64_t i = 0; i < count; i++) {
    int64_t here = gather_model_not_checked_nodes(model, i);
    const char *between = i == 0 ? "" : i == count - 1 ? " and " : ", ";
    gather_growing_print(to, "%s%" PRId64 " %s %s", between, here, gather_model_not_checked_op(model, i),
                         here == 1 ? "node" : "nodes");
    nodes += here;
  }
  return nodes;
}

gather_status gather_model_not_checked_text(const gather_model *model, char **text, gather_error *error) {
  gather_growing to = {0};
  (void)gather_model_not_checked_words(model, &to);
  return gather_growing_finish(&to, "the nodes that are not checked", text, NULL, error);
}
