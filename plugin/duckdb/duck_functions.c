/* SPDX-License-Identifier: MIT
 *
 * duck_functions.c: what the functions of this extension share: parameters, columns, and whether a file may be read.
 */
#include "duck_functions.h"

#include <stdio.h>
#include <string.h>

char *gather_duck_parameter(duck_bind bind, uint64_t index) {
  duck_value value = gather_duck.bind_get_parameter(bind, index);
  char *text = value && !gather_duck.is_null_value(value) ? gather_duck.get_varchar(value) : NULL;
  if (value) gather_duck.destroy_value(&value);
  return text;
}

bool gather_duck_bind_allowed(duck_bind bind, const char *name, const char *file) {
  duck_context context = NULL;
  gather_error error;
  char message[sizeof error.message + 16];
  if (gather_duck.table_function_get_client_context) gather_duck.table_function_get_client_context(bind, &context);
  duck_policy policy = gather_duck_policy(context);
  policy.named = true; /* DuckDB takes no columns as arguments of table functions */
  if (gather_duck_allowed(&policy, file ? file : "", file ? strlen(file) : 0, "", 0, &error) == GATHER_OK) return true;
  (void)snprintf(message, sizeof message, "%s: %s", name, error.message);
  gather_duck.bind_set_error(bind, message);
  return false;
}

duck_logical gather_duck_list_of(int type) {
  duck_logical element = gather_duck.create_logical_type(type);
  duck_logical list = gather_duck.create_list_type(element);
  gather_duck.destroy_logical_type(&element);
  return list;
}

void gather_duck_add_column(duck_bind bind, const char *name, duck_logical type) {
  gather_duck.bind_add_result_column(bind, name, type);
  gather_duck.destroy_logical_type(&type);
}
