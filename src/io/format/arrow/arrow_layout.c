/* SPDX-License-Identifier: MIT
 *
 * arrow_layout.c: Arrow's types, and the buffers of each in a record batch.
 */
#include "io/format/arrow/arrow.h"

/* The types in the order of their numbers: the number of buffers of each in a batch, without its children's. */
static const gather_arrow_layout LAYOUTS[] = {
    {NULL, 0, false},
    {"null", 0, false},
    {"int", 2, false},
    {"float", 2, false},
    {"binary", 3, false},
    {"utf8", 3, false},
    {"bool", 2, false},
    {"decimal", 2, false},
    {"date", 2, false},
    {"time", 2, false},
    {"timestamp", 2, false},
    {"interval", 2, false},
    {"list", 2, false},
    {"struct", 1, false},
    {"union", 1, false},
    {"fixed_size_binary", 2, false},
    {"fixed_size_list", 1, false},
    {"map", 2, false},
    {"duration", 2, false},
    {"large_binary", 3, false},
    {"large_utf8", 3, false},
    {"large_list", 2, false},
    {"run_end_encoded", 0, false},
    {"binary_view", 2, true},
    {"utf8_view", 2, true},
    {"list_view", 3, false},
    {"large_list_view", 3, false},
};

const gather_arrow_layout *gather_arrow_layout_of(int64_t number) {
  return number > 0 && number < (int64_t)(sizeof LAYOUTS / sizeof *LAYOUTS) ? &LAYOUTS[number] : NULL;
}

const char *gather_arrow_type_name(int64_t number) {
  const gather_arrow_layout *layout = gather_arrow_layout_of(number);
  return layout ? layout->name : NULL;
}
