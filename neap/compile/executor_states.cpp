// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// States and weights that are in a file between runs: where they are, and what
// becomes of them where a run fails.
#include "neap/base/raise.hpp"
#include "neap/compile/executor.hpp"
#include "neap/compile/state_file.hpp"

namespace neap::compiler {

void Executor::send_away(StateFile& file) {
  states_ = &file;
  for (const AwayState& state : program_.away) {
    file.take(*program_.externals[state.external].tensor.array()->storage());
  }
}

// A state that is away may have come home, and gone to another place, since the
// last run; a listener may look at it, too. A weight that an argument is as
// well stays at home, if the step only reads it: the run has a copy then.
void Executor::find_places() {
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const External& state = program_.externals[program_.away[i].external];
    tensor::Storage& storage = *state.tensor.array()->storage();
    if (state.is_written) {
      states_->take(storage);
    }
    places_[i] = states_->place_of(storage);
  }
  instructions_.set_states(states_, places_);
}

// Another thread may have brought one home before this run had the file.
bool Executor::are_places_current() const noexcept {
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const External& state = program_.externals[program_.away[i].external];
    if (states_->place_of(*state.tensor.array()->storage()) != places_[i]) {
      return false;
    }
  }
  return true;
}

void Executor::find_places_again(int tries) {
  constexpr int kMostTries = 100;
  if (tries == kMostTries) {
    base::raise<ValueError>(
        "compile: other threads take away the weights that this step keeps in "
        "a file; give their steps the same .spill.folder and .part, or set "
        ".spill.weights to false");
  }
  find_places();
}

// Checks that every state can be read, before the arena has any value: it has
// room for each.
void Executor::expect_readable_states() {
  std::byte* arena = instructions_.base(instructions_.arena(memory::kHost));
  for (std::size_t i = 0; i < places_.size(); ++i) {
    if (places_[i] != StateFile::kNone) {  // an argument that stays at home
      const AwayState& state = program_.away[i];
      states_->expect_readable(places_[i], state.offset,
                               {arena, static_cast<std::size_t>(state.size)});
    }
  }
}

// The instruction writes what a call before `at` updated.
bool Executor::is_updated(std::size_t spill, std::size_t at) const noexcept {
  const Call call = program_.calls[instructions_.call(spill)];
  return moves_state(call) && call.kind == CallKind::kSpill &&
         program_[program_.moved(call).value].index < instructions_.call(at);
}

// All that one call updates gets to the file, where the run ends between
// its spills.
void Executor::begin_spills(std::size_t at) {
  for (std::size_t i = at; states_ != nullptr && i < instructions_.size();
       ++i) {
    if (is_updated(i, at)) {
      instructions_.run_one(i);
    }
  }
}

// After a failure at `at`: states that were updated, and did not get to the
// file, are in the arena; others may not be in the file.
void Executor::look_after_states(std::size_t at) noexcept {
  for (std::size_t i = 0; i < instructions_.size(); ++i) {
    if (is_updated(i, at)) {
      const Call call = program_.calls[instructions_.call(i)];
      const std::uint32_t s = call.slot - kFirstAway;
      const AwayState& state = program_.away[s];
      states_->keep_updated(
          places_[s], state.offset,
          {instructions_.address(i), static_cast<std::size_t>(state.size)});
    }
  }
  for (std::size_t i = 0; i < places_.size(); ++i) {
    if (places_[i] != StateFile::kNone && program_.away[i].is_counted &&
        program_.away[i].offset == 0) {  // each place once
      states_->look_after(places_[i]);
    }
  }
}

}  // namespace neap::compiler
