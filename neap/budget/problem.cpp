// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/budget/problem.hpp"

#include <algorithm>

#include "neap/base/raise.hpp"
#include "neap/budget/channel.hpp"

namespace neap::budget {
namespace {

constexpr std::int64_t kMostSum = std::int64_t{1} << 62U;

class Checking {
 public:
  explicit Checking(const Problem& problem)
      : problem_(problem),
        maker_(problem.values.size(), kNever),
        last_reader_(problem.values.size(), kNever) {}

  void channel() const {
    const Channel& c = *problem_.channel;
    const auto is_rate = [](std::int64_t rate) {
      return rate > 0 && rate <= Channel::kMostRate;
    };
    if (!is_rate(c.write_rate) || !is_rate(c.read_rate)) {
      base::raise<ValueError>(
          "budget: the channel writes {} and reads {} bytes a second; both "
          "must be 1 to {}",
          c.write_rate, c.read_rate, Channel::kMostRate);
    }
    if (c.bus_price < 0 || c.bus_price > kMostBusPrice || c.most_written < 0) {
      base::raise<ValueError>(
          "budget: the channel has a bus price of {} ns a MiB, which must be 0 "
          "to {}, and may write {} bytes, which must not be negative",
          c.bus_price, kMostBusPrice, c.most_written);
    }
  }

  void values() {
    for (std::size_t v = 0; v < problem_.values.size(); ++v) {
      add(problem_.values[v].size, size_sum_, "value", v);
      if (problem_.channel && problem_.values[v].may_spill) {
        add_moves(*problem_.channel, v);
      }
    }
  }

  void call(std::size_t index) {
    const Call& c = problem_.calls[index];
    add(c.price, price_sum_, "call", index);
    add(c.scratch, size_sum_, "call", index);
    for (const std::int32_t v : c.reads) {
      if (maker_of(v, index) == kNever) {
        base::raise<ValueError>(
            "budget: call {} reads value {}, which no call before it makes",
            index, v);
      }
      if (last_reader_[at(v)] == static_cast<std::int32_t>(index)) {
        base::raise<ValueError>("budget: call {} reads value {} twice", index,
                                v);
      }
      last_reader_[at(v)] = static_cast<std::int32_t>(index);
    }
    for (const std::int32_t v : c.makes) {
      if (const std::int32_t other = maker_of(v, index); other != kNever) {
        base::raise<ValueError>("budget: calls {} and {} make value {}", other,
                                index, v);
      }
      maker_[at(v)] = static_cast<std::int32_t>(index);
    }
    take_overs(index);
  }

  void makers() const {
    const auto none = std::find(maker_.begin(), maker_.end(), kNever);
    if (none != maker_.end()) {
      base::raise<ValueError>("budget: no call makes value {}",
                              none - maker_.begin());
    }
  }

 private:
  static std::size_t at(std::int32_t v) { return static_cast<std::size_t>(v); }

  void take_overs(std::size_t index) const {
    const Call& c = problem_.calls[index];
    const auto has = [](const memory::Vector<std::int32_t>& all,
                        std::int32_t v) {
      return std::find(all.begin(), all.end(), v) != all.end();
    };
    for (const TakeOver& pair : c.take_overs) {
      if (!has(c.makes, pair.made) || !has(c.reads, pair.read)) {
        base::raise<ValueError>(
            "budget: call {} does not make value {} from value {}", index,
            pair.made, pair.read);
      }
    }
  }

  std::int32_t maker_of(std::int32_t v, std::size_t index) const {
    if (v < 0 || at(v) >= maker_.size()) {
      base::raise<ValueError>("budget: call {} names value {}, there are {}",
                              index, v, maker_.size());
    }
    return maker_[at(v)];
  }

  void add_moves(const Channel& channel, std::size_t v) {
    const std::int64_t size = problem_.values[v].size;
    if (size / channel.write_rate > kMostSum / kSecond ||
        size / channel.read_rate > kMostSum / kSecond ||
        (size >> 20U) > kMostSum / (channel.bus_price + 1)) {
      base::raise<ValueError>("budget: the amounts add up to more than 2^62");
    }
    add(time_to_move(size, channel.write_rate), price_sum_, "value", v);
    add(time_to_move(size, channel.read_rate), price_sum_, "value", v);
    add(bus_price_of(size, channel), price_sum_, "value", v);
    add(bus_price_of(size, channel), price_sum_, "value", v);
  }

  static void add(std::int64_t amount, std::int64_t& sum, const char* what,
                  std::size_t index) {
    if (amount < 0) {
      base::raise<ValueError>("budget: {} {} has the negative amount {}", what,
                              index, amount);
    }
    if (amount > kMostSum - sum) {
      base::raise<ValueError>("budget: the amounts add up to more than 2^62");
    }
    sum += amount;
  }

  const Problem& problem_;
  memory::Vector<std::int32_t> maker_;
  memory::Vector<std::int32_t> last_reader_;
  std::int64_t size_sum_ = 0;
  std::int64_t price_sum_ = 0;
};

}  // namespace

bool has_helpers(const Problem& problem) noexcept {
  return std::any_of(
      problem.values.begin(), problem.values.end(),
      [](const Value& value) { return value.helps_until != kNever; });
}

void check(const Problem& problem) {
  Checking checking(problem);
  if (problem.channel) {
    checking.channel();
  }
  checking.values();
  for (std::size_t i = 0; i < problem.calls.size(); ++i) {
    checking.call(i);
  }
  checking.makers();
}

}  // namespace neap::budget
