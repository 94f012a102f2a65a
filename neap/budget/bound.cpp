// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/budget/bound.hpp"

#include <algorithm>
#include <utility>

#include "neap/budget/channel.hpp"
#include "neap/budget/flow.hpp"

namespace neap::budget {
namespace {

// Prices of memory are in 1 / parts nanoseconds a unit. Whole 1/64 ns a byte
// are too coarse for values of many MiB; where all calls take hours, finer ones
// would overflow.
constexpr std::int64_t kMostParts = std::int64_t{1} << 18U;
constexpr std::int64_t kLeastParts = 64;
constexpr int kMostCuts = 48;

std::int64_t parts_for(const Uses& uses) {
  const std::int64_t all = uses.price_before(uses.calls());
  std::int64_t parts = kMostParts;
  while (parts > kLeastParts && all > Flow::kInfinite / (16 * parts)) {
    parts /= 2;
  }
  return parts;
}

std::int64_t product(std::int64_t a, std::int64_t b) noexcept {
  std::int64_t out = 0;
  return __builtin_mul_overflow(a, b, &out) ? Flow::kInfinite
                                            : std::min(out, Flow::kInfinite);
}

std::int64_t sum_of(std::int64_t a, std::int64_t b) noexcept {
  return std::min(a + b, Flow::kInfinite);
}

// Shares of the channel's time that count as stalls, in 1 / parts. What is
// written before a call takes at most the time before it, with the stalls there
// and the calls that run again; so some share of a stall, of up to one, may be
// counted for each nanosecond of writing, less the same share of that time. As
// for fetches behind the call; there, a call that runs again hides a fetch, and
// counts for less by that share.
struct Shares {
  std::int64_t write = 0;
  std::int64_t fetch = 0;
};

// The choices at the first run of a call.
//
//   source -inf-> value -memory-> its maker -price-> sink
//                                 its maker -inf-> each value that it reads
//
// A maker on the source's side runs again. A value on the source's side whose
// maker is on the sink's is kept, or it is written before the call and fetched
// behind it, whichever is cheaper: its capacity is the lesser of its memory and
// of its price by file, the bus both ways and the shares of its moves.
class Instant {
 public:
  Instant(const Problem& problem, const Uses& uses, std::int32_t position)
      : problem_(problem),
        uses_(uses),
        position_(position),
        parts_(parts_for(uses)),
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

  Bound bound(std::int64_t target) {
    const std::int64_t room = target - needed();
    Bound best{.position = position_};
    best.is_impossible = room < 0 || !raise(room, {}, best);
    if (best.is_impossible || !problem_.channel) {
      return best;
    }
    const auto [writes, fetches] = channel_times();
    const bool may_write_long = writes > time_before();
    const bool may_fetch_long = fetches > time_behind();
    for (const std::int64_t quarters : {1, 2, 3, 4}) {
      const std::int64_t share = quarters * parts_ / 4;
      if (may_write_long) {
        static_cast<void>(raise(room, {.write = share}, best));
      }
      if (may_fetch_long && quarters < 3) {
        static_cast<void>(raise(
            room, {.write = may_write_long ? share : 0, .fetch = share}, best));
      }
    }
    return best;
  }

  // Values that the cut of the greatest bound kept in memory.
  memory::Vector<std::int32_t> take_kept() { return std::move(best_kept_); }

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

  // Marks the values that the call reads: they are there whatever happens.
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
            {flow_.add_edge(node_of_value(v), node_of_call(c), 0), v, 0});
      }
    }
    for (const std::int32_t v : call.reads) {
      if (is_there_[at(v)] == 0) {
        flow_.add_edge(node_of_call(c), node_of_value(v), Flow::kInfinite);
      }
    }
    const std::size_t edge =
        flow_.add_edge(node_of_call(c), sink(), Flow::kInfinite);
    if (position_ <= call.again_until) {
      run_edges_.push_back({edge, c});
    }
  }

  // The greatest of a concave function of the price of memory, by bisection on
  // where the cut keeps more than there is room for: to a thousandth, about
  // which the function is flat. RETURNS: false where more is kept at any price.
  bool raise(std::int64_t room, const Shares& shares, Bound& best) {
    set_shares(shares);
    std::int64_t low = 0;
    std::int64_t high = 1;
    int cuts = 0;
    while (cuts < kMostCuts / 2 && keeps_more(high, room, best)) {
      low = high;
      high *= 4;
      ++cuts;
    }
    if (cuts == kMostCuts / 2) {
      return false;
    }
    for (; cuts < kMostCuts && high - low > 1 + low / 1024; ++cuts) {
      const std::int64_t middle = low + (high - low) / 2;
      (keeps_more(middle, room, best) ? low : high) = middle;
    }
    return true;
  }

  void set_shares(const Shares& shares) {
    for (KeptEdge& edge : kept_edges_) {
      edge.file_price = file_price(edge.value, shares);
    }
    for (const auto& [edge, call] : run_edges_) {
      flow_.set_capacity(
          edge, product(problem_.calls[at(call)].price, parts_ - shares.fetch));
    }
    hidden_ = sum_of(product(time_before(), shares.write),
                     product(time_behind(), shares.fetch));
  }

  // The times of the calls before this one, and behind it.
  std::int64_t time_before() const { return uses_.price_before(position_); }
  std::int64_t time_behind() const {
    return uses_.price_before(uses_.calls()) -
           uses_.price_before(position_ + 1);
  }

  // Times to write all that may be written before the call, and to fetch all
  // that may be fetched behind it: where they are no longer than the time
  // there, shares raise nothing.
  std::pair<std::int64_t, std::int64_t> channel_times() const {
    std::int64_t writes = 0;
    std::int64_t fetches = 0;
    for (const KeptEdge& edge : kept_edges_) {
      if (edge.file_price < Flow::kInfinite) {
        writes += time_to_move(size(edge.value), problem_.channel->write_rate);
        fetches += time_to_move(size(edge.value), problem_.channel->read_rate);
      }
    }
    return {writes, fetches};
  }

  // Cuts, and notes the bound.
  bool keeps_more(std::int64_t price, std::int64_t room, Bound& best) {
    for (const KeptEdge& edge : kept_edges_) {
      flow_.set_capacity(edge.edge, std::min(product(price, size(edge.value)),
                                             edge.file_price));
    }
    const std::int64_t cut = flow_.cut(source(), sink());
    std::int64_t bytes = 0;
    kept_.clear();
    for (const auto& [edge, v, file_price] : kept_edges_) {
      const bool is_kept = flow_.is_with_source(node_of_value(v)) &&
                           !flow_.is_with_source(node_of_call(uses_.maker(v)));
      const bool is_spilled =
          file_price < Flow::kInfinite && product(price, size(v)) > file_price;
      if (is_kept && !is_spilled) {
        bytes += size(v);
        kept_.push_back(v);
      }
    }
    const std::int64_t free = sum_of(product(price, room), hidden_);
    if (cut < Flow::kInfinite && free < Flow::kInfinite && cut > free) {
      const std::int64_t found = (cut - free + parts_ - 1) / parts_;
      if (found > best.price) {
        best.price = found;
        best_kept_ = kept_;
      }
    }
    return bytes > room;
  }

  std::int64_t size(std::int32_t v) const {
    return problem_.values[at(v)].size;
  }

  // The least that it takes to have a value behind the call that was not in
  // memory there and did not run again.
  std::int64_t file_price(std::int32_t v, const Shares& shares) const {
    if (!problem_.channel || !problem_.values[at(v)].may_spill ||
        size(v) > problem_.channel->most_written) {
      return Flow::kInfinite;
    }
    const Channel& channel = *problem_.channel;
    return sum_of(
        product(2 * bus_price_of(size(v), channel), parts_),
        sum_of(
            product(time_to_move(size(v), channel.write_rate), shares.write),
            product(time_to_move(size(v), channel.read_rate), shares.fetch)));
  }

  struct KeptEdge {
    std::size_t edge;
    std::int32_t value;
    std::int64_t file_price;  // in 1 / parts
  };
  struct RunEdge {
    std::size_t edge;
    std::int32_t call;
  };

  const Problem& problem_;
  const Uses& uses_;
  std::int32_t position_;
  std::int64_t parts_;
  Flow flow_;
  memory::Vector<std::uint8_t> is_there_;
  memory::Vector<KeptEdge> kept_edges_;
  memory::Vector<RunEdge> run_edges_;
  memory::Vector<std::int32_t> kept_;  // by the latest cut
  memory::Vector<std::int32_t> best_kept_;
  std::int64_t hidden_ = 0;  // what the shares take away, in 1 / parts
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

memory::Vector<Kept> kept_by_cuts(const Problem& problem, const Uses& uses,
                                  std::int64_t target, std::int32_t positions) {
  memory::Vector<std::int32_t> at = by_memory(problem, uses);
  at.resize(std::min(at.size(), static_cast<std::size_t>(positions / 2)));
  const std::int32_t parts = positions - positions / 2 + 1;
  for (std::int32_t k = 1; k < parts; ++k) {
    at.push_back(
        static_cast<std::int32_t>(std::int64_t{uses.calls()} * k / parts));
  }
  memory::Vector<Kept> out;
  for (const std::int32_t position : at) {
    Instant instant(problem, uses, position);
    if (!instant.bound(target).is_impossible) {
      out.push_back({position, instant.take_kept()});
    }
  }
  std::erase_if(out, [](const Kept& kept) { return kept.values.empty(); });
  return out;
}

}  // namespace neap::budget
