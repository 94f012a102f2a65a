// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// List scheduling. Seen backwards, a program is one of the same kind: a memory
// begins with the last call that touches it and ends with the one that makes
// it, and those that outlive the run are there from the start.
#include <algorithm>
#include <queue>

#include "neap/program/order.hpp"

namespace neap::compiler {
namespace {

class Greedy {
 public:
  Greedy(const Memories& memories, const Lists& before, const Lists& after,
         bool backwards)
      : memories_(memories),
        after_(backwards ? before : after),
        backwards_(backwards),
        waits_for_(before.first.size() - 1),
        is_done_(waits_for_.size(), 0),
        left_(memories.sizes.size()) {
    const Lists& first = backwards ? after : before;
    for (std::size_t i = 0; i < waits_for_.size(); ++i) {
      waits_for_[i] = static_cast<std::uint32_t>(first[i].size());
    }
    for (std::size_t m = 0; m < left_.size(); ++m) {
      left_[m] = static_cast<std::uint32_t>(memories.calls_of[m].size());
    }
  }

  Order run() {
    Order order;
    order.reserve(waits_for_.size());
    for (std::uint32_t i = 0; i < waits_for_.size(); ++i) {
      if (waits_for_[i] == 0) {
        push(i);
      }
    }
    while (!ready_.empty()) {
      const std::uint32_t call = ready_.top().call;
      ready_.pop();
      if (is_done_[call] == 0) {  // else a better entry came first
        order.push_back(call);
        finish(call);
      }
    }
    if (backwards_) {
      std::reverse(order.begin(), order.end());
    }
    return order;
  }

 private:
  struct Entry {
    Bytes growth;
    std::uint32_t place;  // in the direction of the walk
    std::uint32_t call;
    bool operator<(const Entry& other) const {  // the greatest is next
      return growth != other.growth ? growth > other.growth
                                    : place > other.place;
    }
  };

  bool has_begun(std::uint32_t m) const {
    return left_[m] != memories_.calls_of[m].size() ||
           (backwards_ && memories_.outlives[m] != 0);
  }
  bool ends_with_one_more(std::uint32_t m) const {
    return left_[m] == 1 && (backwards_ || memories_.outlives[m] == 0);
  }

  void push(std::uint32_t call) {
    Bytes growth = 0;
    for (const std::uint32_t m : memories_.of_call[call]) {
      growth += has_begun(m) ? 0 : memories_.sizes[m];
      growth -= ends_with_one_more(m) ? memories_.sizes[m] : 0;
    }
    const auto count = static_cast<std::uint32_t>(waits_for_.size());
    ready_.push({growth, backwards_ ? count - call : call, call});
  }

  void finish(std::uint32_t call) {
    is_done_[call] = 1;
    for (const std::uint32_t later : after_[call]) {
      if (--waits_for_[later] == 0) {
        push(later);
      }
    }
    for (const std::uint32_t m : memories_.of_call[call]) {
      const bool begins = !has_begun(m);
      --left_[m];
      // The next call on this memory gains by what this call did.
      if (begins || left_[m] == 1) {
        push_ready(memories_.calls_of[m]);
      }
    }
  }

  void push_ready(std::span<const std::uint32_t> calls) {
    for (const std::uint32_t call : calls) {
      if (is_done_[call] == 0 && waits_for_[call] == 0) {
        push(call);
      }
    }
  }

  const Memories& memories_;
  const Lists& after_;
  bool backwards_;
  memory::Vector<std::uint32_t> waits_for_;  // calls, before it may run
  memory::Vector<std::uint8_t> is_done_;
  memory::Vector<std::uint32_t> left_;  // touches to come, by memory
  std::priority_queue<Entry, memory::Vector<Entry>> ready_;
};

}  // namespace

Order greedy_order(const Memories& memories, const Lists& before,
                   const Lists& after, bool backwards) {
  return Greedy(memories, before, after, backwards).run();
}

}  // namespace neap::compiler
