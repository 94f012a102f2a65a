// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/program/rewrite.hpp"

#include <iterator>
#include <utility>

#include "neap/program/dataflow.hpp"
#include "neap/program/pool_bytes.hpp"

namespace neap::compiler {
namespace {

template <class Visit>
void for_each_operand(Program& program, const Visit& visit) {
  for (Operand& operand : program.operands) {
    visit(operand);
  }
  for (Result& result : program.results) {
    visit(result.operand);
  }
  for (LeafGrad& grad : program.grads) {
    visit(grad.last);
  }
}

// The pool with the operands of the calls alone, in their order.
void tidy_operands(Program& program) {
  memory::Vector<Operand> operands;
  CallTable members = program.members.like();
  operands.reserve(program.operands.size());
  members.reserve(program.members.size());
  const auto move_to = [&](Range& range) {
    const auto from =
        std::span(program.operands).subspan(range.first, range.count);
    range.first = static_cast<std::uint32_t>(operands.size());
    operands.insert(operands.end(), from.begin(), from.end());
  };
  for (std::size_t i = 0; i < program.calls.size(); ++i) {
    Call call = program.calls[i];
    move_to(call.inputs);
    move_to(call.outputs);
    const CallRange parts = program.members_of(call);
    call.members.first = static_cast<std::uint32_t>(members.size());
    for (Call part : parts) {
      move_to(part.inputs);
      move_to(part.outputs);
      members.push_back(part);
    }
    program.calls.set(i, call);
  }
  program.operands = std::move(operands);
  program.members = std::move(members);
}

// Constants that no call reads and no result names; the rest close ranks.
void tidy_externals(Program& program,
                    const memory::Vector<std::uint8_t>& is_named) {
  memory::Vector<std::uint8_t> stays(program.externals.size());
  for (std::size_t i = 0; i < stays.size(); ++i) {
    stays[i] = program.externals[i].is_constant ? 0 : 1;
  }
  for (std::size_t v = 0; v < program.values.size(); ++v) {
    const Value& value = program.values[v];
    if (value.origin == Origin::kExternal && is_named[v] != 0) {
      stays[value.index] = 1;
    }
  }
  memory::Vector<std::uint32_t> place(stays.size());
  std::uint32_t next = 0;
  for (std::size_t i = 0; i < stays.size(); ++i) {
    place[i] = next;
    if (stays[i] != 0) {
      if (next != i) {
        program.externals[next] = std::move(program.externals[i]);
      }
      ++next;
    } else {
      place[i] = kNoCall;
    }
  }
  program.externals.resize(next);
  for (ReboundHandle& handle : program.rebound_handles) {
    if (handle.external != ReboundHandle::kNone) {
      handle.external = place[handle.external];
    }
  }
  for (AwayState& state : program.away) {
    state.external = place[state.external];
  }
  for (Value& value : program.values) {
    if (value.origin == Origin::kExternal) {
      value.index = place[value.index];
    }
  }
}

void tidy_values(Program& program, memory::Vector<std::uint8_t>& is_named) {
  memory::Vector<ValueId> place(program.values.size(), kNoValue);
  std::uint32_t next = 0;
  for (std::uint32_t v = 0; v < place.size(); ++v) {
    const Value& value = program.values[v];
    const bool stays =
        value.origin == Origin::kArgument || is_named[v] != 0 ||
        (value.origin == Origin::kExternal && value.index != kNoCall);
    if (stays) {
      place[v] = {next};
      program.values[next++] = value;
    }
  }
  program.values.resize(next);
  for (Value& value : program.values) {
    if (value.over != kNoValue) {
      value.over = place[value.over.value];
    }
  }
  for_each_operand(program, [&](Operand& operand) {
    if (operand.value != kNoValue) {
      operand.value = place[operand.value.value];
    }
  });
  for (LeafGrad& grad : program.grads) {
    if (grad.entry != kNoValue) {
      grad.entry = place[grad.entry.value];
    }
  }
}

}  // namespace

void keep_calls(Program& program, std::span<const std::uint32_t> order) {
  CallTable calls = program.calls.like();
  calls.reserve(order.size());
  memory::Vector<std::uint32_t> place(program.calls.size(), kNoCall);
  for (const std::uint32_t i : order) {
    place[i] = static_cast<std::uint32_t>(calls.size());
    calls.push_back(program.calls[i]);
  }
  program.calls = std::move(calls);
  for (Value& value : program.values) {
    if (value.origin == Origin::kCall && value.index != kNoCall) {
      value.index = place[value.index];
    }
  }
}

void tidy(Program& program) {
  tidy_operands(program);
  memory::Vector<std::uint8_t> is_named(program.values.size(), 0);
  for_each_operand(program, [&](Operand& operand) {
    if (operand.value != kNoValue) {
      is_named[operand.value.value] = 1;
    }
  });
  for (std::size_t v = 0; v < is_named.size(); ++v) {
    const ValueId over = program.values[v].over;
    if (is_named[v] != 0 && over != kNoValue) {
      is_named[over.value] = 1;
    }
  }
  tidy_externals(program, is_named);
  tidy_values(program, is_named);
  trim(program.values);
  trim(program.operands);
  program.calls.trim();
  program.members.trim();
  trim(program.externals);
  trim(program.grads);
  trim(program.leaves);
}

}  // namespace neap::compiler
