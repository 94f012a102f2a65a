// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/graph/replay.hpp"

#include "neap/base/raise.hpp"
#include "neap/graph/node.hpp"
#include "neap/tensor/execution.hpp"

namespace neap::graph {

const Op kInsideSegment{.name = "a value inside a rematerialised segment",
                        .formula = {},
                        .facts = {}};

bool is_inside_segment(const Tensor& tensor) {
  const auto& link = tensor.link();
  return link && !link->is_leaf() &&
         &static_cast<const Node&>(*link).op() == &kInsideSegment;
}

void refuse_inside_segment(std::string_view what, const Tensor& tensor) {
  base::raise<GraphError>(
      "{} is a value inside the rematerialised segment made at {}, which "
      "recomputes the value in the backward and has no gradient of this one; "
      "return it from the function, and ask for the gradient of the result",
      what, base::format_site(static_cast<const Node&>(*tensor.link()).site()));
}

bool runs_segment() noexcept {
  return dynamic_cast<const Replay*>(tensor::thread_execution().recorder) !=
         nullptr;
}

Replay::~Replay() = default;

bool runs_again(const Recorder* recorder) noexcept {
  const auto* replay = dynamic_cast<const Replay*>(recorder);
  return replay != nullptr && replay->runs_again();
}

}  // namespace neap::graph
