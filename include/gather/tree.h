/* SPDX-License-Identifier: MIT
 *
 * tree.h: GatherTree, the last step of a beam search. Since 0.2.
 *
 * A beam search keeps `width` candidate sequences, its beams. In each step it records two numbers per beam: the chosen token (step_ids) and
 * the beam of the previous step that it continues (parent_ids). GatherTree follows the parents from the last step back to the first, and so
 * gives the complete sequence of each beam.
 *
 * GatherTree has four inputs. gather_apply, plans and the functions for shapes of gather.h return GATHER_UNSUPPORTED for it, and name
 * gather_tree. Its row of the operator table is gather_op_find("GatherTree", "openvino-1"). The rules at the beginning of gather.h apply.
 */
#ifndef GATHER_TREE_H
#define GATHER_TREE_H

#include "gather/gather.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The sequence of each beam: out[t, b, w] is the token of beam w of batch b at step t.
 *
 * step_ids, parent_ids: [time, batch, width]; max_seq_len: [batch]; end_token: 0-D. All have one type, an integer or float type of whole
 *     bytes, and may be strided. Their values are integers, whatever the type.
 * out: as step_ids in type, byte order and shape; strides as for gather_apply. It must not overlap an input.
 * options: NULL = defaults. on_bad, negative, fill, executor, bad_count and fresh_output apply. axis and batch_dims must be 0.
 *
 * In batch b, min(time, max_seq_len[b]) steps count, none if this is below 1. The last of them is the beam's own token. Each earlier step
 * is read at the parent that the step after it names. Everything after the first end_token of a sequence, and every step that does not
 * count, is end_token. Floats are compared as numbers: -0 equals 0, and NaN equals nothing.
 *
 * A parent is out of range if it is not an integer in [0, width - 1] (with negative on: [-width, width - 1]). Only parents that a
 * sequence follows matter: not those of step 0, of steps that do not count, and of beams that no sequence passes.
 * Policies: clamp and wrap continue at another beam (a number that is not an integer is truncated, NaN becomes 0). With zero and fill, the
 * step before and all earlier ones are 0 or the fill element. promise is clamp.
 *
 * Returns GATHER_OK; GATHER_TYPE_UNSUPPORTED; GATHER_TYPE_MISMATCH; GATHER_RANK_MISMATCH; GATHER_SHAPE_MISMATCH; GATHER_OVERFLOW;
 * GATHER_AXIS_OUT_OF_RANGE and GATHER_BATCH_DIMS_OUT_OF_RANGE (not 0); GATHER_USAGE; GATHER_INDEX_OUT_OF_RANGE, with `out` unchanged. For
 * parent_ids, input is "parent_ids", axis is 2, and position is the first one out of range in row-major order. value, low and high are as
 * in gather.h. bad_count counts each parent once, however many sequences follow it. A max_seq_len that is not an integer is
 * GATHER_INDEX_OUT_OF_RANGE too, with input "max_seq_len" and axis 0. The value of a float is truncated.
 * Threads: options->executor, over sequences. Memory: none. If parents are out of range and width is above 1024: 2 * width bytes from the
 * heap while they are counted (GATHER_OUT_OF_MEMORY).
 * Source: OpenVINO GatherTree-1; docs/extend/readings.md. */
GATHER_API GATHER_CHECKED gather_status gather_tree(const gather_tensor *step_ids, const gather_tensor *parent_ids,
                                                    const gather_tensor *max_seq_len, const gather_tensor *end_token,
                                                    const gather_tensor *out, const gather_options *options, gather_error *error);

/* Checks the inputs as gather_tree does, and writes nothing. The elements of step_ids and end_token are not read, so their `data` may be
 * NULL. options->bad_count receives what gather_tree would repair. */
GATHER_API GATHER_CHECKED gather_status gather_tree_check(const gather_tensor *step_ids, const gather_tensor *parent_ids,
                                                          const gather_tensor *max_seq_len, const gather_tensor *end_token,
                                                          const gather_options *options, gather_error *error);

/* The shape of the output if lengths or ranks may be unknown, inferred from all four shapes.
 * out: may be one of the inputs. Returns GATHER_RANK_MISMATCH or GATHER_SHAPE_MISMATCH if no inputs of these shapes are valid.
 * Source: OpenVINO GatherTree-1 and its shape inference. */
GATHER_API GATHER_CHECKED gather_status gather_tree_infer_shape(const gather_shape *step_ids, const gather_shape *parent_ids,
                                                                const gather_shape *max_seq_len, const gather_shape *end_token,
                                                                gather_shape *out, gather_error *error);

#ifdef __cplusplus
}
#endif

#endif
