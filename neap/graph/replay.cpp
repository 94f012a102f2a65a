// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/graph/replay.hpp"

namespace neap::graph {

Replay::~Replay() = default;

bool runs_again(const Recorder* recorder) noexcept {
  const auto* replay = dynamic_cast<const Replay*>(recorder);
  return replay != nullptr && replay->runs_again();
}

}  // namespace neap::graph
