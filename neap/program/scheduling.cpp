// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/program/scheduling.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "neap/program/takeover.hpp"

namespace neap::compiler {
namespace {

class Converter {
 public:
  Converter(const Program& program, std::span<const std::int64_t> prices,
            Bytes least_spilled)
      : program_(program),
        prices_(prices),
        least_spilled_(least_spilled),
        flow_(program),
        memories_(program, flow_),
        numbers_(program.values.size(), budget::kNever) {}

  budget::Problem run() {
    for (const ValueId id : scheduled_values(program_, memories_)) {
      numbers_[id.value] = static_cast<std::int32_t>(out_.values.size());
      out_.values.push_back({.size = memories_.sizes[id.value],
                             .outlives = memories_.outlives[id.value] != 0,
                             .may_spill = may_spill(id)});
    }
    out_.calls.reserve(program_.calls.size());
    for (std::uint32_t i = 0; i < program_.calls.size(); ++i) {
      convert(i);
    }
    if (program_.fitting.time_pieces != 0) {
      keep_states();
    }
    return std::move(out_);
  }

 private:
  // The states between pieces of time are small beside what calls make of them;
  // without one, all pieces before would have to run again.
  void keep_states() {
    constexpr std::int64_t kSmall = 4;  // a quarter
    memory::Vector<std::int32_t> last_read(out_.values.size(), budget::kNever);
    for (std::size_t i = 0; i < out_.calls.size(); ++i) {
      for (const std::int32_t v : out_.calls[i].reads) {
        last_read[static_cast<std::size_t>(v)] = static_cast<std::int32_t>(i);
      }
    }
    for (const budget::Call& call : out_.calls) {
      for (const std::int32_t made : call.makes) {
        const auto m = static_cast<std::size_t>(made);
        if (call.again_until != budget::kNever) {
          keep_states(call, out_.values[m].size / kSmall, last_read[m]);
        }
      }
    }
  }
  // Values of at most this size that the call reads help until then.
  void keep_states(const budget::Call& call, Bytes most, std::int32_t until) {
    for (const std::int32_t read : call.reads) {
      budget::Value& value = out_.values[static_cast<std::size_t>(read)];
      if (value.size <= most) {
        value.helps_until = std::max(value.helps_until, until);
      }
    }
  }

  bool is_on_host(ValueId id) const {
    return program_[id].spec->space == memory::kHost;
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
      const std::int32_t v = number(operand.value);
      if (v == budget::kNever) {
        continue;
      }
      if (program_[operand.value].over == kNoValue) {
        out.makes.push_back(v);
      } else {  // what is written over is the same memory as before
        add_once(out.reads, v);
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

  // Small ones are not worth the file's time for each access. What is fetched
  // is on a file already, and may be on its way.
  bool may_spill(ValueId id) const {
    return is_only_value(id) && memories_.sizes[id.value] >= least_spilled_ &&
           !is_move(program_.calls[program_[id].index]);
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
  Bytes least_spilled_;
  const Dataflow flow_;
  const Memories memories_;
  memory::Vector<std::int32_t> numbers_;  // in the problem, by value
  budget::Problem out_;
};

}  // namespace

memory::Vector<ValueId> scheduled_values(const Program& program,
                                         const Memories& memories) {
  memory::Vector<ValueId> out;
  for (const Call& call : program.calls) {
    for (const Operand& made : program.out(call)) {
      const Value& value = program[made.value];
      if (value.over == kNoValue && value.spec->space == memory::kHost &&
          memories.sizes[made.value.value] != 0) {
        out.push_back(made.value);
      }
    }
  }
  return out;
}

budget::Problem scheduling_problem(
    const Program& program, std::span<const std::int64_t> prices,
    const std::optional<budget::Channel>& channel, Bytes least_spilled) {
  budget::Problem out = Converter(program, prices, least_spilled).run();
  out.channel = channel;
  return out;
}

}  // namespace neap::compiler
