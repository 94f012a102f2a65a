// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/compile/stand_in.hpp"

namespace neap::compiler {

Bytes dense_bytes(const tensor::Spec& spec) {
  return base::checked_mul(spec.shape.element_count(), size_of(spec.dtype));
}

Tensor StandIn::make(const tensor::Spec& spec, const memory::Tag& tag,
                     TraceNumber trace, ValueId value) {
  memory::Tag own = tag;
  own.space = spec.space;
  auto owner =
      memory::make_owned<StandIn>(memory::Category::kGraph, trace, value);
  return Tensor(tensor::Array::make(
      tensor::Storage::stand_in(dense_bytes(spec), std::move(owner), own,
                                memory::domain()),
      tensor::dense_layout(spec.dtype, spec.shape)));
}

}  // namespace neap::compiler
