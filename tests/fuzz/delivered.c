/* SPDX-License-Identifier: MIT
 *
 * delivered.c: opens the same bytes once more as a remote file of which only those bytes can be read that the reader asked for. What is
 * in it must be the same: a reader that forgets to ask reads guarded memory and ends, or finds zeros and says something else.
 */
#include <stdio.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "io/format/format.h"
#include "io/format/graph.h"
#include "support/open_file.h"

static gather_status deliver(void *context, const gather_map_range *ranges, int64_t count, uint8_t *memory, gather_error *error) {
  const uint8_t *bytes = context;
  (void)error;
  for (int64_t i = 0; i < count; i++) memcpy(memory + ranges[i].offset, bytes + ranges[i].offset, (size_t)ranges[i].bytes);
  return GATHER_OK;
}

static void keep_open(void *context) { (void)context; }

gather_status fuzz_open_delivered(const uint8_t *bytes, size_t size, gather_file **file, gather_error *error) {
  const gather_map_source source = {
      .context = (void *)(uintptr_t)bytes, .size = (int64_t)size, .read = deliver, .close = keep_open, .exact = true};
  return gather_file_from_source(&source, "fuzz", file, error);
}

/* ---- both say the same */

static bool same_text(const char *a, const char *b) { return a == b || (a && b && strcmp(a, b) == 0); }

static void compare_elements(const gather_tensor *local, const gather_tensor *remote, int64_t bytes) {
  const gather_string *a = local->data, *b = remote->data;
  fuzz_check((local->data == NULL) == (remote->data == NULL), "both have elements");
  if (bytes == 0 || !local->data) return;
  if (local->type != GATHER_TYPE_STRING) {
    fuzz_check(memcmp(local->data, remote->data, (size_t)bytes) == 0, "the elements are the same");
    return;
  }
  for (int64_t i = 0; i < gather_tensor_len(local); i++)
    fuzz_check(a[i].bytes == b[i].bytes && (a[i].bytes == 0 || memcmp(a[i].text, b[i].text, a[i].bytes) == 0), "the strings are the same");
}

/* Which row has the first null is said of few remote columns. */
static void compare_reasons(const gather_file_tensor *local, const gather_file_tensor *remote) {
  gather_error a, b;
  gather_status first = gather_file_tensor_check(local, &a), second = gather_file_tensor_check(remote, &b);
  fuzz_check(first == second, "the same status");
  if (!strstr(a.message, "null")) fuzz_check(strcmp(a.message, b.message) == 0, "the same reason");
}

static void compare_tensors(const gather_file_tensor *local, const gather_file_tensor *remote) {
  const gather_tensor *a = &local->tensor, *b = &remote->tensor;
  const size_t bytes = (size_t)a->rank * sizeof *a->shape;
  fuzz_check(
      strcmp(local->name, remote->name) == 0 && same_text(local->type_name, remote->type_name) && same_text(local->descr, remote->descr),
      "the same names");
  fuzz_check(a->type == b->type && a->item_bytes == b->item_bytes && a->flags == b->flags, "the same type");
  fuzz_check(a->rank == b->rank && (bytes == 0 || memcmp(a->shape, b->shape, bytes) == 0), "the same shape");
  fuzz_check(!a->strides == !b->strides && (!a->strides || memcmp(a->strides, b->strides, bytes) == 0), "the same strides");
  fuzz_check(local->offset == remote->offset && local->bytes == remote->bytes, "the same place");
  if (local->unreadable)
    compare_reasons(local, remote);
  else if (!remote->unreadable)
    compare_elements(a, b, local->bytes);
  else
    fuzz_check(gather_file_is_remote(remote) && !b->data, "a tensor is where the file says, or cannot be read");
}

/* The elements of a tensor are downloaded, whole. */
static void compare_downloads(gather_file *local, gather_file *remote, const char *name) {
  const gather_file_tensor *a = NULL, *b = NULL;
  gather_error why, other;
  if (!fuzz_is_short(local, name)) return;
  gather_status first = gather_file_find_whole(local, name, &a, &why);
  gather_status second = gather_file_find_whole(remote, name, &b, &other);
  fuzz_check(first == second, "both are found, or not");
  if (first != GATHER_OK) return;
  if (a->unreadable) return;
  fuzz_check(!b->unreadable, "what was downloaded can be read");
  compare_elements(&a->tensor, &b->tensor, a->bytes);
}

static void compare_files(gather_file *local, gather_file *remote) {
  const int64_t len = gather_file_len(local);
  fuzz_check(strcmp(gather_file_format(local), gather_file_format(remote)) == 0, "the same format");
  fuzz_check(len == gather_file_len(remote), "the same number of tensors");
  for (int64_t i = 0; i < len; i++) compare_tensors(gather_file_at(local, i), gather_file_at(remote, i));
  for (int64_t i = 0; i < len && i < 8; i++) compare_downloads(local, remote, gather_file_at(local, i)->name);
  if (local->pieces_len > 0) compare_downloads(local, remote, local->pieces[0].name);
  fuzz_walk_model(gather_file_graph(remote));
}

void fuzz_delivered(const uint8_t *bytes, size_t size) {
  enum { MOST_DECODED = 1 << 20 };
  gather_file *local = NULL, *remote = NULL;
  gather_error why, other;
  gather_status first = file_open(file_in(bytes, size, "fuzz"), &local, &why);
  gather_status second = fuzz_open_delivered(bytes, size, &remote, &other);
  if (first != second) (void)fprintf(stderr, "local: %s; remote: %s\n", first ? why.message : "", second ? other.message : "");
  fuzz_check(first == second, "a remote file is opened as a local one is");
  if (local) local->download_bytes = MOST_DECODED; /* what is said of chunks may be much more than there is */
  if (remote) remote->download_bytes = MOST_DECODED;
  if (first != GATHER_OK)
    fuzz_check(strcmp(why.message, other.message) == 0 && why.file_offset == other.file_offset, "the same error");
  else
    compare_files(local, remote);
  gather_file_close(local);
  gather_file_close(remote);
}

int fuzz_file(const uint8_t *bytes, size_t size, const char *format,
              void (*see)(const gather_file *file, const uint8_t *bytes, size_t size)) {
  gather_file *file = NULL;
  gather_error error;
  gather_status status = file_open(file_in(bytes, size, "fuzz"), &file, &error);
  if (status == GATHER_OK && (!format || strcmp(gather_file_format(file), format) == 0)) see(file, bytes, size);
  fuzz_walk(status, file, &error, bytes, size);
  fuzz_delivered(bytes, size);
  return 0;
}
