// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/program/order.hpp"

#include <algorithm>
#include <numeric>

#include "neap/program/takeover.hpp"

namespace neap::compiler {
namespace {

// The calls of `order` by slot; those of one slot keep their order.
Order sorted(const Order& order, const memory::Vector<std::uint32_t>& slots) {
  memory::Vector<std::uint32_t> first(order.size() + 1, 0);
  for (const std::uint32_t call : order) {
    ++first[slots[call] + 1];
  }
  std::partial_sum(first.begin(), first.end(), first.begin());
  Order out(order.size());
  for (const std::uint32_t call : order) {
    out[first[slots[call]]++] = call;
  }
  return out;
}

}  // namespace

Order hoisted(const Order& order, const Lists& before, Chosen is_chosen) {
  memory::Vector<std::uint32_t> slots(order.size());
  for (std::uint32_t place = 0; place < order.size(); ++place) {
    const std::uint32_t call = order[place];
    slots[call] = place;
    if (is_chosen(call)) {
      std::uint32_t slot = 0;
      for (const std::uint32_t earlier : before[call]) {
        slot = std::max(slot, slots[earlier]);
      }
      slots[call] = slot;
    }
  }
  return sorted(order, slots);
}

Order sunk(const Order& order, const Lists& after, Chosen is_chosen) {
  memory::Vector<std::uint32_t> slots(order.size());
  for (auto place = static_cast<std::uint32_t>(order.size()); place-- > 0;) {
    const std::uint32_t call = order[place];
    slots[call] = place;
    if (is_chosen(call) && !after[call].empty()) {
      std::uint32_t slot = kNoCall;
      for (const std::uint32_t later : after[call]) {
        slot = std::min(slot, slots[later]);
      }
      slots[call] = slot;
    }
  }
  return sorted(order, slots);
}

Meter::Meter(const Program& program, const Dataflow& flow,
             const Memories& memories)
    : program_(program),
      flow_(flow),
      memories_(memories),
      left_(memories.sizes.size()),
      takeovers_(program.calls.size()) {
  for (std::size_t i = 0; i < takeovers_.size(); ++i) {
    takeovers_[i] = takeover_mask(program, flow, program.calls[i]);
  }
}

Peak Meter::measure(std::span<const std::uint32_t> order,
                    std::span<Bytes> growth, std::span<Bytes> needed) {
  for (std::size_t m = 0; m < left_.size(); ++m) {
    left_[m] = static_cast<std::uint32_t>(memories_.calls_of[m].size());
  }
  Peak peak;
  Bytes live = 0;
  for (std::uint32_t place = 0; place < order.size(); ++place) {
    Bytes here = 0;
    const Bytes now = step(order[place], live, here);
    if (here > peak.bytes) {
      peak = {here, place};
    }
    if (!needed.empty()) {
      needed[order[place]] = here;
    }
    if (!growth.empty()) {
      growth[order[place]] = now - live;
    }
    live = now;
  }
  return peak;
}

// Returns the bytes live after a call; `needed` are those at it. A memory
// begins with the call that touches it first, which is the one that makes it.
Bytes Meter::step(std::uint32_t call, Bytes live, Bytes& needed) {
  Bytes freed = 0;
  for (const std::uint32_t m : memories_.of_call[call]) {
    if (left_[m] == memories_.calls_of[m].size()) {
      live += memories_.sizes[m];
    }
    --left_[m];
    if (left_[m] == 0 && memories_.outlives[m] == 0) {
      freed += memories_.sizes[m];
    }
  }
  Bytes taken_over = 0;
  if (takeovers_[call] != 0) {
    const std::span<const Operand> in = program_.in(program_.calls[call]);
    for (std::size_t k = 0; k < std::min<std::size_t>(in.size(), 32); ++k) {
      const std::uint32_t m = flow_.root(in[k].value).value;
      if ((takeovers_[call] >> k & 1U) != 0 && left_[m] == 0) {
        taken_over = memories_.sizes[m];
      }
    }
  }
  needed = live + program_.calls[call].scratch - taken_over;
  return live - freed;
}

}  // namespace neap::compiler
