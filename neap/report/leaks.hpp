// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Leaks: what is live now and was not at a baseline, by category, owner and the
// line of the program that asked for it.
#pragma once

#include <string>

#include "neap/memory/containers.hpp"

namespace neap::report {

/// What is live at one instant. Taking it changes nothing in the domain.
class NEAP_API Baseline {
 public:
  explicit Baseline(const memory::Domain& domain = memory::domain());

  struct Leak {
    memory::Tag tag;
    Bytes bytes = 0;  // more than at the baseline
    std::int64_t blocks = 0;
  };
  /// Rows that have more bytes or blocks than at the baseline, largest first.
  memory::Vector<Leak> leaks() const;
  /// One line a leak; empty when there is none:
  /// "leak: 4 000 B in 1 block of other, owner '', made at a.cpp:12 (f)".
  std::string format() const;

 private:
  const memory::Domain* domain_;
  memory::Vector<memory::Row> rows_;
};

}  // namespace neap::report
