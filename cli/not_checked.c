/* SPDX-License-Identifier: MIT
 *
 * not_checked.c: says which nodes of a model take indices and are not looked at.
 */
#include <inttypes.h>
#include <stdio.h>

#include "check.h"
#include "json.h"

void gather_cli_put_not_checked(const gather_model *model, const char *before, const char *one, const char *more) {
  int64_t count = gather_model_not_checked_count(model), nodes = 0;
  for (int64_t i = 0; i < count; i++) {
    int64_t here = gather_model_not_checked_nodes(model, i);
    const char *between = i == 0 ? before : i == count - 1 ? " and " : ", ";
    printf("%s%" PRId64 " %s %s", between, here, gather_model_not_checked_op(model, i), here == 1 ? "node" : "nodes");
    nodes += here;
  }
  if (count > 0) fputs(nodes == 1 ? one : more, stdout);
}

void gather_cli_json_not_checked(gather_cli_json *json, const gather_model *model) {
  gather_cli_json_array(json, "not_checked");
  for (int64_t i = 0; i < gather_model_not_checked_count(model); i++) {
    gather_cli_json_object(json, NULL);
    gather_cli_json_string(json, "op", gather_model_not_checked_op(model, i));
    gather_cli_json_int(json, "count", gather_model_not_checked_nodes(model, i));
    gather_cli_json_object_end(json);
  }
  gather_cli_json_array_end(json);
}
