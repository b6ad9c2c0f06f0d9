/* SPDX-License-Identifier: MIT
 *
 * torch_override.cpp: the C functions that libgather.torch calls: which operators are registered and on. The caller serialises
 * them (python/libgather/torch/override.py has a lock).
 */
#include "torch_override.h"
#include "torch_own.h"

#define ENTRY extern "C" __attribute__((visibility("default")))

using torch_own::functions;

namespace torch_override {

namespace {

bool loaded;
void *registrations[OPERATORS];

/* The vtable of c10::WarningHandler: destructors, then process(). Keeps PyTorch from warning that a kernel is replaced, which is
 * what was asked for. */
struct QuietHandler {
  virtual ~QuietHandler() {}
  virtual void process(const void *) {}
};

class Quiet {
 public:
  Quiet() : before_(usable() ? functions.warning_handler() : nullptr) {
    if (usable()) functions.set_warning_handler(&handler_);
  }
  ~Quiet() {
    if (usable()) functions.set_warning_handler(before_);
  }
  Quiet(const Quiet &) = delete;
  Quiet &operator=(const Quiet &) = delete;

 private:
  static bool usable() { return functions.warning_handler != nullptr && functions.set_warning_handler != nullptr; }
  QuietHandler handler_;
  void *before_;
};

bool is_operator(int op) { return op >= 0 && op < OPERATORS; }

}  // namespace

/* Finds PyTorch. Returns an empty text, or why the override cannot work here. */
ENTRY const char *gather_torch_override_load(void) {
  const char *why = torch_own::load();
  loaded = why[0] == '\0';
  return why;
}

/* How many operators there are, and their names. */
ENTRY int gather_torch_override_operators(void) { return OPERATORS; }
ENTRY const char *gather_torch_override_name(int op) { return is_operator(op) ? states[op].name : nullptr; }

/* Name number i of the kernels of PyTorch's that an operator replaces ("index_select.out"); NULL after the last. */
ENTRY const char *gather_torch_override_kernel(int op, int i) {
  for (const Replaced &one : replaced)
    if (one.op == op && i-- == 0) return one.name;
  return nullptr;
}

/* Puts the kernels of an operator in front of PyTorch's own. They are off. Returns 0, or -1 if PyTorch refuses. */
ENTRY int gather_torch_override_register(int op) {
  if (!is_operator(op) || !loaded) return -1;
  if (registrations[op] != nullptr) return 0;
  Quiet quiet;
  void *made = nullptr;
  if (aoti_torch_library_init_impl("aten", "CPU", __FILE__, __LINE__, &made) != 0) return -1;
  for (const Replaced &one : replaced)
    if (one.op == op && torch_library_impl(made, one.name, one.kernel, GATHER_TORCH_TARGET) != 0) {
      (void)aoti_torch_delete_library_object(made);
      return -1;
    }
  registrations[op] = made;
  return 0;
}

/* Takes them away again, so that PyTorch's dispatcher is as it was. No other thread may be calling the operator. */
ENTRY int gather_torch_override_unregister(int op) {
  if (!is_operator(op)) return -1;
  if (registrations[op] == nullptr) return 0;
  void *made = registrations[op];
  registrations[op] = nullptr;
  return aoti_torch_delete_library_object(made) == 0 ? 0 : -1;
}

ENTRY int gather_torch_override_is_registered(int op) { return is_operator(op) && registrations[op] != nullptr; }

/* Turns a registered operator on or off, at any time, whatever other threads do. */
ENTRY void gather_torch_override_switch(int op, int on) {
  if (is_operator(op)) states[op].on.store(on != 0, std::memory_order_relaxed);
}

/* How many calls libgather answered (0), and how many PyTorch's own kernel while the override was on (1). */
ENTRY uint64_t gather_torch_override_count(int op, int which) {
  if (!is_operator(op)) return 0;
  return which == 0 ? states[op].taken.load() : states[op].passed.load();
}

}  // namespace torch_override
