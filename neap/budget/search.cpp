// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/budget/search.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <random>

#include "neap/budget/bound.hpp"
#include "neap/budget/log2.hpp"

namespace neap::budget {
namespace {

constexpr std::int64_t kNoPrice = std::numeric_limits<std::int64_t>::max();
// In the order in which each adds most to those before it.
constexpr std::array<Ranking, 12> kFirst = {
    {{.price = 1, .size = 1, .time = 1},
     {.price = 2, .size = 0, .time = 1},
     {.price = 2, .size = 3, .time = 2},
     {.price = 2, .size = 1, .time = 2},
     {.price = 2, .size = 1, .time = 1},
     {.price = 1, .size = 1, .time = 0},
     {.price = 1, .size = 0, .time = 2},
     {.price = 1, .size = 0, .time = 0},
     {.price = 1, .size = 2, .time = 0},
     {.price = 2, .size = 3, .time = 3},
     {.price = 2, .size = 1, .time = 4},
     {.price = 1, .size = 0, .time = 3}}};

// For values that a minimum cut keeps.
constexpr std::array<Ranking, 2> kOfCuts = {
    {{.price = 2, .size = 3, .time = 2}, {.price = 1, .size = 1, .time = 1}}};
constexpr std::int32_t kBiasOfKept = 2 * static_cast<std::int32_t>(kOctave);
constexpr std::int64_t kWalksOfCut = 2 * kOfCuts.size();
constexpr std::int64_t kLeastCuts = 3;
constexpr std::int64_t kMostCuts = 40;

class Search {
 public:
  Search(const Problem& problem, std::int64_t target,
         const SearchOptions& options, const Found* incumbent)
      : problem_(problem),
        decoder_(problem),
        target_(target),
        options_(options),
        has_helpers_(has_helpers(problem)) {
    if (incumbent != nullptr) {
      best_ = *incumbent;
      best_->walks = 0;
      if (best_->start) {
        base_ = best_->start->ranking;
        base_price_ = best_->start->price;
        first_ = base_;
        first_price_ = base_price_;
      }
    }
  }

  // With a channel, a coarse grid comes first: few walks are to see all uses
  // of the file.
  void try_rankings() {
    if (base_price_ != kNoPrice) {
      return;
    }
    if (!problem_.channel) {
      for (const Ranking& ranking : kFirst) {
        if (!is_over()) {
          try_ranking(ranking);
        }
      }
      try_grid(base_.channel, Grid::kAll);
      if (has_helpers_) {
        try_grid(base_.channel, Grid::kAll, true);
      }
      return;
    }
    for (const Grid grid : {Grid::kCoarse, Grid::kFine}) {
      for (const int channel : {1, 0, 4, kNoFile}) {
        try_grid(channel, grid);
      }
      if (has_helpers_ && grid == Grid::kCoarse) {
        try_grid(1, grid, true);
      }
    }
  }

  // Values that a minimum cut keeps are dropped late: after the call of the
  // cut, or by some octaves of its rank. A quarter of the walks that are left.
  // With a channel, cuts are no better than rankings.
  void try_cuts() {
    if (problem_.channel || is_over()) {
      return;
    }
    const std::int64_t left = options_.walks - walks_;
    const std::int64_t cuts =
        std::clamp(left / (4 * kWalksOfCut),
                   std::min(left / kWalksOfCut, kLeastCuts), kMostCuts);
    if (cuts == 0) {
      return;
    }
    const memory::Vector<Kept> all = kept_by_cuts(
        problem_, decoder_.uses(), target_, static_cast<std::int32_t>(cuts));
    for (const Kept& kept : all) {
      for (const Ranking& ranking : kOfCuts) {
        try_cut(kept, ranking, kept.position, 0);
        try_cut(kept, ranking, 0, kBiasOfKept);
      }
    }
  }

  // Ranks of some values change by up to some octaves; what costs a little more
  // is taken, too, less and less: at first an 800th. With a 50th, prices drift
  // up faster than walks bring them down.
  void anneal() {
    if (first_price_ == kNoPrice) {
      return;
    }
    bias_.resize(problem_.values.size(), 0);
    means_.assign(problem_.channel ? bias_.size() : 0, Means::kCheaper);
    std::int64_t current = first_price_;
    const std::int64_t all = options_.walks - walks_;
    while (!is_over()) {
      const std::int64_t left = options_.walks - walks_;
      change();
      Ranking ranking = first_;
      ranking.bias = bias_;
      ranking.kept_until = kept_until_;
      ranking.means = means_;
      const std::int64_t spare =
          current / 800 * left / std::max<std::int64_t>(all, 1);
      const std::int64_t found = walk(ranking, current + spare + 1);
      if (found != kNoPrice) {
        current = found;
      } else {
        take_back();
      }
    }
  }

  std::optional<Found> best() {
    if (best_) {
      best_->walks = walks_;
      best_->start.reset();
      if (base_price_ != kNoPrice) {
        best_->start = {base_, base_price_};
      }
    }
    return std::move(best_);
  }

 private:
  enum class Grid : std::uint8_t { kAll, kCoarse, kFine };

  static bool is_in(Grid grid, const Ranking& ranking) {
    const bool is_coarse =
        ranking.price == 2 && ranking.size % 2 == 0 && ranking.time % 2 == 0;
    return grid == Grid::kAll || is_coarse == (grid == Grid::kCoarse);
  }

  static bool is_first(const Ranking& ranking) {
    return std::ranges::any_of(kFirst, [&](const Ranking& other) {
      return ranking.price == other.price && ranking.size == other.size &&
             ranking.time == other.time;
    });
  }

  void try_grid(int channel, Grid grid, bool keeps_helpers = false) {
    for (int k = 0; k < 2 * 5 * 5 && !is_over(); ++k) {
      Ranking ranking{.price = 1 + k / 25, .size = k / 5 % 5, .time = k % 5};
      ranking.channel = channel;
      ranking.keeps_helpers = keeps_helpers;
      const bool is_done =
          !problem_.channel && !keeps_helpers && is_first(ranking);
      if (is_in(grid, ranking) && !is_done) {
        try_ranking(ranking);
      }
    }
  }

  void try_ranking(const Ranking& ranking) {
    // A little more than the best will do to begin with.
    const std::int64_t best = best_price();
    const std::int64_t spare = best == kNoPrice ? 0 : best / 16 + 1;
    const std::int64_t found = walk(ranking, best + spare);
    if (found < base_price_) {
      base_price_ = found;
      base_ = ranking;
      first_price_ = found;
      first_ = ranking;
    }
  }

  void try_cut(const Kept& kept, Ranking ranking, std::int32_t until,
               std::int32_t bias) {
    if (is_over()) {
      return;
    }
    memory::Vector<std::int32_t> all(problem_.values.size(), 0);
    for (const std::int32_t v : kept.values) {
      all[static_cast<std::size_t>(v)] = until + bias;
    }
    (until > 0 ? ranking.kept_until : ranking.bias) = all;
    const std::int64_t found = walk(ranking, first_price_);
    if (found < first_price_) {
      first_price_ = found;
      first_ = ranking;
      bias_.clear();
      kept_until_.clear();
      (until > 0 ? kept_until_ : bias_) = std::move(all);
    }
  }

  std::int64_t best_price() const { return best_ ? best_->price : kNoPrice; }
  bool is_over() const {
    return walks_ >= options_.walks || best_price() <= options_.good_enough;
  }

  // RETURNS: the price of the schedule, or kNoPrice.
  std::int64_t walk(const Ranking& ranking, std::int64_t below) {
    ++walks_;
    const Decoded* decoded = decoder_.decode(target_, ranking, below);
    if (decoded == nullptr) {
      return kNoPrice;
    }
    if (decoded->price < best_price()) {
      best_ = Found{.schedule = decoded->schedule, .price = decoded->price};
    }
    return decoded->price;
  }

  void change() {
    changed_.clear();
    const auto count = static_cast<std::uint32_t>(bias_.size());
    for (std::uint32_t k = 1 + random_() % 4; k > 0; --k) {
      const std::size_t v = random_() % count;
      changed_.push_back({v, bias_[v], Means::kCheaper});
      if (!means_.empty()) {
        changed_.back().means = means_[v];
        if (random_() % 2 == 0) {
          means_[v] = static_cast<Means>(random_() % 3);
          continue;
        }
      }
      const auto octaves = static_cast<std::int32_t>(random_() % 9) - 4;
      bias_[v] = octaves * static_cast<std::int32_t>(kOctave);
    }
  }

  void take_back() {
    for (auto change = changed_.rbegin(); change != changed_.rend(); ++change) {
      bias_[change->value] = change->bias;
      if (!means_.empty()) {
        means_[change->value] = change->means;
      }
    }
  }

  const Problem& problem_;
  Decoder decoder_;
  std::int64_t target_;
  SearchOptions options_;
  bool has_helpers_;
  std::optional<Found> best_;
  Ranking base_;  // of all values alike
  std::int64_t base_price_ = kNoPrice;
  Ranking first_;  // where annealing begins
  std::int64_t first_price_ = kNoPrice;
  memory::Vector<std::int32_t> bias_;
  memory::Vector<std::int32_t> kept_until_;
  memory::Vector<Means> means_;  // empty without a channel
  struct Change {                // of one value: what it had
    std::size_t value;
    std::int32_t bias;
    Means means;
  };
  memory::Vector<Change> changed_;
  std::mt19937 random_{1};
  std::int64_t walks_ = 0;
};

}  // namespace

std::optional<Found> search(const Problem& problem, std::int64_t target,
                            const SearchOptions& options,
                            const Found* incumbent) {
  check(problem);
  Search all(problem, target, options, incumbent);
  all.try_rankings();
  all.try_cuts();
  all.anneal();
  return all.best();
}

}  // namespace neap::budget
