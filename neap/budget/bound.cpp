// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/budget/bound.hpp"

#include <algorithm>

#include "neap/budget/channel.hpp"
#include "neap/budget/flow.hpp"

namespace neap::budget {
namespace {

// Prices of memory are in 1 / kParts nanoseconds a unit.
constexpr std::int64_t kParts = 64;
constexpr int kMostCuts = 48;

std::int64_t product(std::int64_t a, std::int64_t b) noexcept {
  std::int64_t out = 0;
  return __builtin_mul_overflow(a, b, &out) ? Flow::kInfinite
                                            : std::min(out, Flow::kInfinite);
}

// The choices at the first run of a call.
//
//   source -inf-> value -memory-> its maker -price-> sink
//                                 its maker -inf-> each value that it reads
//
// A value on the source's side whose maker is on the sink's is kept, or written
// once and fetched, whichever is cheaper: their capacities are the lesser of
// the memory and of the bus both ways. A maker on the source's side runs again.
class Instant {
 public:
  Instant(const Problem& problem, const Uses& uses, std::int32_t position)
      : problem_(problem),
        uses_(uses),
        position_(position),
        flow_(problem.values.size() + problem.calls.size() + 2) {
    find_there();
    for (std::int32_t c = 0; c < position; ++c) {
      add_call(c);
    }
    for (std::size_t v = 0; v < problem.values.size(); ++v) {
      const auto value = static_cast<std::int32_t>(v);
      if (uses.maker(value) < position && is_there_[v] == 0 &&
          uses.next(value, position) != kNever) {
        flow_.add_edge(source(), node_of_value(value), Flow::kInfinite);
      }
    }
  }

  // The greatest of a concave function of the price of memory, by bisection on
  // where the cut keeps more than there is room for.
  Bound bound(std::int64_t target) {
    const std::int64_t room = target - needed();
    Bound best{.position = position_};
    if (room < 0) {
      best.is_impossible = true;
      return best;
    }
    std::int64_t low = 0;
    std::int64_t high = 1;
    int cuts = 0;
    while (cuts < kMostCuts / 2 && keeps_more(high, room, best)) {
      low = high;
      high *= 4;
      ++cuts;
    }
    if (cuts == kMostCuts / 2) {
      best.is_impossible = true;  // more is kept at any price
      return best;
    }
    for (; cuts < kMostCuts && high - low > 1; ++cuts) {
      const std::int64_t middle = low + (high - low) / 2;
      (keeps_more(middle, room, best) ? low : high) = middle;
    }
    return best;
  }

 private:
  static std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }
  std::size_t node_of_value(std::int32_t v) const { return at(v); }
  std::size_t node_of_call(std::int32_t c) const {
    return problem_.values.size() + at(c);
  }
  std::size_t source() const {
    return problem_.values.size() + problem_.calls.size();
  }
  std::size_t sink() const { return source() + 1; }

  // What the call reads is there, whatever happens.
  void find_there() {
    is_there_.assign(problem_.values.size(), 0);
    for (const std::int32_t v : problem_.calls[at(position_)].reads) {
      is_there_[at(v)] = 1;
    }
  }

  // Memory of the call itself and of what it reads.
  std::int64_t needed() const {
    const Call& call = problem_.calls[at(position_)];
    std::int64_t sum = call.scratch;
    for (const std::int32_t v : call.makes) {
      sum += problem_.values[at(v)].size;
    }
    for (const std::int32_t v : call.reads) {
      sum += problem_.values[at(v)].size;
    }
    for (const TakeOver& pair : call.take_overs) {
      sum -= std::min(problem_.values[at(pair.made)].size,
                      problem_.values[at(pair.read)].size);
    }
    return sum;
  }

  void add_call(std::int32_t c) {
    const Call& call = problem_.calls[at(c)];
    for (const std::int32_t v : call.makes) {
      if (is_there_[at(v)] == 0) {
        kept_edges_.push_back(
            {flow_.add_edge(node_of_value(v), node_of_call(c), 0), v});
      }
    }
    for (const std::int32_t v : call.reads) {
      if (is_there_[at(v)] == 0) {
        flow_.add_edge(node_of_call(c), node_of_value(v), Flow::kInfinite);
      }
    }
    flow_.add_edge(node_of_call(c), sink(),
                   position_ <= call.again_until ? product(call.price, kParts)
                                                 : Flow::kInfinite);
  }

  // Cuts, and notes the bound.
  bool keeps_more(std::int64_t price, std::int64_t room, Bound& best) {
    for (const auto& [edge, v] : kept_edges_) {
      flow_.set_capacity(edge, std::min(product(price, size(v)),
                                        product(file_price(v), kParts)));
    }
    const std::int64_t cut = flow_.cut(source(), sink());
    std::int64_t kept = 0;
    for (const auto& [edge, v] : kept_edges_) {
      const bool is_kept = flow_.is_with_source(node_of_value(v)) &&
                           !flow_.is_with_source(node_of_call(uses_.maker(v)));
      const bool is_spilled =
          file_price(v) < Flow::kInfinite &&
          product(price, size(v)) > product(file_price(v), kParts);
      kept += is_kept && !is_spilled ? size(v) : 0;
    }
    const std::int64_t free = product(price, room);
    if (cut < Flow::kInfinite && free < Flow::kInfinite && cut > free) {
      best.price = std::max(best.price, (cut - free + kParts - 1) / kParts);
    }
    return kept > room;
  }

  std::int64_t size(std::int32_t v) const {
    return problem_.values[at(v)].size;
  }

  // The least that it takes to have a value behind the call that was not in
  // memory there and did not run again: stalls may be hidden.
  std::int64_t file_price(std::int32_t v) const {
    const bool may_spill = problem_.channel &&
                           problem_.values[at(v)].may_spill &&
                           size(v) <= problem_.channel->most_written;
    return may_spill ? 2 * bus_price_of(size(v), *problem_.channel)
                     : Flow::kInfinite;
  }

  struct KeptEdge {
    std::size_t edge;
    std::int32_t value;
  };

  const Problem& problem_;
  const Uses& uses_;
  std::int32_t position_;
  Flow flow_;
  memory::Vector<std::uint8_t> is_there_;
  memory::Vector<KeptEdge> kept_edges_;
};

// The calls by the memory that they need when nothing is dropped.
memory::Vector<std::int32_t> by_memory(const Problem& problem,
                                       const Uses& uses) {
  memory::Vector<std::int64_t> ends(problem.calls.size() + 1, 0);
  memory::Vector<std::int64_t> needs(problem.calls.size(), 0);
  std::int64_t live = 0;
  for (std::size_t c = 0; c < problem.calls.size(); ++c) {
    for (const std::int32_t v : problem.calls[c].makes) {
      const std::int64_t size =
          problem.values[static_cast<std::size_t>(v)].size;
      const auto positions = uses.of(v);
      live += size;
      ends[positions.empty() ? c
                             : static_cast<std::size_t>(positions.back())] +=
          size;
    }
    needs[c] = live + problem.calls[c].scratch;
    live -= ends[c];
  }
  memory::Vector<std::int32_t> order(problem.calls.size());
  for (std::size_t c = 0; c < order.size(); ++c) {
    order[c] = static_cast<std::int32_t>(c);
  }
  std::sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
    const std::int64_t x = needs[static_cast<std::size_t>(a)];
    const std::int64_t y = needs[static_cast<std::size_t>(b)];
    return x != y ? x > y : a < b;
  });
  return order;
}

}  // namespace

Bound lower_bound(const Problem& problem, std::int64_t target,
                  std::int32_t positions) {
  check(problem);
  const Uses uses(problem);
  Bound best;
  for (const std::int32_t position : by_memory(problem, uses)) {
    if (positions-- == 0) {
      break;
    }
    const Bound found = Instant(problem, uses, position).bound(target);
    if (found.is_impossible) {
      return found;
    }
    if (found.price > best.price) {
      best = found;
    }
  }
  return best;
}

}  // namespace neap::budget
