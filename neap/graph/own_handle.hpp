// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Handles that the graph itself holds (gradients of leaves, retained ones). A
// trace hears of what the user's handles are asked; what it must know of these
// it is told in other ways. For sources of this room.
#pragma once

#include "neap/tensor/tensor.hpp"

namespace neap::graph {

/// Another handle to the same. No trace hears of it.
inline Tensor copy_of(const Tensor& own) noexcept {
  base::Ref<tensor::Body> body = own.shared();
  Tensor out;
  out.exchange_shared(body);
  return out;
}

/// `own` means what `other` meant, and the other way round. Likewise.
inline void exchange(Tensor& own, Tensor& other) noexcept {
  base::Ref<tensor::Body> body;
  other.exchange_shared(body);
  own.exchange_shared(body);
  other.exchange_shared(body);
}

}  // namespace neap::graph
