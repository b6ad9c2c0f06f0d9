/* SPDX-License-Identifier: MIT
 *
 * duck_tensors.c: tensors('file'): the tensors of a file, one a row, with the SQL that takes rows of each.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "duck_functions.h"
#include "duck_identity.h"

enum { NAME, TYPE, SHAPE, ROWS, ROW_BYTES, OFFSET, BYTES, CODEC, DECODED_SHAPE, TAKE, PROBLEM, COLUMNS };

static const struct {
  const char *name;
  int type; /* 0: BIGINT[] */
} columns[COLUMNS] = {
    [NAME] = {"name", DUCK_VARCHAR},  [TYPE] = {"type", DUCK_VARCHAR},          [SHAPE] = {"shape", 0},
    [ROWS] = {"rows", DUCK_BIGINT},   [ROW_BYTES] = {"row_bytes", DUCK_BIGINT}, [OFFSET] = {"offset", DUCK_BIGINT},
    [BYTES] = {"bytes", DUCK_BIGINT}, [CODEC] = {"codec", DUCK_VARCHAR},        [DECODED_SHAPE] = {"decoded_shape", 0},
    [TAKE] = {"take", DUCK_VARCHAR},  [PROBLEM] = {"problem", DUCK_VARCHAR},
};

typedef struct call_data {
  char *path;
  gather_file *file;
} call_data;

typedef struct run_data {
  int64_t next;
  uint64_t columns, column[COLUMNS];
} run_data;

/* What is known of one tensor. */
typedef struct facts {
  const char *path;
  const gather_file_tensor *tensor;
  gather_file_codec codec; /* codec.codec: NULL if it is not quantised, or not decoded */
  duck_layout layout;
  gather_error error; /* why it has no rows that can be taken */
  bool taken;         /* it has */
} facts;

static void free_call(void *freed) {
  call_data *call = freed;
  gather_file_close(call->file);
  if (call->path) gather_duck.free(call->path);
  free(call);
}

/* ---- bind, init */

static void bind(duck_bind bound) {
  gather_error error;
  char message[sizeof error.message + 16];
  call_data *call = calloc(1, sizeof *call);
  if (call) gather_duck.bind_set_bind_data(bound, call, free_call);
  if (call) call->path = gather_duck_parameter(bound, 0);
  if (!call || !call->path) {
    gather_duck.bind_set_error(bound, call ? "tensors: the file is NULL" : "tensors: out of memory");
    return;
  }
  if (!gather_duck_bind_allowed(bound, "tensors", call->path)) return;
  if (gather_duck_open_file(call->path, &call->file, &error) != GATHER_OK) {
    snprintf(message, sizeof message, "tensors: %s", error.message);
    gather_duck.bind_set_error(bound, message);
    return;
  }
  for (int i = 0; i < COLUMNS; i++)
    gather_duck_add_column(bound, columns[i].name,
                           columns[i].type ? gather_duck.create_logical_type(columns[i].type) : gather_duck_list_of(DUCK_BIGINT));
  gather_duck.bind_set_cardinality(bound, (uint64_t)gather_file_len(call->file), true);
}

static void init(duck_init started) {
  run_data *run = calloc(1, sizeof *run);
  if (!run) {
    gather_duck.init_set_error(started, "tensors: out of memory");
    return;
  }
  uint64_t count = gather_duck.init_get_column_count(started);
  run->columns = count < COLUMNS ? count : COLUMNS;
  for (uint64_t i = 0; i < run->columns; i++) run->column[i] = gather_duck.init_get_column_index(started, i);
  gather_duck.init_set_init_data(started, run, free);
  gather_duck.init_set_max_threads(started, 1);
}

/* ---- facts of a tensor */

static facts facts_of(const call_data *call, int64_t number) {
  facts made = {.path = call->path, .tensor = gather_file_at(call->file, number)};
  gather_error ignored;
  const gather_file_codec *decoded = NULL;
  if (gather_file_is_quantised(call->file, made.tensor) &&
      gather_file_codec_find(call->file, made.tensor, NULL, &made.codec, &ignored) == GATHER_OK)
    decoded = &made.codec;
  else
    made.codec.codec = NULL;
  made.taken =
      (gather_file_is_remote(made.tensor) || gather_file_tensor_check(made.tensor, &made.error) == GATHER_OK) &&
      gather_duck_layout(&made.tensor->tensor, made.tensor->descr, made.tensor->type_name, decoded, &made.layout, &made.error) == GATHER_OK;
  return made;
}

static int64_t stored_rows(const facts *about) {
  const gather_tensor *tensor = &about->tensor->tensor;
  return tensor->rank ? tensor->shape[0] : 0;
}

/* ---- texts */

static void put_text(duck_vector vector, uint64_t row, const char *text) {
  if (text)
    gather_duck.vector_assign_string_element_len(vector, row, text, strlen(text));
  else
    gather_duck_set_null(vector, row);
}

/* Appends a text between quotes, as SQL writes it. Returns the end. */
static char *quote(char *to, const char *text) {
  *to++ = '\'';
  for (; *text; text++) {
    if (*text == '\'') *to++ = '\'';
    *to++ = *text;
  }
  *to++ = '\'';
  return to;
}

/* The type of a row: " ::FLOAT[128]" where the function's own is not that. */
static const char *type_name(int type) {
  static const char *const names[] = {
      [DUCK_FLOAT] = "FLOAT", [DUCK_DOUBLE] = "DOUBLE", [DUCK_BIGINT] = "BIGINT", [DUCK_UBIGINT] = "UBIGINT"};
  return type <= DUCK_DOUBLE ? names[type] : NULL;
}

/* take_row('file', 'tensor', id)::FLOAT[128] */
static void put_take(const facts *about, duck_vector vector, uint64_t row) {
  const duck_layout *layout = &about->layout;
  duck_target target = gather_duck_target_of(layout->element);
  const char *name = about->tensor->name, *type = type_name(gather_duck_target_type(target, layout->element));
  char *text = about->taken ? malloc(2 * strlen(about->path) + 2 * strlen(name) + 100) : NULL;
  if (!text) {
    gather_duck_set_null(vector, row);
    return;
  }
  char *end = text + sprintf(text, "%s(", gather_duck_take_name(target));
  end = quote(end, about->path);
  if (*name) end = quote(end + sprintf(end, ", "), name);
  end += sprintf(end, ", id)");
  if (type && layout->rank == 0) end += sprintf(end, "[1]");
  if (type && layout->rank && layout->len && layout->len <= 100000) end += sprintf(end, "::%s[%" PRId64 "]", type, layout->len);
  *end = '\0';
  put_text(vector, row, text);
  free(text);
}

/* ---- cells */

static void put_number(duck_vector vector, uint64_t row, int64_t number, bool known) {
  if (!known) gather_duck_set_null(vector, row);
  ((int64_t *)gather_duck.vector_get_data(vector))[row] = known ? number : 0;
}

static void put_shape(duck_vector vector, uint64_t row, int32_t rank, const int64_t *shape, bool known, uint64_t *used) {
  gather_duck_put_numbers(vector, row, shape, known ? rank : 0, used);
  if (!known) gather_duck_set_null(vector, row);
}

static void put_cell(const facts *about, uint64_t column, duck_vector vector, uint64_t row, uint64_t *used) {
  const gather_file_tensor *tensor = about->tensor;
  int64_t rows = stored_rows(about);
  switch (column) {
    case NAME:
      put_text(vector, row, tensor->name);
      break;
    case TYPE:
      put_text(vector, row, tensor->type_name);
      break;
    case SHAPE:
      put_shape(vector, row, tensor->tensor.rank, tensor->tensor.shape, true, used);
      break;
    case ROWS:
      put_number(vector, row, rows, tensor->tensor.rank > 0);
      break;
    case ROW_BYTES:
      put_number(vector, row, rows ? tensor->bytes / rows : 0, rows > 0);
      break;
    case OFFSET:
      put_number(vector, row, tensor->offset, true);
      break;
    case BYTES:
      put_number(vector, row, tensor->bytes, true);
      break;
    case CODEC:
      put_text(vector, row, about->codec.codec);
      break;
    case DECODED_SHAPE:
      put_shape(vector, row, about->codec.rank, about->codec.shape, about->codec.codec != NULL, used);
      break;
    case TAKE:
      put_take(about, vector, row);
      break;
    case PROBLEM:
      put_text(vector, row, about->taken ? NULL : about->error.message);
      break;
    default:
      break; /* count(*) asks for a column that is not there */
  }
}

static void deliver(duck_call called, duck_chunk output) {
  const call_data *call = gather_duck.function_get_bind_data(called);
  run_data *run = gather_duck.function_get_init_data(called);
  uint64_t used[COLUMNS] = {0}, most = gather_duck.vector_size(), row = 0;
  for (; row < most && run->next < gather_file_len(call->file); row++, run->next++) {
    facts about = facts_of(call, run->next);
    for (uint64_t i = 0; i < run->columns; i++)
      if (run->column[i] < COLUMNS) put_cell(&about, run->column[i], gather_duck.data_chunk_get_vector(output, i), row, &used[i]);
  }
  gather_duck.data_chunk_set_size(output, row);
}

/* ---- registering */

bool gather_duck_register_tensors(duck_connection connection) {
  duck_function function = gather_duck.create_table_function();
  duck_logical text = gather_duck.create_logical_type(DUCK_VARCHAR);
  gather_duck.table_function_set_name(function, "tensors");
  gather_duck.table_function_add_parameter(function, text);
  gather_duck.destroy_logical_type(&text);
  gather_duck.table_function_set_bind(function, bind);
  gather_duck.table_function_set_init(function, init);
  gather_duck.table_function_set_function(function, deliver);
  gather_duck.table_function_supports_projection_pushdown(function, true);
  bool done = gather_duck.register_table_function(connection, function) == 0;
  gather_duck.destroy_table_function(&function);
  return done;
}
