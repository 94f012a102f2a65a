// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/budget/chain.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace neap::budget {
namespace {

constexpr std::int32_t kMostStages = 128;
constexpr std::int32_t kLeastStages = 6;

class Finder {
 public:
  Finder(const Problem& problem, const Uses& uses)
      : problem_(problem), uses_(uses) {}

  std::optional<Chain> find() {
    find_turn();
    find_states();
    find_residuals();
    if (residuals_.back() == 0) {
      return std::nullopt;
    }
    // The smallest states that cut the chain into enough stages.
    for (std::int64_t most = least_state(); most < 2 * peak_; most *= 2) {
      std::optional<Chain> chain = cut(most);
      if (chain) {
        find_needs(*chain);
        find_means(*chain);
        return chain;
      }
    }
    return std::nullopt;
  }

 private:
  static std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }
  std::int64_t size(std::int32_t v) const {
    return problem_.values[at(v)].size;
  }

  // Adds a value's size to all positions between two.
  static void add(memory::Vector<std::int64_t>& steps, std::int32_t begin,
                  std::int32_t end, std::int64_t size) {
    if (begin < end) {
      steps[at(begin)] += size;
      steps[at(end)] -= size;
    }
  }

  // Forward ends at the position at which most is kept for later calls.
  void find_turn() {
    memory::Vector<std::int64_t> kept(problem_.calls.size() + 2, 0);
    for (std::size_t i = 0; i < problem_.values.size(); ++i) {
      const auto v = static_cast<std::int32_t>(i);
      const auto reads = uses_.of(v);
      if (!reads.empty()) {
        add(kept, uses_.maker(v) + 1, reads.back() + 1, size(v));
      }
    }
    std::partial_sum(kept.begin(), kept.end(), kept.begin());
    const auto most = std::max_element(kept.begin(), kept.end());
    turn_ = static_cast<std::int32_t>(most - kept.begin());
    turn_ = std::min(turn_, uses_.calls());
    peak_ = std::max<std::int64_t>(*most, 1);
  }

  // The last read of a value before the turn; kNever: none.
  std::int32_t last_forward_read(std::int32_t v) const {
    const auto reads = uses_.of(v);
    const auto end = std::lower_bound(reads.begin(), reads.end(), turn_);
    return end == reads.begin() ? kNever : *(end - 1);
  }

  // By position: what the calls from there to the turn need of those before.
  void find_states() {
    states_.assign(at(turn_) + 2, 0);
    for (std::size_t i = 0; i < problem_.values.size(); ++i) {
      const auto v = static_cast<std::int32_t>(i);
      if (uses_.maker(v) < turn_) {
        add(states_, uses_.maker(v) + 1, last_forward_read(v) + 1, size(v));
      }
    }
    std::partial_sum(states_.begin(), states_.end(), states_.begin());
  }

  // By position: what calls before it keep for behind the turn.
  void find_residuals() {
    residuals_.assign(at(turn_) + 1, 0);
    for (std::int32_t c = 0; c < turn_; ++c) {
      residuals_[at(c) + 1] = residuals_[at(c)];
      for (const std::int32_t v : problem_.calls[at(c)].makes) {
        residuals_[at(c) + 1] += uses_.next(v, turn_) != kNever ? size(v) : 0;
      }
    }
  }

  std::int64_t least_state() const {
    std::int64_t least = peak_;
    for (std::int32_t p = 1; p < turn_; ++p) {
      least = std::min(least, std::max<std::int64_t>(states_[at(p)], 1));
    }
    return least;
  }

  // Stages of about the same residuals, between states of at most `most`.
  std::optional<Chain> cut(std::int64_t most) const {
    const std::int64_t all = residuals_.back();
    const std::int64_t least = (all + kMostStages - 1) / kMostStages;
    Chain chain;
    std::int32_t last = 0;  // where the latest stage begins
    for (std::int32_t p = 1; p <= turn_; ++p) {
      const std::int64_t kept = residuals_[at(p)] - residuals_[at(last)];
      const bool is_end = p == turn_;
      if (kept == 0 || !(is_end || (states_[at(p)] <= most && kept >= least))) {
        continue;
      }
      if (kept > all / kLeastStages) {
        return std::nullopt;
      }
      chain.begins.push_back(last);
      last = p;
    }
    chain.begins.push_back(last);
    chain.needed_at.assign(chain.begins.size() - 1, turn_);
    return chain.stages() < kLeastStages ? std::nullopt
                                         : std::optional(std::move(chain));
  }

  struct FirstRead {  // behind the chain
    std::int32_t call = 0;
    std::int64_t size = 0;
  };

  // The first read of each value that some calls make, in order.
  memory::Vector<FirstRead> first_reads(std::int32_t begin,
                                        std::int32_t end) const {
    memory::Vector<FirstRead> out;
    for (std::int32_t c = begin; c < end; ++c) {
      for (const std::int32_t v : problem_.calls[at(c)].makes) {
        const std::int32_t first = uses_.next(v, turn_);
        if (first != kNever) {
          out.push_back({first, size(v)});
        }
      }
    }
    std::ranges::stable_sort(out, {}, &FirstRead::call);
    return out;
  }

  // A stage is needed from the first call on that reads some of it and comes
  // after those that read most of the next stage.
  void find_needs(Chain& chain) const {
    std::int32_t later = turn_ - 1;
    for (std::int32_t i = chain.stages(); i-- > 0;) {
      const auto reads =
          first_reads(chain.begins[at(i)], chain.begins[at(i) + 1]);
      const auto behind =
          std::ranges::upper_bound(reads, later, {}, &FirstRead::call);
      chain.needed_at[at(i)] =
          behind == reads.end() ? std::max(later, turn_) : behind->call;
      if (behind != reads.end()) {
        later = std::max(later, median(reads));
      }
    }
  }

  // The read by which half of the bytes were read. REQUIRES: sorted.
  static std::int32_t median(std::span<const FirstRead> reads) {
    std::int64_t all = 0;
    for (const FirstRead& read : reads) {
      all += read.size;
    }
    std::int64_t so_far = 0;
    for (const FirstRead& read : reads) {
      so_far += read.size;
      if (2 * so_far >= all) {
        return read.call;
      }
    }
    return reads.back().call;
  }

  void find_means(Chain& chain) const {
    const auto count = static_cast<std::int64_t>(chain.stages());
    chain.residual = (residuals_.back() + count - 1) / count;
    std::int64_t handed_on = 0;
    for (std::int32_t i = 0; i + 1 < chain.stages(); ++i) {
      for (std::int32_t c = chain.begins[at(i)]; c < chain.begins[at(i) + 1];
           ++c) {
        for (const std::int32_t v : problem_.calls[at(c)].makes) {
          handed_on +=
              last_forward_read(v) >= chain.begins[at(i) + 1] ? size(v) : 0;
        }
      }
    }
    chain.state = (handed_on + count - 2) / (count - 1);
  }

  const Problem& problem_;
  const Uses& uses_;
  std::int32_t turn_ = 0;
  std::int64_t peak_ = 1;
  memory::Vector<std::int64_t> states_;
  memory::Vector<std::int64_t> residuals_;
};

}  // namespace

std::optional<Chain> find_chain(const Problem& problem, const Uses& uses) {
  return problem.calls.empty() ? std::nullopt : Finder(problem, uses).find();
}

}  // namespace neap::budget
