/* SPDX-License-Identifier: MIT
 *
 * duck_vector.c: rows of a table become rows of DuckDB's vectors. Numbers are read straight into the vector's memory where the file has
 * them as DuckDB does.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "duck_functions.h"

/* The bytes of the picked rows as they are in the file. Freed by the caller. */
static gather_status read_bytes(const duck_open *open, const duck_picked *picked, char **bytes, gather_error *error) {
  int64_t row_bytes = open->layout.row_bytes;
  *bytes = NULL;
  if (picked->count && row_bytes > (INT64_MAX - 1) / picked->count)
    return gather_error_set(error, GATHER_OUT_OF_MEMORY, "the rows of one vector are too large");
  *bytes = malloc((size_t)(picked->count * row_bytes) + 1);
  if (!*bytes)
    return gather_error_set(error, GATHER_OUT_OF_MEMORY, "out of memory for %" PRId64 " rows of %" PRId64 " bytes", picked->count,
                            row_bytes);
  if (picked->count == 0) return GATHER_OK;
  return gather_duck_read_bytes(open, picked->rows, picked->count, picked->to_come, *bytes, error);
}

/* Elements of text or bytes, as strings of the vector from `first` on. */
static gather_status assign_items(const duck_open *open, const duck_picked *picked, bool as_text, const char *bytes, duck_vector vector,
                                  uint64_t first, gather_error *error) {
  const duck_layout *layout = &open->layout;
  char *text = malloc((size_t)layout->item_bytes + 1);
  if (!text) return gather_error_set(error, GATHER_OUT_OF_MEMORY, "out of memory");
  int64_t len = layout->len, problem = -1;
  for (int64_t i = 0; i < picked->count * len && problem < 0; i++) {
    const char *item = bytes + i * layout->item_bytes;
    int64_t item_bytes = as_text ? gather_duck_element_text(layout, item, text) : layout->item_bytes;
    if (item_bytes < 0)
      problem = i / len;
    else
      gather_duck.vector_assign_string_element_len(vector, first + (uint64_t)i, as_text ? text : item, (uint64_t)item_bytes);
  }
  free(text);
  if (problem < 0) return GATHER_OK;
  return gather_error_set(error, GATHER_FILE_MALFORMED, "row %" PRId64 " of %s is not text; take_row_blob delivers its bytes",
                          picked->rows[problem], open->file);
}

static gather_status put_items(const duck_open *open, const duck_picked *picked, bool as_text, duck_vector vector, uint64_t first,
                               gather_error *error) {
  char *bytes;
  gather_status status = read_bytes(open, picked, &bytes, error);
  if (status == GATHER_OK) status = assign_items(open, picked, as_text, bytes, vector, first, error);
  free(bytes);
  return status;
}

gather_status gather_duck_put_elements(const duck_open *open, const duck_picked *picked, duck_target target, duck_vector vector,
                                       uint64_t first, gather_error *error) {
  duck_element element = open->layout.element;
  int64_t bytes = gather_duck_target_bytes(target, element);
  if (bytes == 0) return put_items(open, picked, gather_duck_target_type(target, element) == DUCK_VARCHAR, vector, first, error);
  char *data = gather_duck.vector_get_data(vector);
  return gather_duck_read(open, picked->rows, picked->count, picked->to_come, target, data + first * (uint64_t)bytes, error);
}

gather_status gather_duck_put_lists(const duck_open *open, const duck_picked *picked, duck_target target, duck_vector vector,
                                    uint64_t *used, gather_error *error) {
  uint64_t len = (uint64_t)open->layout.len, first = *used, all = first + (uint64_t)picked->count * len;
  duck_list_entry *entries = gather_duck.vector_get_data(vector);
  for (int64_t i = 0; i < picked->count; i++) entries[picked->at[i]] = (duck_list_entry){first + (uint64_t)i * len, len};
  gather_duck.list_vector_reserve(vector, all);
  gather_duck.list_vector_set_size(vector, all);
  *used = all;
  return gather_duck_put_elements(open, picked, target, gather_duck.list_vector_get_child(vector), first, error);
}

gather_status gather_duck_put_blobs(const duck_open *open, const duck_picked *picked, duck_vector vector, gather_error *error) {
  char *bytes;
  gather_status status = read_bytes(open, picked, &bytes, error);
  uint64_t row_bytes = (uint64_t)open->layout.row_bytes;
  for (int64_t i = 0; i < picked->count && status == GATHER_OK; i++)
    gather_duck.vector_assign_string_element_len(vector, picked->at[i], bytes + (uint64_t)i * row_bytes, row_bytes);
  free(bytes);
  return status;
}

void gather_duck_put_numbers(duck_vector vector, uint64_t row, const int64_t *numbers, int32_t len, uint64_t *used) {
  duck_list_entry *entries = gather_duck.vector_get_data(vector);
  entries[row] = (duck_list_entry){*used, (uint64_t)len};
  gather_duck.list_vector_reserve(vector, *used + (uint64_t)len);
  gather_duck.list_vector_set_size(vector, *used + (uint64_t)len);
  int64_t *elements = gather_duck.vector_get_data(gather_duck.list_vector_get_child(vector));
  if (len) memcpy(elements + *used, numbers, (size_t)len * sizeof *numbers);
  *used += (uint64_t)len;
}
