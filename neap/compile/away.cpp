// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/compile/away.hpp"

#include <algorithm>
#include <utility>

#include "neap/program/keep_away.hpp"

namespace neap::compiler {
namespace {

constexpr std::int64_t kNanoseconds = 1'000'000'000;

std::int64_t time_of(Bytes bytes, std::int64_t rate) {
  // In KiB, so that no product is too large; a page more for what is cut off.
  return (bytes / kKiB + 4) * kNanoseconds /
         std::max<std::int64_t>(rate / kKiB, 1);
}

memory::Vector<UpdatedState> chosen(const Program& program, const Away& choice,
                                    Bytes least) {
  memory::Vector<UpdatedState> states = states_of(program, least);
  Bytes all = 0;
  for (const UpdatedState& state : states) {
    all += state.size;
  }
  // The order is the same for all programs of a step, whatever the order of
  // updates.
  memory::Vector<UpdatedState> by_size(states);
  std::ranges::stable_sort(by_size, {}, &UpdatedState::external);
  std::ranges::stable_sort(by_size, std::ranges::greater(),
                           &UpdatedState::size);
  const Bytes wanted = all / 100 * choice.percent + all % 100;
  Bytes some = 0;
  std::size_t count = 0;
  while (count < by_size.size() && some < wanted) {
    some += by_size[count++].size;
  }
  by_size.resize(count);
  std::ranges::stable_sort(by_size, {}, &UpdatedState::update);
  return by_size;
}

// When each moves: at its update, or as far from it as calls need to hide the
// move, but not beyond the update before it or the one after it.
memory::Vector<StateMoves> moves_of(const Program& program,
                                    std::span<const UpdatedState> states,
                                    bool is_early,
                                    const budget::Channel& channel,
                                    std::span<const std::int64_t> prices) {
  const auto calls = static_cast<std::uint32_t>(program.calls.size());
  memory::Vector<StateMoves> out;
  out.reserve(states.size());
  for (std::size_t i = 0; i < states.size();) {
    const std::uint32_t update = states[i].update;
    std::size_t end = i;
    Bytes bytes = 0;
    for (; end < states.size() && states[end].update == update; ++end) {
      bytes += states[end].size;
    }
    std::uint32_t fetch = update;
    std::uint32_t await = update + 1;
    if (is_early) {
      const std::uint32_t before = i == 0 ? 0 : states[i - 1].update + 1;
      const std::uint32_t after =
          end == states.size() ? calls : states[end].update;
      std::int64_t time = time_of(bytes, channel.read_rate);
      while (fetch > before && time > 0) {
        time -= prices[--fetch];
      }
      time = time_of(bytes, channel.write_rate);
      while (await < after && time > 0) {
        time -= prices[await++];
      }
    }
    for (; i < end; ++i) {
      out.push_back({states[i], fetch, await});
    }
  }
  return out;
}

// A run, as far as the file is concerned: one state at a time moves.
class Clock {
 public:
  Clock(const Program& program, const budget::Channel& channel)
      : program_(program), channel_(channel), ready_(program.away.size(), 0) {}

  /// The price of a call: its own, or that of the move.
  std::int64_t price_of(const Call& call, std::int64_t own) {
    std::int64_t price = own;
    if (moves_state(call)) {
      const std::uint32_t s = call.slot - kFirstAway;
      const Bytes size = program_.away[s].size;
      if (call.kind == CallKind::kAwait) {
        price = std::max<std::int64_t>(ready_[s] - now_, 0);
        stalls_ += price;
      } else {
        price = size / kKiB * channel_.bus_price / kKiB;
        const bool reads = call.kind == CallKind::kFetch;
        free_ = std::max(free_, now_) +
                time_of(size, reads ? channel_.read_rate : channel_.write_rate);
        ready_[s] = free_;
      }
    }
    now_ += price;
    return price;
  }
  std::int64_t stalls() const noexcept { return stalls_; }

 private:
  const Program& program_;
  const budget::Channel& channel_;
  memory::Vector<std::int64_t> ready_;
  std::int64_t now_ = 0;
  std::int64_t free_ = 0;
  std::int64_t stalls_ = 0;
};

}  // namespace

std::int64_t keep_away(Program& program, const Away& choice,
                       const budget::Channel& channel, Bytes least,
                       memory::Vector<std::int64_t>& prices) {
  const auto moves = moves_of(program, chosen(program, choice, least),
                              choice.is_early, channel, prices);
  const auto from = keep_away(program, moves);
  memory::Vector<std::int64_t> out;
  out.reserve(from.size());
  Clock clock(program, channel);
  for (std::uint32_t i = 0; i < from.size(); ++i) {
    out.push_back(clock.price_of(program.calls[i],
                                 from[i] == kNoCall ? 0 : prices[from[i]]));
  }
  prices.swap(out);
  return clock.stalls();
}

}  // namespace neap::compiler
