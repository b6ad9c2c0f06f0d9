// SPDX-License-Identifier: MIT
#include "threads.hpp"

#ifdef GATHER_OPENVINO_TBB
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#endif

namespace libgather {
namespace {

void parallel_for(void *, std::int64_t count, void (*task)(void *argument, std::int64_t i), void *argument) {
#ifdef GATHER_OPENVINO_TBB
  // Each task is a block of its own: the library has divided the work already.
  tbb::parallel_for(
      std::int64_t{0}, count, [=](std::int64_t i) { task(argument, i); }, tbb::simple_partitioner());
#else
  for (std::int64_t i = 0; i < count; i++) task(argument, i);
#endif
}

}  // namespace

gather_executor host_executor() {
#ifdef GATHER_OPENVINO_TBB
  return {nullptr, parallel_for, tbb::this_task_arena::max_concurrency()};
#else
  return {nullptr, parallel_for, 1};
#endif
}

}  // namespace libgather
