/* SPDX-License-Identifier: MIT
 *
 * infer_rnn.c: recurrent layers: LSTM, GRU, RNN of ONNX, and OpenVINO's sequences.
 */
#include "model/infer.h"

/* How many directions; 0 = not known. */
static int64_t directions(const gather_step *step) {
  static const char *const WORDS[] = {"forward", "reverse", "bidirectional"};
  int32_t word;
  if (!gather_step_word(step, "direction", WORDS, 3, &word)) return 0;
  return word == 2 ? 2 : 1;
}

/* The attribute, or the last length of the recurrent weights. */
static gather_dim hidden(const gather_step *step) {
  int64_t size;
  const gather_known *weights = gather_step_in(step, 2);
  if (gather_step_find(step, "hidden_size"))
    return gather_step_integer(step, "hidden_size", 0, &size) && size > 0 ? gather_exact_dim(size) : gather_any_dim;
  return !step->openvino && weights->rank == 3 ? weights->dims[2] : gather_any_dim;
}

/* Output 0 has every step, the others the last one. */
static void set_outputs(gather_step *step, const gather_dim all[4], const gather_dim last[3]) {
  gather_type type = gather_step_in(step, 0)->type;
  for (int32_t i = 0; i < step->node->output_count && i < 3; i++) {
    gather_step_output(step, i);
    step->out.type = type;
    gather_step_shape(step, i == 0 ? 4 : 3, i == 0 ? all : last);
  }
}

void gather_infer_rnn(gather_step *step) {
  const gather_known *in = gather_step_in(step, 0);
  int64_t layout, count = directions(step);
  if ((in->rank >= 0 && in->rank != 3) || count == 0 || !gather_step_integer(step, "layout", 0, &layout)) return;
  const gather_dim h = hidden(step), n = gather_exact_dim(count);
  const gather_dim steps = in->rank < 0 ? gather_any_dim : in->dims[layout != 0];
  const gather_dim batch = in->rank < 0 ? gather_any_dim : in->dims[layout == 0];
  if (layout != 0) {
    const gather_dim all[4] = {batch, steps, n, h}, last[3] = {batch, n, h};
    set_outputs(step, all, last);
  } else {
    const gather_dim all[4] = {steps, n, batch, h}, last[3] = {n, batch, h};
    set_outputs(step, all, last);
  }
}

void gather_infer_sequence(gather_step *step) {
  const gather_known *in = gather_step_in(step, 0);
  int64_t count = directions(step);
  if (in->rank != 3 || count == 0) return;
  const gather_dim h = hidden(step), n = gather_exact_dim(count);
  const gather_dim all[4] = {in->dims[0], n, in->dims[1], h}, last[3] = {in->dims[0], n, h};
  set_outputs(step, all, last);
}
