// SPDX-License-Identifier: MIT
//
// The threads that run a gather are OpenVINO's: those of the arena in which it runs the node.
#pragma once

#include "gather/gather.h"

namespace libgather {

// An executor for the calling thread, as long as the node runs. Of one thread where this build has no TBB.
gather_executor host_executor();

}  // namespace libgather
