// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/loss/reduced.hpp"

#include "neap/ops/reduction/sum.hpp"

namespace neap::ops {

Tensor reduced(Tensor losses, Reduction reduction) {
  switch (reduction) {
    case Reduction::kMean:
      return mean(std::move(losses));
    case Reduction::kSum:
      return sum(std::move(losses));
    case Reduction::kNone:
      break;
  }
  return losses;
}

}  // namespace neap::ops
