// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/tensor/element_sink.hpp"

#include <utility>

namespace neap::tensor {
namespace {

constinit thread_local ElementSink* in_use = nullptr;

}  // namespace

UseElementSink::UseElementSink(ElementSink& sink) noexcept
    : outer_(std::exchange(in_use, &sink)) {}

UseElementSink::~UseElementSink() {
  in_use = outer_;
}

void offer_elements(const base::Ref<Storage>& storage) {
  if (in_use != nullptr) {
    in_use->take(storage);
  }
}

}  // namespace neap::tensor
