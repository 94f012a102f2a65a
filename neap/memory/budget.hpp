// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Budget: a guard that bounds held + external bytes of a domain for a block of
// code. It bounds the requests of every thread, not its own alone. Open budgets
// of a domain are a set, and the least of them (and of the domain's own bound)
// holds: blocks may overlap, in one thread or in several, and be closed in any
// order.
//
//   neap::Budget budget(64 * kMiB);
//   train(model);                     // throws OutOfMemory before exceeding it
//
// Thread rule: a guard may be opened and closed in any thread.
#pragma once

#include "neap/memory/context.hpp"

namespace neap {

class NEAP_API Budget {
 public:
  /// Returns idle pages to the system at once where more is held than `bytes`;
  /// live blocks stay, even beyond it.
  explicit Budget(Bytes bytes, memory::Domain& domain = memory::domain())
      : domain_(domain) {
    link_.bytes = bytes;
    domain_.open_budget(link_);
  }
  ~Budget() { domain_.close_budget(link_); }
  Budget(const Budget&) = delete;
  Budget& operator=(const Budget&) = delete;
  static void* operator new(std::size_t) = delete;

 private:
  memory::Domain& domain_;
  memory::BudgetLink link_;
};

}  // namespace neap
