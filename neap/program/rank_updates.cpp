// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/program/rank_updates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "neap/base/bytes.hpp"
#include "neap/base/call_site.hpp"
#include "neap/base/raise.hpp"
#include "neap/memory/domain.hpp"
#include "neap/program/keep_away.hpp"
#include "neap/program/rank_cut.hpp"
#include "neap/program/ranks.hpp"
#include "neap/program/rewrite.hpp"

namespace neap::compiler {
namespace {

using graph::WriteShare;

WriteShare share_of(const Call& call) {
  return call.listener != nullptr ? call.listener->share_of(call.listener_index)
                                  : WriteShare{};
}

class UpdateSharer {
 public:
  UpdateSharer(Program& program, const Ranks& ranks)
      : program_(program),
        rank_(ranks.rank()),
        count_(ranks.count()),
        state_(static_cast<std::size_t>(count_), 0),
        is_state_(program.externals.size(), 0) {
    for (const MayGo& state : states_of(program, 0)) {
      is_state_[state.external] = 1;
    }
  }

  void run() {
    const auto calls = static_cast<std::uint32_t>(program_.calls.size());
    for (std::uint32_t i = 0; i < calls; ++i) {
      const Call call = program_.calls[i];
      const WriteShare share = share_of(call);
      if (share.ranks == 1) {
        order_.push_back(i);
      } else {
        note_states(call, share);
        share_out(i, share.rank);
      }
    }
    keep_calls(program_, order_);
    tidy(program_);
    StateParts& said = shared_.state;
    said.own = state_[static_cast<std::size_t>(rank_)];
    said.most = *std::ranges::max_element(state_);
    for (const Bytes bytes : state_) {
      said.all += bytes;
    }
    program_.sharding.sent += said.handed_on;
    program_.shared = std::allocate_shared<const SharedUpdates>(
        memory::Allocator<SharedUpdates>(), std::move(shared_));
  }

 private:
  // A rank's own state is compared with nobody's. What a program drops of
  // externals are constants that no call reads.
  void note_states(const Call& call, const WriteShare& share) {
    for (const Operand& out : program_.out(call).subspan(1)) {
      const ValueId before = program_[out.value].over;
      const std::uint32_t at = external_of(call, before);
      External& external = program_.externals[at];
      external.is_compared = false;
      external.is_constant = share.rank != rank_;
      state_[static_cast<std::size_t>(share.rank)] +=
          program_[out.value].spec->size;
    }
  }

  std::uint32_t external_of(const Call& call, ValueId before) const {
    const Value& value = program_[before];
    const bool is_state = before != kNoValue &&
                          value.origin == Origin::kExternal &&
                          is_state_[value.index] != 0;
    if (!is_state) {
      base::raise<TraceError>(
          "compile: ranks share out the state of '{}', and the step does "
          "something else with it than one update ({}); let each rank have all "
          "state (.zero = 0), or update each parameter once",
          name_of(call), base::format_site(call.site));
    }
    return value.index;
  }

  void share_out(std::uint32_t i, int owner) {
    const Call update = program_.calls[i];
    const Operand parameter = program_.out(update)[0];
    check_whole(update, parameter);
    if (owner == rank_) {
      update_first(i, parameter.value);
    } else {
      shared_.elsewhere.push_back({.listener = update.listener,
                                   .index = update.listener_index,
                                   .attrs = update.attrs,
                                   .attrs_size = update.attrs_size});
    }
    hand_on(update, parameter.value, owner);
  }

  // A parameter that is a part of a storage would be handed on with all of it.
  void check_whole(const Call& call, const Operand& parameter) const {
    if (!is_whole(parameter.layout, program_[parameter.value].spec->size)) {
      base::raise<TraceError>(
          "compile: '{}' is a part of another tensor, and ranks share out its "
          "state ({}); let each rank have all state (.zero = 0)",
          name_of(call), base::format_site(call.site));
    }
  }

  std::string_view name_of(const Call& call) const {
    return memory::domain().path_of(owner_of(program_.out(call)[0].value));
  }
  memory::OwnerId owner_of(ValueId id) const {
    return program_[id].spec->owner;
  }

  // The update sets a value of its own, over which the known one comes.
  void update_first(std::uint32_t i, ValueId known) {
    const Value copy = program_[known];
    const ValueId updated = program_.add(copy);
    program_[updated].index = i;
    program_[known].over = updated;
    Call update = program_.calls[i];
    memory::Vector<Operand> made(program_.out(update).begin(),
                                 program_.out(update).end());
    made[0].value = updated;
    update.outputs = program_.add(made);
    program_.calls.set(i, update);
    order_.push_back(i);
  }

  void hand_on(const Call& near, ValueId id, int owner) {
    const ValueSpec& spec = program_[id].spec;
    const Bytes bytes = spec.size;
    const Operand whole{
        id, program_.keep(tensor::dense_layout(spec.dtype, spec.shape))};
    Call call = exchange_near(program_, near, "hand_on", {.from = owner});
    call.owner = owner_of(id);
    const auto place = static_cast<std::uint32_t>(program_.calls.size());
    call.outputs = program_.add(std::array{whole});
    program_[id].index = place;
    program_.add(call);
    order_.push_back(place);
    for (int bit = 1; bit < count_; bit *= 2) {
      const bool has_it = (rank_ & ~(bit - 1)) == (owner & ~(bit - 1));
      shared_.state.handed_on += has_it ? bytes : 0;
    }
    shared_.state.least_handed += bytes - bytes / count_;
  }

  Program& program_;
  int rank_;
  int count_;
  memory::Vector<Bytes> state_;            // of each rank
  memory::Vector<std::uint8_t> is_state_;  // by external
  memory::Vector<std::uint32_t> order_;
  SharedUpdates shared_;
};

}  // namespace

std::string parts_of(const StateParts& state) {
  return fmt::format(
      "this rank has {} of {} of optimizer state, no rank more than {}; of "
      "what it sends {} are updated parameters, at least {} on the average of "
      "ranks",
      format_bytes_short(state.own), format_bytes_short(state.all),
      format_bytes_short(state.most), format_bytes_short(state.handed_on),
      format_bytes_short(state.least_handed));
}

bool share_out_updates(Program& program) {
  const Ranks* const ranks = program.ranks.get();
  bool is_any = false;
  for (std::size_t i = 0; i < program.calls.size(); ++i) {
    const Call call = program.calls[i];
    const int among = share_of(call).ranks;
    const int count = ranks != nullptr ? ranks->count() : 1;
    if (among != 1 && among != count) {
      base::raise<TraceError>(
          "compile: the optimizer's state is shared out among {} ranks, and "
          "the step is of {} ({}); give it the ranks of the optimizer "
          "(.ranks)",
          among, count, base::format_site(call.site));
    }
    is_any = is_any || among != 1;
  }
  if (is_any) {
    UpdateSharer(program, *ranks).run();
  }
  return is_any;
}

}  // namespace neap::compiler
