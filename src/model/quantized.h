/* SPDX-License-Identifier: MIT
 *
 * quantized.h: the node com.microsoft GatherBlockQuantized: what a check and a run read of it.
 */
#ifndef GATHER_MODEL_QUANTIZED_H
#define GATHER_MODEL_QUANTIZED_H

#include "gather/codec.h"
#include "model/infer.h"

/* Its inputs. */
enum { GATHER_QUANTIZED_DATA = 0, GATHER_QUANTIZED_INDICES, GATHER_QUANTIZED_SCALES, GATHER_QUANTIZED_ZERO_POINTS };

/* Its attributes. scope: NULL = none. Returns as gather_node_options. */
GATHER_CHECKED gather_status gather_node_block_quantized(const gather_scope *scope, const gather_node *node,
                                                         gather_block_quantized *attributes, gather_error *error);

/* gather_block_quantized_describe for tensors of a file: what is wrong with the attributes is GATHER_FILE_MALFORMED. */
GATHER_CHECKED gather_status gather_node_describe(const gather_tensor *data, const gather_tensor *scales,
                                                  const gather_tensor *zero_points,
                                                  const gather_block_quantized *attributes, gather_quantized *quantized,
                                                  gather_error *error);

/* What is wrong with the node apart from its indices, as far as types and shapes of its inputs are known; else GATHER_OK. */
GATHER_CHECKED gather_status gather_quantized_fault(const gather_scope *scope, const gather_node *node,
                                                    gather_error *error);

/* Whether constants of 4 or 8 bits are dequantised to this value, by other nodes; NULL is not. */
bool gather_known_is_dequantized(const gather_model *model, const gather_scope *scope, const gather_known *known);

#endif
