// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The least price of a schedule with writes and fetches, by trying all: the
// shortest path over what is in memory, on the file, and on its way (Dijkstra,
// 1959). For problems of a few values.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <queue>

#include "neap/budget/channel.hpp"

namespace neap::budget {

class ChannelOptimum {
 public:
  static constexpr std::size_t kMostValues = 8;

  /// REQUIRES: at most kMostValues values; a channel.
  explicit ChannelOptimum(const Problem& problem) : problem_(problem) {}

  /// The least price within a target; nothing where no schedule is.
  std::optional<std::int64_t> price(std::int64_t target) {
    target_ = target;
    best_.clear();
    queue_ = {};
    offer(0, {});
    while (!queue_.empty()) {
      const auto [price, state] = queue_.top();
      queue_.pop();
      if (price > best_[state]) {
        continue;
      }
      if (state.is_over) {
        return price;
      }
      expand(price, state);
    }
    return std::nullopt;
  }

 private:
  enum class Place : std::uint8_t { kNowhere, kMemory, kWriting, kComing };

  // Times are nanoseconds from now on.
  struct State {
    std::size_t next = 0;
    bool is_over = false;
    std::array<Place, kMostValues> places{};
    std::array<bool, kMostValues> is_on_file{};
    std::array<std::int64_t, kMostValues> busy{};  // while it is moved
    std::int64_t channel = 0;                      // is busy
    auto operator<=>(const State&) const = default;
  };
  struct Entry {
    std::int64_t price;
    State state;
    bool operator<(const Entry& other) const { return price > other.price; }
  };

  static std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

  void offer(std::int64_t price, const State& state) {
    const auto [found, is_new] = best_.try_emplace(state, price);
    if (is_new || price < found->second) {
      found->second = price;
      queue_.push({price, state});
    }
  }

  static void pass(State& state, std::int64_t time) {
    state.channel = std::max<std::int64_t>(state.channel - time, 0);
    for (std::size_t v = 0; v < kMostValues; ++v) {
      state.busy[v] = std::max<std::int64_t>(state.busy[v] - time, 0);
      if (state.busy[v] == 0 && state.places[v] != Place::kNowhere) {
        state.places[v] = Place::kMemory;
      }
    }
  }

  std::int64_t live(const State& state) const {
    std::int64_t sum = 0;
    for (std::size_t v = 0; v < problem_.values.size(); ++v) {
      sum += state.places[v] != Place::kNowhere ? problem_.values[v].size : 0;
    }
    return sum;
  }

  void move(State& state, std::size_t v, std::int64_t rate, Place place) {
    state.channel += time_to_move(problem_.values[v].size, rate);
    state.busy[v] = state.channel;
    state.places[v] = place;
    state.is_on_file[v] = true;
  }

  void expand(std::int64_t price, const State& state) {
    for (std::size_t v = 0; v < problem_.values.size(); ++v) {
      drop_write_or_fetch(price, state, v);
    }
    for (std::size_t c = 0; c <= state.next && c < problem_.calls.size(); ++c) {
      run(price, state, c, nullptr);
      for (const TakeOver& pair : problem_.calls[c].take_overs) {
        if (state.places[at(pair.made)] == Place::kNowhere) {
          run(price, state, c, &pair);
        }
      }
    }
    end(price, state);
  }

  void drop_write_or_fetch(std::int64_t price, const State& state,
                           std::size_t v) {
    const Channel& channel = *problem_.channel;
    const Value& value = problem_.values[v];
    State then = state;
    if (state.places[v] != Place::kNowhere) {
      pass(then, state.busy[v]);
      then.places[v] = Place::kNowhere;
      offer(price + state.busy[v], then);
    }
    const std::int64_t bus = bus_price_of(value.size, channel);
    then = state;
    if (state.is_on_file[v] && state.places[v] == Place::kNowhere &&
        live(state) + value.size <= target_) {
      move(then, v, channel.read_rate, Place::kComing);
      offer(price + bus, then);
    }
    std::int64_t written = value.size;
    for (std::size_t i = 0; i < problem_.values.size(); ++i) {
      written += state.is_on_file[i] ? problem_.values[i].size : 0;
    }
    if (value.may_spill && !state.is_on_file[v] &&
        state.places[v] == Place::kMemory && written <= channel.most_written) {
      move(then, v, channel.write_rate, Place::kWriting);
      offer(price + bus, then);
    }
  }

  // With one pair at most, the only number of them that random problems have.
  void run(std::int64_t price, const State& state, std::size_t c,
           const TakeOver* taken) {
    const Call& call = problem_.calls[c];
    if (c<state.next&& static_cast<std::int64_t>(state.next)> call
            .again_until) {
      return;
    }
    std::int64_t needed = live(state) + call.scratch;
    std::int64_t stall = 0;
    for (const std::int32_t v : call.reads) {
      if (state.places[at(v)] == Place::kNowhere) {
        return;
      }
      const bool is_taken = taken != nullptr && taken->read == v;
      if (is_taken || state.places[at(v)] == Place::kComing) {
        stall = std::max(stall, state.busy[at(v)]);
      }
    }
    for (const std::int32_t v : call.makes) {
      needed += problem_.values[at(v)].size;
      stall = std::max(stall, state.places[at(v)] != Place::kNowhere
                                  ? state.busy[at(v)]
                                  : 0);
    }
    if (taken != nullptr) {
      needed -= std::min(problem_.values[at(taken->made)].size,
                         problem_.values[at(taken->read)].size);
    }
    if (needed > target_) {
      return;
    }
    State then = state;
    pass(then, stall + call.price);
    for (const std::int32_t v : call.makes) {
      then.places[at(v)] = Place::kMemory;
    }
    if (taken != nullptr) {
      then.places[at(taken->read)] = Place::kNowhere;
    }
    then.next += c == state.next ? 1 : 0;
    offer(price + stall + (c < state.next ? call.price : 0), then);
  }

  void end(std::int64_t price, const State& state) {
    std::int64_t stall = 0;
    for (std::size_t v = 0; v < problem_.values.size(); ++v) {
      if (!problem_.values[v].outlives) {
        continue;
      }
      if (state.places[v] == Place::kNowhere) {
        return;
      }
      stall = std::max(stall,
                       state.places[v] == Place::kComing ? state.busy[v] : 0);
    }
    if (state.next == problem_.calls.size()) {
      State then = state;
      then.is_over = true;
      offer(price + stall, then);
    }
  }

  const Problem& problem_;
  std::int64_t target_ = 0;
  std::map<State, std::int64_t> best_;
  std::priority_queue<Entry> queue_;
};

}  // namespace neap::budget
