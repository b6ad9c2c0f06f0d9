/* SPDX-License-Identifier: MIT
 *
 * torch_override.h: the operators that the override takes over, and which of PyTorch's kernels each of them replaces.
 */
#ifndef GATHER_TORCH_OVERRIDE_H
#define GATHER_TORCH_OVERRIDE_H

#include <atomic>
#include <cstdint>

namespace torch_override {

enum Operator { EMBEDDING, INDEX_SELECT, GATHER, TAKE, OPERATORS };

using Kernel = void (*)(uint64_t *stack, uint64_t inputs, uint64_t outputs);

/* A kernel that is registered for the CPU. */
struct Replaced {
  Operator op;
  const char *name; /* without "aten::" */
  Kernel kernel;
};
constexpr int REPLACED = 7;
extern const Replaced replaced[REPLACED];

struct State {
  const char *name;
  std::atomic<bool> on;
  std::atomic<uint64_t> taken;  /* calls that libgather answered */
  std::atomic<uint64_t> passed; /* calls that PyTorch's own kernel answered while the override was on */
};
extern State states[OPERATORS];

}  // namespace torch_override

#endif
