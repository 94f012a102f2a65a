// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/compile/dataflow.hpp"

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

std::uint32_t count_of(const memory::Vector<Call>& calls) {
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
  memory::Vector<std::uint32_t> latest(program_.values.size());
  readers_ = gather(program_.values.size(), [&](const auto& pair) {
    latest.assign(latest.size(), kNoCall);
    for (std::uint32_t i = 0; i < count_of(program_.calls); ++i) {
      for (const Operand& in : program_.in(program_.calls[i])) {
        if (latest[in.value.value] != i) {
          latest[in.value.value] = i;
          pair(in.value.value, i);
        }
      }
    }
  });
}

Lists dependences(const Program& program, const Dataflow& flow) {
  return gather(program.calls.size(), [&](const auto& pair) {
    const auto after_maker = [&](std::uint32_t call, ValueId id) {
      const Value& value = program[id];
      if (value.origin == Origin::kCall) {
        pair(call, value.index);
      }
    };
    std::uint32_t effect = kNoCall;  // the latest call with one
    std::uint32_t unbarred = 0;      // no write before it counts any more
    for (std::uint32_t i = 0; i < count_of(program.calls); ++i) {
      const Call& call = program.calls[i];
      bool writes = false;
      for (const Operand& in : program.in(call)) {
        after_maker(i, in.value);
      }
      for (const Operand& out : program.out(call)) {
        const ValueId over = program[out.value].over;
        if (over == kNoValue) {
          continue;
        }
        after_maker(i, over);
        for (const std::uint32_t reader : flow.readers(over)) {
          if (reader != i) {
            pair(i, reader);
          }
        }
        writes = writes || flow.exists_before(out.value);
      }
      if ((writes || has_effect(call)) && effect != kNoCall) {
        pair(i, effect);
      }
      if (has_effect(call)) {
        // What it does unseen stays behind the writes before it.
        for (; call.kind != CallKind::kCheck && unbarred < i; ++unbarred) {
          for (const Operand& out : program.out(program.calls[unbarred])) {
            if (program[out.value].over != kNoValue &&
                flow.exists_before(out.value)) {
              pair(i, unbarred);
            }
          }
        }
        effect = i;
      }
    }
  });
}

Memories::Memories(const Program& program, const Dataflow& flow)
    : sizes(program.values.size(), 0), outlives(program.values.size(), 0) {
  for (std::uint32_t v = 0; v < sizes.size(); ++v) {
    const ValueId root = flow.root({v});
    if (root.value == v && !flow.exists_before(root)) {
      sizes[v] = base::round_up(program.values[v].size, memory::kAlignment);
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
  memory::Vector<std::uint32_t> latest(sizes.size());
  of_call = gather(program.calls.size(), [&](const auto& pair) {
    latest.assign(latest.size(), kNoCall);
    for (std::uint32_t i = 0; i < count_of(program.calls); ++i) {
      const auto touch = [&](std::span<const Operand> operands) {
        for (const Operand& operand : operands) {
          const std::uint32_t root = flow.root(operand.value).value;
          if (sizes[root] != 0 && latest[root] != i) {
            latest[root] = i;
            pair(i, root);
          }
        }
      };
      touch(program.in(program.calls[i]));
      touch(program.out(program.calls[i]));
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
