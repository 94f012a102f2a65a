// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/program/keep_away.hpp"

#include <algorithm>
#include <utility>

#include "neap/program/move_call.hpp"

namespace neap::compiler {
namespace {

// Is what the program says of it all that a run does with it?
class Finder {
 public:
  explicit Finder(const Program& program)
      : program_(program),
        flow_(program),
        is_other_(program.externals.size(), 0) {
    for (const ReboundHandle& handle : program.rebound_handles) {
      if (handle.external != ReboundHandle::kNone) {
        is_other_[handle.external] = 1;  // another tensor in each run
      }
    }
    for (const LeafGrad& grad : program.grads) {
      if (grad.entry != kNoValue) {
        is_other_[program[grad.entry].index] = 1;
      }
    }
  }

  bool may_go(const External& external) const {
    const tensor::Storage& storage = *external.tensor.array()->storage();
    return external.is_written && !external.is_constant && !external.is_leaf &&
           storage.space() == memory::kHost && storage.may_go_away();
  }

  // The call that updates it; kNoCall: something else touches it.
  std::uint32_t update_of(ValueId before) const {
    const Value& value = program_[before];
    if (value.origin != Origin::kExternal || is_other_[value.index] != 0 ||
        !may_go(program_.externals[value.index])) {
      return kNoCall;
    }
    const ValueId after = flow_.heir(before);
    if (after == kNoValue || flow_.heir(after) != kNoValue ||
        !flow_.readers(before).empty() || !flow_.readers(after).empty() ||
        flow_.outlives(before) || flow_.outlives(after)) {
      return kNoCall;
    }
    const Call call = program_.calls[program_[after].index];
    return call.kind == CallKind::kKernel && call.op == nullptr
               ? program_[after].index
               : kNoCall;
  }

 private:
  const Program& program_;
  const Dataflow flow_;
  memory::Vector<std::uint8_t> is_other_;
};

class Inserter {
 public:
  Inserter(Program& program, std::span<const StateMoves> moves)
      : program_(program), moves_(moves), calls_(program.calls.like()) {}

  memory::Vector<std::uint32_t> run() {
    note_values();
    const auto count = static_cast<std::uint32_t>(program_.calls.size());
    calls_.reserve(count + 4 * moves_.size());
    from_.reserve(calls_.size());
    for (std::uint32_t i = 0; i < count; ++i) {
      end_spills(i);
      begin_fetches(i);
      for (const std::uint32_t s : of_update(i)) {
        add_move(s, CallKind::kAwait, before_[s]);
      }
      add(program_.calls[i], i);
      for (const std::uint32_t s : of_update(i)) {
        add_move(s, CallKind::kSpill, after_[s]);
      }
    }
    end_spills(count);
    program_.calls = std::move(calls_);
    return std::move(from_);
  }

 private:
  void note_values() {
    memory::Vector<ValueId> value_of(program_.externals.size(), kNoValue);
    for (std::uint32_t v = 0; v < program_.values.size(); ++v) {
      if (program_.values[v].origin == Origin::kExternal) {
        value_of[program_.values[v].index] = {v};
      }
    }
    for (const StateMoves& moves : moves_) {
      const ValueId before = value_of[moves.state.external];
      before_.push_back(before);
      for (const Operand& out :
           program_.out(program_.calls[moves.state.update])) {
        if (program_[out.value].over == before) {
          after_.push_back(out.value);
        }
      }
      program_[before].origin = Origin::kCall;
      program_.externals[moves.state.external].is_away = true;
      program_.away.push_back({moves.state.external, moves.state.size});
      by_update_.push_back(static_cast<std::uint32_t>(by_update_.size()));
    }
    by_fetch_ = by_await_ = by_update_;
    sort(by_update_, [](const StateMoves& m) { return m.state.update; });
    sort(by_fetch_, [](const StateMoves& m) { return m.fetch; });
    sort(by_await_, [](const StateMoves& m) { return m.await; });
  }

  template <class Key>
  void sort(memory::Vector<std::uint32_t>& order, const Key& key) const {
    std::ranges::stable_sort(order, {},
                             [&](std::uint32_t s) { return key(moves_[s]); });
  }

  std::span<const std::uint32_t> of_update(std::uint32_t call) const {
    const auto [begin, end] = std::ranges::equal_range(
        by_update_, call, {},
        [&](std::uint32_t s) { return moves_[s].state.update; });
    return {begin, end};
  }

  void begin_fetches(std::uint32_t call) {
    for (; fetched_ < by_fetch_.size() &&
           moves_[by_fetch_[fetched_]].fetch <= call;
         ++fetched_) {
      const std::uint32_t s = by_fetch_[fetched_];
      program_[before_[s]].index = static_cast<std::uint32_t>(calls_.size());
      add_move(s, CallKind::kFetch, before_[s]);
    }
  }

  void end_spills(std::uint32_t call) {
    for (; awaited_ < by_await_.size() &&
           moves_[by_await_[awaited_]].await <= call;
         ++awaited_) {
      const std::uint32_t s = by_await_[awaited_];
      add_move(s, CallKind::kAwait, after_[s]);
    }
  }

  void add(const Call& call, std::uint32_t from) {
    const auto place = static_cast<std::uint32_t>(calls_.size());
    if (from != place && from != kNoCall) {
      for (const Operand& out : program_.out(call)) {
        program_[out.value].index = place;
      }
    }
    calls_.push_back(call);
    from_.push_back(from);
  }

  void add_move(std::uint32_t s, CallKind kind, ValueId id) {
    add(move_call(program_, kind, kFirstAway + s, id, id), kNoCall);
  }

  Program& program_;
  std::span<const StateMoves> moves_;
  CallTable calls_;
  memory::Vector<std::uint32_t> from_;
  memory::Vector<ValueId> before_;  // of each move, its state's values
  memory::Vector<ValueId> after_;
  memory::Vector<std::uint32_t> by_update_;
  memory::Vector<std::uint32_t> by_fetch_;
  memory::Vector<std::uint32_t> by_await_;
  std::size_t fetched_ = 0;
  std::size_t awaited_ = 0;
};

}  // namespace

memory::Vector<UpdatedState> states_of(const Program& program, Bytes least) {
  const Finder finder(program);
  memory::Vector<UpdatedState> out;
  for (std::uint32_t v = 0; v < program.values.size(); ++v) {
    const Value& value = program.values[v];
    const std::uint32_t update =
        value.spec->size >= least ? finder.update_of({v}) : kNoCall;
    if (update != kNoCall) {
      out.push_back({value.index, update, value.spec->size});
    }
  }
  std::ranges::stable_sort(out, {}, &UpdatedState::update);
  return out;
}

memory::Vector<std::uint32_t> keep_away(Program& program,
                                        std::span<const StateMoves> moves) {
  return Inserter(program, moves).run();
}

}  // namespace neap::compiler
