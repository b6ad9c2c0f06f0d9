/* SPDX-License-Identifier: MIT
 *
 * fake_torch.c: see fake_torch.h.
 */
#include "fake_torch.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "torch_shim.h"

enum { KERNELS = 64 };

int fake_schemas, fake_kernels, fake_live;
bool fake_no_memory;
uint32_t fake_threads = 1;
char fake_message[600];

static struct {
  const char *name;
  void (*run)(uint64_t *stack, uint64_t inputs, uint64_t outputs);
} kernels[KERNELS];
static _Thread_local jmp_buf away;

/* ---- numbers ---- */

#define NUMBER(name, value) \
  int32_t name(void) { return value; }
NUMBER(aoti_torch_device_type_cpu, 0)
NUMBER(aoti_torch_device_type_cuda, FAKE_CUDA)
NUMBER(aoti_torch_device_type_meta, 2)
NUMBER(aoti_torch_device_type_xpu, 3)
NUMBER(aoti_torch_device_type_mps, 4)
NUMBER(aoti_torch_device_type_privateuse1, 5)
NUMBER(aoti_torch_layout_strided, 0)
NUMBER(aoti_torch_dtype_uint8, FAKE_UINT8)
NUMBER(aoti_torch_dtype_int8, FAKE_INT8)
NUMBER(aoti_torch_dtype_int16, 2)
NUMBER(aoti_torch_dtype_int32, 3)
NUMBER(aoti_torch_dtype_int64, FAKE_INT64)
NUMBER(aoti_torch_dtype_float16, 5)
NUMBER(aoti_torch_dtype_float32, FAKE_FLOAT32)
NUMBER(aoti_torch_dtype_float64, 7)
NUMBER(aoti_torch_dtype_complex64, 9)
NUMBER(aoti_torch_dtype_complex128, 10)
NUMBER(aoti_torch_dtype_bool, 11)
NUMBER(aoti_torch_dtype_bfloat16, 15)
NUMBER(aoti_torch_dtype_float8_e5m2, 23)
NUMBER(aoti_torch_dtype_float8_e4m3fn, 24)
NUMBER(aoti_torch_dtype_float8_e5m2fnuz, 25)
NUMBER(aoti_torch_dtype_float8_e4m3fnuz, 26)
NUMBER(aoti_torch_dtype_uint16, 27)
NUMBER(aoti_torch_dtype_uint32, 28)
NUMBER(aoti_torch_dtype_uint64, 29)
NUMBER(torch_dtype_float8_e8m0fnu, 44)
size_t aoti_torch_dtype_element_size(int32_t dtype) { return dtype == FAKE_INT64 ? 8 : dtype == FAKE_FLOAT32 ? 4 : 1; }

/* ---- tensors: a handle is a pointer to a pointer, so that using one that was deleted is an error that ASan and valgrind see ---- */

fake_tensor *fake_of(void *handle) { return *(fake_tensor **)handle; }

static void *new_handle(fake_tensor *tensor) {
  fake_tensor **handle = malloc(sizeof *handle);
  if (!handle) abort();
  *handle = tensor;
  tensor->handles++;
  fake_live++;
  return handle;
}

fake_tensor fake_make(int32_t dtype, int64_t item_bytes, int64_t rank, const int64_t *sizes) {
  fake_tensor made = {.rank = rank, .dtype = dtype};
  int64_t step = 1;
  for (int64_t d = rank - 1; d >= 0; d--) {
    made.sizes[d] = sizes[d];
    made.strides[d] = step;
    step *= sizes[d] ? sizes[d] : 1;
  }
  made.data = calloc((size_t)step, (size_t)item_bytes);
  if (!made.data) abort();
  return made;
}

void fake_free(fake_tensor *tensor) { free(tensor->data); }
uint64_t fake_handle(fake_tensor *tensor) { return (uint64_t)(uintptr_t)new_handle(tensor); }

int32_t aoti_torch_get_dim(void *tensor, int64_t *rank) { return *rank = fake_of(tensor)->rank, 0; }
int32_t aoti_torch_get_sizes(void *tensor, int64_t **sizes) { return *sizes = fake_of(tensor)->sizes, 0; }
int32_t aoti_torch_get_strides(void *tensor, int64_t **strides) { return *strides = fake_of(tensor)->strides, 0; }
int32_t aoti_torch_get_dtype(void *tensor, int32_t *dtype) { return *dtype = fake_of(tensor)->dtype, 0; }
int32_t aoti_torch_get_layout(void *tensor, int32_t *layout) { return *layout = fake_of(tensor)->layout, 0; }
int32_t aoti_torch_get_device_type(void *tensor, int32_t *type) { return *type = fake_of(tensor)->device, 0; }
int32_t torch_get_const_data_ptr(void *tensor, const void **data) { return *data = fake_of(tensor)->data, 0; }
int32_t torch_get_mutable_data_ptr(void *tensor, void **data) { return *data = fake_of(tensor)->data, 0; }
int32_t aoti_torch_new_tensor_handle(void *tensor, void **handle) { return *handle = new_handle(fake_of(tensor)), 0; }

int32_t aoti_torch_delete_tensor_object(void *tensor) {
  fake_tensor *what = fake_of(tensor);
  free(tensor);
  fake_live--;
  if (--what->handles == 0 && what->of_kernel) {
    free(what->data);
    free(what);
  }
  return 0;
}

int32_t aoti_torch_empty_strided(int64_t rank, const int64_t *sizes, const int64_t *strides, int32_t dtype, int32_t device_type,
                                 int32_t device_index, void **tensor) {
  (void)strides, (void)device_index;
  if (fake_no_memory || rank > FAKE_RANK || device_type != 0) return 1;
  fake_tensor *made = malloc(sizeof *made);
  if (!made) return 1;
  *made = fake_make(dtype, (int64_t)aoti_torch_dtype_element_size(dtype), rank, sizes);
  made->of_kernel = true;
  *tensor = new_handle(made);
  return 0;
}

void fake_drop(void *handle) { (void)aoti_torch_delete_tensor_object(handle); }

/* ---- other arguments ---- */

uint64_t fake_optional(fake_tensor *tensor) {
  if (!tensor) return 0;
  uint64_t *cell = malloc(sizeof *cell);
  if (!cell) abort();
  *cell = fake_handle(tensor);
  fake_live++;
  return (uint64_t)(uintptr_t)cell;
}

void _ZdlPv(void *memory) {
  free(memory);
  fake_live--;
}

uint64_t fake_text(const char *text) {
  char *copy = malloc(strlen(text) + 1);
  if (!copy) abort();
  fake_live++;
  return (uint64_t)(uintptr_t)strcpy(copy, text);
}
int32_t torch_string_length(void *text, size_t *bytes) { return *bytes = strlen(text), 0; }
int32_t torch_string_c_str(void *text, const char **data) { return *data = text, 0; }
int32_t torch_delete_string(void *text) { return free(text), fake_live--, 0; }

uint64_t fake_list(int count, const int64_t *items) {
  int64_t *list = malloc(sizeof *list * (size_t)(count + 1));
  if (!list) abort();
  list[0] = count;
  if (count) memcpy(list + 1, items, sizeof *items * (size_t)count);
  fake_live++;
  return (uint64_t)(uintptr_t)list;
}
int32_t torch_list_size(void *list, size_t *count) { return *count = (size_t) * (int64_t *)list, 0; }
int32_t torch_list_get_item(void *list, size_t i, uint64_t *item) { return *item = (uint64_t)((int64_t *)list)[i + 1], 0; }
int32_t torch_delete_list(void *list) { return free(list), fake_live--, 0; }

/* ---- threads, registration, calls ---- */

int32_t torch_get_num_threads(uint32_t *threads) { return *threads = fake_threads, 0; }
int32_t torch_parallel_for(int64_t begin, int64_t end, int64_t grain, void (*run)(int64_t begin, int64_t end, void *argument),
                           void *argument) {
  (void)grain;
  if (end > begin) run(begin, begin + (end - begin) / 2, argument), run(begin + (end - begin) / 2, end, argument);
  return 0;
}

static int library;
int32_t aoti_torch_library_init_fragment(const char *space, const char *file, uint32_t line, void **made) {
  return (void)space, (void)file, (void)line, *made = &library, 0;
}
int32_t aoti_torch_library_init_impl(const char *space, const char *key, const char *file, uint32_t line, void **made) {
  return (void)space, (void)key, (void)file, (void)line, *made = &library, 0;
}
int32_t aoti_torch_library_def(void *of, const char *schema) { return (void)of, (void)schema, fake_schemas++, 0; }
int32_t aoti_torch_delete_library_object(void *of) { return (void)of, 0; }

int32_t torch_library_impl(void *of, const char *name, void (*kernel)(uint64_t *stack, uint64_t inputs, uint64_t outputs),
                           uint64_t version) {
  (void)of, (void)version;
  if (fake_kernels == KERNELS) return 1;
  kernels[fake_kernels].name = name;
  kernels[fake_kernels++].run = kernel;
  return 0;
}

void aoti_torch_check(bool fine, const char *function, const char *file, uint32_t line, const char *message) {
  (void)function, (void)file, (void)line;
  if (fine) return;
  (void)snprintf(fake_message, sizeof fake_message, "%s", message);
  longjmp(away, 1);
}

static void (*kernel_of(const char *name))(uint64_t *stack, uint64_t inputs, uint64_t outputs) {
  for (int i = 0; i < fake_kernels; i++)
    if (strcmp(kernels[i].name, name) == 0) return kernels[i].run;
  abort();
}

void *fake_call(const char *name, uint64_t count, const uint64_t *cells) {
  static _Thread_local uint64_t stack[40];
  memcpy(stack, cells, (size_t)count * sizeof *cells);
  if (setjmp(away)) return NULL;
  kernel_of(name)(stack, count, 1);
  return (void *)(uintptr_t)stack[0];
}
