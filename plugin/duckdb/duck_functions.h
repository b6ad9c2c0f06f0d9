/* SPDX-License-Identifier: MIT
 *
 * duck_functions.h: the SQL functions of this extension. Each gather_duck_register_... adds one to a database; false: DuckDB refused.
 */
#ifndef GATHER_PLUGIN_DUCK_FUNCTIONS_H
#define GATHER_PLUGIN_DUCK_FUNCTIONS_H

#include "duck_api.h"
#include "duck_policy.h"
#include "duck_tables.h"

/* take_row, take_row_double, ...: scalar functions. */
bool gather_duck_register_take(duck_connection connection, duck_tables *tables);
/* rows('file', 'tensor', [ids]): a table function. */
bool gather_duck_register_rows(duck_connection connection, duck_tables *tables);
/* tensors('file'): a table function. */
bool gather_duck_register_tensors(duck_connection connection);

/* The name of the function that delivers a target: "take_row", "take_row_bigint". */
const char *gather_duck_take_name(duck_target target);

/* ---- for table functions */

/* A text parameter, freed by gather_duck.free; NULL: it is NULL. */
char *gather_duck_parameter(duck_bind bind, uint64_t index);
/* Whether the database's settings allow the call to read a file; if not, the error is set. name: of the function, for messages. */
bool gather_duck_bind_allowed(duck_bind bind, const char *name, const char *file);
/* A new type DuckDB knows by number, or a list of it. Freed by gather_duck.destroy_logical_type. */
duck_logical gather_duck_list_of(int type);
void gather_duck_add_column(duck_bind bind, const char *name, duck_logical type);
/* Appends a list of numbers as row `row` of a vector of BIGINT[]. */
void gather_duck_put_numbers(duck_vector vector, uint64_t row, const int64_t *numbers, int32_t len, uint64_t *used);

/* ---- rows in vectors */

/* Reads rows into a vector of `target`: rows[i] becomes row at[i] of the vector. */
typedef struct duck_picked {
  int64_t *rows;
  uint64_t *at;
  int64_t count;
  int64_t to_come; /* rows that later calls want, as far as known */
} duck_picked;

/* Into a vector of lists. used: how many elements its child already has. VARCHAR too. */
gather_status gather_duck_put_lists(const duck_open *open, const duck_picked *picked, duck_target target, duck_vector vector,
                                    uint64_t *used, gather_error *error);
/* Into a vector of BLOBs: the bytes of the file. */
gather_status gather_duck_put_blobs(const duck_open *open, const duck_picked *picked, duck_vector vector, gather_error *error);
/* Into the elements of a vector, from element `first`: rows one after the other; `at` is ignored. */
gather_status gather_duck_put_elements(const duck_open *open, const duck_picked *picked, duck_target target, duck_vector vector,
                                       uint64_t first, gather_error *error);

#endif
