// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/program/dataflow.hpp"

#include <algorithm>
#include <numeric>

namespace neap::compiler {
namespace {

// Makes lists from pairs that `visit` gives in the same order both times it is
// called: visit([&](list, item) { ... }).
template <class Visit>
Lists gather(std::size_t lists, const Visit& visit) {
  Lists out;
  out.first.assign(lists + 1, 0);
  visit([&](std::uint32_t list, std::uint32_t) { ++out.first[list + 1]; });
  std::partial_sum(out.first.begin(), out.first.end(), out.first.begin());
  out.items.resize(out.first.back());
  memory::Vector<std::uint32_t> next(out.first);
  visit([&](std::uint32_t list, std::uint32_t item) {
    out.items[next[list]++] = item;
  });
  return out;
}

// Lets every item of a call pass once.
class OncePerCall {
 public:
  explicit OncePerCall(std::size_t items) : latest_(items, kNoCall) {}
  bool operator()(std::uint32_t item, std::uint32_t call) {
    const bool is_first = latest_[item] != call;
    latest_[item] = call;
    return is_first;
  }
  void restart() { latest_.assign(latest_.size(), kNoCall); }

 private:
  memory::Vector<std::uint32_t> latest_;
};

std::uint32_t count_of(const CallTable& calls) {
  return static_cast<std::uint32_t>(calls.size());
}

}  // namespace

bool has_effect(const Call& call) noexcept {
  return call.kind == CallKind::kCheck ||
         (call.op != nullptr &&
          call.op->facts.effect == graph::Effect::kStateful);
}

bool is_whole(const tensor::Layout& layout, Bytes size) noexcept {
  return layout.offset == 0 && tensor::is_contiguous(layout) &&
         tensor::extent_bytes(layout) == size;
}

Dataflow::Dataflow(const Program& program) : program_(program) {
  const std::size_t count = program.values.size();
  heirs_.assign(count, kNoValue);
  roots_.resize(count);
  outlives_.assign(count, 0);
  for (std::uint32_t v = 0; v < count; ++v) {
    roots_[v] = {v};
  }
  // In the order of the calls a memory's earlier value always comes first.
  for (const Call& call : program.calls) {
    for (const Operand& out : program.out(call)) {
      const ValueId over = program[out.value].over;
      if (over != kNoValue) {
        heirs_[over.value] = out.value;
        roots_[out.value.value] = roots_[over.value];
      }
    }
  }
  for (const Result& result : program.results) {
    auto& mark = outlives_[result.operand.value.value];
    mark = std::max<std::uint8_t>(mark, result.is_kept ? 2 : 1);
  }
  for (const LeafGrad& grad : program.grads) {
    if (grad.is_set && grad.last.value != kNoValue) {
      outlives_[grad.last.value.value] = 2;
    }
  }
  note_readers();
}

void Dataflow::note_readers() {
  OncePerCall is_first(program_.values.size());
  const auto note = [&](std::uint32_t call, const auto& pair) {
    for (const Operand& in : program_.in(program_.calls[call])) {
      if (is_first(in.value.value, call)) {
        pair(in.value.value, call);
      }
    }
  };
  readers_ = gather(program_.values.size(), [&](const auto& pair) {
    is_first.restart();
    for (std::uint32_t i = 0; i < count_of(program_.calls); ++i) {
      note(i, pair);
    }
  });
}

namespace {

// A walk of a program; `pair(call, earlier)` is told of each dependence.
template <class Pair>
class DependenceWalk {
 public:
  DependenceWalk(const Program& program, const Dataflow& flow, const Pair& pair)
      : program_(program), flow_(flow), pair_(pair) {}

  void run() {
    for (std::uint32_t i = 0; i < count_of(program_.calls); ++i) {
      const Call& call = program_.calls[i];
      for (const Operand& in : program_.in(call)) {
        after_maker(i, in.value);
      }
      bool writes = false;
      for (const Operand& out : program_.out(call)) {
        after_takeover(i, program_[out.value].over);
        writes = writes || is_write(out);
      }
      if ((writes || has_effect(call)) && effect_ != kNoCall) {
        pair_(i, effect_);
      }
      if (has_effect(call)) {
        after_writes(i);
        effect_ = i;
      }
      if (call.kind == CallKind::kExchange) {
        if (exchange_ != kNoCall) {
          pair_(i, exchange_);
        }
        exchange_ = i;
      }
    }
  }

 private:
  bool is_write(const Operand& out) const {
    return program_[out.value].over != kNoValue &&
           flow_.exists_before(out.value);
  }

  void after_maker(std::uint32_t call, ValueId id) {
    if (program_[id].origin == Origin::kCall) {
      pair_(call, program_[id].index);
    }
  }

  void after_takeover(std::uint32_t call, ValueId over) {
    if (over == kNoValue) {
      return;
    }
    after_maker(call, over);
    for (const std::uint32_t reader : flow_.readers(over)) {
      if (reader != call) {
        pair_(call, reader);
      }
    }
  }

  // Keeps a stateful call, whose effects are unseen, behind earlier writes.
  void after_writes(std::uint32_t call) {
    if (program_.calls[call].kind == CallKind::kCheck) {
      return;
    }
    for (; unbarred_ < call; ++unbarred_) {
      for (const Operand& out : program_.out(program_.calls[unbarred_])) {
        if (is_write(out)) {
          pair_(call, unbarred_);
        }
      }
    }
  }

  const Program& program_;
  const Dataflow& flow_;
  const Pair& pair_;
  std::uint32_t effect_ = kNoCall;    // the latest call with one
  std::uint32_t exchange_ = kNoCall;  // the latest one
  std::uint32_t unbarred_ = 0;        // no write before it counts any more
};

}  // namespace

Lists dependences(const Program& program, const Dataflow& flow) {
  return gather(program.calls.size(), [&](const auto& pair) {
    DependenceWalk(program, flow, pair).run();
  });
}

Memories::Memories(const Program& program, const Dataflow& flow)
    : sizes(program.values.size(), 0), outlives(program.values.size(), 0) {
  for (std::uint32_t v = 0; v < sizes.size(); ++v) {
    const ValueId root = flow.root({v});
    if (root.value == v && !flow.exists_before(root)) {
      sizes[v] =
          base::round_up(program.values[v].spec->size, memory::kAlignment);
    }
    if (flow.outlives({v})) {
      outlives[root.value] = 1;
    }
  }
  for (std::uint32_t v = 0; v < sizes.size(); ++v) {
    if (flow.has_own_block({v})) {
      sizes[flow.root({v}).value] = 0;
    }
  }
  OncePerCall is_first(sizes.size());
  const auto touch = [&](std::uint32_t call, std::span<const Operand> operands,
                         const auto& pair) {
    for (const Operand& operand : operands) {
      const std::uint32_t root = flow.root(operand.value).value;
      if (sizes[root] != 0 && is_first(root, call)) {
        pair(call, root);
      }
    }
  };
  of_call = gather(program.calls.size(), [&](const auto& pair) {
    is_first.restart();
    for (std::uint32_t i = 0; i < count_of(program.calls); ++i) {
      touch(i, program.in(program.calls[i]), pair);
      touch(i, program.out(program.calls[i]), pair);
    }
  });
  calls_of = transposed(of_call, sizes.size());
}

Lists transposed(const Lists& lists, std::size_t count) {
  return gather(count, [&](const auto& pair) {
    for (std::uint32_t i = 0; i + 1 < lists.first.size(); ++i) {
      for (const std::uint32_t item : lists[i]) {
        pair(item, i);
      }
    }
  });
}

}  // namespace neap::compiler
