/* SPDX-License-Identifier: MIT
 *
 * arrow_schema.c: the columns of an Arrow file, and where in each batch their buffers are.
 */
#include <inttypes.h>
#include <string.h>

#include "io/format/arrow/arrow.h"
#include "io/format/sort.h"

enum { SCHEMA_ENDIANNESS, SCHEMA_FIELDS };
enum { UNION_MODE, UNION_DENSE = 1, FIRST_VERSION_WITHOUT_VALIDITY = 4 };

/* ---- what a field has in a batch */

/* The traversal of a schema. A field needs more than 4 bytes, so more fields than bytes / 4 must be repeated ones:
 * several children may point to one table, and theirs too, so that a small schema could describe exponentially many
 * fields. */
typedef struct schema_walk {
  gather_arrow *arrow;
  const gather_flat *flat;
  gather_arrow_counts counts;
} schema_walk;

static gather_status count_field(schema_walk *walk, const gather_flat_table *field, int depth);

static gather_status count_children(schema_walk *walk, const gather_flat_table *field, int depth) {
  gather_flat_vector children;
  gather_flat_table child;
  GATHER_TRY(gather_flat_list(walk->flat, field, GATHER_ARROW_FIELD_CHILDREN, 4, &children));
  if (children.len > 0 && depth == GATHER_ARROW_DEPTH_MAX)
    return GATHER_ARROW_REFUSE(walk->arrow, field->at, "columns are nested deeper than %d levels",
                               GATHER_ARROW_DEPTH_MAX);
  for (int64_t i = 0; i < children.len; i++) {
    GATHER_TRY(gather_flat_item(walk->flat, &children, i, &child));
    GATHER_TRY(count_field(walk, &child, depth + 1));
  }
  return GATHER_OK;
}

/* A union has type numbers, a dense one also offsets; before V5 also a validity bitmap. */
static gather_status count_union(schema_walk *walk, const gather_flat_table *field) {
  gather_flat_table type;
  int64_t mode = 0;
  GATHER_TRY(gather_flat_inner(walk->flat, field, GATHER_ARROW_FIELD_TYPE, &type));
  if (type.at != 0) GATHER_TRY(gather_flat_number(walk->flat, &type, UNION_MODE, 2, &mode));
  walk->counts.buffers += (mode == UNION_DENSE) + (walk->arrow->version < FIRST_VERSION_WITHOUT_VALIDITY);
  return GATHER_OK;
}

static gather_status count_field(schema_walk *walk, const gather_flat_table *field, int depth) {
  gather_flat_table dictionary;
  int64_t number = 0;
  if (walk->counts.nodes >= (walk->flat->end - walk->flat->start) / 4)
    return GATHER_ARROW_WRONG(walk->arrow, field->at, "its columns contain each other");
  GATHER_TRY(gather_flat_number(walk->flat, field, GATHER_ARROW_FIELD_TYPE_NUMBER, 1, &number));
  GATHER_TRY(gather_flat_inner(walk->flat, field, GATHER_ARROW_FIELD_DICTIONARY, &dictionary));
  const gather_arrow_layout *layout = gather_arrow_layout_of(number);
  if (!layout) return GATHER_ARROW_REFUSE(walk->arrow, field->at, "unknown column type number %" PRId64, number);
  walk->counts.nodes++;
  if (dictionary.at != 0) { /* indices into the dictionary, whatever its values are */
    walk->counts.buffers += 2;
    return GATHER_OK;
  }
  walk->counts.buffers += layout->buffers;
  walk->counts.views += layout->views;
  if (number == GATHER_ARROW_UNION) GATHER_TRY(count_union(walk, field));
  return count_children(walk, field, depth);
}

/* ---- columns */

static gather_status read_column(schema_walk *walk, const gather_flat_table *field, gather_arrow_column *column) {
  gather_flat_text name;
  column->field = field->at;
  column->node = walk->counts.nodes;
  column->buffer = walk->counts.buffers;
  column->views = walk->counts.views;
  GATHER_TRY(gather_flat_string(walk->flat, field, GATHER_ARROW_FIELD_NAME, &name));
  column->name = name.text ? gather_arena_text(&walk->arrow->file->arena, name.text, (size_t)name.bytes) : "";
  if (!column->name) return gather_arrow_no_memory(walk->arrow);
  GATHER_TRY(count_field(walk, field, 0));
  return gather_arrow_column_type(walk->arrow, walk->flat, field, column);
}

static bool comes_before(const void *a, const void *b) {
  return strcmp(((const gather_arrow_column *)a)->name, ((const gather_arrow_column *)b)->name) < 0;
}

/* Columns with the same name are ambiguous. */
static gather_status mark_twins(gather_arrow *arrow) {
  const void **sorted = NULL;
  GATHER_TRY(gather_arrow_take(arrow, arrow->len, sizeof *sorted, &sorted));
  for (int64_t i = 0; i < arrow->len; i++) sorted[i] = &arrow->columns[i];
  gather_sort_pointers(sorted, arrow->len, comes_before);
  for (int64_t i = 1; i < arrow->len; i++) {
    gather_arrow_column *first = &arrow->columns[(const gather_arrow_column *)sorted[i - 1] - arrow->columns];
    gather_arrow_column *second = &arrow->columns[(const gather_arrow_column *)sorted[i] - arrow->columns];
    if (strcmp(first->name, second->name) == 0)
      first->why = second->why = "has the same name as another column; rename one of them";
  }
  return GATHER_OK;
}

gather_status gather_arrow_schema(gather_arrow *arrow, const gather_flat *flat, const gather_flat_table *schema) {
  schema_walk walk = {.arrow = arrow, .flat = flat};
  gather_flat_vector fields;
  gather_flat_table field;
  int64_t endianness = 0;
  GATHER_TRY(gather_flat_number(flat, schema, SCHEMA_ENDIANNESS, 2, &endianness));
  if (endianness != 0 && endianness != 1)
    return GATHER_ARROW_WRONG(arrow, schema->at, "unknown byte order number %" PRId64, endianness);
  arrow->big_endian = endianness == 1;
  GATHER_TRY(gather_flat_list(flat, schema, SCHEMA_FIELDS, 4, &fields));
  GATHER_TRY(gather_arrow_take(arrow, fields.len, sizeof *arrow->columns, &arrow->columns));
  for (int64_t i = 0; i < fields.len; i++) {
    GATHER_TRY(gather_flat_item(flat, &fields, i, &field));
    GATHER_TRY(read_column(&walk, &field, &arrow->columns[arrow->len++]));
  }
  arrow->all = walk.counts;
  return mark_twins(arrow);
}
