// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/program/scheduling.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "neap/program/dataflow.hpp"
#include "neap/program/takeover.hpp"

namespace neap::compiler {
namespace {

class Converter {
 public:
  Converter(const Program& program, std::span<const std::int64_t> prices)
      : program_(program),
        prices_(prices),
        flow_(program),
        memories_(program, flow_),
        numbers_(program.values.size(), budget::kNever) {}

  budget::Problem run() {
    out_.calls.reserve(program_.calls.size());
    for (std::uint32_t i = 0; i < program_.calls.size(); ++i) {
      convert(i);
    }
    return std::move(out_);
  }

 private:
  bool is_on_host(ValueId id) const {
    return program_[id].spec.space == memory::kHost;
  }

  // The number of the memory that a value is in; kNever: none of the problem's.
  std::int32_t number(ValueId id) const {
    return numbers_[flow_.root(id).value];
  }

  void convert(std::uint32_t i) {
    const Call& call = program_.calls[i];
    budget::Call out;
    out.price = prices_[i];
    if (call.space == memory::kHost) {
      out.scratch = base::round_up(call.scratch, memory::kAlignment);
    }
    out.again_until = again_until(call);
    for (const Operand& operand : program_.out(call)) {
      if (program_[operand.value].over == kNoValue) {
        make(operand.value, out);
      } else if (number(operand.value) != budget::kNever) {
        // What is written over is the same memory as before.
        add_once(out.reads, number(operand.value));
      }
    }
    for (const Operand& operand : program_.in(call)) {
      const std::int32_t v = number(operand.value);
      if (v != budget::kNever) {
        add_once(out.reads, v);
      }
    }
    add_takeovers(call, out);
    out_.calls.push_back(std::move(out));
  }

  void make(ValueId id, budget::Call& out) {
    if (memories_.sizes[id.value] != 0 && is_on_host(id)) {
      const auto v = static_cast<std::int32_t>(out_.values.size());
      numbers_[id.value] = v;
      out_.values.push_back({.size = memories_.sizes[id.value],
                             .outlives = memories_.outlives[id.value] != 0});
      out.makes.push_back(v);
    }
  }

  static void add_once(memory::Vector<std::int32_t>& list, std::int32_t v) {
    if (std::ranges::find(list, v) == list.end()) {
      list.push_back(v);
    }
  }

  void add_takeovers(const Call& call, budget::Call& out) const {
    for (std::size_t k = 0; k < call.outputs.count; ++k) {
      const std::int32_t made = number(program_.out(call)[k].value);
      if (made == budget::kNever) {
        continue;
      }
      for (std::uint32_t mask = takeover_mask(program_, flow_, call, k);
           mask != 0; mask &= mask - 1) {
        const auto at = static_cast<std::size_t>(std::countr_zero(mask));
        const std::int32_t read = number(program_.in(call)[at].value);
        if (read != budget::kNever) {
          out.take_overs.push_back({.made = made, .read = read});
        }
      }
    }
  }

  // Not one whose attributes are given from outside at each run.
  static bool is_repeatable(const Call& call) {
    return (call.kind == CallKind::kKernel || call.kind == CallKind::kFused) &&
           !has_effect(call) && call.listener == nullptr && !call.reads_outputs;
  }

  std::int32_t again_until(const Call& call) const {
    const bool is_pure =
        is_repeatable(call) &&
        std::ranges::all_of(program_.members_of(call), is_repeatable) &&
        std::ranges::all_of(program_.out(call), [&](const Operand& out) {
          return is_only_value(out.value);
        });
    if (!is_pure) {
      return budget::kNever;
    }
    std::int32_t until = budget::kAlways;
    for (const Operand& in : program_.in(call)) {
      const ValueId heir = flow_.heir(in.value);
      if (heir != kNoValue) {  // written there
        until =
            std::min(until, static_cast<std::int32_t>(program_[heir].index));
      }
    }
    return until;
  }

  // New memory of the arena, which nothing is written to later.
  bool is_only_value(ValueId id) const {
    return program_[id].over == kNoValue && flow_.heir(id) == kNoValue &&
           !flow_.has_own_block(id) && is_on_host(id);
  }

  const Program& program_;
  std::span<const std::int64_t> prices_;
  const Dataflow flow_;
  const Memories memories_;
  memory::Vector<std::int32_t> numbers_;  // in the problem, by value
  budget::Problem out_;
};

class Materialiser {
 public:
  explicit Materialiser(Program& program)
      : program_(program), now_(program.values.size()) {
    for (std::uint32_t v = 0; v < now_.size(); ++v) {
      now_[v] = {v};
    }
  }

  void run(const budget::Schedule& schedule) {
    memory::Vector<std::uint8_t> has_run(program_.calls.size(), 0);
    calls_.reserve(schedule.runs.size());
    for (const budget::Run& run : schedule.runs) {
      const auto i = static_cast<std::size_t>(run.index);
      add(program_.calls[i], std::exchange(has_run[i], 1) != 0);
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

  void make(ValueId id, std::uint32_t place, bool is_clone) {
    if (is_clone) {
      const Value again = program_[id];
      now_[id.value] = program_.add(again);
    }
    program_[now_[id.value]].index = place;
  }

  Program& program_;
  memory::Vector<ValueId> now_;  // the latest materialisation of each value
  memory::Vector<Call> calls_;
  memory::Vector<Operand> operands_;
};

}  // namespace

budget::Problem scheduling_problem(const Program& program,
                                   std::span<const std::int64_t> prices) {
  return Converter(program, prices).run();
}

void materialise(Program& program, const budget::Schedule& schedule) {
  Materialiser(program).run(schedule);
}

}  // namespace neap::compiler
