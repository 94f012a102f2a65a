// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Budget: a guard that bounds held + external bytes of a domain for a block
// of code, and restores the earlier bound. It never lifts an earlier one: of
// nested budgets the least holds.
//
//   neap::Budget budget(64 * kMiB);
//   train(model);                     // throws OutOfMemory rather than pass it
#pragma once

#include <algorithm>

#include "neap/memory/context.hpp"

namespace neap {

class NEAP_API Budget {
 public:
  explicit Budget(Bytes bytes, memory::Domain& domain = memory::domain())
      : domain_(domain), outer_(domain.budget()) {
    domain_.set_budget(std::min(bytes, outer_));
  }
  ~Budget() { domain_.set_budget(outer_); }
  Budget(const Budget&) = delete;
  Budget& operator=(const Budget&) = delete;
  static void* operator new(std::size_t) = delete;

 private:
  memory::Domain& domain_;
  Bytes outer_;
};

}  // namespace neap
