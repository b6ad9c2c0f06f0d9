/* SPDX-License-Identifier: MIT
 *
 * torch_register.c: the operators libgather::..., which PyTorch knows from the moment that the library is loaded.
 *
 * Fake kernels, gradients, vmap: python/libgather/torch/. PyTorch calls gradients in Python, which takes longer than a small gather even
 * if no tensor needs one; so there are the variants no_grad, with the default rules and without gradients.
 */
#include <stdlib.h>

#include "torch_operator.h"

#define POLICY "str mode=\"raise\", bool negative=True"
#define FILL ", Tensor? fill_value=None"
#define LAYOUT                                                                                                  \
  ", Tensor? scale=None, Tensor? zero_point=None, Tensor? bias=None, Tensor? table=None, Tensor? scale2=None, " \
  "bool scale2_divides=False, str code_type=\"\", int code_bits=0, str order=\"low\", int[] shape=[], int[] "   \
  "groups=[], "                                                                                                 \
  "int group_axis=-1, int group_len=0, bool flat_groups=False, str scale_type=\"\", str zero_point_type=\"\", " \
  "Tensor? scale_table=None, Tensor? scale_scale=None, int scale_group_len=0, int code_offset=0, float "        \
  "scale_offset=0.0"
#define LAYOUT_LETTERS "ooooobsislliibssooiif"

/* Each operator: its name, its schema, its arguments as gather_torch_call has them, and its work. Each has one result. */
#define OPERATORS(OPERATOR)                                                                                                              \
  OPERATOR(take, "take", "(Tensor data, Tensor indices, int axis=0, int batch_dims=0, " POLICY FILL ") -> Tensor", "ttiisbo")            \
  OPERATOR(elements, "gather_elements", "(Tensor data, Tensor indices, int axis=0, " POLICY FILL ") -> Tensor", "ttisbo")                \
  OPERATOR(nd, "gather_nd", "(Tensor data, Tensor indices, int batch_dims=0, " POLICY FILL ") -> Tensor", "ttisbo")                      \
  OPERATOR(tree, "gather_tree",                                                                                                          \
           "(Tensor step_ids, Tensor parent_ids, Tensor max_seq_len, Tensor end_token, str mode=\"raise\", "                             \
           "bool negative=False" FILL ") -> Tensor",                                                                                     \
           "ttttsbo")                                                                                                                    \
  OPERATOR(take_quantized, "take_quantized",                                                                                             \
           "(Tensor data, Tensor indices, str codec, str dtype=\"float32\", int axis=0, int batch_dims=0, " POLICY LAYOUT ") -> Tensor", \
           "ttssiisb" LAYOUT_LETTERS)                                                                                                    \
  OPERATOR(dequantize, "dequantize", "(Tensor data, str codec, str dtype=\"float32\"" LAYOUT ") -> Tensor", "tss" LAYOUT_LETTERS)        \
  OPERATOR(quantized_shape, "quantized_shape", "(Tensor data, str codec" LAYOUT ") -> Tensor", "ts" LAYOUT_LETTERS)                      \
  OPERATOR(take_plain, "take.no_grad", "(Tensor data, Tensor indices, int axis) -> Tensor", "tti")                                       \
  OPERATOR(elements_plain, "gather_elements.no_grad", "(Tensor data, Tensor indices, int axis) -> Tensor", "tti")                        \
  OPERATOR(nd_plain, "gather_nd.no_grad", "(Tensor data, Tensor indices) -> Tensor", "tt")                                               \
  OPERATOR(take_out, "take.out",                                                                                                         \
           "(Tensor data, Tensor indices, int axis=0, int batch_dims=0, " POLICY FILL ", *, Tensor(a!) out) -> Tensor(a!)", "ttiisbot")  \
  OPERATOR(elements_out, "gather_elements.out",                                                                                          \
           "(Tensor data, Tensor indices, int axis=0, " POLICY FILL ", *, Tensor(a!) out) -> Tensor(a!)", "ttisbot")                     \
  OPERATOR(nd_out, "gather_nd.out", "(Tensor data, Tensor indices, int batch_dims=0, " POLICY FILL ", *, Tensor(a!) out) -> Tensor(a!)", \
           "ttisbot")

/* Runs an operator's work on the arguments of a call. Whatever happens, they are given back; an error leaves by an exception. */
static void run(const char *signature, gather_torch_work *work, uint64_t *stack, uint64_t inputs) {
  gather_torch_call call;
  gather_error error;
  void *out = NULL;
  gather_status status = gather_torch_read(&call, signature, stack, inputs, &error);
  if (status == GATHER_OK) status = work(&call, &out, &error);
  gather_torch_release(&call);
  if (status != GATHER_OK) {
    if (out) (void)aoti_torch_delete_tensor_object(out);
    gather_torch_throw(&error);
  }
  stack[0] = (uint64_t)(uintptr_t)out;
}

#define KERNEL(work, name, schema, letters)                                       \
  static void kernel_##work(uint64_t *stack, uint64_t inputs, uint64_t outputs) { \
    (void)outputs;                                                                \
    run(letters, gather_torch_##work, stack, inputs);                             \
  }
OPERATORS(KERNEL)
#undef KERNEL

static const struct operator_row {
  const char *name, *schema;
  void (*kernel)(uint64_t *stack, uint64_t inputs, uint64_t outputs);
} rows[] = {
#define ROW(work, name, schema, letters) {name, name schema, kernel_##work},
    OPERATORS(ROW)
#undef ROW
};

/* CPU; and every other device and layout, whose tensors the kernels refuse by name. */
static const char *const keys[] = {"CPU", "CompositeExplicitAutograd"};
static void *libraries[1 + sizeof keys / sizeof *keys];
static const char *failed = "nothing was registered";

static bool define(void **library) {
  if (aoti_torch_library_init_fragment("libgather", "libgather_torch", 0, library)) return false;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (aoti_torch_library_def(*library, rows[i].schema)) return false;
  return true;
}

static bool implement(const char *key, void **library) {
  if (aoti_torch_library_init_impl("libgather", key, "libgather_torch", 0, library)) return false;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (torch_library_impl(*library, rows[i].name, rows[i].kernel, GATHER_TORCH_TARGET)) return false;
  return true;
}

/* At the end of the process, before PyTorch's own end; or when the library is closed. */
static void unregister(void) {
  for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
    if (libraries[i]) (void)aoti_torch_delete_library_object(libraries[i]);
}

__attribute__((constructor)) static void register_all(void) {
  gather_torch_learn_types();
  gather_torch_watch_forks();
  gather_torch_prepare_plans();
  (void)atexit(unregister);
  failed = NULL;
  if (!define(&libraries[0])) failed = "PyTorch refused the schemas of the operators (loaded twice, from different files?)";
  for (size_t i = 0; i < sizeof keys / sizeof *keys && !failed; i++)
    if (!implement(keys[i], &libraries[i + 1])) failed = "PyTorch refused the kernels of the operators";
}

const char *gather_torch_failure(void) { return failed; }
