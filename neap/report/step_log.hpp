// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// StepLog: the steps of a run in a bounded table: all of them, then every
// second, then every fourth, so that however long it was its whole course is
// there.
#pragma once

#include <cstddef>
#include <cstdint>

#include "neap/report/snapshot.hpp"

namespace neap::report {

class StepLog {
 public:
  static constexpr std::size_t kMost = 2048;

  /// Takes all memory, of the current domain. THROWS: OutOfMemory.
  StepLog() { kept_.reserve(kMost); }

  /// Takes no memory.
  void add(const Snapshot::Step& step) {
    const std::int64_t at = count_++;
    if (at % stride_ == 0 && kept_.size() == kMost) {
      thin_out();
    }
    if (at % stride_ == 0) {
      kept_.push_back(step);
    }
  }

  /// Steps that were added.
  std::int64_t count() const noexcept { return count_; }
  /// How many steps each of those kept stands for.
  std::int64_t stride() const noexcept { return stride_; }
  const memory::Vector<Snapshot::Step>& kept() const noexcept { return kept_; }

 private:
  void thin_out() {
    for (std::size_t i = 0; 2 * i < kept_.size(); ++i) {
      kept_[i] = kept_[2 * i];
    }
    kept_.resize((kept_.size() + 1) / 2);
    stride_ *= 2;
  }

  memory::Vector<Snapshot::Step> kept_;
  std::int64_t count_ = 0;
  std::int64_t stride_ = 1;
};

}  // namespace neap::report
