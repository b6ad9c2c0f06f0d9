/* SPDX-License-Identifier: MIT
 *
 * writer_many.c: several tensors in one file, in formats that hold several. Tensors with larger elements come first,
 * so that every tensor is aligned to its elements without gaps, which the format does not allow; equal ones are sorted
 * by name.
 */
#include <inttypes.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/checked.h"
#include "core/base/error.h"
#include "io/format/sort.h"
#include "io/format/writer.h"

static int32_t alignment(const gather_writing *what) {
  int32_t bits = gather_type_get(what->type)->bits;
  return bits & -bits;
}

static bool comes_before(const void *a, const void *b) {
  const gather_writing_place *one = a, *other = b;
  int32_t of_one = alignment(one->what), of_other = alignment(other->what);
  if (of_one != of_other) return of_one > of_other;
  return strcmp(gather_safetensors_name(one->what), gather_safetensors_name(other->what)) < 0;
}

static bool comes_before_by_name(const void *a, const void *b) {
  const gather_writing_place *one = a, *other = b;
  return strcmp(gather_safetensors_name(one->what), gather_safetensors_name(other->what)) < 0;
}

/* Plans each tensor. The first one gives the format. */
static gather_status plan_each(const gather_writing *tensors, int64_t count, gather_writing_plan *plan,
                               gather_error *error) {
  for (int64_t i = 0; i < count; i++) {
    gather_writing_plan one;
    gather_writing what = tensors[i];
    what.path = tensors[0].path;
    what.format = tensors[0].format;
    GATHER_TRY(gather_writing_plan_make(&what, &one, error));
    plan->format = one.format;
    plan->places[i] =
        (gather_writing_place){.what = &tensors[i], .number = i, .bytes = one.data_bytes, .swap_unit = one.swap_unit};
    gather_writing_plan_clear(&one);
    if (!plan->format->headers)
      return gather_fail_input(error, GATHER_UNSUPPORTED, "output",
                               "a %s file holds one tensor; use safetensors for several", plan->format->name);
  }
  return GATHER_OK;
}

static gather_status check_names(const gather_writing_place **order, int64_t count, gather_error *error) {
  gather_sort_pointers((const void **)order, count, comes_before_by_name);
  for (int64_t i = 1; i < count; i++) {
    const char *name = gather_safetensors_name(order[i]->what);
    if (strcmp(gather_safetensors_name(order[i - 1]->what), name) == 0)
      return gather_fail_input(error, GATHER_USAGE, "output", "two tensors have the name '%.100s'", name);
  }
  return GATHER_OK;
}

static gather_status place_all(const gather_writing_place **order, gather_writing_plan *plan, gather_error *error) {
  gather_sort_pointers((const void **)order, plan->count, comes_before);
  for (int64_t i = 0; i < plan->count; i++) {
    gather_writing_place *place = &plan->places[order[i]->number];
    place->at = plan->data_bytes;
    if (!gather_add(plan->data_bytes, place->bytes, &plan->data_bytes))
      return gather_fail_input(error, GATHER_OVERFLOW, "output", "the size of the file does not fit in 64 bits");
  }
  return GATHER_OK;
}

static gather_status make_header(const gather_writing *tensors, gather_writing_plan *plan, gather_error *error) {
  const gather_writing_place **order;
  int64_t bytes, total;
  order = gather_mul(plan->count, (int64_t)sizeof *order, &bytes) ? gather_alloc(bytes) : NULL;
  if (!order) return gather_fail(error, GATHER_OUT_OF_MEMORY, "no memory for the file's header");
  for (int64_t i = 0; i < plan->count; i++) order[i] = &plan->places[i];
  gather_status status = check_names(order, plan->count, error);
  if (status == GATHER_OK) status = place_all(order, plan, error);
  if (status == GATHER_OK) status = plan->format->headers(tensors, order, plan->count, &plan->header, error);
  if (status == GATHER_OK && !gather_add(plan->header.size, plan->data_bytes, &total))
    status = gather_fail_input(error, GATHER_OVERFLOW, "output", "the size of the file does not fit in 64 bits");
  gather_free(order);
  return status;
}

static gather_status make_plan(const gather_writing *tensors, int64_t count, gather_writing_plan *plan,
                               gather_error *error) {
  int64_t bytes;
  *plan = (gather_writing_plan){.count = count};
  if (!tensors || count < 1) return gather_fail(error, GATHER_USAGE, "a file of tensors needs at least one");
  for (int64_t i = 0; i < count; i++)
    if (tensors[i].type == GATHER_TYPE_STRING)
      return gather_fail_input(error, GATHER_UNSUPPORTED, "output",
                               "strings cannot be written together with other tensors");
  for (int64_t i = 0; i < count; i++)
    if (tensors[i].align_bytes > 0)
      return gather_fail_input(error, GATHER_UNSUPPORTED, "output",
                               "several tensors in one file cannot be aligned: there must be no gaps between them");
  plan->places = gather_mul(count, (int64_t)sizeof *plan->places, &bytes) ? gather_alloc(bytes) : NULL;
  if (!plan->places) return gather_fail(error, GATHER_OUT_OF_MEMORY, "no memory for %" PRId64 " tensors", count);
  gather_status status = plan_each(tensors, count, plan, error);
  if (status == GATHER_OK) status = make_header(tensors, plan, error);
  if (status != GATHER_OK) gather_writing_plan_clear(plan);
  return status;
}

gather_status gather_writer_check_many(const gather_writing *tensors, int64_t count, gather_error *error) {
  gather_writing_plan plan;
  if (count == 1) return gather_writer_check(tensors, error);
  GATHER_TRY(make_plan(tensors, count, &plan, error));
  gather_writing_plan_clear(&plan);
  return gather_writing_check_target(&tensors[0], error);
}

gather_status gather_writer_create_many(const gather_writing *tensors, int64_t count, gather_writer **writer,
                                        gather_error *error) {
  gather_writing_plan plan;
  if (!writer) return gather_fail(error, GATHER_USAGE, "gather_writer_create_many: writer is NULL");
  if (count == 1) return gather_writer_create(tensors, writer, error);
  *writer = NULL;
  GATHER_TRY(make_plan(tensors, count, &plan, error));
  return gather_writer_begin(&tensors[0], &plan, false, writer, error);
}
