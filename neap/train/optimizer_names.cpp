// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/train/optimizer_names.hpp"

#include <algorithm>

namespace neap::train {
namespace {

// The node of a leaf is the same for all of its handles.
struct Known {
  const void* link = nullptr;
  std::size_t index = 0;  // in the model's list
};

}  // namespace

ParameterNames names_in_model(const ParameterList& tensors,
                              const optim::Optimizer& optimizer) {
  memory::Vector<Known> known;
  known.reserve(tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    known.push_back({tensors[i].tensor.link().get(), i});
  }
  std::ranges::sort(known, {}, &Known::link);
  ParameterNames names;
  names.reserve(optimizer.parameters().size());
  for (const Parameter& parameter : optimizer.parameters()) {
    const void* link = parameter.tensor.link().get();
    const auto at = std::ranges::lower_bound(known, link, {}, &Known::link);
    const bool is_there =
        link != nullptr && at != known.end() && at->link == link;
    names.push_back(is_there ? tensors[at->index].name : memory::String());
  }
  return names;
}

}  // namespace neap::train
