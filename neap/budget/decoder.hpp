// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A greedy walk over the calls that makes a schedule within a target of memory:
// values that a call reads and that are not there are brought back by the calls
// of their closure, or fetched from the file; room is made by dropping the
// value that is cheap to bring back, large, and needed late. Unlike an eviction
// while a program runs (DTR, Kirisame et al., ICLR 2021), it knows all reads
// that are to come.
#pragma once

#include <optional>

#include "neap/budget/closure.hpp"
#include "neap/budget/restores.hpp"
#include "neap/budget/timeline.hpp"

namespace neap::budget {

/// The means by which a value comes back.
enum class Means : std::uint8_t { kCheaper, kRuns, kFile };

/// Ranking::channel where the file is not used.
inline constexpr int kNoFile = -1;

/// The weights that a value's rank is computed with: the lower, the sooner it
/// is dropped. rank = price^(g/2) / (size^(a/2) * time to its next read^(b/2))
/// * 2^bias
struct Ranking {
  int price = 2;  // g
  int size = 2;   // a
  int time = 2;   // b
  /// A term of each value's rank, in 1 / kOctave octaves; empty: 0.
  std::span<const std::int32_t> bias{};
  /// A value is not dropped before the walk is at this position, unless nothing
  /// else is left; one a value; empty: 0.
  std::span<const std::int32_t> kept_until{};
  /// The share of a move's time that counts as its price, in quarters, since it
  /// is not known how much of it can be hidden; or kNoFile.
  int channel = 1;
  /// The means of each value, where it has them; empty: kCheaper.
  std::span<const Means> means{};
  /// Values are kept for as long as they help (Value::helps_until).
  bool keeps_helpers = false;
};

struct Decoded {
  Schedule schedule;
  std::int64_t price = 0;
};

class Decoder {
 public:
  /// REQUIRES: check(problem). LIFETIME: problem outlives it.
  /// THROWS: OutOfMemory.
  explicit Decoder(const Problem& problem);

  /// A schedule whose peak is at most `target` and whose price is below
  /// `below`, or nothing where the walk finds none. THROWS: OutOfMemory.
  const Decoded* decode(std::int64_t target, const Ranking& ranking,
                        std::int64_t below);

  /// Computes the rank of every value at each drop, which finds the same one:
  /// a reference for tests.
  void set_plain(bool is_plain) noexcept { is_plain_ = is_plain; }

  const Uses& uses() const noexcept { return uses_; }
  /// Calls of closures that the latest walk collected: its effort, beside one a
  /// call. A walk ends without a schedule at kMostWork of them, and as many for
  /// each call of the problem as kMostWorkACall says: in a chain of which
  /// little is left, each value that is dropped makes the closures of all
  /// others longer.
  std::int64_t work() const noexcept {
    return pending_.work() + probe_.work() + restores_.work();
  }
  static constexpr std::int64_t kMostWork = 2'000'000;
  static constexpr std::int64_t kMostWorkACall = 1'000;

 private:
  static std::size_t at(std::int32_t i) noexcept {
    return static_cast<std::size_t>(i);
  }
  const Call& call(std::int32_t c) const noexcept {
    return problem_->calls[at(c)];
  }
  std::int64_t size(std::int32_t v) const noexcept {
    return problem_->values[at(v)].size;
  }
  bool is_there(std::int32_t v) const noexcept {
    return places_[at(v)] == Place::kMemory;
  }
  void begin(std::int64_t target, const Ranking& ranking, std::int64_t below);
  void begin_channel();
  bool visit(std::int32_t position);
  bool find_runs(std::span<const std::int32_t> reads);
  bool is_fetched(std::int32_t v);
  bool can_run(std::int32_t c) const noexcept;
  bool is_exhausted() const noexcept {
    return work() > kMostWork + kMostWorkACall * uses_.calls();
  }
  bool are_there(std::span<const std::int32_t> values) const noexcept;
  void expect_no_more(std::span<const std::int32_t> reads,
                      std::size_t done) noexcept;
  void count_reads(std::span<const std::int32_t> values,
                   std::int32_t more) noexcept;
  bool run(std::int32_t c);
  void end_run(std::int32_t c, bool is_taken_from_file);
  bool fetch(std::span<const std::int32_t> values, std::int32_t reader);
  void write(std::int32_t v);
  std::int64_t needed_by(std::int32_t c) const noexcept;
  bool ends_here(std::int32_t v) const noexcept;
  bool is_needed(std::int32_t v) const noexcept;
  std::int32_t needed_at(std::int32_t v) const noexcept;

  // Reasons to drop a value only where nothing else is left.
  enum class Reluctance : std::uint8_t {
    kNone,
    kPinned,   // what the ranking wants kept
    kPending,  // what a run that is to come reads
  };
  static constexpr std::int64_t kAnyRank =
      std::numeric_limits<std::int64_t>::max();
  struct WayBack {
    std::int64_t log_price = 0;
    bool is_from_file = false;
  };
  bool make_room(std::int32_t c);
  bool take_input(std::int32_t c);
  bool drop_some(std::int32_t c, std::int64_t missing, Reluctance most);
  bool drop_one(std::int32_t c, std::int64_t least_size, Reluctance reluctance);
  bool may_drop(std::int32_t v, std::int32_t c,
                Reluctance reluctance) const noexcept;
  std::int64_t time_until(std::int32_t position) const noexcept;
  std::optional<WayBack> way_back(std::int32_t v, std::int32_t until,
                                  std::int64_t most_log = kAnyRank);
  std::optional<std::int64_t> spill_price(std::int32_t v,
                                          std::int32_t until) const noexcept;
  std::optional<std::int64_t> rank_of(std::int32_t v,
                                      std::int64_t most = kAnyRank);
  bool is_above(std::int32_t v, std::int64_t rank) const noexcept;
  std::int64_t least_log_by_file(std::int32_t v) const noexcept;
  void drop_for_now(std::int32_t v, bool is_from_file);
  void drop(std::int32_t v, bool is_to_be_fetched);
  void add(std::int32_t v);

  const Problem* problem_;
  Uses uses_;
  Closure pending_;  // the runs before the call at position_
  Closure probe_;
  Restores restores_;
  Timeline timeline_;
  bool has_file_ = false;  // in this walk
  bool is_plain_ = false;
  // The part of a rank that its way back is no part of, at the latest look. It
  // rises from there to the next read, so that most values need no other look.
  struct Seen {
    std::int64_t rest = 0;
    std::int32_t until = kNever;  // needed_at(), then; kNever: not seen
  };
  memory::Vector<Seen> seen_;
  memory::Vector<std::int32_t> unknown_;  // in drop_one()
  memory::Vector<std::int64_t> fetch_prices_;
  memory::Vector<Place> places_;
  memory::Vector<std::int64_t> log_size_;
  memory::Vector<std::int32_t> present_;        // values, in no order
  memory::Vector<std::int32_t> place_;          // in present_
  memory::Vector<std::int32_t> held_until_;     // for closures of absent values
  memory::Vector<std::int32_t> pending_reads_;  // runs to come that read it
  memory::Vector<std::int32_t> runs_;
  memory::Vector<std::int32_t> outliving_;
  std::int32_t taken_ =
      kNever;  // an input that is dropped when its reader ends
  std::int64_t live_ = 0;
  std::int32_t position_ = 0;
  std::int64_t target_ = 0;
  std::int64_t below_ = 0;
  Ranking ranking_;
  Decoded out_;
};

}  // namespace neap::budget
