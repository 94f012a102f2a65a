// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/program/program.hpp"

#include <algorithm>

#include "neap/program/pool_bytes.hpp"

namespace neap::compiler {

Program::Program() = default;

Program::~Program() = default;
Program::Program(const Program& other) = default;
Program::Program(Program&& other) noexcept = default;
Program& Program::operator=(Program&& other) noexcept = default;

Pools& Program::pools() {
  if (pools_ == nullptr) {
    const memory::Allocator<Pools> allocator(values.get_allocator());
    pools_ = std::allocate_shared<Pools>(allocator, allocator);
  }
  return *pools_;
}

Program Program::copy_apart() const {
  Program out = copy();
  out.pools_.reset();  // this program keeps them
  for (Value& value : out.values) {
    value.spec = out.keep(*value.spec);
  }
  const auto keep = [&](Operand& operand) {
    operand.layout = out.keep(*operand.layout);
  };
  std::ranges::for_each(out.operands, keep);
  std::ranges::for_each(out.results, keep, &Result::operand);
  std::ranges::for_each(out.grads, keep, &LeafGrad::last);
  out.calls = calls.copy_apart();
  out.members = members.copy_apart();
  return out;
}

ValueId Program::add(const Value& value) {
  values.push_back(value);
  return {static_cast<std::uint32_t>(values.size() - 1)};
}

Range Program::add(std::span<const Operand> more) {
  const Range range{static_cast<std::uint32_t>(operands.size()),
                    static_cast<std::uint32_t>(more.size())};
  operands.insert(operands.end(), more.begin(), more.end());
  return range;
}

std::uint32_t Program::keep_attrs(const graph::Op* op,
                                  const graph::Attrs& attrs) {
  return attrs_.keep(op, attrs);
}

void Program::add(const Call& call) {
  calls.push_back(call);
}

void* Program::attrs_of(const Call& call) noexcept {
  return call.attrs_size != 0 ? attrs_.at(call.attrs) : nullptr;
}

const void* Program::attrs_of(const Call& call) const noexcept {
  return call.attrs_size != 0 ? attrs_.at(call.attrs) : nullptr;
}

Bytes Program::away_bytes() const noexcept {
  Bytes sum = 0;
  for (const AwayState& state : away) {
    sum += state.is_counted ? state.size : 0;
  }
  return sum;
}

Bytes Program::bytes() const noexcept {
  return calls.bytes() + members.bytes() +
         pool_bytes(values, operands, externals, arguments, numbers, gapped,
                    outside, results, grads, leaves, hooks, flags, generations,
                    held_handles, rebound_handles, twins, result_links,
                    listeners, slots, away) +
         bytes_of(trail) + attrs_.bytes() +
         (pools_ != nullptr ? pools_->bytes() : 0);
}

}  // namespace neap::compiler
