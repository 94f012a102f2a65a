// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/autograd/own_memory.hpp"

#include <algorithm>
#include <functional>

#include "neap/autograd/cotangents.hpp"
#include "neap/memory/containers.hpp"

namespace neap::autograd {
namespace {

bool fills_its_storage(const Tensor& t) {
  return t.is_contiguous() && t.array()->layout().offset == 0 &&
         tensor::extent_bytes(t.array()->layout()) ==
             t.array()->storage()->size();
}

// The storages that several of some tensors lie on, sorted.
class Shared {
 public:
  Shared(std::span<const Tensor> results, std::span<const Tensor> given) {
    storages_.reserve(results.size() + given.size());
    for (const std::span<const Tensor> part : {results, given}) {
      for (const Tensor& t : part) {
        if (t.defined()) {
          storages_.push_back(t.array()->storage().get());
        }
      }
    }
    std::sort(storages_.begin(), storages_.end(), std::less<>());
  }
  bool has(const Tensor& t) const {
    const auto [first, last] =
        std::equal_range(storages_.begin(), storages_.end(),
                         t.array()->storage().get(), std::less<>());
    return last - first > 1;
  }

 private:
  memory::Vector<const tensor::Storage*> storages_;
};

}  // namespace

bool owns_all_of_its_storage(const Tensor& t) {
  return t.owns_alone() && fills_its_storage(t);
}

Tensor in_own_memory(Tensor t) {
  if (t.requires_grad() || owns_all_of_its_storage(t)) {
    return t;
  }
  return duplicate(t);
}

void put_in_own_memory(std::span<Tensor> results,
                       std::span<const Tensor> given) {
  const bool any_recorded = std::any_of(
      results.begin(), results.end(),
      [](const Tensor& t) { return t.defined() && t.requires_grad(); });
  const Shared shared(any_recorded ? results : std::span<Tensor>(), given);
  for (Tensor& result : results) {
    if (!result.defined()) {
      continue;
    }
    if (!result.requires_grad()) {
      result = in_own_memory(std::move(result));
    } else if (!fills_its_storage(result) || shared.has(result)) {
      result = duplicate(result);
    }
  }
}

}  // namespace neap::autograd
