// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The closure of a value: the calls that must run, in order, to have it back
// from what is in memory or on the file.
#pragma once

#include "neap/budget/uses.hpp"

namespace neap::budget {

/// The place at which the walk has a value.
enum class Place : std::uint8_t {
  kNowhere,
  kMemory,
  kFile,  // not in memory; it is to be fetched
};

class Closure {
 public:
  /// LIFETIME: problem and uses outlive it. THROWS: OutOfMemory.
  Closure(const Problem& problem, const Uses& uses);

  /// Sets the price of fetching each value; the prices stay the caller's, and
  /// are looked at only where a value's place is the file.
  void set_fetch_prices(std::span<const std::int64_t> prices) noexcept {
    fetch_prices_ = prices;
  }
  /// Forgets what was collected.
  void begin() noexcept;
  /// Adds the calls that bring `value` back at a position, and what they read,
  /// until they cost more than `most`. RETURNS: false where one of them may not
  /// run again then.
  bool collect(std::int32_t value, std::int32_t position,
               std::span<const Place> places,
               std::int64_t most = std::numeric_limits<std::int64_t>::max());

  /// The calls so far, in the order of collecting.
  std::span<const std::int32_t> calls() const noexcept { return calls_; }
  /// The values that they read, each once: there or not.
  std::span<const std::int32_t> reads() const noexcept { return reads_; }
  std::int64_t price() const noexcept { return run_price_ + fetch_price_; }
  std::int64_t run_price() const noexcept { return run_price_; }
  /// Calls collected since set_work(0), all closures together.
  std::int64_t work() const noexcept { return work_; }
  void set_work(std::int64_t work) noexcept { work_ = work; }
  /// The last position at which they all may run.
  std::int32_t again_until() const noexcept { return again_until_; }

 private:
  bool add_call(std::int32_t call, std::int32_t position);

  const Problem* problem_;
  const Uses* uses_;
  memory::Vector<std::uint32_t> call_stamp_;
  memory::Vector<std::uint32_t> value_stamp_;
  std::uint32_t stamp_ = 0;
  memory::Vector<std::int32_t> calls_;
  memory::Vector<std::int32_t> reads_;
  std::span<const std::int64_t> fetch_prices_;
  std::int64_t run_price_ = 0;
  std::int64_t fetch_price_ = 0;
  std::int32_t again_until_ = kAlways;
  std::int64_t work_ = 0;
};

}  // namespace neap::budget
