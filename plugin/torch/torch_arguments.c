/* SPDX-License-Identifier: MIT
 *
 * torch_arguments.c: the arguments of a call, from PyTorch's cells and back.
 */
#include <string.h>

#include "torch_operator.h"

/* A handle that PyTorch put into a cell. */
static void *handle(uint64_t cell) { return (void *)(uintptr_t)cell; }

static gather_status read_list(gather_torch_call *call, void *list, gather_torch_argument *argument, gather_error *error) {
  size_t count = 0;
  const size_t room = sizeof call->numbers / sizeof *call->numbers - (size_t)call->used;
  if (torch_list_size(list, &count) || count > room)
    return gather_error_set(error, GATHER_USAGE, "a list has %zu numbers: too many", count);
  int64_t *items = call->numbers + call->used;
  for (size_t i = 0; i < count; i++) {
    uint64_t cell = 0;
    if (torch_list_get_item(list, i, &cell)) return gather_error_set(error, GATHER_USAGE, "PyTorch returned no item %zu of a list", i);
    items[i] = (int64_t)cell;
  }
  argument->list.items = items;
  argument->list.count = (int64_t)count;
  call->used += (int32_t)count;
  return GATHER_OK;
}

static gather_status read_one(gather_torch_call *call, char letter, uint64_t cell, gather_torch_argument *argument, gather_error *error) {
  switch (letter) {
    case 't':
      argument->tensor = handle(cell);
      return GATHER_OK;
    case 'o':
      argument->tensor = cell ? handle(*(const uint64_t *)handle(cell)) : NULL;
      return GATHER_OK;
    case 'i':
      argument->number = (int64_t)cell;
      return GATHER_OK;
    case 'f':
      memcpy(&argument->real, &cell, sizeof argument->real);
      return GATHER_OK;
    case 'b':
      argument->truth = (cell & 0xff) != 0;
      return GATHER_OK;
    case 's':
      if (torch_string_c_str(handle(cell), &argument->text)) return gather_error_set(error, GATHER_USAGE, "PyTorch returned no text");
      return GATHER_OK;
    default:
      return read_list(call, handle(cell), argument, error);
  }
}

gather_status gather_torch_read(gather_torch_call *call, const char *signature, const uint64_t *stack, uint64_t inputs,
                                gather_error *error) {
  const size_t count = strlen(signature);
  call->signature = "";
  call->used = 0;
  if (inputs != count)
    return gather_error_set(error, GATHER_USAGE, "PyTorch passed %llu arguments, not %zu", (unsigned long long)inputs, count);
  memcpy(call->owned, stack, count * sizeof *stack);
  call->signature = signature;
  for (size_t i = 0; i < count; i++) {
    const gather_status status = read_one(call, signature[i], stack[i], &call->arguments[i], error);
    if (status != GATHER_OK) return status;
  }
  return GATHER_OK;
}

void gather_torch_release(gather_torch_call *call) {
  for (size_t i = 0; call->signature[i]; i++) {
    void *own = strchr("tosl", call->signature[i]) ? handle(call->owned[i]) : NULL;
    if (!own) continue;
    switch (call->signature[i]) {
      case 't':
        (void)aoti_torch_delete_tensor_object(own);
        break;
      case 'o':
        (void)aoti_torch_delete_tensor_object(handle(*(const uint64_t *)own));
        _ZdlPv(own);
        break;
      case 's':
        (void)torch_delete_string(own);
        break;
      default:
        (void)torch_delete_list(own);
        break;
    }
  }
}
