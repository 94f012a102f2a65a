// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/compile/lifetimes.hpp"

#include <algorithm>

#include "neap/base/raise.hpp"
#include "neap/program/pool_bytes.hpp"

namespace neap::compiler {
namespace {

class Builder {
 public:
  Builder(const Program& program, const Debug& debug)
      : program_(program), debug_(debug) {
    out_.calls = static_cast<std::uint32_t>(program.calls.size());
    out_.buffer_of.assign(program.values.size(), kNoBuffer);
    out_.buffers.reserve(program.values.size());
  }

  Lifetimes run() {
    join_values();
    for (std::uint32_t i = 0; i < out_.calls; ++i) {
      note_uses(i);
    }
    for (const Result& result : program_.results) {
      outlasts(result.operand.value, result.is_kept);
    }
    for (const LeafGrad& grad : program_.grads) {
      if (grad.is_set) {
        outlasts(grad.last.value, true);
      }
    }
    if (debug_.no_reuse) {
      for (Buffer& buffer : out_.buffers) {
        buffer.first = 0;
        buffer.last = out_.calls;
      }
    }
    trim(out_.buffers);
    return std::move(out_);
  }

 private:
  // True where a value lies in the buffer of the one that it is over. Without
  // reuse, what was only taken over to save memory is not.
  bool shares(const Value& value) const {
    if (value.over == kNoValue) {
      return false;
    }
    if (!debug_.no_reuse || value.origin != Origin::kCall ||
        is_outside(value.over)) {
      return true;
    }
    const Call& call = program_.calls[value.index];
    return call.kind != CallKind::kFused &&
           (call.op == nullptr || call.reads_outputs);
  }
  bool is_outside(ValueId id) const {
    const BufferId buffer = out_.buffer_of[id.value];
    return buffer != kNoBuffer && at(buffer).where != Where::kArena;
  }
  const Buffer& at(BufferId id) const { return out_.buffers[id.value]; }
  Buffer& at(BufferId id) { return out_.buffers[id.value]; }

  // A value may come before the one that it is over: the chain is walked down
  // to what has a buffer, or needs one, and back.
  void join_values() {
    memory::Vector<ValueId> chain;
    for (std::uint32_t i = 0; i < program_.values.size(); ++i) {
      chain.clear();
      ValueId id{i};
      while (out_.buffer_of[id.value] == kNoBuffer) {
        chain.push_back(id);
        if (program_[id].over == kNoValue) {
          break;
        }
        id = program_[id].over;
        if (chain.size() > program_.values.size()) {
          base::raise<InternalError>("lifetimes: value {} is over itself", i);
        }
      }
      while (!chain.empty()) {
        place(chain.back());
        chain.pop_back();
      }
    }
  }

  void place(ValueId id) {
    const Value& value = program_[id];
    BufferId& mine = out_.buffer_of[id.value];
    if (shares(value)) {
      mine = out_.buffer_of[value.over.value];
      at(mine).size = std::max(at(mine).size, value.spec->size);
      return;
    }
    Buffer buffer{.space = value.spec->space,
                  .size = value.spec->size,
                  .first = out_.calls,
                  .last = 0,
                  .value = id};
    if (value.origin != Origin::kCall) {
      buffer.where = value.origin == Origin::kArgument ? Where::kArgument
                                                       : Where::kExternal;
      buffer.index = value.index;
    }
    mine = {static_cast<std::uint32_t>(out_.buffers.size())};
    out_.buffers.push_back(buffer);
  }

  void touch(ValueId id, std::uint32_t call) {
    Buffer& buffer = at(out_.buffer_of[id.value]);
    buffer.first = std::min(buffer.first, call);
    buffer.last = std::max(buffer.last, call);
  }

  void note_uses(std::uint32_t i) {
    const Call& call = program_.calls[i];
    for (const Operand& operand : program_.in(call)) {
      touch(operand.value, i);
    }
    for (const Operand& operand : program_.out(call)) {
      touch(operand.value, i);
    }
    if (is_move(call)) {
      at(out_.buffer_of[program_.moved(call).value.value]).is_moved = true;
    }
    if (call.scratch != 0) {
      out_.scratch_of.resize(out_.calls, kNoBuffer);
      out_.scratch_of[i] = {static_cast<std::uint32_t>(out_.buffers.size())};
      out_.buffers.push_back({.space = call.space,
                              .size = call.scratch,
                              .first = i,
                              .last = i,
                              .value = kNoValue});
    }
  }

  void outlasts(ValueId id, bool in_own_block) {
    if (id == kNoValue) {
      return;
    }
    Buffer& buffer = at(out_.buffer_of[id.value]);
    buffer.last = out_.calls;
    if (in_own_block && buffer.where == Where::kArena) {
      if (buffer.is_moved) {  // by whole pages, which the block has not
        base::raise<InternalError>(
            "lifetimes: value {}, which is moved, has a block of its own",
            id.value);
      }
      buffer.where = Where::kOwn;
      buffer.index = out_.own_blocks++;
    }
  }

  const Program& program_;
  const Debug& debug_;
  Lifetimes out_;
};

Bytes unit_of(const Buffer& buffer, const Debug& debug) noexcept {
  return buffer.is_moved && !debug.guards ? kSpillUnit : kUnit;
}

}  // namespace

Lifetimes lifetimes(const Program& program, const Debug& debug) {
  return Builder(program, debug).run();
}

Bytes planned_bytes(const Buffer& buffer, const Debug& debug) noexcept {
  const Bytes bands = debug.guards ? 2 * kBand : 0;
  return buffer.size == 0
             ? 0
             : base::round_up(buffer.size + bands, unit_of(buffer, debug));
}

SpaceProblem problem_of(const Lifetimes& lifetimes, memory::SpaceId space,
                        const Debug& debug) {
  SpaceProblem out;
  for (std::uint32_t i = 0; i < lifetimes.buffers.size(); ++i) {
    const Buffer& buffer = lifetimes.buffers[i];
    if (buffer.where != Where::kArena || buffer.space != space ||
        buffer.first > buffer.last) {  // nobody ever asks for it
      continue;
    }
    out.problem.buffers.push_back(
        {.lower = buffer.first,
         .upper = std::int64_t{buffer.last} + 1,
         .size = planned_bytes(buffer, debug) / kUnit,
         .alignment = unit_of(buffer, debug) / kUnit});
    out.buffers.push_back({i});
  }
  return out;
}

}  // namespace neap::compiler
