/* SPDX-License-Identifier: MIT
 *
 * text_file.c: opens a text of whole numbers as a file of one tensor, and decides what is text.
 */
#include <string.h>

#include "core/base/alloc.h"
#include "io/format/format_open.h"
#include "io/format/substitute.h"
#include "io/format/text/text_input.h"

static bool is_blank(uint8_t c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/* A byte that text does not contain. Bytes from 0x80 up count as text: the message then gives the line of a wrong
 * character. */
static bool is_control(uint8_t c) { return (c < 0x20 && !is_blank(c)) || c == 0x7f; }

/* The byte-order marks of UTF-16 and UTF-32, unless XML follows. */
static bool is_wide_text(const uint8_t *head, size_t bytes) {
  if (bytes < 2 || !((head[0] == 0xff && head[1] == 0xfe) || (head[0] == 0xfe && head[1] == 0xff))) return false;
  for (size_t i = 2; i < bytes && i < 8; i++)
    if (head[i] == '<') return false;
  return true;
}

bool gather_file_is_text(const void *memory, size_t bytes) {
  const uint8_t *head = memory;
  size_t i = 0, controls = 0, early = 0;
  if (is_wide_text(head, bytes)) return true;
  for (size_t k = 0; k < bytes; k++) {
    if (!is_control(head[k])) continue;
    controls++;
    if (k < 8) early++;
  }
  if (bytes >= 3 && memcmp(head, "\xef\xbb\xbf", 3) == 0) i = 3;
  while (i < bytes && is_blank(head[i])) i++;
  if (i < bytes && (head[i] == '<' || head[i] == '{')) return false; /* XML, JSON */
  if (controls == 0) return true;
  bool number = i < bytes && ((head[i] >= '0' && head[i] <= '9') || head[i] == '-' || head[i] == '+');
  return number && early == 0 && bytes >= 8; /* a list of numbers with an invalid byte later */
}

static gather_status use_numbers(gather_file *file, gather_text_numbers *numbers, const char *column,
                                 gather_error *error) {
  gather_file_tensor *tensor = gather_arena_take(&file->arena, 1, (int64_t)sizeof *tensor);
  int32_t rank = numbers->rank > 0 ? numbers->rank : 1;
  int64_t *shape = gather_arena_take(&file->arena, rank, (int64_t)sizeof *shape);
  char *name = gather_arena_text(&file->arena, column, strlen(column));
  if (!tensor || !shape || !name)
    return gather_fail_file(error, GATHER_OUT_OF_MEMORY, file->name, -1, "no memory for its numbers");
  *shape = numbers->len;
  for (int32_t i = 0; i < numbers->rank; i++) shape[i] = numbers->shape[i] < 0 ? 0 : numbers->shape[i];
  *tensor = (gather_file_tensor){.name = name,
                                 .tensor = {.data = numbers->at,
                                            .type = GATHER_TYPE_INT64,
                                            .rank = rank,
                                            .shape = shape,
                                            .flags = GATHER_TENSOR_READ_ONLY},
                                 .type_name = gather_type_get(GATHER_TYPE_INT64)->name,
                                 .bytes = numbers->len * (int64_t)sizeof *numbers->at};
  file->tensors = tensor;
  file->len = 1;
  file->single = numbers->at; /* owned by the file from now on */
  *numbers = (gather_text_numbers){0};
  return GATHER_OK;
}

static gather_status read_text(gather_file *file, gather_text_input *in, const char *column, gather_error *error) {
  gather_text_numbers numbers = {0};
  char substitute[GATHER_SUBSTITUTE_TEXT];
  if (gather_substitute_is(in->bytes, in->size, in->size, file->name, file->client != NULL, substitute,
                           sizeof substitute))
    return gather_fail_file(error, GATHER_UNSUPPORTED, file->name, -1, "%s", substitute);
  bool plain = !column || column[0] == '\0';
  file->format = plain ? "text" : "csv";
  gather_status status = plain ? gather_text_plain(in, &numbers) : gather_text_column(in, column, &numbers);
  if (status == GATHER_OK) status = use_numbers(file, &numbers, plain ? "" : column, error);
  gather_text_numbers_clear(&numbers);
  return status;
}

gather_status gather_text_open_map(gather_file *file, const char *column, gather_error *error) {
  gather_text_input in;
  GATHER_TRY(gather_file_check_download(file, "the text", file->map.remote ? file->map.size : 0, error));
  GATHER_TRY(gather_map_fetch(&file->map, 0, file->map.size, error));
  gather_status status = gather_text_input_memory(&in, file->map.bytes, file->map.size, file->name, error);
  return status == GATHER_OK ? read_text(file, &in, column, error) : status;
}

/* The text of a URL is downloaded first. */
static gather_status open_url(gather_file *file, const char *path, const char *column,
                              const gather_file_options *options, gather_error *error) {
  GATHER_TRY(gather_file_use_path(file, path, options, error));
  return gather_text_open_map(file, column, error);
}

gather_status gather_file_open_text(const char *path, const char *column, gather_file **file, gather_error *error) {
  return gather_file_open_text_with(path, column, NULL, file, error);
}

gather_status gather_file_open_text_with(const char *path, const char *column, const gather_file_options *options,
                                         gather_file **file, gather_error *error) {
  gather_file_options full;
  if (!file) return gather_fail(error, GATHER_USAGE, "gather_file_open_text: file is NULL");
  *file = NULL;
  if (!path) return gather_fail(error, GATHER_USAGE, "gather_file_open_text: path is NULL");
  GATHER_TRY(gather_file_options_read(options, &full, error));
  gather_file *made = NULL;
  gather_text_input in;
  GATHER_TRY(gather_file_make(path, &made, error));
  if (full.remote && gather_remote_is_url(path))
    return gather_file_finish(open_url(made, path, column, &full, error), made, file);
  gather_status status = gather_text_input_open(&in, path, error);
  if (status == GATHER_OK) (void)gather_map_identify(path, &made->map); /* it is read, and not mapped */
  if (status == GATHER_OK) status = read_text(made, &in, column, error);
  gather_text_input_end(&in);
  return gather_file_finish(status, made, file);
}

gather_status gather_file_text_from_memory(const void *memory, size_t bytes, const char *name, const char *column,
                                           gather_file **file, gather_error *error) {
  if (!file) return gather_fail(error, GATHER_USAGE, "gather_file_text_from_memory: file is NULL");
  *file = NULL;
  gather_file *made = NULL;
  gather_text_input in;
  GATHER_TRY(gather_file_make(name ? name : "memory", &made, error));
  gather_status status = gather_file_use_memory(made, memory, bytes, error);
  if (status == GATHER_OK) status = gather_text_input_memory(&in, memory, (int64_t)bytes, made->name, error);
  if (status == GATHER_OK) status = read_text(made, &in, column, error);
  return gather_file_finish(status, made, file);
}
