/* SPDX-License-Identifier: MIT
 *
 * layout_shapes.h: the functions of layout.def: each checks types and shapes of the tensors it is given, and sets the codec, the
 * decoded shape, and how rows and scales lie. codec: the name that the caller gave, or NULL.
 */
#ifndef GATHER_TABLE_LAYOUT_SHAPES_H
#define GATHER_TABLE_LAYOUT_SHAPES_H

#include "table/layout.h"

#define GATHER_SHAPES(name) \
  GATHER_CHECKED gather_status gather_shapes_##name(gather_layout *found, const char *codec, gather_error *error)

GATHER_SHAPES(mxfp4);
GATHER_SHAPES(nvfp4);
GATHER_SHAPES(nf4);
GATHER_SHAPES(fp4);
GATHER_SHAPES(fp8);
GATHER_SHAPES(affine);
GATHER_SHAPES(gptq);
GATHER_SHAPES(awq);
/* Blocks of GGUF, and rows whose codec only the caller knows. */
GATHER_SHAPES(gguf);
GATHER_SHAPES(given);
/* Floats of any size, whose values need nothing else. */
GATHER_SHAPES(float);
bool gather_layout_is_float(const gather_file_tensor *tensor);

#endif
