/* SPDX-License-Identifier: MIT
 *
 * duck_take.c: take_row and its siblings, scalar functions. DuckDB calls them with a vector of up to 2048 ids: one gather for all of
 * them. Their result type is fixed when they are registered (DuckDB's C API has no other way), so there is one function per type.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "duck_functions.h"

static const struct {
  const char *name;
  duck_target target;
} functions[] = {
    {"take_row", DUCK_TARGET_FLOAT},           {"take_row_double", DUCK_TARGET_DOUBLE},   {"take_row_bigint", DUCK_TARGET_BIGINT},
    {"take_row_ubigint", DUCK_TARGET_UBIGINT}, {"take_row_varchar", DUCK_TARGET_VARCHAR}, {"take_row_blob", DUCK_TARGET_BLOB},
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

const char *gather_duck_take_name(duck_target target) {
  for (size_t i = 0; i < FUNCTIONS; i++)
    if (functions[i].target == target) return functions[i].name;
  return "";
}

/* One overload: which target, and which arguments it has. */
typedef struct overload {
  duck_tables *tables;
  duck_target target;
  bool has_tensor, has_options, is_unsigned;
} overload;

static void free_overload(void *freed) {
  overload *gone = freed;
  gather_duck_tables_release(gone->tables);
  free(gone);
}

/* ---- the arguments of one call */

typedef struct column {
  const void *data;
  const uint64_t *validity;
} column;

typedef struct arguments {
  const overload *function;
  const duck_policy *policy;
  column file, tensor, id, options;
  uint64_t rows;
} arguments;

static column column_at(duck_chunk chunk, uint64_t *next) {
  duck_vector vector = gather_duck.data_chunk_get_vector(chunk, (*next)++);
  return (column){gather_duck.vector_get_data(vector), gather_duck.vector_get_validity(vector)};
}

static arguments arguments_of(const overload *function, const duck_policy *policy, duck_chunk chunk) {
  arguments made = {.function = function, .policy = policy, .rows = gather_duck.data_chunk_get_size(chunk)};
  uint64_t next = 0;
  made.file = column_at(chunk, &next);
  if (function->has_tensor) made.tensor = column_at(chunk, &next);
  made.id = column_at(chunk, &next);
  if (function->has_options) made.options = column_at(chunk, &next);
  return made;
}

/* The text of a row of a column; "" for a column that the overload does not have. */
static duck_name name_at(const column *from, uint64_t row) {
  if (!from->data) return (duck_name){"", 0};
  const duck_string *string = (const duck_string *)from->data + row;
  return (duck_name){gather_duck_text(string), string->bytes};
}

/* Whether any argument of a row but the id is NULL. */
static bool key_is_null(const arguments *from, uint64_t row) {
  return duck_is_null(from->file.validity, row) || duck_is_null(from->tensor.validity, row) || duck_is_null(from->options.validity, row);
}

static duck_key key_at(const arguments *from, uint64_t row) {
  return (duck_key){name_at(&from->file, row), name_at(&from->tensor, row), name_at(&from->options, row)};
}

/* The first row from `first` on that names another table. */
static uint64_t end_of_run(const arguments *from, uint64_t first, const duck_key *key) {
  uint64_t row = first + 1;
  for (; row < from->rows && !key_is_null(from, row); row++) {
    duck_key next = key_at(from, row);
    if (!gather_duck_same_key(key, &next)) break;
  }
  return row;
}

/* ---- rows of one table */

static gather_status check_type(const duck_open *open, duck_target target, gather_error *error) {
  if (gather_duck_target_holds(target, open->layout.element)) return GATHER_OK;
  return gather_error_set(
      error, GATHER_TYPE_UNSUPPORTED, "the elements of %s%s%s are %s, which this function's type does not hold exactly; use %s", open->file,
      *open->tensor ? ":" : "", open->tensor, open->layout.type_name, gather_duck_take_name(gather_duck_target_of(open->layout.element)));
}

static void set_null(duck_vector result, uint64_t row, duck_target target) {
  gather_duck_set_null(result, row);
  if (target != DUCK_TARGET_BLOB) ((duck_list_entry *)gather_duck.vector_get_data(result))[row] = (duck_list_entry){0, 0};
}

/* Picks the rows of the ids from `first` to `end`; the others become NULL. */
static gather_status pick(const arguments *from, const duck_open *open, uint64_t first, uint64_t end, duck_picked *picked,
                          duck_vector result, gather_error *error) {
  picked->count = 0;
  for (uint64_t row = first; row < end; row++) {
    int64_t taken = -1;
    if (!duck_is_null(from->id.validity, row)) {
      int64_t id = ((const int64_t *)from->id.data)[row];
      gather_status status = gather_duck_row(open, id, from->function->is_unsigned, &taken, error);
      if (status != GATHER_OK) return status;
    }
    if (taken < 0) {
      set_null(result, row, from->function->target);
      continue;
    }
    picked->rows[picked->count] = taken;
    picked->at[picked->count++] = row;
  }
  return GATHER_OK;
}

static gather_status take_run(const arguments *from, const duck_key *key, uint64_t first, uint64_t end, duck_picked *picked,
                              duck_vector result, uint64_t *used, gather_error *error) {
  duck_open *open;
  duck_tables *tables = from->function->tables;
  duck_target target = from->function->target;
  gather_status status = gather_duck_allowed(from->policy, key->file.text, key->file.bytes, key->options.text, key->options.bytes, error);
  if (status == GATHER_OK) status = gather_duck_open(tables, key, &open, error);
  if (status != GATHER_OK) return status;
  status = check_type(open, target, error);
  if (status == GATHER_OK) status = pick(from, open, first, end, picked, result, error);
  if (status == GATHER_OK)
    status = target == DUCK_TARGET_BLOB ? gather_duck_put_blobs(open, picked, result, error)
                                        : gather_duck_put_lists(open, picked, target, result, used, error);
  gather_duck_put_back(tables, open, status);
  return status;
}

/* ---- the call */

static gather_status take_all(const arguments *from, duck_picked *picked, duck_vector result, gather_error *error) {
  uint64_t used = 0;
  for (uint64_t row = 0, end; row < from->rows; row = end) {
    end = row + 1;
    if (key_is_null(from, row)) {
      set_null(result, row, from->function->target);
      continue;
    }
    duck_key key = key_at(from, row);
    end = end_of_run(from, row, &key);
    gather_status status = take_run(from, &key, row, end, picked, result, &used, error);
    if (status != GATHER_OK) return status;
  }
  return GATHER_OK;
}

static void take(duck_call call, duck_chunk input, duck_vector result) {
  const overload *function = gather_duck.scalar_function_get_extra_info(call);
  static const duck_policy unknown = {.named = false}; /* of a host that has no call for it */
  const duck_policy *policy = gather_duck.scalar_function_get_bind_data ? gather_duck.scalar_function_get_bind_data(call) : NULL;
  arguments from = arguments_of(function, policy ? policy : &unknown, input);
  gather_error error;
  duck_picked picked = {malloc((from.rows + 1) * sizeof(int64_t)), malloc((from.rows + 1) * sizeof(uint64_t)), 0, 0};
  gather_status status =
      picked.rows && picked.at ? take_all(&from, &picked, result, &error) : gather_error_set(&error, GATHER_OUT_OF_MEMORY, "out of memory");
  free(picked.rows);
  free(picked.at);
  if (status == GATHER_OK) return;
  char message[sizeof error.message + 32];
  snprintf(message, sizeof message, "%s: %s", gather_duck_take_name(function->target), error.message);
  gather_duck.scalar_function_set_error(call, message);
}

static void *copy_policy(void *policy) {
  duck_policy *copy = malloc(sizeof *copy);
  if (copy) *copy = *(const duck_policy *)policy;
  return copy;
}

/* Whether the query itself says which file: a constant, an expression of constants, a parameter. */
static bool is_named(duck_bind bound) {
  duck_expression file = gather_duck.scalar_function_bind_get_argument(bound, 0);
  bool named = file && gather_duck.expression_is_foldable(file);
  if (file)
    gather_duck.destroy_expression(&file);
  else /* DuckDB cannot copy it, and has failed the query with words of its own */
    gather_duck.scalar_function_bind_set_error(
        bound, "take_row: the file cannot be a subquery: SET VARIABLE file = (SELECT ...) and getvariable('file'), or a join");
  return named;
}

static void bind(duck_bind bound) {
  duck_context context = NULL;
  gather_duck.scalar_function_get_client_context(bound, &context);
  duck_policy policy = gather_duck_policy(context);
  policy.named = is_named(bound);
  duck_policy *kept = copy_policy(&policy);
  if (kept) {
    gather_duck.scalar_function_set_bind_data(bound, kept, free);
    gather_duck.scalar_function_set_bind_data_copy(bound, copy_policy);
  }
  if (policy.nothing || !kept)
    gather_duck.scalar_function_bind_set_error(
        bound, kept ? "take_row reads files, which enable_external_access = false forbids" : "take_row: out of memory");
}

/* ---- registering */

static void add_parameter(duck_scalar function, int type) {
  duck_logical logical = gather_duck.create_logical_type(type);
  gather_duck.scalar_function_add_parameter(function, logical);
  gather_duck.destroy_logical_type(&logical);
}

static void describe(duck_scalar function, const char *name, const overload *shape) {
  gather_duck.scalar_function_set_name(function, name);
  add_parameter(function, DUCK_VARCHAR);
  if (shape->has_tensor) add_parameter(function, DUCK_VARCHAR);
  add_parameter(function, shape->is_unsigned ? DUCK_UBIGINT : DUCK_BIGINT);
  if (shape->has_options) add_parameter(function, DUCK_VARCHAR);
  int type = gather_duck_target_type(shape->target, DUCK_ELEMENT_FLOAT);
  duck_logical result = shape->target == DUCK_TARGET_BLOB ? gather_duck.create_logical_type(type) : gather_duck_list_of(type);
  gather_duck.scalar_function_set_return_type(function, result);
  gather_duck.destroy_logical_type(&result);
  gather_duck.scalar_function_set_special_handling(function); /* a NULL option or id is ours to handle */
  gather_duck.scalar_function_set_function(function, take);
  if (gather_duck.scalar_function_set_bind) gather_duck.scalar_function_set_bind(function, bind);
}

/* Adds the overload with these arguments: bit 0: a tensor, bit 1: options, bit 2: UBIGINT. */
static bool add_overload(duck_set set, duck_tables *tables, size_t which, unsigned bits) {
  overload *made = malloc(sizeof *made);
  if (!made) return false;
  *made = (overload){tables, functions[which].target, bits & 1, bits & 2, bits & 4};
  duck_scalar function = gather_duck.create_scalar_function();
  gather_duck_tables_share(tables);
  gather_duck.scalar_function_set_extra_info(function, made, free_overload);
  describe(function, functions[which].name, made);
  bool added = gather_duck.add_scalar_function_to_set(set, function) == 0;
  gather_duck.destroy_scalar_function(&function);
  return added;
}

bool gather_duck_register_take(duck_connection connection, duck_tables *tables) {
  bool done = true;
  for (size_t i = 0; i < FUNCTIONS && done; i++) {
    duck_set set = gather_duck.create_scalar_function_set(functions[i].name);
    for (unsigned bits = 0; bits < 8 && done; bits++) done = add_overload(set, tables, i, bits);
    done = done && gather_duck.register_scalar_function_set(connection, set) == 0;
    gather_duck.destroy_scalar_function_set(&set);
  }
  return done;
}
