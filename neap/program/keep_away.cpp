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
      if (handle.array) {
        rebound_.push_back(handle.array->storage().get());
      }
    }
    std::ranges::sort(rebound_);
    for (const LeafGrad& grad : program.grads) {
      if (grad.entry != kNoValue) {
        is_other_[program[grad.entry].index] = 1;
      }
    }
  }

  // The call that updates a state; kNoCall: something else touches it.
  std::uint32_t update_of(ValueId before) const {
    if (!is_candidate(before) || external_of(before).is_leaf ||
        flow_.heir(before) == kNoValue || !flow_.readers(before).empty()) {
      return kNoCall;
    }
    return last_update(before);
  }

  bool is_weight(ValueId before) const {
    if (!is_candidate(before) || update_of(before) != kNoCall) {
      return false;
    }
    const tensor::Storage& storage = *storage_of(before);
    const bool is_parameter =
        external_of(before).is_leaf ||
        storage.tag().category == memory::Category::kParameters;
    const bool is_read_only = flow_.heir(before) == kNoValue &&
                              !external_of(before).is_written &&
                              !flow_.readers(before).empty();
    return is_parameter && !std::ranges::binary_search(rebound_, &storage) &&
           std::ranges::all_of(
               flow_.readers(before),
               [&](std::uint32_t i) { return reads_only(i); }) &&
           (is_read_only || last_update(before) != kNoCall);
  }

  MayGo found(ValueId before, std::uint32_t update) const {
    MayGo out{.external = program_[before].index,
              .update = update,
              .size = program_[before].spec->size,
              .before = before,
              .after = update != kNoCall ? flow_.heir(before) : kNoValue};
    for (const std::uint32_t reader : flow_.readers(before)) {
      if (reader != update) {
        out.uses.push_back(reader);
      }
    }
    if (update != kNoCall) {
      out.uses.push_back(update);
    }
    return out;
  }

  // The one call that writes it, after which nobody asks for it; else kNoCall.
  std::uint32_t last_update(ValueId before) const {
    const ValueId after = flow_.heir(before);
    if (after == kNoValue || flow_.heir(after) != kNoValue ||
        !flow_.readers(after).empty() || flow_.outlives(after) ||
        !external_of(before).is_written) {
      return kNoCall;
    }
    const Call call = program_.calls[program_[after].index];
    return call.kind == CallKind::kKernel && call.op == nullptr
               ? program_[after].index
               : kNoCall;
  }

 private:
  const External& external_of(ValueId id) const {
    return program_.externals[program_[id].index];
  }
  const tensor::Storage* storage_of(ValueId id) const {
    return external_of(id).tensor.array()->storage().get();
  }

  bool is_candidate(ValueId before) const {
    const Value& value = program_[before];
    return value.origin == Origin::kExternal && is_other_[value.index] == 0 &&
           !external_of(before).is_constant && !flow_.outlives(before) &&
           storage_of(before)->space() == memory::kHost &&
           storage_of(before)->may_go_away();
  }

  // Nothing of what is there before a run, as a check may.
  bool reads_only(std::uint32_t i) const {
    const Call call = program_.calls[i];
    return (call.kind == CallKind::kKernel || call.kind == CallKind::kFused) &&
           !has_effect(call);
  }

  const Program& program_;
  const Dataflow flow_;
  memory::Vector<std::uint8_t> is_other_;
  memory::Vector<const tensor::Storage*> rebound_;
};

class Inserter {
 public:
  Inserter(Program& program, std::span<const AwayMoves> moves)
      : program_(program), moves_(moves), calls_(program.calls.like()) {}

  memory::Vector<std::uint32_t> run() {
    note_values();
    const auto count = static_cast<std::uint32_t>(program_.calls.size());
    calls_.reserve(count + 2 * by_fetch_.size() + 2 * moves_.size());
    from_.reserve(calls_.size());
    for (std::uint32_t i = 0; i < count; ++i) {
      end_spills(i);
      begin_fetches(i);
      begin_groups(i);
      add(program_.calls[i], i);
      for (const std::uint32_t s : of_update(i)) {
        add_move(s, CallKind::kSpill, moves_[s].what.after);
      }
    }
    end_spills(count);
    program_.calls = std::move(calls_);
    return std::move(from_);
  }

 private:
  // A group of uses, as its value is fetched.
  struct Group {
    std::uint32_t move = 0;
    ValueId value = kNoValue;
    UseGroup uses;
  };

  void note_values() {
    for (std::uint32_t s = 0; s < moves_.size(); ++s) {
      const AwayMoves& moves = moves_[s];
      program_.externals[moves.what.external].is_away = true;
      program_.away.push_back({.external = moves.what.external,
                               .offset = moves.what.offset,
                               .size = moves.what.size,
                               .is_weight = moves.is_weight,
                               .is_counted = moves.what.is_counted});
      by_await_.push_back(s);
      if (moves.what.update != kNoCall) {
        by_update_.push_back(s);
      }
      note_groups(s);
    }
    for (std::uint32_t v = 0; v < program_.values.size(); ++v) {
      now_.push_back({v});
    }
    by_first_ = by_fetch_;
    std::ranges::stable_sort(
        by_fetch_, {}, [](const Group& group) { return group.uses.fetch; });
    std::ranges::stable_sort(
        by_first_, {}, [](const Group& group) { return group.uses.first; });
    sort(by_update_, [](const AwayMoves& m) { return m.what.update; });
    sort(by_await_, [](const AwayMoves& m) { return m.await; });
  }

  // The first group has the value that there was, the others one of their own;
  // the update takes over that of the last.
  void note_groups(std::uint32_t s) {
    const MayGo& what = moves_[s].what;
    const Value external = program_[what.before];
    ValueId value = what.before;
    for (const UseGroup& uses : moves_[s].groups) {
      if (&uses != moves_[s].groups.data()) {
        value = program_.add(external);
      }
      program_[value].origin = Origin::kCall;
      by_fetch_.push_back({s, value, uses});
    }
    if (what.after != kNoValue) {
      program_[what.after].over = value;
    }
  }

  template <class Key>
  void sort(memory::Vector<std::uint32_t>& order, const Key& key) const {
    std::ranges::stable_sort(order, {},
                             [&](std::uint32_t s) { return key(moves_[s]); });
  }

  std::span<const std::uint32_t> of_update(std::uint32_t call) const {
    const auto update_of = [&](std::uint32_t s) {
      return moves_[s].what.update;
    };
    const auto begin =
        std::ranges::lower_bound(by_update_, call, {}, update_of);
    const auto end = std::ranges::upper_bound(by_update_, call, {}, update_of);
    return {begin, end};
  }

  void begin_fetches(std::uint32_t call) {
    for (;
         fetched_ < by_fetch_.size() && by_fetch_[fetched_].uses.fetch <= call;
         ++fetched_) {
      const Group& group = by_fetch_[fetched_];
      program_[group.value].index = static_cast<std::uint32_t>(calls_.size());
      add_move(group.move, CallKind::kFetch, group.value);
    }
  }

  void begin_groups(std::uint32_t call) {
    for (; begun_ < by_first_.size() && by_first_[begun_].uses.first <= call;
         ++begun_) {
      const Group& group = by_first_[begun_];
      now_[moves_[group.move].what.before.value] = group.value;
      add_move(group.move, CallKind::kAwait, group.value);
    }
  }

  void end_spills(std::uint32_t call) {
    for (; awaited_ < by_await_.size() &&
           moves_[by_await_[awaited_]].await <= call;
         ++awaited_) {
      const std::uint32_t s = by_await_[awaited_];
      if (moves_[s].what.after != kNoValue) {
        add_move(s, CallKind::kAwait, moves_[s].what.after);
      }
    }
  }

  void add(Call call, std::uint32_t from) {
    rename(call);
    const auto place = static_cast<std::uint32_t>(calls_.size());
    if (from != place) {
      for (const Operand& out : program_.out(call)) {
        program_[out.value].index = place;
      }
    }
    calls_.push_back(call);
    from_.push_back(from);
  }

  // Operands may be those of other calls, too: where one has another name, the
  // call gets its own.
  bool rename(Range& range) {
    const auto from = program_.operands.begin() + range.first;
    renamed_.assign(from, from + range.count);
    bool is_changed = false;
    for (Operand& operand : renamed_) {
      const ValueId now = operand.value.value < now_.size()
                              ? now_[operand.value.value]
                              : operand.value;
      is_changed = is_changed || now != operand.value;
      operand.value = now;
    }
    if (is_changed) {
      range = program_.add(renamed_);
    }
    return is_changed;
  }

  void rename(Call& call) {
    if (!rename(call.inputs) || call.members.count == 0) {
      return;
    }
    const Range parts = call.members;
    call.members.first = static_cast<std::uint32_t>(program_.members.size());
    for (std::uint32_t k = 0; k < parts.count; ++k) {
      Call part = program_.members[parts.first + k];
      rename(part.inputs);
      program_.members.push_back(part);
    }
  }

  void add_move(std::uint32_t s, CallKind kind, ValueId id) {
    calls_.push_back(move_call(program_, kind, kFirstAway + s, id, id));
    from_.push_back(kNoCall);
  }

  Program& program_;
  std::span<const AwayMoves> moves_;
  CallTable calls_;
  memory::Vector<std::uint32_t> from_;
  memory::Vector<ValueId> now_;  // that a value of the program is at present
  memory::Vector<std::uint32_t> by_update_;
  memory::Vector<std::uint32_t> by_await_;
  memory::Vector<Group> by_fetch_;
  memory::Vector<Group> by_first_;
  memory::Vector<Operand> renamed_;
  std::size_t fetched_ = 0;
  std::size_t begun_ = 0;
  std::size_t awaited_ = 0;
};

}  // namespace

memory::Vector<MayGo> states_of(const Program& program, Bytes least) {
  const Finder finder(program);
  memory::Vector<MayGo> out;
  for (std::uint32_t v = 0; v < program.values.size(); ++v) {
    const std::uint32_t update =
        program.values[v].spec->size >= least ? finder.update_of({v}) : kNoCall;
    if (update != kNoCall) {
      out.push_back(finder.found({v}, update));
    }
  }
  std::ranges::stable_sort(out, {}, &MayGo::update);
  return out;
}

memory::Vector<MayGo> weights_of(const Program& program, Bytes least) {
  const Finder finder(program);
  memory::Vector<MayGo> out;
  for (std::uint32_t v = 0; v < program.values.size(); ++v) {
    if (program.values[v].spec->size >= least && finder.is_weight({v})) {
      out.push_back(finder.found({v}, finder.last_update({v})));
    }
  }
  std::ranges::stable_sort(out, {}, &MayGo::external);
  return out;
}

memory::Vector<std::uint32_t> keep_away(Program& program,
                                        std::span<const AwayMoves> moves) {
  return Inserter(program, moves).run();
}

}  // namespace neap::compiler
