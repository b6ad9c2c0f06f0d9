/* SPDX-License-Identifier: MIT
 *
 * duck_entry.c: what DuckDB calls when it loads the extension.
 */
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
  if (!problem && (!database || gather_duck.connect(*database, &connection) != 0)) problem = "gather: DuckDB gave no connection";
  if (!problem && !register_all(connection))
    problem = "gather: DuckDB did not accept the functions; another extension may have functions of these names";
  if (connection) gather_duck.disconnect(&connection);
  if (problem) access->set_error(info, problem);
  return problem == NULL;
}
