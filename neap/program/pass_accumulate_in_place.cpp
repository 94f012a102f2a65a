// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A step that adds to gradients makes, as backward does, a new tensor of the
// old gradient and what comes on top. Nobody needs the old one afterwards:
//
//   %7 = matmul(...)            the contribution
//   %8 = add(%7, %2)            %2: the leaf's gradient when the run begins
//   gradient %8                 and when it ends
//
// %8 then takes over %2's memory, and %7 is one of many things in the arena.
#include <algorithm>

#include "neap/program/dataflow.hpp"
#include "neap/program/passes.hpp"

namespace neap::compiler {
namespace {

class Accumulator {
 public:
  explicit Accumulator(Program& program) : program_(program), flow_(program) {}

  void run() {
    for (LeafGrad& grad : program_.grads) {
      if (may_be_added_to(grad) && find_sums(grad)) {
        for (const Sum& sum : sums_) {
          program_[sum.made].over = sum.over;
        }
        grad.is_accumulated = true;
        program_.externals[program_[grad.entry].index].is_written = true;
      }
    }
  }

 private:
  struct Sum {
    ValueId over;
    ValueId made;
  };

  // A gradient that the step returns, or writes into, is a tensor apart from
  // the next run's; one that two leaves share stays unchanged.
  bool may_be_added_to(const LeafGrad& grad) const {
    if (grad.entry == kNoValue || !grad.is_set || grad.last.value == kNoValue ||
        !is_whole(grad.last.layout, program_[grad.entry].spec->size) ||
        flow_.heir(grad.entry) != kNoValue) {
      return false;
    }
    const ValueId last = flow_.root(grad.last.value);
    const bool is_given =
        std::ranges::any_of(program_.results, [&](const Result& result) {
          return flow_.root(result.operand.value) == last;
        });
    return !is_given &&
           std::ranges::count_if(program_.grads, [&](const LeafGrad& other) {
             return other.entry == grad.entry ||
                    (other.last.value != kNoValue &&
                     flow_.root(other.last.value) == last);
           }) == 1;
  }

  // The values from the gradient at entry to the last, each made of the one
  // before by a call that is the last to read it and may write over it.
  bool find_sums(const LeafGrad& grad) {
    sums_.clear();
    ValueId now = grad.entry;
    while (now != grad.last.value) {
      if (flow_.outlives(now)) {
        return false;
      }
      if (flow_.heir(now) != kNoValue) {
        now = flow_.heir(now);
        continue;
      }
      const ValueId made = made_over(now, grad.last.layout);
      if (made == kNoValue) {
        return false;
      }
      sums_.push_back({now, made});
      now = made;
    }
    return !sums_.empty();
  }

  ValueId made_over(ValueId old, const tensor::Layout& layout) const {
    if (flow_.readers(old).empty()) {
      return kNoValue;
    }
    const Call& call = program_.calls[flow_.readers(old).back()];
    if (call.kind != CallKind::kKernel || call.op == nullptr ||
        call.outputs.count != 1) {
      return kNoValue;
    }
    const Operand& made = program_.out(call)[0];
    const Value& value = program_[made.value];
    const std::span<const Operand> in = program_.in(call);
    bool may = made.layout == layout && value.over == kNoValue &&
               value.spec->size == program_[old].spec->size &&
               value.spec->space == program_[old].spec->space;
    for (std::size_t k = 0; k < in.size(); ++k) {
      may = may && (in[k].value != old ||
                    (k < 32 && (call.op->facts.donates >> k & 1U) != 0 &&
                     in[k].layout == layout));
    }
    return may ? made.value : kNoValue;
  }

  Program& program_;
  const Dataflow flow_;
  memory::Vector<Sum> sums_;
};

}  // namespace

void accumulate_in_place(Program& program) {
  Accumulator(program).run();
}

}  // namespace neap::compiler
