/* SPDX-License-Identifier: MIT
 *
 * bounds.h: an interval of all elements of a tensor that is not known.
 */
#ifndef GATHER_MODEL_BOUNDS_H
#define GATHER_MODEL_BOUNDS_H

#include "model/infer.h"

/* An interval that every element of an integer value is in; gather_any_number where nothing is known. */
gather_dim gather_bounds_of(const gather_known *known);

/* Sets the bounds of the step's current output, whose type is set, where they follow from its inputs. */
void gather_infer_bounds(gather_step *step);

/* The bounds of a value that is one of the two; NULL where nothing is known, and without memory: no_memory is then set. */
const gather_dim *gather_bounds_join(gather_step *step, const gather_known *a, const gather_known *b);

#endif
