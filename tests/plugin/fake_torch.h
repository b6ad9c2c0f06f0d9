/* SPDX-License-Identifier: MIT
 *
 * fake_torch.h: a PyTorch of 150 lines for the plug-in's kernels: it counts every handle that it gives out, so that a test sees what a
 * kernel keeps or frees twice, with sanitizers and valgrind too.
 */
#ifndef GATHER_TESTS_FAKE_TORCH_H
#define GATHER_TESTS_FAKE_TORCH_H

#include <stdbool.h>
#include <stdint.h>

enum { FAKE_RANK = 6, FAKE_INT64 = 4, FAKE_FLOAT32 = 6, FAKE_UINT8 = 0, FAKE_INT8 = 1, FAKE_QINT8 = 12, FAKE_CUDA = 1 };

typedef struct fake_tensor {
  int64_t rank, sizes[FAKE_RANK], strides[FAKE_RANK];
  int32_t dtype, device, layout;
  int32_t handles; /* how many refer to it */
  bool of_kernel;  /* made by a kernel: it goes with its last handle */
  char *data;
} fake_tensor;

extern int fake_schemas, fake_kernels; /* how many were registered */
extern int fake_live;                  /* handles, texts, lists and cells that exist */
extern bool fake_no_memory;            /* new tensors fail */
extern uint32_t fake_threads;
extern char fake_message[600]; /* of the last error */

/* A tensor with memory of its own in row-major order; the caller fills it in, and frees it with fake_free. */
fake_tensor fake_make(int32_t dtype, int64_t item_bytes, int64_t rank, const int64_t *sizes);
void fake_free(fake_tensor *tensor);
/* Cells of a stack, each for one call. */
uint64_t fake_handle(fake_tensor *tensor);
uint64_t fake_optional(fake_tensor *tensor); /* NULL: None */
uint64_t fake_text(const char *text);
uint64_t fake_list(int count, const int64_t *items);
/* Calls a kernel by name ("take", "take.out") with these cells. Returns the result's tensor, of which the caller has one handle (give it to
 * fake_drop); NULL after an error, with fake_message. */
void *fake_call(const char *name, uint64_t count, const uint64_t *cells);
fake_tensor *fake_of(void *handle);
void fake_drop(void *handle);

#endif
