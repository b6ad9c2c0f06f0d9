/* SPDX-License-Identifier: MIT
 *
 * unreadable.c: says which tensors of a model cannot be read, because their file is missing or too short.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "json.h"
#include "report.h"

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

void gather_cli_put_unreadable(const gather_file *file) {
  cause causes[MOST_FILES];
  gather_error why;
  int count = 0;
  int64_t more = 0;
  for (int64_t i = 0; i < gather_file_len(file); i++)
    if (gather_file_tensor_check(gather_file_at(file, i), &why) != GATHER_OK) more += !add(causes, &count, &why);
  for (int i = 0; i < count; i++) {
    printf("%" PRId64 " %s cannot be read: ", causes[i].count, causes[i].count == 1 ? "tensor" : "tensors");
    gather_cli_put(stdout, causes[i].first.message);
    putchar('\n');
  }
  if (more > 0) printf("%" PRId64 " more in other files cannot be read; gather info --json lists all\n", more);
}

void gather_cli_json_unreadable(gather_cli_json *json, const gather_file *file) {
  gather_error why;
  bool any = false;
  for (int64_t i = 0; i < gather_file_len(file); i++) {
    const gather_file_tensor *tensor = gather_file_at(file, i);
    if (gather_file_tensor_check(tensor, &why) == GATHER_OK) continue;
    if (!any) gather_cli_json_array(json, "unreadable");
    any = true;
    gather_cli_json_object(json, NULL);
    gather_cli_json_string(json, "name", tensor->name);
    gather_cli_json_string(json, "message", why.message);
    gather_cli_json_object_end(json);
  }
  if (any) gather_cli_json_array_end(json);
}
