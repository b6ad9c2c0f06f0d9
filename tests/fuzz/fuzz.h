/* SPDX-License-Identifier: MIT
 *
 * fuzz.h: what the fuzz targets share.
 */
#ifndef GATHER_TESTS_FUZZ_H
#define GATHER_TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gather/file.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* Stops the program, as a sanitizer would, where a promise of file.h is broken. */
void fuzz_check(bool good, const char *promise);
/* Holds a file that was opened, or the error why it was not, to the promises of file.h, and closes it. Reads the first and the
 * last byte that the tensor's shape and strides reach. */
void fuzz_walk(gather_status status, gather_file *file, const gather_error *error, const uint8_t *bytes, size_t size);

/* Reads a text to its end. */
void fuzz_see_text(const char *text);

/* Holds the tensors of a file of any format to what they all promise; the file stays open. */
void fuzz_walk_tensor(const gather_file_tensor *t);
void fuzz_walk_all(const gather_file *file);
/* Whether a tensor and its chunks have few bytes: chunks of a few bytes may be said to be of 1 GiB. */
bool fuzz_is_short(const gather_file *file, const char *name);
/* Opens the bytes once more as a remote file, of which only what the reader asks for can be read: it must be the same. */
void fuzz_delivered(const uint8_t *bytes, size_t size);
/* Opens bytes, also as a remote file; of a file of that format (NULL: any), `see` looks at it first. */
int fuzz_file(const uint8_t *bytes, size_t size, const char *format,
              void (*see)(const gather_file *file, const uint8_t *bytes, size_t size));
gather_status fuzz_open_delivered(const uint8_t *bytes, size_t size, gather_file **file, gather_error *error);
/* Opens bytes as an OpenVINO model with a .bin beside it; false where they do not look like one. */
bool fuzz_open_ir(const uint8_t *bytes, size_t size, gather_file **file, gather_status *status, gather_error *error);
/* Reads everything that a model's graph says; NULL does nothing. */
struct gather_graph_file;
void fuzz_walk_model(const struct gather_graph_file *model);

#endif
