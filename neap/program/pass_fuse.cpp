// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Groups grow as the calls are walked in order. A group runs where its last
// member stood, so its earlier members move back to there, which is allowed as
// long as nobody outside read what they made or wrote over what they read: the
// first such call closes the group. No path can then leave a group and come
// back to it.
#include <algorithm>
#include <array>

#include "neap/program/dataflow.hpp"
#include "neap/program/fused_call.hpp"
#include "neap/program/passes.hpp"
#include "neap/program/rewrite.hpp"

namespace neap::compiler {
namespace {

constexpr std::uint32_t kNoGroup = ~0U;
constexpr std::size_t kMaxOpen = 8;  // groups that may still grow

struct Group {
  memory::Vector<std::uint32_t> calls;  // ascending
};

class Fuser {
 public:
  explicit Fuser(Program& program)
      : program_(program),
        flow_(program),
        group_of_(program.calls.size(), kNoGroup) {}

  void run() {
    const auto count = static_cast<std::uint32_t>(program_.calls.size());
    for (std::uint32_t i = 0; i < count; ++i) {
      if (may_fuse(program_, program_.calls[i])) {
        place(i);
      }
      close_groups(i);
    }
    rewrite();
  }

 private:
  // --- who goes with whom ----------------------------------------------------

  // The group in which a value is made, if it can still grow.
  std::uint32_t open_maker(ValueId id) const {
    const Value& value = program_[id];
    if (value.origin != Origin::kCall || value.index == kNoCall) {
      return kNoGroup;
    }
    const std::uint32_t group = group_of_[value.index];
    return std::ranges::find(open_, group) != open_.end() ? group : kNoGroup;
  }

  bool are_alike(const Call& a, const Call& b) const {
    return a.space == b.space && a.segment == b.segment &&
           a.stream == b.stream &&
           fused_count(program_, a) == fused_count(program_, b);
  }
  bool is_like(std::uint32_t group, const Call& call) const {
    return are_alike(program_.calls[groups_[group].calls[0]], call);
  }

  // Puts call i into the groups that make what it reads, as one; or into one
  // beside it that reads the same; or into a new one.
  void place(std::uint32_t i) {
    const Call& call = program_.calls[i];
    memory::Vector<std::uint32_t> makers;
    for (const Operand& operand : program_.in(call)) {
      const std::uint32_t group = open_maker(operand.value);
      if (group == kNoGroup) {
        continue;
      }
      if (!is_like(group, call) || !follows_index(program_, call, operand)) {
        std::erase(makers, group);
        refused_.push_back(group);
      } else if (std::ranges::find(makers, group) == makers.end()) {
        makers.push_back(group);
      }
    }
    for (const std::uint32_t group : refused_) {
      std::erase(makers, group);
    }
    refused_.clear();
    std::ranges::sort(makers, std::greater<>());
    if (try_join(makers, i) ||
        (makers.size() > 1 && try_join(std::span(makers).first(1), i)) ||
        try_sibling(i)) {
      return;
    }
    open(i);
  }

  bool try_join(std::span<const std::uint32_t> makers, std::uint32_t i) {
    if (makers.empty()) {
      return false;
    }
    memory::Vector<std::uint32_t> calls{i};
    for (const std::uint32_t group : makers) {
      const auto& more = groups_[group].calls;
      calls.insert(calls.end(), more.begin(), more.end());
    }
    std::ranges::sort(calls);
    if (!pays(calls) || !fits(calls)) {
      return false;
    }
    for (const std::uint32_t group : makers) {
      groups_[group].calls.clear();
      std::erase(open_, group);
    }
    const std::uint32_t group = makers[0];
    for (const std::uint32_t c : calls) {
      group_of_[c] = group;
    }
    groups_[group].calls = std::move(calls);
    open_.push_back(group);
    return true;
  }

  // A group that ends right before this call and reads one of its larger
  // inputs, which then comes from memory once.
  bool try_sibling(std::uint32_t i) {
    const std::uint32_t group = i == 0 ? kNoGroup : group_of_[i - 1];
    if (group == kNoGroup || !is_like(group, program_.calls[i]) ||
        std::ranges::find(open_, group) == open_.end()) {
      return false;
    }
    for (const Operand& read : program_.in(program_.calls[i])) {
      if (open_maker(read.value) != kNoGroup) {
        return false;  // it cannot go along with what it reads
      }
    }
    for (const Operand& read : program_.in(program_.calls[i])) {
      if (follows_index(program_, program_.calls[i], read) &&
          reads(group, read.value)) {
        return try_join({&group, 1}, i);
      }
    }
    return false;
  }

  bool reads(std::uint32_t group, ValueId id) const {
    return std::ranges::any_of(groups_[group].calls, [&](std::uint32_t c) {
      const auto in = program_.in(program_.calls[c]);
      return std::ranges::find(in, id, &Operand::value) != in.end();
    });
  }

  void open(std::uint32_t i) {
    group_of_[i] = static_cast<std::uint32_t>(groups_.size());
    groups_.push_back({{i}});
    if (open_.size() == kMaxOpen) {
      open_.erase(open_.begin());
    }
    open_.push_back(group_of_[i]);
  }

  // --- what a group may be ---------------------------------------------------

  // Members that move back hold what they read for longer, and what they make
  // begins later: the first must not be more than the second.
  bool pays(std::span<const std::uint32_t> calls) const {
    if (calls.back() - calls.front() + 1 == calls.size()) {
      return true;  // nobody stands between them
    }
    Bytes held = 0;
    Bytes saved = 0;
    memory::Vector<ValueId> seen;
    for (const std::uint32_t c : calls.first(calls.size() - 1)) {
      for (const Operand& out : program_.out(program_.calls[c])) {
        saved += program_[out.value].size;
      }
      for (const Operand& in : program_.in(program_.calls[c])) {
        const bool ends_before = !flow_.exists_before(in.value) &&
                                 !flow_.outlives(in.value) &&
                                 !is_made_by(calls, in.value) &&
                                 flow_.readers(in.value).back() < calls.back();
        if (ends_before && std::ranges::find(seen, in.value) == seen.end()) {
          seen.push_back(in.value);
          held += program_[in.value].size;
        }
      }
    }
    return held <= saved;
  }

  bool is_made_by(std::span<const std::uint32_t> calls, ValueId id) const {
    const Value& value = program_[id];
    return value.origin == Origin::kCall &&
           std::ranges::binary_search(calls, value.index);
  }

  bool is_needed_outside(std::span<const std::uint32_t> calls,
                         ValueId id) const {
    return flow_.outlives(id) || flow_.heir(id) != kNoValue ||
           std::ranges::any_of(flow_.readers(id), [&](std::uint32_t reader) {
             return !std::ranges::binary_search(calls, reader);
           });
  }

  FusedParts parts_of(std::span<const std::uint32_t> calls) {
    FusedParts parts;
    const Call& first = program_.calls[calls[0]];
    for (const std::uint32_t c : calls) {
      const Call& member = program_.calls[c];
      parts.members.push_back(member);
      for (const Operand& in : program_.in(member)) {
        if (is_made_by(calls, in.value)) {
          continue;
        }
        const SeenOperand seen = seen_outside(program_, first, member, in);
        if (std::ranges::none_of(parts.in, [&](const Operand& other) {
              return other == seen;
            })) {
          parts.in.push_back(kept(seen));
        }
      }
      for (const Operand& out : program_.out(member)) {
        if (is_needed_outside(calls, out.value)) {
          parts.out.push_back(kept(seen_outside(program_, first, member, out)));
        }
      }
    }
    return parts;
  }

  Operand kept(const SeenOperand& seen) {
    return {seen.value, program_.keep(seen.layout)};
  }

  bool fits(std::span<const std::uint32_t> calls) {
    if (calls.size() > kernels::kMaxFusedMembers) {
      return false;
    }
    const FusedParts parts = parts_of(calls);
    kernels::FusedCall fused(fused_count(program_, parts.members[0]));
    return lay_out(program_, parts.members, parts.in, parts.out, fused);
  }

  // Closes groups before call i, which stays where it is: those whose values it
  // reads, or that compute or read a value which it writes over.
  void close_groups(std::uint32_t i) {
    const Call& call = program_.calls[i];
    std::erase_if(open_, [&](std::uint32_t group) {
      if (group == group_of_[i]) {
        return false;
      }
      for (const Operand& in : program_.in(call)) {
        if (open_maker_is(in.value, group)) {
          return true;
        }
      }
      for (const Operand& out : program_.out(call)) {
        const ValueId over = program_[out.value].over;
        if (over != kNoValue &&
            (open_maker_is(over, group) || reads(group, over))) {
          return true;
        }
      }
      return false;
    });
  }
  bool open_maker_is(ValueId id, std::uint32_t group) const {
    const Value& value = program_[id];
    return value.origin == Origin::kCall && value.index != kNoCall &&
           group_of_[value.index] == group;
  }

  // --- the program afterwards ------------------------------------------------

  void rewrite() {
    memory::Vector<Call> calls;
    calls.reserve(program_.calls.size());
    memory::Vector<std::uint32_t> place(program_.calls.size(), kNoCall);
    for (std::uint32_t i = 0; i < place.size(); ++i) {
      const std::uint32_t group = group_of_[i];
      if (group == kNoGroup || groups_[group].calls.size() == 1) {
        place[i] = static_cast<std::uint32_t>(calls.size());
        calls.push_back(program_.calls[i]);
      } else if (groups_[group].calls.back() == i) {
        for (const std::uint32_t c : groups_[group].calls) {
          place[c] = static_cast<std::uint32_t>(calls.size());
        }
        calls.push_back(fused(groups_[group].calls));
      }
    }
    if (calls.size() == program_.calls.size()) {
      return;
    }
    program_.calls = std::move(calls);
    for (Value& value : program_.values) {
      if (value.origin == Origin::kCall && value.index != kNoCall) {
        value.index = place[value.index];
      }
    }
    for (const Call& call : program_.calls) {
      forget_inner(call);
    }
  }

  Call fused(std::span<const std::uint32_t> calls) {
    const FusedParts parts = parts_of(calls);
    Call call = parts.members.back();
    call.kind = CallKind::kFused;
    call.name = "fused";
    call.op = nullptr;
    call.kernels = nullptr;
    call.attrs = 0;
    call.attrs_size = 0;
    call.draw_at = -1;
    call.inputs = program_.add(parts.in);
    call.outputs = program_.add(parts.out);
    call.members = {static_cast<std::uint32_t>(program_.members.size()),
                    static_cast<std::uint32_t>(parts.members.size())};
    program_.members.insert(program_.members.end(), parts.members.begin(),
                            parts.members.end());
    return call;
  }

  // Values that only members see are values of no call.
  void forget_inner(const Call& call) {
    const auto outs = program_.out(call);
    for (const Call& member : program_.members_of(call)) {
      for (const Operand& made : program_.out(member)) {
        if (std::ranges::find(outs, made.value, &Operand::value) ==
            outs.end()) {
          program_[made.value].index = kNoCall;
        }
      }
    }
  }

  Program& program_;
  const Dataflow flow_;
  memory::Vector<std::uint32_t> group_of_;  // of each call
  memory::Vector<Group> groups_;
  memory::Vector<std::uint32_t> open_;  // the oldest first
  memory::Vector<std::uint32_t> refused_;
};

}  // namespace

void fuse_elementwise(Program& program) {
  Fuser(program).run();
}

}  // namespace neap::compiler
