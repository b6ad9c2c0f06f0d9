/* SPDX-License-Identifier: MIT
 *
 * duck_entry.c: what DuckDB calls when it loads the extension, and what the table functions share.
 */
#include <stdio.h>
#include <string.h>

#include "duck_functions.h"

#if defined(__GNUC__)
#define EXPORTED __attribute__((visibility("default")))
#else
#define EXPORTED
#endif

/* What the host passes to the entry point. */
typedef struct duck_access {
  void (*set_error)(void *info, const char *message);
  duck_database *(*get_database)(void *info);
  const void *(*get_api)(void *info, const char *version);
} duck_access;

/* ---- shared by the table functions */

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

/* ---- loading */

static bool register_all(duck_connection connection) {
  duck_tables *tables = gather_duck_tables_create();
  if (!tables) return false;
  bool done = gather_duck_register_take(connection, tables) && gather_duck_register_rows(connection, tables) &&
              gather_duck_register_tensors(connection);
  gather_duck_tables_release(tables);
  return done;
}

EXPORTED bool gather_init_c_api(void *info, duck_access *access);

/* The entry point: DuckDB finds it by the name of the file, gather.duckdb_extension. */
bool gather_init_c_api(void *info, duck_access *access) {
  const void *slots = access->get_api(info, "v1.2.0");
  if (!slots) return false; /* the host has set the error */
  const char *problem = gather_duck_load(slots);
  duck_database *database = problem ? NULL : access->get_database(info);
  duck_connection connection = NULL;
  if (!problem && (!database || gather_duck.connect(*database, &connection) != 0))
    problem = "gather: DuckDB gave no connection";
  if (!problem && !register_all(connection))
    problem = "gather: DuckDB did not accept the functions; another extension may have functions of these names";
  if (connection) gather_duck.disconnect(&connection);
  if (problem) access->set_error(info, problem);
  return problem == NULL;
}
