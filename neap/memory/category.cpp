// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/memory/tag.hpp"

namespace neap::memory {

std::string_view name_of(Category category) noexcept {
  switch (category) {
    case Category::kParameters:
      return "parameters";
    case Category::kGradients:
      return "gradients";
    case Category::kOptimizerState:
      return "optimizer state";
    case Category::kBuffers:
      return "buffers";
    case Category::kInputs:
      return "inputs";
    case Category::kActivations:
      return "activations";
    case Category::kWorkspace:
      return "workspace";
    case Category::kGraph:
      return "graph";
    case Category::kData:
      return "data";
    case Category::kOther:
      return "other";
  }
  return "?";
}

}  // namespace neap::memory
