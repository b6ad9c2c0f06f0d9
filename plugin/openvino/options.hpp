// SPDX-License-Identifier: MIT
//
// What the extension does with a model: options of one core, which every operator that it makes keeps.
#pragma once

#include <cstdint>
#include <string>

#include "gather/table.h"

namespace libgather {

struct Options {
  // Takes over every node that it can, also where OpenVINO's own is faster.
  bool force = false;
  // Constants of at least this many bytes whose bytes lie in a file stay there; -1: none.
  std::int64_t take_out = std::int64_t{1} << 30;
  // Of each table that stays in its file: as in gather_table_options.
  std::int64_t memory = 0;
  std::string engine = "auto";
  // What happens to an index out of range: "rules" (the operator's document), or the name of a policy.
  std::string on_bad = "rules";
};

// Reads "force=1,take_out=256M,memory=64M,engine=uring,on_bad=error". Throws std::runtime_error, which names the wrong part.
Options options_read(const std::string &text);

// Those that the calling thread has chosen for the next core (gather_openvino_options), else those of the environment variable
// GATHER_OPENVINO, else the defaults.
Options options_current();

// The policy that a name of `on_bad` means. Throws std::runtime_error for any other name.
gather_on_bad options_policy(const std::string &name);

}  // namespace libgather

extern "C" {
// Sets the options of the cores that the calling thread extends from now on; NULL: those of the environment again.
// Returns 0, or -1 with a sentence in `complaint` (room for `bytes`).
__attribute__((visibility("default"))) int gather_openvino_options(const char *text, char *complaint, size_t bytes);
}
