// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/train/optimizer_names.hpp"

#include <algorithm>

namespace neap::train {
namespace {

// The node of a leaf is the same for all of its handles; what has none is told
// by its storage.
const void* mark_of(const Tensor& tensor) {
  const void* link = tensor.link().get();
  return link != nullptr ? link : tensor.array()->storage().get();
}

struct Known {
  const void* mark = nullptr;
  std::size_t index = 0;  // in the model's list
};

}  // namespace

ParameterNames names_in_model(const ParameterList& tensors,
                              const optim::Optimizer& optimizer) {
  return names_in_model(tensors, optimizer.parameters());
}

ParameterNames names_in_model(const ParameterList& tensors,
                              const ParameterList& of) {
  memory::Vector<Known> known;
  known.reserve(tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    known.push_back({mark_of(tensors[i].tensor), i});
  }
  std::ranges::sort(known, {}, &Known::mark);
  ParameterNames names;
  names.reserve(of.size());
  for (const Parameter& parameter : of) {
    const void* mark = mark_of(parameter.tensor);
    const auto at = std::ranges::lower_bound(known, mark, {}, &Known::mark);
    const bool is_there = at != known.end() && at->mark == mark;
    names.push_back(is_there ? tensors[at->index].name : memory::String());
  }
  return names;
}

}  // namespace neap::train
