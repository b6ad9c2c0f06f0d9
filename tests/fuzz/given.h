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

/* Opens bytes as a model; if they are one, `see` gets it and what to give. The numbers come from the bytes, so that the fuzzer
 * chooses them; they stand until the next call. Returns 0. */
int fuzz_model(const uint8_t *bytes, size_t size, void (*see)(const gather_model *model, const fuzz_given *g));
/* The first gather nodes of a model, each by the path that the library knows it by. */
void fuzz_each_node(const gather_model *model, const fuzz_given *g,
                    void (*see)(const gather_model *model, const char *path, const fuzz_given *g));

/* Holds a node of a check to the promises of model.h. */
void fuzz_see_node(const gather_model_node *node);

#endif
