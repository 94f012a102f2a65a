// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/compile/stand_in.hpp"

namespace neap::compiler {

Bytes dense_bytes(const tensor::Spec& spec) {
  return base::checked_mul(spec.shape.element_count(), size_of(spec.dtype));
}

StandInList::~StandInList() {
  for (StandIn* at = latest_; at != nullptr; at = at->earlier_) {
    at->list_ = nullptr;
  }
}

StandIn::StandIn(TraceNumber trace, ValueId value, StandInList& list) noexcept
    : trace_(trace), value_(value), list_(&list), earlier_(list.latest_) {
  if (earlier_ != nullptr) {
    earlier_->later_ = this;
  }
  list.latest_ = this;
}

StandIn::~StandIn() {
  if (list_ == nullptr) {
    return;
  }
  (later_ != nullptr ? later_->earlier_ : list_->latest_) = earlier_;
  if (earlier_ != nullptr) {
    earlier_->later_ = later_;
  }
}

Tensor StandIn::make(const tensor::Spec& spec, const tensor::Layout* layout,
                     const memory::Tag& tag, TraceNumber trace, ValueId value,
                     StandInList& list) {
  memory::Tag own = tag;
  own.space = spec.space;
  auto owner =
      memory::make_owned<StandIn>(memory::Category::kGraph, trace, value, list);
  const tensor::Layout seen =
      layout != nullptr ? *layout
                        : tensor::dense_layout(spec.dtype, spec.shape);
  return Tensor(tensor::Array::make(
      tensor::Storage::stand_in(
          layout != nullptr ? tensor::extent_bytes(seen) : dense_bytes(spec),
          std::move(owner), own, memory::domain()),
      seen));
}

}  // namespace neap::compiler
