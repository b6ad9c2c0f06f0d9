/* SPDX-License-Identifier: MIT
 *
 * walk.c: holds an open file to the promises of file.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "gather/table.h"
#include "io/format/chunks.h"

void fuzz_check(bool good, const char *promise) {
  if (good) return;
  (void)fprintf(stderr, "broken promise: %s\n", promise);
  abort();
}

static size_t letters; /* keeps the compiler from leaving the reading out */

void fuzz_see_text(const char *text) {
  fuzz_check(text != NULL, "a text that is absent is empty");
  letters += strlen(text);
}

/* The offset of the last element of column-major or row-major elements, from the shape alone. */
static int64_t last_offset(const gather_tensor *tensor, int64_t item_bytes) {
  int64_t offset = 0;
  for (int32_t d = 0; d < tensor->rank && tensor->strides; d++) offset += (tensor->shape[d] - 1) * tensor->strides[d];
  return tensor->strides ? offset : (gather_tensor_len(tensor) - 1) * item_bytes;
}

/* Reads a byte, whatever the compiler thinks of it. */
static void touch(const uint8_t *byte) { (void)*(const volatile uint8_t *)byte; }

static void walk_elements(const gather_file_tensor *t, const uint8_t *bytes, size_t size) {
  const gather_tensor *tensor = &t->tensor;
  if (t->bytes == 0) return;
  const uint8_t *first = tensor->data;
  fuzz_check(first == bytes + t->offset, "the data lies at its offset");
  fuzz_check((uint64_t)t->offset + (uint64_t)t->bytes <= size, "the data ends before the file does");
  touch(&first[0]);
  touch(&first[t->bytes - 1]);
  const gather_type_info *info = gather_type_get(tensor->type);
  if (info->packing != GATHER_PACKING_BYTES) return;
  int64_t item = tensor->type == GATHER_TYPE_OPAQUE ? tensor->item_bytes : info->bits / 8;
  int64_t last = last_offset(tensor, item);
  fuzz_check(last >= 0 && last + item <= t->bytes, "the strides stay within the data");
  touch(&first[last]);
  touch(&first[last + item - 1]);
}

static void walk_tensor(const gather_file_tensor *t, const uint8_t *bytes, size_t size) {
  gather_error error;
  fuzz_check(gather_tensor_check(&t->tensor, &error) == GATHER_OK, "the tensor is described sanely");
  fuzz_check(gather_tensor_bytes(&t->tensor) == t->bytes, "its size is that of its shape");
  fuzz_check((t->tensor.flags & GATHER_TENSOR_READ_ONLY) != 0, "the tensor is read-only");
  fuzz_check(t->type_name && t->type_name[0] != '\0' && t->name, "the tensor has its names");
  if (t->descr) fuzz_check(strlen(t->descr) <= 2 * size + 1024, "the descr ends");
  walk_elements(t, bytes, size);
}

static void walk_error(gather_status status, const gather_error *error) {
  fuzz_check(error->status == status, "the error has the status that was returned");
  fuzz_check(memchr(error->message, '\0', sizeof error->message) != NULL, "the message ends");
  fuzz_check(error->message[0] != '\0', "the message says something");
}

/* Strings and their texts, or the bytes: what is outside of what may be read is seen by a sanitizer. */
static void touch_all(const gather_tensor *tensor) {
  const gather_string *strings = tensor->data;
  int64_t count = tensor->type == GATHER_TYPE_STRING ? gather_tensor_len(tensor) : 0, bytes = gather_tensor_bytes(tensor);
  fuzz_check(bytes == 0 || tensor->data, "elements are somewhere");
  for (int64_t i = 0; i < count; i++) {
    if (strings[i].bytes == 0) continue;
    touch((const uint8_t *)strings[i].text);
    touch((const uint8_t *)strings[i].text + strings[i].bytes - 1);
  }
  if (bytes == 0) return;
  touch(tensor->data);
  touch((const uint8_t *)tensor->data + bytes - 1);
}

void fuzz_walk_tensor(const gather_file_tensor *t) {
  gather_error error;
  fuzz_check(gather_tensor_check(&t->tensor, &error) == GATHER_OK, "the tensor is described sanely");
  fuzz_check(gather_tensor_bytes(&t->tensor) == t->bytes, "its size is that of its shape");
  fuzz_check((t->tensor.flags & GATHER_TENSOR_READ_ONLY) != 0, "the tensor is read-only");
  fuzz_check(t->type_name && t->type_name[0] != '\0' && t->name, "the tensor has its names");
  if (t->unreadable) {
    fuzz_check(!t->tensor.data, "a tensor that cannot be read has no elements");
    walk_error(gather_file_tensor_check(t, &error), &error);
    return;
  }
  fuzz_check(gather_file_tensor_check(t, &error) == GATHER_OK, "a tensor with elements can be read");
  touch_all(&t->tensor);
}

/* Whether a tensor is quantised, and how. */
static void walk_codec(const gather_file *file, const gather_file_tensor *tensor) {
  gather_file_codec found;
  gather_error error;
  (void)gather_file_is_quantised(file, tensor);
  const gather_status status = gather_file_codec_find(file, tensor, NULL, &found, &error);
  if (status != GATHER_OK) {
    walk_error(status, &error);
    return;
  }
  const gather_tensor decoded = {.type = GATHER_TYPE_FLOAT32, .rank = found.rank, .shape = found.shape};
  const bool is_float = found.codec && strcmp(found.codec, "float") == 0; /* its values need nothing else */
  fuzz_check(gather_file_is_quantised(file, tensor) || is_float, "what can be decoded is quantised, or has floats");
  fuzz_check(found.codec && found.layout && found.rank >= (is_float ? 1 : 2), "it has a codec, a layout and rows");
  fuzz_check(gather_tensor_check(&decoded, &error) == GATHER_OK, "the decoded tensor has a sane shape");
}

void fuzz_walk_all(const gather_file *file) {
  int64_t len = gather_file_len(file);
  for (int64_t i = 0; i < len; i++) {
    const gather_file_tensor *found = NULL, *tensor = gather_file_at(file, i);
    fuzz_walk_tensor(tensor);
    if (i > 20 || tensor->name[0] == '\0') continue;
    fuzz_check(gather_file_find(file, tensor->name, &found, NULL) == GATHER_OK, "a tensor is found by its name");
    if (found == tensor) walk_codec(file, tensor);
  }
}

bool fuzz_is_short(const gather_file *file, const char *name) {
  enum { MOST = 1 << 20 };
  int64_t first = 0, all = 0;
  const gather_file_tensor *named = gather_file_named(file, name);
  const int64_t count = named ? 1 : gather_file_pieces(file, name, &first);
  for (int64_t i = 0; i < count && all <= MOST; i++) {
    const gather_file_tensor *t = named ? named : gather_file_at(file, first + i);
    const gather_chunks *chunks = gather_file_chunks_of(t);
    const int64_t raw = chunks ? chunks->raw_bytes : 0;
    if (t->bytes > MOST || raw > MOST) return false;
    all += t->bytes + raw;
  }
  return all <= MOST;
}

void fuzz_walk(gather_status status, gather_file *file, const gather_error *error, const uint8_t *bytes, size_t size) {
  if (status != GATHER_OK) {
    fuzz_check(!file, "there is no file where there is an error");
    walk_error(status, error);
    return;
  }
  if (strcmp(gather_file_format(file), "npy") != 0 && strcmp(gather_file_format(file), "raw") != 0) {
    fuzz_walk_all(file);
    gather_file_close(file);
    return;
  }
  fuzz_check(gather_file_len(file) == 1, "the file holds one tensor");
  const gather_file_tensor *found = NULL;
  fuzz_check(gather_file_find(file, NULL, &found, NULL) == GATHER_OK, "the only tensor is found without a name");
  fuzz_check(found == gather_file_at(file, 0), "the tensor that is found is the first");
  walk_tensor(found, bytes, size);
  gather_file_close(file);
}
