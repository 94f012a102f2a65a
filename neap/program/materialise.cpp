// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "neap/program/move_call.hpp"
#include "neap/program/scheduling.hpp"

namespace neap::compiler {
namespace {

class Materialiser {
 public:
  explicit Materialiser(Program& program)
      : program_(program),
        now_(program.values.size()),
        numbers_(program.values.size(), budget::kNever),
        calls_(program.calls.like()) {
    const Dataflow flow(program);
    roots_.reserve(program.values.size());
    for (std::uint32_t v = 0; v < now_.size(); ++v) {
      now_[v] = {v};
      roots_.push_back(flow.root({v}));
    }
    first_ = scheduled_values(program, Memories(program, flow));
    for (std::size_t i = 0; i < first_.size(); ++i) {
      numbers_[first_[i].value] = static_cast<std::int32_t>(i);
    }
    slots_.assign(first_.size(), kNoSlot);
    is_moving_.assign(first_.size(), 0);
  }

  void run(const budget::Schedule& schedule) {
    memory::Vector<std::uint8_t> has_run(program_.calls.size(), 0);
    calls_.reserve(schedule.runs.size());
    for (std::size_t r = 0; r < schedule.runs.size(); ++r) {
      const budget::Run& run = schedule.runs[r];
      const auto i = static_cast<std::size_t>(run.index);
      for (const std::int32_t v : schedule.drops_of(r)) {
        await(v);
      }
      switch (run.action) {
        case budget::Action::kRun:
          await_operands(program_.calls[i]);
          add(program_.calls[i], std::exchange(has_run[i], 1) != 0);
          break;
        case budget::Action::kWrite:
          spill(run.index);
          break;
        case budget::Action::kFetch:
          fetch(run.index);
          break;
        case budget::Action::kAwait:
          await(run.index);
          break;
      }
    }
    for (std::size_t v = 0; v < first_.size(); ++v) {
      await(static_cast<std::int32_t>(v));
    }
    program_.calls = std::move(calls_);
    for (Result& result : program_.results) {
      rename(result.operand);
    }
    for (LeafGrad& grad : program_.grads) {
      rename(grad.last);
    }
  }

 private:
  static constexpr std::uint32_t kNoSlot = ~0U;

  void rename(Operand& operand) const {
    if (operand.value != kNoValue) {
      operand.value = now_[operand.value.value];
    }
  }

  // Operands of the calls as they were stay where they are: they are read once
  // more for each clone.
  Range renamed(const Range& range) {
    const auto from = program_.operands.begin() + range.first;
    operands_.assign(from, from + range.count);
    for (Operand& operand : operands_) {
      rename(operand);
    }
    return program_.add(operands_);
  }

  void add(Call call, bool is_clone) {
    const auto place = static_cast<std::uint32_t>(calls_.size());
    call.segment = is_clone ? kScheduledAgain : call.segment;
    call.inputs = renamed(call.inputs);
    for (const Operand& out : memory::Vector<Operand>(
             program_.out(call).begin(), program_.out(call).end())) {
      make(out.value, place, is_clone);
    }
    call.outputs = renamed(call.outputs);
    const Range parts = call.members;
    call.members.first = static_cast<std::uint32_t>(program_.members.size());
    for (std::uint32_t k = 0; k < parts.count; ++k) {
      Call part = program_.members[parts.first + k];
      part.inputs = renamed(part.inputs);
      part.outputs = renamed(part.outputs);
      program_.members.push_back(part);
    }
    calls_.push_back(call);
  }

  void make(ValueId id, std::uint32_t place, bool is_new) {
    if (is_new) {
      const Value again = program_[id];
      now_[id.value] = program_.add(again);
    }
    program_[now_[id.value]].index = place;
  }

  // --- moves ---------------------------------------------------------------

  // Waits for the values that a call reads: fetched ones are read once they are
  // there, recomputed ones may still be on their way. Each await adds to the
  // program's operands, so that those of the call are reached by their places.
  void await_operands(const Call& call) {
    for (std::uint32_t k = 0; k < call.inputs.count; ++k) {
      const std::int32_t v = number_at(call.inputs.first + k);
      if (v != budget::kNever && is_fetched(v)) {
        await(v);
      }
    }
    for (std::uint32_t k = 0; k < call.outputs.count; ++k) {
      const std::int32_t v = number_at(call.outputs.first + k);
      if (v != budget::kNever) {
        await(v);
      }
    }
  }

  // The problem's number of what an operand belongs to, or kNever.
  std::int32_t number_at(std::uint32_t operand) const {
    const ValueId value = program_.operands[operand].value;
    return numbers_[roots_[value.value].value];
  }

  bool is_fetched(std::int32_t v) const {
    return is_moving_[static_cast<std::size_t>(v)] == kFetching;
  }

  void await(std::int32_t v) {
    if (std::exchange(is_moving_[static_cast<std::size_t>(v)], 0) != 0) {
      add_move(v, CallKind::kAwait);
    }
  }

  void spill(std::int32_t v) {
    const Bytes size =
        base::round_up(program_[first(v)].spec->size, kSpillUnit);
    if (slots_[static_cast<std::size_t>(v)] == kNoSlot) {
      const Bytes offset = program_.file_bytes();
      slots_[static_cast<std::size_t>(v)] =
          static_cast<std::uint32_t>(program_.slots.size());
      program_.slots.push_back({offset, size});
    }
    add_move(v, CallKind::kSpill);
    is_moving_[static_cast<std::size_t>(v)] = kSpilling;
  }

  void fetch(std::int32_t v) {
    make(first(v), static_cast<std::uint32_t>(calls_.size()), true);
    add_move(v, CallKind::kFetch);
    is_moving_[static_cast<std::size_t>(v)] = kFetching;
  }

  ValueId first(std::int32_t v) const {
    return first_[static_cast<std::size_t>(v)];
  }

  // Adds a move of a value's bytes, in its present block.
  void add_move(std::int32_t v, CallKind kind) {
    calls_.push_back(move_call(program_, kind,
                               slots_[static_cast<std::size_t>(v)], first(v),
                               now_[first(v).value]));
  }

  static constexpr std::uint8_t kSpilling = 1;
  static constexpr std::uint8_t kFetching = 2;

  Program& program_;
  memory::Vector<ValueId> now_;  // the latest materialisation of each value
  memory::Vector<ValueId> roots_;
  memory::Vector<std::int32_t> numbers_;  // in the problem, by value
  memory::Vector<ValueId> first_;         // by number in the problem
  memory::Vector<std::uint32_t> slots_;   // likewise
  memory::Vector<std::uint8_t> is_moving_;
  CallTable calls_;
  memory::Vector<Operand> operands_;
};

}  // namespace

void materialise(Program& program, const budget::Schedule& schedule) {
  Materialiser(program).run(schedule);
}

}  // namespace neap::compiler
