/* SPDX-License-Identifier: MIT
 *
 * duck_rows_function.c: rows('file', 'tensor', [ids]): a table of the ids, in their order, and the rows, in the type that the tensor has.
 * A list of NULL is every row of the table.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "duck_functions.h"

enum {
  COLUMN_ID,
  COLUMN_ROW,
  COLUMNS,
  /* DuckDB allocates a vector of 2048 arrays at once, lists as they fill: longer rows are lists. */
  LONGEST_ARRAY = 16384,
  CHUNK_BYTES = 64 << 20 /* of rows at a time, about */
};

/* A call: what was bound. */
typedef struct call_data {
  duck_tables *tables;
  char *file, *tensor, *options;
  duck_layout layout;
  bool all;     /* every row; else the ids */
  int64_t *ids; /* with a NULL where `null` says so */
  bool *null;
  int64_t count;
} call_data;

/* A run of it. */
typedef struct run_data {
  duck_tables *tables;
  duck_open *open;
  gather_status status; /* how reading ended */
  int64_t next;
  uint64_t columns, column[COLUMNS]; /* which column of the call each column of the output is */
} run_data;

static void free_call(void *freed) {
  call_data *call = freed;
  gather_duck_tables_release(call->tables);
  if (call->file) gather_duck.free(call->file);
  if (call->tensor) gather_duck.free(call->tensor);
  if (call->options) gather_duck.free(call->options);
  free(call->ids);
  free(call->null);
  free(call);
}

static void free_run(void *freed) {
  run_data *run = freed;
  if (run->open) gather_duck_put_back(run->tables, run->open, run->status);
  free(run);
}

static duck_name name_of(const char *text) { return (duck_name){text ? text : "", text ? strlen(text) : 0}; }

static gather_status open_call(const call_data *call, duck_open **open, gather_error *error) {
  duck_key key = {name_of(call->file), name_of(call->tensor), name_of(call->options)};
  return gather_duck_open(call->tables, &key, open, error);
}

/* ---- bind: types and ids */

static bool is_array(const duck_layout *layout) { return layout->len >= 1 && layout->len <= LONGEST_ARRAY; }

/* FLOAT[3][2] for rows of shape [2, 3]: DuckDB writes the innermost length first. */
static duck_logical row_type(const duck_layout *layout) {
  duck_logical type = gather_duck.create_logical_type(gather_duck_element_type(layout->element));
  if (!is_array(layout)) {
    duck_logical list = gather_duck.create_list_type(type);
    gather_duck.destroy_logical_type(&type);
    return list;
  }
  for (int32_t d = layout->rank - 1; d >= 0; d--) {
    duck_logical array = gather_duck.create_array_type(type, (uint64_t)layout->shape[d]);
    gather_duck.destroy_logical_type(&type);
    type = array;
  }
  return type;
}

static gather_status read_ids(duck_value list, call_data *call, gather_error *error) {
  uint64_t count = gather_duck.get_list_size(list);
  call->ids = malloc((count + 1) * sizeof *call->ids);
  call->null = malloc((count + 1) * sizeof *call->null);
  if (!call->ids || !call->null) return gather_error_set(error, GATHER_OUT_OF_MEMORY, "out of memory for %" PRIu64 " ids", count);
  for (uint64_t i = 0; i < count; i++) {
    duck_value id = gather_duck.get_list_child(list, i);
    call->null[i] = !id || gather_duck.is_null_value(id);
    call->ids[i] = call->null[i] ? 0 : gather_duck.get_int64(id);
    if (id) gather_duck.destroy_value(&id);
  }
  call->count = (int64_t)count;
  return GATHER_OK;
}

static gather_status bind_ids(duck_bind bound, call_data *call, gather_error *error) {
  duck_value list = gather_duck.bind_get_parameter(bound, 2);
  call->all = !list || gather_duck.is_null_value(list);
  gather_status status = call->all ? GATHER_OK : read_ids(list, call, error);
  if (call->all) call->count = call->layout.rows;
  if (list) gather_duck.destroy_value(&list);
  return status;
}

static gather_status bind_call(duck_bind bound, call_data *call, gather_error *error) {
  duck_open *open;
  call->tensor = gather_duck_parameter(bound, 1);
  duck_value options = gather_duck.bind_get_named_parameter(bound, "options");
  if (options && !gather_duck.is_null_value(options)) call->options = gather_duck.get_varchar(options);
  if (options) gather_duck.destroy_value(&options);
  if (!call->file) return gather_error_set(error, GATHER_USAGE, "the file is NULL");
  gather_status status = open_call(call, &open, error);
  if (status != GATHER_OK) return status;
  call->layout = open->layout;
  gather_duck_put_back(call->tables, open, GATHER_OK);
  return bind_ids(bound, call, error);
}

static void bind(duck_bind bound) {
  gather_error error;
  char message[sizeof error.message + 16];
  call_data *call = calloc(1, sizeof *call);
  if (!call) {
    gather_duck.bind_set_error(bound, "rows: out of memory");
    return;
  }
  call->tables = gather_duck.bind_get_extra_info(bound);
  gather_duck_tables_share(call->tables);
  gather_duck.bind_set_bind_data(bound, call, free_call);
  call->file = gather_duck_parameter(bound, 0);
  if (!gather_duck_bind_allowed(bound, "rows", call->file)) return;
  if (bind_call(bound, call, &error) != GATHER_OK) {
    snprintf(message, sizeof message, "rows: %s", error.message);
    gather_duck.bind_set_error(bound, message);
    return;
  }
  gather_duck_add_column(bound, "id", gather_duck.create_logical_type(DUCK_BIGINT));
  gather_duck_add_column(bound, "row", row_type(&call->layout));
  gather_duck.bind_set_cardinality(bound, (uint64_t)call->count, true);
}

/* ---- init: a statement may be prepared once and run often; the file may have changed in between */

static bool same_layout(const duck_layout *a, const duck_layout *b) {
  return a->element == b->element && a->rank == b->rank && memcmp(a->shape, b->shape, (size_t)a->rank * sizeof *a->shape) == 0;
}

static void init(duck_init started) {
  const call_data *call = gather_duck.init_get_bind_data(started);
  gather_error error;
  char message[sizeof error.message + 16];
  run_data *run = calloc(1, sizeof *run);
  if (!run) {
    gather_duck.init_set_error(started, "rows: out of memory");
    return;
  }
  run->tables = call->tables;
  gather_duck.init_set_init_data(started, run, free_run);
  gather_duck.init_set_max_threads(started, 1); /* the rows keep the order of the ids */
  uint64_t columns = gather_duck.init_get_column_count(started);
  run->columns = columns < COLUMNS ? columns : COLUMNS;
  for (uint64_t i = 0; i < run->columns; i++) run->column[i] = gather_duck.init_get_column_index(started, i);
  gather_status status = open_call(call, &run->open, &error);
  if (status == GATHER_OK && (!same_layout(&call->layout, &run->open->layout) || (call->all && call->count != run->open->layout.rows)))
    status = gather_error_set(&error, GATHER_USAGE, "%s has changed: prepare the statement again", run->open->file);
  if (status == GATHER_OK) return;
  snprintf(message, sizeof message, "rows: %s", error.message);
  gather_duck.init_set_error(started, message);
}

/* ---- the rows of a chunk */

static int64_t chunk_rows(const duck_layout *layout) {
  int64_t bytes = layout->row_bytes + layout->len * gather_duck_element_bytes(layout->element) + 1;
  int64_t most = (int64_t)gather_duck.vector_size(), rows = CHUNK_BYTES / bytes;
  return rows > most ? most : rows < 1 ? 1 : rows;
}

static void put_ids(const call_data *call, int64_t first, int64_t count, duck_vector vector) {
  int64_t *ids = gather_duck.vector_get_data(vector);
  for (int64_t i = 0; i < count; i++) {
    ids[i] = call->all ? first + i : call->ids[first + i];
    if (!call->all && call->null[first + i]) gather_duck_set_null(vector, (uint64_t)i);
  }
}

/* The rows of the ids; those that become NULL get the number of another, so that arrays have something in their place. */
static gather_status pick(const call_data *call, const duck_open *open, int64_t first, int64_t count, duck_picked *picked, bool *missing,
                          gather_error *error) {
  int64_t some = 0;
  picked->count = 0;
  for (int64_t i = 0; i < count; i++) {
    bool null = !call->all && call->null[first + i];
    int64_t id = call->all ? first + i : null ? 0 : call->ids[first + i], row = -1;
    gather_status status = null ? GATHER_OK : gather_duck_row(open, id, false, &row, error);
    if (status != GATHER_OK) return status;
    missing[i] = row < 0;
    if (row >= 0) some = row;
    picked->rows[i] = row;
    picked->at[i] = (uint64_t)i;
  }
  for (int64_t i = 0; i < count; i++)
    if (missing[i]) picked->rows[i] = some;
  picked->count = open->layout.rows ? count : 0;
  return GATHER_OK;
}

/* A table without rows: every id is NULL, and what is below the NULLs is empty. */
static void put_nothing(const duck_layout *layout, int64_t count, duck_vector vector) {
  int64_t bytes = is_array(layout) ? gather_duck_element_bytes(layout->element) : (int64_t)sizeof(duck_list_entry);
  int64_t len = is_array(layout) ? layout->len : 1;
  for (int32_t d = 0; is_array(layout) && d < layout->rank; d++) vector = gather_duck.array_vector_get_child(vector);
  memset(gather_duck.vector_get_data(vector), 0, (size_t)(count * len * (bytes ? bytes : (int64_t)sizeof(duck_string))));
}

static gather_status put_rows(const duck_open *open, duck_picked *picked, duck_vector vector, gather_error *error) {
  uint64_t used = 0;
  if (!is_array(&open->layout)) return gather_duck_put_lists(open, picked, DUCK_TARGET_EXACT, vector, &used, error);
  for (int32_t d = 0; d < open->layout.rank; d++) vector = gather_duck.array_vector_get_child(vector);
  return gather_duck_put_elements(open, picked, DUCK_TARGET_EXACT, vector, 0, error);
}

static gather_status put_chunk(const call_data *call, const run_data *run, int64_t count, duck_vector vector, gather_error *error) {
  duck_picked picked = {malloc((size_t)count * sizeof(int64_t)), malloc((size_t)count * sizeof(uint64_t)), 0,
                        call->all ? 0 : call->count - run->next - count};
  bool *missing = malloc((size_t)count * sizeof *missing);
  gather_status status = picked.rows && picked.at && missing ? pick(call, run->open, run->next, count, &picked, missing, error)
                                                             : gather_error_set(error, GATHER_OUT_OF_MEMORY, "out of memory");
  if (status == GATHER_OK && picked.count == 0) put_nothing(&call->layout, count, vector);
  if (status == GATHER_OK && picked.count) status = put_rows(run->open, &picked, vector, error);
  for (int64_t i = 0; i < count && status == GATHER_OK; i++)
    if (missing[i]) gather_duck_set_null(vector, (uint64_t)i);
  free(picked.rows);
  free(picked.at);
  free(missing);
  return status;
}

static void deliver(duck_call called, duck_chunk output) {
  const call_data *call = gather_duck.function_get_bind_data(called);
  run_data *run = gather_duck.function_get_init_data(called);
  gather_error error;
  gather_status status = GATHER_OK;
  int64_t left = call->count - run->next, most = chunk_rows(&call->layout), count = left < most ? left : most;
  for (uint64_t i = 0; i < run->columns && status == GATHER_OK && count; i++) {
    if (run->column[i] >= COLUMNS) continue; /* count(*) asks for a column that is not there */
    duck_vector vector = gather_duck.data_chunk_get_vector(output, i);
    if (run->column[i] == COLUMN_ID)
      put_ids(call, run->next, count, vector);
    else
      status = put_chunk(call, run, count, vector, &error);
  }
  if (status == GATHER_OK) {
    run->next += count;
    gather_duck.data_chunk_set_size(output, (uint64_t)count);
    return;
  }
  run->status = status;
  char message[sizeof error.message + 16];
  snprintf(message, sizeof message, "rows: %s", error.message);
  gather_duck.function_set_error(called, message);
}

/* ---- registering */

static void add_parameter(duck_function function, duck_logical type) {
  gather_duck.table_function_add_parameter(function, type);
  gather_duck.destroy_logical_type(&type);
}

bool gather_duck_register_rows(duck_connection connection, duck_tables *tables) {
  duck_function function = gather_duck.create_table_function();
  duck_logical text = gather_duck.create_logical_type(DUCK_VARCHAR);
  gather_duck_tables_share(tables);
  gather_duck.table_function_set_name(function, "rows");
  add_parameter(function, gather_duck.create_logical_type(DUCK_VARCHAR));
  add_parameter(function, gather_duck.create_logical_type(DUCK_VARCHAR));
  add_parameter(function, gather_duck_list_of(DUCK_BIGINT));
  gather_duck.table_function_add_named_parameter(function, "options", text);
  gather_duck.destroy_logical_type(&text);
  gather_duck.table_function_set_extra_info(function, tables, gather_duck_tables_release);
  gather_duck.table_function_set_bind(function, bind);
  gather_duck.table_function_set_init(function, init);
  gather_duck.table_function_set_function(function, deliver);
  gather_duck.table_function_supports_projection_pushdown(function, true);
  bool done = gather_duck.register_table_function(connection, function) == 0;
  gather_duck.destroy_table_function(&function);
  return done;
}
