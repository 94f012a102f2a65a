// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/program/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "neap/base/error.hpp"
#include "neap/program/dataflow.hpp"
#include "neap/program/ranks.hpp"

namespace neap::compiler {
namespace {

class Checker {
 public:
  explicit Checker(const Program& program)
      : program_(program),
        states_(program.values.size(), State::kUnset),
        moves_(program.values.size(), Move::kNone),
        is_written_(program.slots.size(), 0) {}

  std::string run() {
    check_tables();
    for (std::uint32_t i = 0; i < program_.calls.size() && fault_.empty();
         ++i) {
      check_call(i);
    }
    check_end();
    return std::move(fault_);
  }

 private:
  enum class State : std::uint8_t { kUnset, kSet, kGone };
  enum class Move : std::uint8_t { kNone, kSpilled, kFetched };

  template <class... Args>
  void fail(fmt::format_string<Args...> text, Args&&... args) {
    if (fault_.empty()) {
      fault_ = fmt::format(text, std::forward<Args>(args)...);
    }
  }

  // Dense, or the view with gaps that the caller has.
  Bytes size_of_argument(std::uint32_t index) const {
    for (const GappedArgument& gapped : program_.gapped) {
      if (gapped.argument == index) {
        return tensor::extent_bytes(gapped.layout);
      }
    }
    const tensor::Spec& spec = program_.arguments[index];
    return spec.shape.element_count() * size_of(spec.dtype);
  }

  void check_tables() {
    memory::Vector<std::uint8_t> has_value(program_.externals.size(), 0);
    for (std::uint32_t v = 0; v < program_.values.size(); ++v) {
      const Value& value = program_.values[v];
      if (value.origin == Origin::kCall) {
        continue;
      }
      states_[v] = State::kSet;
      if (value.over != kNoValue) {
        fail("value %{} is there before the run and takes another over", v);
      }
      if (value.origin == Origin::kArgument) {
        if (value.index >= program_.arguments.size() ||
            !(program_.arguments[value.index] == value.spec)) {
          fail("value %{} is no argument", v);
        } else if (value.spec->size != size_of_argument(value.index)) {
          fail("value %{}, an argument, has {} bytes", v, value.spec->size);
        }
        continue;
      }
      if (value.index >= program_.externals.size() ||
          has_value[value.index]++ != 0) {
        fail("value %{} is not an external's only one", v);
      } else if (program_.externals[value.index]
                     .tensor.array()
                     ->storage()
                     ->size() != value.spec->size) {
        fail("value %{} has not the size of its storage", v);
      }
    }
    for (std::size_t i = 0; i < program_.externals.size(); ++i) {
      if (program_.externals[i].is_constant &&
          program_.externals[i].is_written) {
        fail("external {} is constant and written", i);
      }
    }
  }

  void check_call(std::uint32_t i) {
    const Call& call = program_.calls[i];
    check_kind(i, call);
    if (is_move(call)) {
      check_move(i, call);
    }
    for (const Operand& in : program_.in(call)) {
      check_operand(i, call, in, call.kind == CallKind::kTransfer);
      if (is_known(in.value) && state(in.value) != State::kSet) {
        fail("call {} ({}) reads %{} {}", i, call.name, in.value.value,
             state(in.value) == State::kGone
                 ? "after another value took its memory over"
                 : "before it is set");
      }
      if (is_known(in.value) && moves_[in.value.value] == Move::kFetched) {
        fail("call {} ({}) reads %{} before it is fetched", i, call.name,
             in.value.value);
      }
    }
    check_members(i, call);
    for (const Operand& out : program_.out(call)) {
      check_operand(i, call, out, call.kind == CallKind::kTransfer);
      if (fault_.empty()) {
        check_output(i, call, out);
      }
    }
  }

  void check_kind(std::uint32_t i, const Call& call) {
    const bool is_check = call.kind == CallKind::kCheck;
    if (is_check != (call.look != nullptr) ||
        (call.kind == CallKind::kKernel && call.kernels == nullptr) ||
        (call.kind == CallKind::kFused) != (call.members.count != 0)) {
      fail("call {} ({}) is not of the kind that it says", i, call.name);
    }
    if (is_check && call.outputs.count != 0) {
      fail("call {} ({}), a check, sets values", i, call.name);
    }
    if (call.kind == CallKind::kExchange) {
      check_exchange(i, call);
    }
    if (call.draw_at >= 0 &&
        static_cast<std::size_t>(call.draw_at) + sizeof(base::DrawKey) >
            call.attrs_size) {
      fail("call {} ({}) has no draw in its attributes", i, call.name);
    }
  }

  // An exchange goes on from what is in the memory, all of it.
  void check_exchange(std::uint32_t i, const Call& call) {
    const auto made = program_.out(call);
    if (program_.ranks == nullptr || call.attrs_size != sizeof(ExchangeAttrs) ||
        call.inputs.count != 0 || made.size() != 1 || !call.reads_outputs ||
        !is_known(made[0].value) || program_[made[0].value].over == kNoValue ||
        !is_whole(made[0].layout, program_[made[0].value].spec->size)) {
      fail("call {} ({}) exchanges nothing", i, call.name);
    }
  }

  bool has_slot(const Call& call) const {
    return moves_state(call) ? call.slot - kFirstAway < program_.away.size()
                             : call.slot < program_.slots.size();
  }
  Bytes room_of(const Call& call) const {
    return moves_state(call) ? program_.away[call.slot - kFirstAway].size
                             : program_.slots[call.slot].size;
  }

  // A value is moved by one call at a time, and is fetched from where one of
  // its size was written.
  void check_move(std::uint32_t i, const Call& call) {
    const bool fetches = call.kind == CallKind::kFetch;
    if (call.inputs.count != (fetches ? 0U : 1U) ||
        call.outputs.count != (fetches ? 1U : 0U) || !has_slot(call) ||
        !is_known(program_.moved(call).value)) {
      fail("call {} ({}) moves nothing", i, call.name);
      return;
    }
    const Operand& moved = program_.moved(call);
    const ValueId id = moved.value;
    Move& move = moves_[id.value];
    if ((call.kind == CallKind::kAwait) == (move == Move::kNone)) {
      fail("call {} ({}) of %{}, which is {}", i, call.name, id.value,
           move == Move::kNone ? "not moved" : "still moved");
    }
    if (program_[id].spec->size > room_of(call) ||
        !is_whole(moved.layout, program_[id].spec->size)) {
      fail("call {} ({}) moves only a part of %{}", i, call.name, id.value);
    }
    check_overlap(i, call);
    if (fetches && !moves_state(call) && is_written_[call.slot] == 0) {
      fail("call {} ({}) fetches %{}, which was not written", i, call.name,
           id.value);
    }
    if (call.kind == CallKind::kAwait) {
      move = Move::kNone;
    } else {
      move = fetches ? Move::kFetched : Move::kSpilled;
      if (!moves_state(call)) {
        is_written_[call.slot] |= fetches ? 0U : 1U;
      }
    }
  }

  // Bytes of a storage that is away are moved by one call at a time.
  void check_overlap(std::uint32_t i, const Call& call) {
    if (!moves_state(call) || call.slot - kFirstAway >= program_.away.size()) {
      return;
    }
    const std::uint32_t s = call.slot - kFirstAway;
    std::erase(in_flight_, s);
    if (call.kind == CallKind::kAwait) {
      return;
    }
    const AwayState& mine = program_.away[s];
    for (const std::uint32_t k : in_flight_) {
      const AwayState& other = program_.away[k];
      if (other.external == mine.external &&
          other.offset < mine.offset + mine.size &&
          mine.offset < other.offset + other.size) {
        fail("call {} ({}) moves bytes of external {} that are still moved", i,
             call.name, mine.external);
      }
    }
    in_flight_.push_back(s);
  }

  static bool names(std::span<const Operand> operands, ValueId id) {
    return std::ranges::count(operands, id, &Operand::value) != 0;
  }

  // Members read what the call reads and what earlier members made; what they
  // make is the call's, or theirs alone.
  void check_members(std::uint32_t i, const Call& call) {
    memory::Vector<ValueId> made;
    for (const Call& member : program_.members_of(call)) {
      for (const Operand& in : program_.in(member)) {
        if (!names(program_.in(call), in.value) &&
            std::ranges::find(made, in.value) == made.end()) {
          fail("call {} ({}) has a member that reads %{}, which is not there",
               i, call.name, in.value.value);
        }
      }
      for (const Operand& out : program_.out(member)) {
        const bool is_inner = !names(program_.out(call), out.value);
        if (!is_known(out.value) ||
            (is_inner && program_[out.value].index < program_.calls.size())) {
          fail("call {} ({}) has a member that sets what is not its own", i,
               call.name);
        }
        made.push_back(out.value);
      }
    }
    for (const Operand& out : program_.out(call)) {
      if (!made.empty() && std::ranges::find(made, out.value) == made.end()) {
        fail("call {} ({}) has no member that sets %{}", i, call.name,
             out.value.value);
      }
    }
  }

  // In a fused call: nobody reads the old value after the new one is set, and
  // who sets it may write over what it reads.
  bool may_take_over(const Call& call, ValueId old, ValueId made) const {
    bool is_set = false;
    for (const Call& member : program_.members_of(call)) {
      const bool sets = names(program_.out(member), made);
      const auto in = program_.in(member);
      for (std::size_t k = 0; k < in.size(); ++k) {
        const bool may = (member.op->facts.donates >> k & 1U) != 0;
        if (in[k].value == old && (is_set || (sets && !may))) {
          return false;
        }
      }
      is_set = is_set || sets;
    }
    return true;
  }

  bool is_known(ValueId id) const { return id.value < states_.size(); }
  State& state(ValueId id) { return states_[id.value]; }

  void check_operand(std::uint32_t i, const Call& call, const Operand& operand,
                     bool may_cross) {
    if (!is_known(operand.value)) {
      fail("call {} ({}) names a value that is not there", i, call.name);
      return;
    }
    const Value& value = program_[operand.value];
    if (operand.layout->offset < 0 ||
        tensor::extent_bytes(operand.layout) > value.spec->size) {
      fail("call {} ({}) reaches beyond %{}", i, call.name,
           operand.value.value);
    }
    if (!may_cross && value.spec->space != call.space) {
      fail("call {} ({}) of space {} reaches for %{} in space {}", i, call.name,
           call.space.value, operand.value.value, value.spec->space.value);
    }
  }

  void check_output(std::uint32_t i, const Call& call, const Operand& out) {
    const Value& value = program_[out.value];
    const std::uint32_t v = out.value.value;
    if (value.origin != Origin::kCall || value.index != i) {
      fail("call {} ({}) sets %{}, which is not its own", i, call.name, v);
    } else if (state(out.value) != State::kUnset) {
      fail("call {} ({}) sets %{} again", i, call.name, v);
    } else if (value.over != kNoValue) {
      check_takeover(i, call, out);
    } else if (call.reads_outputs) {
      fail("call {} ({}) reads %{} before it is set", i, call.name, v);
    } else if (out.layout->offset != 0 || !tensor::is_contiguous(out.layout) ||
               tensor::extent_bytes(out.layout) != value.spec->size) {
      fail("call {} ({}) sets only a part of %{}", i, call.name, v);
    }
    state(out.value) = State::kSet;
  }

  void check_takeover(std::uint32_t i, const Call& call, const Operand& out) {
    const Value& value = program_[out.value];
    const std::uint32_t v = out.value.value;
    if (!is_known(value.over) || state(value.over) != State::kSet) {
      fail("call {} ({}): %{} takes over what is not there", i, call.name, v);
      return;
    }
    if (moves_[value.over.value] != Move::kNone) {
      fail("call {} ({}): %{} takes over %{}, which is still moved", i,
           call.name, v, value.over.value);
    }
    const Value& old = program_[value.over];
    if (old.spec->size != value.spec->size ||
        old.spec->space != value.spec->space) {
      fail("call {} ({}): %{} takes over %{} of another size or space", i,
           call.name, v, value.over.value);
    }
    if (old.origin == Origin::kExternal &&
        !program_.externals[old.index].is_written) {
      fail("call {} ({}) writes into external {}, which is not to be written",
           i, call.name, old.index);
    }
    const std::span<const Operand> in = program_.in(call);
    for (std::size_t k = 0; k < in.size(); ++k) {
      const bool may = call.op == nullptr
                           ? may_take_over(call, value.over, out.value)
                           : k < 32 &&
                                 (call.op->facts.donates >> k & 1U) != 0 &&
                                 program_.out(call).data() == &out;
      if (in[k].value == value.over && !(may && in[k].layout == out.layout)) {
        fail("call {} ({}) reads %{} while %{} takes its memory over", i,
             call.name, value.over.value, v);
      }
    }
    state(value.over) = State::kGone;
  }

  void check_end() {
    const auto check = [&](const Operand& operand, const char* what) {
      if (!is_known(operand.value) || state(operand.value) != State::kSet) {
        fail("a {} is not there at the end", what);
      } else if (tensor::extent_bytes(operand.layout) >
                 program_[operand.value].spec->size) {
        fail("a {} reaches beyond %{}", what, operand.value.value);
      }
    };
    for (const Result& result : program_.results) {
      check(result.operand, "result");
    }
    for (const LeafGrad& grad : program_.grads) {
      if (grad.is_set && grad.last.value != kNoValue) {
        check(grad.last, "gradient");
      }
    }
    for (std::uint32_t v = 0; v < states_.size(); ++v) {
      const Value& value = program_.values[v];
      if (moves_[v] != Move::kNone) {
        fail("%{} is still moved at the end", v);
      }
      if (states_[v] == State::kUnset && value.index < program_.calls.size()) {
        fail("value %{} names a call that does not set it", v);
      }
    }
  }

  const Program& program_;
  memory::Vector<State> states_;
  memory::Vector<Move> moves_;
  memory::Vector<std::uint32_t> in_flight_;  // of Program::away
  memory::Vector<std::uint8_t> is_written_;  // by slot
  std::string fault_;
};

}  // namespace

std::string fault_of(const Program& program) {
  return Checker(program).run();
}

void verify(const Program& program, const char* when) {
  const std::string fault = fault_of(program);
  if (!fault.empty()) {
    throw InternalError(fmt::format("program {}: {}", when, fault));
  }
}

EffectOrder::EffectOrder(const Program& program) {
  struct Memory {
    const void* at;  // nullptr: made in the run
    std::uint32_t writes;
  };
  memory::Vector<Memory> memory_of(program.values.size(), Memory{nullptr, 0});
  for (std::size_t v = 0; v < memory_of.size(); ++v) {
    const Value& value = program.values[v];
    if (value.origin == Origin::kExternal) {
      memory_of[v].at =
          program.externals[value.index].tensor.array()->storage().get();
    } else if (value.origin == Origin::kArgument) {
      memory_of[v].at = program.arguments.data() + value.index;
    }
  }
  for (const Call& call : program.calls) {
    for (const Operand& out : program.out(call)) {
      const ValueId over = program[out.value].over;
      if (over == kNoValue) {
        continue;
      }
      Memory& now = memory_of[out.value.value];
      now = {memory_of[over.value].at, memory_of[over.value].writes + 1};
      if (now.at != nullptr) {
        writes_.push_back({now.at, now.writes, effects_.size()});
      }
    }
    const bool is_stateful =
        call.op != nullptr && call.op->facts.effect == graph::Effect::kStateful;
    if (call.kind == CallKind::kCheck || is_stateful) {
      effects_.push_back({is_stateful
                              ? static_cast<const void*>(call.op)
                              : reinterpret_cast<const void*>(call.look),
                          call.attrs_size != 0 ? call.attrs : 0});
    }
    if (call.kind == CallKind::kExchange) {
      exchanges_.push_back(call.attrs);
    }
  }
  std::sort(writes_.begin(), writes_.end(), [](const auto& a, const auto& b) {
    return std::less<>()(a.memory, b.memory) ||
           (a.memory == b.memory && a.nth < b.nth);
  });
}

std::string EffectOrder::fault_of(const Program& program) const {
  const EffectOrder after(program);
  if (after.effects_ != effects_) {
    return fmt::format("{} checks and effects became {}, or changed order",
                       effects_.size(), after.effects_.size());
  }
  if (after.exchanges_ != exchanges_) {
    return fmt::format("{} exchanges became {}, or changed order",
                       exchanges_.size(), after.exchanges_.size());
  }
  if (after.writes_.size() != writes_.size()) {
    return fmt::format("{} writes into what exists became {}", writes_.size(),
                       after.writes_.size());
  }
  for (std::size_t i = 0; i < writes_.size(); ++i) {
    if (after.writes_[i].memory != writes_[i].memory ||
        after.writes_[i].nth != writes_[i].nth) {
      return "a write into what exists went elsewhere";
    }
    if (after.writes_[i].effects_before < writes_[i].effects_before) {
      return fmt::format("write {} came before a check that it followed", i);
    }
  }
  return {};
}

}  // namespace neap::compiler
