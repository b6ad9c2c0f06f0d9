/* SPDX-License-Identifier: MIT
 *
 * duck_api.h: what the extension needs of DuckDB's C extension API, declared here: no header of DuckDB is used. duck_slots.def lists the
 * calls. All handles are opaque pointers.
 */
#ifndef GATHER_PLUGIN_DUCK_API_H
#define GATHER_PLUGIN_DUCK_API_H

#include <stdbool.h>
#include <stdint.h>

typedef void *duck_database, *duck_connection, *duck_value, *duck_logical, *duck_vector, *duck_chunk, *duck_context;
typedef void *duck_scalar, *duck_set, *duck_expression, *duck_function, *duck_call, *duck_bind, *duck_init;
typedef void duck_delete(void *data);
typedef void *duck_copy(void *data);
typedef void duck_scalar_call(duck_call call, duck_chunk input, duck_vector result);
typedef void duck_table_call(duck_call call, duck_chunk output);
typedef void duck_bind_call(duck_bind bind);
typedef void duck_init_call(duck_init init);

/* DuckDB's numbers of its types. */
enum {
  DUCK_BOOLEAN = 1,
  DUCK_TINYINT = 2,
  DUCK_SMALLINT = 3,
  DUCK_INTEGER = 4,
  DUCK_BIGINT = 5,
  DUCK_UTINYINT = 6,
  DUCK_USMALLINT = 7,
  DUCK_UINTEGER = 8,
  DUCK_UBIGINT = 9,
  DUCK_FLOAT = 10,
  DUCK_DOUBLE = 11,
  DUCK_VARCHAR = 17,
  DUCK_BLOB = 18
};

/* A row of a vector of lists: where its elements are in the child vector. */
typedef struct duck_list_entry {
  uint64_t offset, len;
} duck_list_entry;

/* A row of a vector of strings. */
typedef struct duck_string {
  uint32_t bytes;
  char body[12]; /* the text itself, or its first 4 bytes and a pointer to all of it */
} duck_string;

/* The host's functions. The same for all databases of a process: gather_duck_load refuses a second host. */
typedef struct duck_api {
#define DUCK_SLOT(number, result, name, parameters) result(*name) parameters;
#define DUCK_LATER DUCK_SLOT
#include "duck_slots.def"
#undef DUCK_LATER
#undef DUCK_SLOT
} duck_api;

extern duck_api gather_duck;

/* Takes over the pointers of a host. Returns NULL, or why the extension cannot work in this host (static memory).
 * Threads: any; later calls with the same host change nothing. */
const char *gather_duck_load(const void *slots);

/* The bytes of a string of a vector. */
const char *gather_duck_text(const duck_string *string);

/* Whether row `row` of a vector's validity mask is NULL; a mask of NULL has no NULLs. */
static inline bool duck_is_null(const uint64_t *validity, uint64_t row) { return validity && !(validity[row / 64] >> (row % 64) & 1); }

/* Makes a row of a vector NULL. */
void gather_duck_set_null(duck_vector vector, uint64_t row);

#endif
