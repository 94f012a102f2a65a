// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/program/head_region.hpp"

#include <algorithm>
#include <utility>

#include "neap/kernels/engine/attrs.hpp"
#include "neap/kernels/loss/loss_attrs.hpp"
#include "neap/ops/linalg/linear.hpp"
#include "neap/ops/linalg/matmul.hpp"
#include "neap/ops/loss/cross_entropy.hpp"
#include "neap/ops/reduction/sum.hpp"

namespace neap::compiler {
namespace {

using kernels::CrossEntropyAttrs;

// Marks all calls that a list of edges leads to from the marked ones.
void close(memory::Vector<std::uint8_t>& marks, const Lists& edges) {
  memory::Vector<std::uint32_t> open;
  for (std::uint32_t i = 0; i < marks.size(); ++i) {
    if (marks[i] != 0) {
      open.push_back(i);
    }
  }
  while (!open.empty()) {
    const std::uint32_t call = open.back();
    open.pop_back();
    for (const std::uint32_t other : edges[call]) {
      if (marks[other] == 0) {
        marks[other] = 1;
        open.push_back(other);
      }
    }
  }
}

bool is_same(const CrossEntropyAttrs& a, const CrossEntropyAttrs& b) {
  return a.label_smoothing == b.label_smoothing &&
         a.ignore_index == b.ignore_index && a.reduction == b.reduction;
}

class Finder {
 public:
  explicit Finder(const Program& program)
      : program_(program),
        flow_(program),
        before_(dependences(program, flow_)),
        after_(transposed(before_, program.calls.size())) {}

  memory::Vector<Head> run(Bytes least) const {
    memory::Vector<Head> out;
    for (std::uint32_t i = 0; i < program_.calls.size(); ++i) {
      Head head;
      if (is_host_call(i, ops::kCrossEntropy) && find(i, least, head)) {
        out.push_back(std::move(head));
      }
    }
    return out;
  }

  // All of the head runs where the loss did, with what it depends on before it.
  // False: a call stands between calls of the head.
  bool place(const Head& head, BesideHead& out) const {
    const std::size_t count = program_.calls.size();
    memory::Vector<std::uint8_t> inside(count, 0);
    for (const std::uint32_t i : calls_of(head)) {
      inside[i] = 1;
    }
    memory::Vector<std::uint8_t> needed(inside);
    memory::Vector<std::uint8_t> depends(inside);
    close(needed, before_);
    close(depends, after_);
    for (std::uint32_t i = 0; i < count; ++i) {
      if (inside[i] != 0) {
        continue;
      }
      if (needed[i] != 0 && depends[i] != 0) {
        return false;
      }
      const bool is_before =
          needed[i] != 0 || (depends[i] == 0 && i < head.loss);
      (is_before ? out.before : out.after).push_back(i);
    }
    return true;
  }

 private:
  Call call(std::uint32_t i) const { return program_.calls[i]; }
  const Operand& in(std::uint32_t i, std::size_t k) const {
    return program_.in(call(i))[k];
  }
  const Operand& out(std::uint32_t i, std::size_t k = 0) const {
    return program_.out(call(i))[k];
  }

  bool is_host_call(std::uint32_t i, const graph::Op& op) const {
    const Call& it = call(i);
    return it.kind == CallKind::kKernel && it.op == &op &&
           it.space == memory::kHost && it.listener == nullptr &&
           !it.reads_outputs;
  }

  bool find(std::uint32_t loss, Bytes least, Head& head) const {
    const Shape& shape = in(loss, 0).layout->shape;
    head.loss = loss;
    head.rows = shape[0];
    head.classes = shape[1];
    head.logits = program_[in(loss, 0).value].spec->size;
    BesideHead unused;
    return head.logits >= least && finds_forward(head) &&
           finds_backward(head) && reads_only_what_is_outside(head) &&
           place(head, unused);
  }

  // --- the pattern -----------------------------------------------------------

  // All of a value, as rows, or as columns: its transpose.
  bool are_rows(const Operand& operand, const Head& head) const {
    return is_matrix(operand, Shape{head.rows, head.classes},
                     Shape{head.classes, 1});
  }
  bool are_columns(const Operand& operand, const Head& head) const {
    return is_matrix(operand, Shape{head.classes, head.rows},
                     Shape{1, head.classes});
  }
  bool is_matrix(const Operand& operand, const Shape& shape,
                 const Shape& strides) const {
    const tensor::Layout& layout = operand.layout;
    return layout.offset == 0 && layout.shape == shape &&
           layout.strides == strides &&
           program_[operand.value].spec->size ==
               shape.element_count() * size_of(layout.dtype);
  }

  // Made by this call for those readers alone.
  bool is_inner(ValueId id,
                std::initializer_list<std::uint32_t> readers) const {
    return program_[id].over == kNoValue && flow_.heir(id) == kNoValue &&
           !flow_.outlives(id) &&
           std::ranges::all_of(flow_.readers(id), [&](std::uint32_t reader) {
             return std::ranges::find(readers, reader) != readers.end();
           });
  }

  // True for a value that the call makes as a whole, for any reader.
  bool is_given(const Operand& operand) const {
    const Value& value = program_[operand.value];
    return value.over == kNoValue && is_whole(operand.layout, value.spec->size);
  }

  bool finds_forward(Head& head) const {
    const Operand& logits = in(head.loss, 0);
    const Value& value = program_[logits.value];
    if (value.origin != Origin::kCall ||
        attrs(head.loss).reduction == kernels::LossReduction::kNone ||
        !are_rows(logits, head) || !is_given(out(head.loss))) {
      return false;
    }
    head.product = value.index;
    if (!(is_host_call(head.product, ops::kLinear) ||
          is_host_call(head.product, ops::kMatmul)) ||
        !are_rows(out(head.product), head) ||
        in(head.product, 0).layout->shape.rank() != 2 ||
        in(head.product, 1).layout->shape.rank() != 2) {
      return false;
    }
    for (const std::uint32_t reader : flow_.readers(logits.value)) {
      if (reader != head.loss) {
        head.grad = head.grad == kNoCall ? reader : head.loss;
      }
    }
    return head.grad != head.loss &&  // at most one other reader
           is_inner(logits.value, {head.loss, head.grad}) &&
           is_inner(out(head.loss, 1).value, {head.grad});
  }

  const CrossEntropyAttrs& attrs(std::uint32_t i) const {
    return *static_cast<const CrossEntropyAttrs*>(program_.attrs_of(call(i)));
  }

  bool finds_backward(Head& head) const {
    if (head.grad == kNoCall) {
      return true;
    }
    if (!is_host_call(head.grad, ops::kCrossEntropyGrad) ||
        in(head.grad, 1).value != in(head.loss, 0).value ||
        !are_rows(in(head.grad, 1), head) ||
        in(head.grad, 3).value != out(head.loss, 1).value ||
        !are_rows(out(head.grad), head) ||
        !is_same(attrs(head.grad), attrs(head.loss))) {
      return false;
    }
    const ValueId gradient = out(head.grad).value;
    if (program_[gradient].over != kNoValue || flow_.outlives(gradient) ||
        flow_.heir(gradient) != kNoValue) {
      return false;
    }
    for (const std::uint32_t reader : flow_.readers(gradient)) {
      HeadUse use{.call = reader};
      if (!find_use(head, gradient, use)) {
        return false;
      }
      head.uses.push_back(use);
    }
    return !head.uses.empty();
  }

  bool find_use(const Head& head, ValueId gradient, HeadUse& use) const {
    const std::uint32_t i = use.call;
    const std::span<const Operand> read = program_.in(call(i));
    if (std::ranges::count(read, gradient, &Operand::value) != 1 ||
        call(i).outputs.count != 1 || !is_given(out(i))) {
      return false;
    }
    if (is_host_call(i, ops::kSum)) {
      use.kind = RowUse::kAdded;
      return are_rows(read[0], head) &&
             static_cast<const kernels::ReduceAttrs*>(
                 program_.attrs_of(call(i)))
                     ->axes == 1;
    }
    if (!(is_host_call(i, ops::kMatmul) || is_host_call(i, ops::kMatmulAdd)) ||
        out(i).layout->shape.rank() != 2) {
      return false;
    }
    const Operand& a = read[read.size() - 2];
    const Operand& b = read[read.size() - 1];
    if (a.value == gradient) {
      use.kind = are_rows(a, head) ? RowUse::kMapped : RowUse::kSummedFirst;
      return are_rows(a, head) || are_columns(a, head);
    }
    use.kind = RowUse::kSummedSecond;
    return b.value == gradient && are_rows(b, head);
  }

  // --- its place -------------------------------------------------------------

  memory::Vector<std::uint32_t> calls_of(const Head& head) const {
    memory::Vector<std::uint32_t> calls{head.product, head.loss};
    if (head.grad != kNoCall) {
      calls.push_back(head.grad);
    }
    for (const HeadUse& use : head.uses) {
      calls.push_back(use.call);
    }
    return calls;
  }

  // Nothing but the logits, their lse and their gradient goes from call to call
  // inside.
  bool reads_only_what_is_outside(const Head& head) const {
    const auto calls = calls_of(head);
    std::size_t inner = 0;
    for (const std::uint32_t i : calls) {
      for (const Operand& read : program_.in(call(i))) {
        const Value& value = program_[read.value];
        inner += value.origin == Origin::kCall &&
                         std::ranges::find(calls, value.index) != calls.end()
                     ? 1U
                     : 0U;
      }
    }
    return inner == (head.grad == kNoCall ? 1U : 3U + head.uses.size());
  }

  const Program& program_;
  Dataflow flow_;
  Lists before_;
  Lists after_;
};

// The bytes of the arena that calls touch.
class Widths {
 public:
  explicit Widths(const Program& program)
      : program_(program), flow_(program), memories_(program, flow_) {}

  HeadSize of(const Head& head) const {
    HeadSize size{.logits = head.logits, .rows = head.rows};
    for (std::uint32_t i = 0; i < program_.calls.size(); ++i) {
      Bytes beside = 0;
      bool is_of_head = false;
      for (const std::uint32_t m : memories_.of_call[i]) {
        const bool is_logits =
            m == memory_of(head, head.loss) || m == memory_of(head, head.grad);
        is_of_head = is_of_head || is_logits;
        beside += is_logits ? 0 : memories_.sizes[m];
      }
      Bytes& widest = is_of_head ? size.fixed : size.others;
      widest = std::max(widest, beside);
    }
    return size;
  }

 private:
  // The logits', read by the loss, or their gradient's.
  std::uint32_t memory_of(const Head& head, std::uint32_t call) const {
    if (call == kNoCall) {
      return kNoCall;
    }
    const Call& it = program_.calls[call];
    const Operand& operand =
        call == head.loss ? program_.in(it)[0] : program_.out(it)[0];
    return flow_.root(operand.value).value;
  }

  const Program& program_;
  const Dataflow flow_;
  const Memories memories_;
};

}  // namespace

memory::Vector<Head> heads_of(const Program& program, Bytes least) {
  return Finder(program).run(least);
}

BesideHead beside(const Program& program, const Head& head) {
  BesideHead out;
  Finder(program).place(head, out);
  return out;
}

HeadSize widest_head(const Program& program) {
  const memory::Vector<Head> heads = heads_of(program);
  const auto largest = std::ranges::max_element(heads, {}, &Head::logits);
  return largest == heads.end() ? HeadSize{} : Widths(program).of(*largest);
}

}  // namespace neap::compiler
