/* SPDX-License-Identifier: MIT
 *
 * writer.c: a file being written. Elements go directly into the mapped temporary file, or into memory for a descriptor and for strings,
 * whose size is known only at the end.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/checked.h"
#include "core/base/error.h"
#include "core/base/struct.h"
#include "core/base/tensor.h"
#include "core/system/pages.h"
#include "io/format/format.h"
#include "io/format/npy/descr.h"
#include "io/format/output.h"
#include "io/format/span.h"

/* One checked gather_writing, or several; or plain bytes, without a format. */
typedef struct writing_plan {
  const gather_format *format;
  gather_header header;
  int64_t data_bytes;
  int64_t swap_unit;            /* of one tensor; 0 = the elements are written unchanged */
  gather_writing_place *places; /* of several tensors, by their numbers; NULL. On the heap */
  int64_t count;                /* of places */
} writing_plan;

/* ---- byte order, swapped once, when a file is finished */

/* The unit from .descr, which gives the byte order of opaque elements. */
static gather_status opaque_unit(const gather_writing *what, int64_t *unit_bytes, gather_error *error) {
  gather_literal literal;
  gather_descr descr = {.unit_bytes = 0, .big_endian = what->byte_swapped};
  if (what->descr) {
    gather_literal_init(&literal, what->descr, (int64_t)strlen(what->descr));
    if (!gather_descr_parse(&literal, &descr))
      return gather_fail_input(error, literal.status == GATHER_UNSUPPORTED ? GATHER_UNSUPPORTED : GATHER_USAGE, "output",
                               "the descr %.100s: %s", what->descr, literal.message);
    if (descr.item_bytes != what->item_bytes)
      return gather_fail_input(error, GATHER_USAGE, "output", "the descr %.100s has another size", what->descr);
  }
  *unit_bytes = 0;
  if (!descr.big_endian) return GATHER_OK;
  if (descr.unit_bytes == 0)
    return gather_fail_input(error, GATHER_UNSUPPORTED, "output",
                             "raw bytes are little-endian, but some of these elements are big-endian; write .npy");
  *unit_bytes = descr.unit_bytes;
  return GATHER_OK;
}

/* The unit to byte-swap for a file of little-endian elements: *unit_bytes 0 = none. GATHER_UNSUPPORTED for elements
 * that are only partly big-endian. */
static gather_status find_unit(const gather_writing *what, int64_t *unit_bytes, gather_error *error) {
  if (what->type == GATHER_TYPE_OPAQUE) return opaque_unit(what, unit_bytes, error);
  const gather_type_info *type = gather_type_get(what->type);
  int64_t unit = type->kind == GATHER_KIND_COMPLEX ? type->bits / 16 : type->bits / 8;
  bool big = what->byte_swapped != (GATHER_BIG_ENDIAN != 0);
  *unit_bytes = big && unit > 1 && type->kind != GATHER_KIND_STRING ? unit : 0;
  return GATHER_OK;
}

/* ---- one tensor */

struct gather_writer {
  gather_output output; /* if it has a path */
  bool has_path;
  int fd; /* if it has none */
  bool strings, parts;
  bool header_written; /* parts */
  int64_t appended;    /* parts: bytes of the elements so far */
  int64_t window_bytes;
  gather_header header;
  int64_t swap_unit;            /* 0 = the elements are written unchanged */
  gather_writing_place *places; /* of several tensors; NULL */
  int64_t count;                /* of places */
  int64_t data_bytes;
  void *data;  /* NULL if there are no bytes */
  void *pages; /* owned; used if data is not in the output's mapping */
};

/* ---- the request */

/* Fails and names the formats that carry the type. Raw bytes keep neither type nor shape: they come last. */
static gather_status fail_carry(const gather_format *format, const gather_type_info *type, gather_error *error) {
  char able[80] = "";
  const gather_format *raw = NULL;
  for (size_t i = 0; gather_format_row(i); i++) {
    const gather_format *other = gather_format_row(i);
    if (!other->writer || !other->writer->carries(type)) continue;
    if (strcmp(other->info.name, "raw") == 0) raw = other;
    size_t at = strlen(able);
    if (other != raw) (void)snprintf(able + at, sizeof able - at, "%s%s", at ? ", " : "; use ", other->info.name);
  }
  size_t at = strlen(able);
  if (raw) (void)snprintf(able + at, sizeof able - at, "%s%s", at ? " or " : "; use ", raw->info.name);
  return gather_fail_input(error, GATHER_UNSUPPORTED, "output", "%s cannot carry the type %s%s", format->info.name, type->name, able);
}

static gather_status fail_extension(const char *path, gather_error *error) {
  char known[80] = "";
  for (size_t i = 0; gather_format_row(i); i++) {
    if (!gather_format_row(i)->writer) continue;
    size_t at = strlen(known);
    (void)snprintf(known + at, sizeof known - at, "%s%s", at ? " " : "", gather_format_row(i)->info.extensions);
  }
  return gather_fail_file(error, GATHER_USAGE, path, -1, "unknown extension; known are %s", known);
}

/* The writable format of that name; NULL. */
static const gather_format *find_format(const char *name) {
  const gather_format *format;
  for (size_t i = 0; (format = gather_format_row(i)) != NULL; i++)
    if (format->writer && strcmp(format->info.name, name) == 0) return format;
  return NULL;
}

static gather_status choose_format(const gather_file_target *target, const gather_format **format, gather_error *error) {
  if (target->format) {
    *format = find_format(target->format);
    if (*format) return GATHER_OK;
    return gather_fail_input(error, GATHER_USAGE, "output", "no such output format '%.60s'", target->format);
  }
  if (!target->path) return gather_fail_input(error, GATHER_USAGE, "output", "writing to a descriptor needs the name of a format");
  *format = gather_format_for_path(target->path);
  return *format ? GATHER_OK : fail_extension(target->path, error);
}

static gather_status check_shape(const gather_writing *what, int64_t *data_bytes, gather_error *error) {
  const gather_tensor tensor = {.type = what->type, .rank = what->rank, .item_bytes = what->item_bytes, .shape = what->shape};
  GATHER_TRY(gather_tensor_check_input(&tensor, "output", error));
  *data_bytes = gather_tensor_bytes(&tensor);
  return GATHER_OK;
}

static void clear_plan(writing_plan *plan) {
  gather_free(plan->header.bytes);
  gather_free(plan->places);
  *plan = (writing_plan){0};
}

static gather_status check_align(int64_t align, gather_error *error) {
  if (align >= 0 && (align & (align - 1)) == 0) return GATHER_OK;
  return gather_fail_input(error, GATHER_USAGE, "output", "the alignment must be a power of two, not %" PRId64, align);
}

/* A header that cannot be padded is as long as it is. */
static gather_status check_aligned(int64_t align, const writing_plan *plan, gather_error *error) {
  if (align == 0 || plan->header.size % align == 0) return GATHER_OK;
  return gather_fail_input(error, GATHER_UNSUPPORTED, "output",
                           "the header of a %s file cannot be padded to align the elements; use npy, safetensors or raw",
                           plan->format->info.name);
}

/* Does everything that needs no file. On GATHER_OK the caller must clear the plan. */
static gather_status plan_one(const gather_file_target *target, const gather_writing *what, writing_plan *plan, gather_error *error) {
  const gather_format *format;
  *plan = (writing_plan){0};
  GATHER_TRY(choose_format(target, &format, error));
  GATHER_TRY(check_shape(what, &plan->data_bytes, error));
  GATHER_TRY(check_align(target->align_bytes, error));
  const gather_type_info *type = gather_type_get(what->type);
  if (!format->writer->carries(type)) return fail_carry(format, type, error);
  plan->format = format;
  if (strcmp(format->info.name, "npy") != 0) GATHER_TRY(find_unit(what, &plan->swap_unit, error));
  gather_status status = format->writer->header(what, target->align_bytes, plan->data_bytes, &plan->header, error);
  if (status == GATHER_OK) status = check_aligned(target->align_bytes, plan, error);
  int64_t total;
  if (status == GATHER_OK && !gather_add(plan->header.size, plan->data_bytes, &total))
    status = gather_fail_input(error, GATHER_OVERFLOW, "output", "the size of the file does not fit in 64 bits");
  if (status != GATHER_OK) clear_plan(plan);
  return status;
}

/* ---- several tensors in one file, in formats that hold several. Tensors with larger elements come first, so that every tensor is
 * aligned to its elements without gaps, which the format does not allow; equal ones are sorted by name. */

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

/* Plans each tensor. */
static gather_status plan_each(const gather_file_target *target, writing_plan *plan, gather_error *error) {
  for (int64_t i = 0; i < target->count; i++) {
    writing_plan one;
    GATHER_TRY(plan_one(target, &target->tensors[i], &one, error));
    plan->format = one.format;
    plan->places[i] = (gather_writing_place){.what = &target->tensors[i], .number = i, .bytes = one.data_bytes, .swap_unit = one.swap_unit};
    clear_plan(&one);
    if (!plan->format->writer->headers)
      return gather_fail_input(error, GATHER_UNSUPPORTED, "output", "a %s file holds one tensor; use safetensors for several",
                               plan->format->info.name);
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

static gather_status place_all(const gather_writing_place **order, writing_plan *plan, gather_error *error) {
  gather_sort_pointers((const void **)order, plan->count, comes_before);
  for (int64_t i = 0; i < plan->count; i++) {
    gather_writing_place *place = &plan->places[order[i]->number];
    place->at = plan->data_bytes;
    if (!gather_add(plan->data_bytes, place->bytes, &plan->data_bytes))
      return gather_fail_input(error, GATHER_OVERFLOW, "output", "the size of the file does not fit in 64 bits");
  }
  return GATHER_OK;
}

static gather_status make_header(const gather_writing *tensors, writing_plan *plan, gather_error *error) {
  const gather_writing_place **order;
  int64_t bytes, total;
  order = gather_mul(plan->count, (int64_t)sizeof *order, &bytes) ? gather_alloc(bytes) : NULL;
  if (!order) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for the file's header");
  for (int64_t i = 0; i < plan->count; i++) order[i] = &plan->places[i];
  gather_status status = check_names(order, plan->count, error);
  if (status == GATHER_OK) status = place_all(order, plan, error);
  if (status == GATHER_OK) status = plan->format->writer->headers(tensors, order, plan->count, &plan->header, error);
  if (status == GATHER_OK && !gather_add(plan->header.size, plan->data_bytes, &total))
    status = gather_fail_input(error, GATHER_OVERFLOW, "output", "the size of the file does not fit in 64 bits");
  gather_free(order);
  return status;
}

static gather_status plan_several(const gather_file_target *target, writing_plan *plan, gather_error *error) {
  int64_t bytes, count = target->count;
  *plan = (writing_plan){.count = count};
  for (int64_t i = 0; i < count; i++)
    if (target->tensors[i].type == GATHER_TYPE_STRING)
      return gather_fail_input(error, GATHER_UNSUPPORTED, "output", "strings cannot be written together with other tensors");
  if (target->align_bytes > 0)
    return gather_fail_input(error, GATHER_UNSUPPORTED, "output",
                             "several tensors in one file cannot be aligned: there must be no gaps between them");
  plan->places = gather_mul(count, (int64_t)sizeof *plan->places, &bytes) ? gather_alloc(bytes) : NULL;
  if (!plan->places) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for %" PRId64 " tensors", count);
  gather_status status = plan_each(target, plan, error);
  if (status == GATHER_OK) status = make_header(target->tensors, plan, error);
  if (status != GATHER_OK) clear_plan(plan);
  return status;
}

/* ---- what the caller wants to write */

static bool has_strings(const gather_file_target *target) { return target->tensors && target->tensors[0].type == GATHER_TYPE_STRING; }

/* Checks a target, and fills in the defaults of fields that the caller does not know. */
static gather_status read_target(const gather_file_target *given, gather_file_target *target, gather_error *error) {
  *target = (gather_file_target)GATHER_FILE_TARGET_INIT;
  if (!given) return gather_fail(error, GATHER_USAGE, "gather_writer_create: target is NULL");
  GATHER_TRY(gather_struct_read(target, sizeof *target, given, "gather_file_target", "GATHER_FILE_TARGET_INIT", error));
  if (target->tensors && target->count < 1) return gather_fail(error, GATHER_USAGE, "a file of tensors needs at least one");
  if (!target->tensors && target->bytes < 0)
    return gather_fail(error, GATHER_USAGE, "gather_file_target has neither tensors nor a size in `bytes`");
  if (target->window_bytes < 0) return gather_fail(error, GATHER_USAGE, "gather_file_target.window_bytes is negative");
  if (target->parts && has_strings(target))
    return gather_fail_input(error, GATHER_UNSUPPORTED, "output", "strings cannot be written in parts");
  if (target->parts && target->tensors && target->count > 1)
    return gather_fail_input(error, GATHER_UNSUPPORTED, "output", "several tensors cannot be written in parts");
  return GATHER_OK;
}

static gather_status make_plan(const gather_file_target *target, writing_plan *plan, gather_error *error) {
  if (target->tensors && target->count > 1) return plan_several(target, plan, error);
  if (target->tensors) return plan_one(target, target->tensors, plan, error);
  *plan = (writing_plan){.data_bytes = target->bytes};
  return GATHER_OK;
}

gather_status gather_writer_check(const gather_file_target *target, gather_error *error) {
  gather_file_target full;
  writing_plan plan;
  GATHER_TRY(read_target(target, &full, error));
  GATHER_TRY(make_plan(&full, &plan, error));
  clear_plan(&plan);
  return full.path ? gather_output_check(full.path, full.replace, error) : gather_descriptor_check(full.fd, error);
}

/* ---- creating it */

/* Elements in memory: for descriptors, and strings. */
static gather_status use_pages(gather_writer *writer, gather_error *error) {
  if (writer->data_bytes == 0) return GATHER_OK;
  writer->data = writer->pages = gather_pages_create(writer->data_bytes);
  if (writer->data) return GATHER_OK;
  return gather_fail_input(error, GATHER_OUT_OF_MEMORY, "output", "out of memory for %" PRId64 " bytes of elements", writer->data_bytes);
}

/* Elements in the file. */
static gather_status use_file(gather_writer *writer, gather_error *error) {
  GATHER_TRY(gather_output_reserve(&writer->output, writer->header.size + writer->data_bytes, true, error));
  if (writer->header.size > 0) memcpy(writer->output.bytes, writer->header.bytes, (size_t)writer->header.size);
  if (writer->data_bytes > 0) writer->data = writer->output.bytes + writer->header.size;
  return GATHER_OK;
}

static gather_status start(gather_writer *writer, const gather_file_target *target, gather_error *error) {
  if (!writer->has_path) {
    GATHER_TRY(gather_descriptor_check(target->fd, error));
    return writer->parts ? GATHER_OK : use_pages(writer, error);
  }
  GATHER_TRY(gather_output_create(&writer->output, target->path, target->replace, error));
  writer->output.no_sync = target->no_sync;
  if (writer->parts) return gather_output_reserve(&writer->output, writer->header.size + writer->data_bytes, false, error);
  return writer->strings ? use_pages(writer, error) : use_file(writer, error);
}

/* Begins to write. Takes ownership of the plan's content, also on failure. */
static gather_status begin(const gather_file_target *target, writing_plan *plan, gather_writer **writer, gather_error *error) {
  gather_writer *made = gather_alloc((int64_t)sizeof *made);
  if (!made) {
    clear_plan(plan);
    return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for the writer");
  }
  *made = (gather_writer){.output = GATHER_OUTPUT_NONE,
                          .has_path = target->path != NULL,
                          .fd = target->fd,
                          .strings = has_strings(target),
                          .parts = target->parts,
                          .window_bytes = target->window_bytes,
                          .header = plan->header,
                          .swap_unit = plan->swap_unit,
                          .places = plan->places,
                          .count = plan->count,
                          .data_bytes = plan->data_bytes};
  gather_status status = start(made, target, error);
  if (status == GATHER_OK)
    *writer = made;
  else
    gather_writer_abort(made);
  return status;
}

gather_status gather_writer_create(const gather_file_target *target, gather_writer **writer, gather_error *error) {
  gather_file_target full;
  writing_plan plan;
  if (!writer) return gather_fail(error, GATHER_USAGE, "gather_writer_create: writer is NULL");
  *writer = NULL;
  GATHER_TRY(read_target(target, &full, error));
  GATHER_TRY(make_plan(&full, &plan, error));
  return begin(&full, &plan, writer, error);
}

void *gather_writer_data_at(gather_writer *writer, int64_t i) {
  if (!writer->places) return i == 0 ? writer->data : NULL;
  if (i < 0 || i >= writer->count || writer->places[i].bytes == 0) return NULL;
  return (char *)writer->data + writer->places[i].at;
}

const char *gather_writer_temporary(const gather_writer *writer) { return writer->output.named ? writer->output.temporary : ""; }

/* ---- part by part */

static gather_status put(gather_writer *writer, const void *bytes, int64_t size, gather_error *error) {
  if (!writer->has_path) return gather_descriptor_write(writer->fd, bytes, size, error);
  return gather_output_append(&writer->output, bytes, size, writer->window_bytes, error);
}

static gather_status put_header(gather_writer *writer, gather_error *error) {
  if (writer->header_written) return GATHER_OK;
  writer->header_written = true;
  return put(writer, writer->header.bytes, writer->header.size, error);
}

gather_status gather_writer_append(gather_writer *writer, void *elements, int64_t bytes, gather_error *error) {
  if (!writer || !writer->parts) return gather_fail(error, GATHER_USAGE, "gather_writer_append: the writer was created without `parts`");
  if (bytes < 0 || bytes > writer->data_bytes - writer->appended || (bytes > 0 && !elements))
    return gather_fail(error, GATHER_USAGE, "gather_writer_append: %" PRId64 " bytes; only %" PRId64 " are missing", bytes,
                       writer->data_bytes - writer->appended);
  if (writer->swap_unit > 0 && bytes % writer->swap_unit != 0)
    return gather_fail(error, GATHER_USAGE, "gather_writer_append: the bytes end within an element");
  GATHER_TRY(put_header(writer, error));
  gather_swap(elements, bytes, writer->swap_unit);
  writer->appended += bytes;
  return put(writer, elements, bytes, error);
}

static gather_status finish_parts(gather_writer *writer, gather_error *error) {
  if (writer->appended != writer->data_bytes)
    return gather_fail(error, GATHER_USAGE, "%" PRId64 " of %" PRId64 " bytes were appended", writer->appended, writer->data_bytes);
  GATHER_TRY(put_header(writer, error));
  return writer->has_path ? gather_output_publish(&writer->output, error) : GATHER_OK;
}

/* ---- finishing it */

/* Copies the bytes of the strings to where the elements are written from: after the header. */
static gather_status lay_out_strings(gather_writer *writer, gather_error *error) {
  const gather_string *strings = writer->data;
  int64_t len = writer->data_bytes / (int64_t)sizeof *strings, bytes = 0;
  GATHER_TRY(gather_pb_strings_size(strings, len, writer->header.size, &bytes, error));
  void *pages = writer->pages, *texts = NULL;
  int64_t pages_bytes = writer->data_bytes;
  writer->data_bytes = bytes;
  writer->pages = NULL;
  gather_status status = writer->has_path ? use_file(writer, error) : use_pages(writer, error);
  texts = writer->data;
  if (status == GATHER_OK && bytes > 0) gather_pb_strings(strings, len, texts);
  gather_pages_destroy(pages, pages_bytes);
  return status;
}

static gather_status finish(gather_writer *writer, gather_error *error) {
  if (writer->parts) return finish_parts(writer, error);
  if (writer->strings) GATHER_TRY(lay_out_strings(writer, error));
  gather_swap(writer->data, writer->data_bytes, writer->swap_unit);
  for (int64_t i = 0; i < writer->count; i++)
    gather_swap(gather_writer_data_at(writer, i), writer->places[i].bytes, writer->places[i].swap_unit);
  if (writer->has_path) return gather_output_publish(&writer->output, error);
  GATHER_TRY(gather_descriptor_write(writer->fd, writer->header.bytes, writer->header.size, error));
  return gather_descriptor_write(writer->fd, writer->data, writer->data_bytes, error);
}

gather_status gather_writer_commit(gather_writer *writer, gather_error *error) {
  if (!writer) return gather_fail(error, GATHER_USAGE, "gather_writer_commit: writer is NULL");
  gather_status status = finish(writer, error);
  gather_writer_abort(writer);
  return status;
}

void gather_writer_abort(gather_writer *writer) {
  if (!writer) return;
  gather_output_clear(&writer->output);
  gather_pages_destroy(writer->pages, writer->data_bytes);
  gather_free(writer->header.bytes);
  gather_free(writer->places);
  gather_free(writer);
}
