/* SPDX-License-Identifier: MIT
 *
 * infer.h: the shape of a node's output from what is known of its inputs' when the model is loaded.
 */
#ifndef GATHER_PLUGIN_ORT_INFER_H
#define GATHER_PLUGIN_ORT_INFER_H

#include "node.h"

/* Sets the shape of output 0, as far as it is known: lengths, names of lengths, or nothing. Fails never: a node that no shape makes
 * valid is refused when it runs, with an error that has the shapes. */
void gather_ort_infer(const ort_host *host, const ort_operator *op, OrtShapeInferContext *context);

#endif
