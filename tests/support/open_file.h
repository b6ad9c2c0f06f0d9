/* SPDX-License-Identifier: MIT
 *
 * open_file.h: gather_file_open in one line, by a path or of bytes in memory; as what it seems to be, as raw bytes, as text. And the
 * target of one tensor.
 */
#ifndef GATHER_TESTS_SUPPORT_OPEN_FILE_H
#define GATHER_TESTS_SUPPORT_OPEN_FILE_H

#include "gather/file.h"

static inline gather_file_source file_at(const char *path) {
  gather_file_source source = GATHER_FILE_SOURCE_INIT;
  source.path = path;
  return source;
}

static inline gather_file_source file_in(const void *memory, size_t bytes, const char *name) {
  gather_file_source source = GATHER_FILE_SOURCE_INIT;
  source.memory = bytes ? memory : "";
  source.bytes = bytes;
  source.name = name;
  return source;
}

static inline gather_status file_open(gather_file_source source, gather_file **file, gather_error *error) {
  return gather_file_open(&source, file, error);
}

static inline gather_status file_open_raw(gather_file_source source, const gather_raw *raw, gather_file **file, gather_error *error) {
  source.raw = raw;
  return gather_file_open(&source, file, error);
}

static inline gather_status file_open_text(gather_file_source source, const char *column, gather_file **file, gather_error *error) {
  source.text = true;
  source.text_column = column;
  return gather_file_open(&source, file, error);
}

static inline gather_file_target file_to(const char *path, const gather_writing *what) {
  gather_file_target target = GATHER_FILE_TARGET_INIT;
  target.path = path;
  target.tensors = what;
  return target;
}

#endif
