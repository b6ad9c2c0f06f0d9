/* SPDX-License-Identifier: MIT
 *
 * given.h: what the fuzz targets for models share.
 */
#ifndef GATHER_TESTS_FUZZ_GIVEN_H
#define GATHER_TESTS_FUZZ_GIVEN_H

#include "fuzz/fuzz.h"
#include "gather/model.h"
#include "io/format/graph.h"

enum { FUZZ_MOST = 8 };

/* A tensor for each input of a model, and a length for each dimension that has a name. */
typedef struct fuzz_given {
  gather_model_input inputs[FUZZ_MOST];
  gather_model_dim dims[FUZZ_MOST];
  int64_t shapes[FUZZ_MOST][GATHER_MAX_RANK];
  gather_check_options options;
} fuzz_given;

/* Opens bytes as a model; NULL where they are none. *file is to be closed after the model. */
gather_model *fuzz_open_model(const uint8_t *bytes, size_t size, gather_file **file);
/* Fills in what to give; the numbers come from the bytes, so that the fuzzer chooses them. They stand until the next call. */
void fuzz_give(const gather_graph *graph, const uint8_t *bytes, size_t size, fuzz_given *g);

/* Reads a text to its end. */
void fuzz_see_text(const char *text);
/* Holds a node of a check to the promises of model.h. */
void fuzz_see_node(const gather_model_node *node);

#endif
