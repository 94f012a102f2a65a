// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Cross entropies over all rows become calls for each row and one for their
// sum, to the same bits, so that the rest of the step may run for some rows at
// a time:
//
//   losses, lse = cross_entropy_rows(logits, labels)
//   loss        = cross_entropy_total(losses, labels)
//   share       = cross_entropy_share(cotangent, labels)      of a mean
//   dlogits     = cross_entropy_grad(share, logits, labels, lse)
#include <array>
#include <string_view>

#include "neap/kernels/loss/cross_entropy_rows.hpp"
#include "neap/ops/loss/cross_entropy.hpp"
#include "neap/program/passes.hpp"
#include "neap/program/rewrite.hpp"

namespace neap::compiler {
namespace {

using kernels::CrossEntropyAttrs;
using kernels::LossReduction;

class LossSplitter {
 public:
  explicit LossSplitter(Program& program) : program_(program) {}

  void run() {
    const auto count = static_cast<std::uint32_t>(program_.calls.size());
    memory::Vector<std::uint32_t> order;
    order.reserve(count);
    for (std::uint32_t i = 0; i < count; ++i) {
      const Call call = program_.calls[i];
      if (is_reduced(call, ops::kCrossEntropy)) {
        split_loss(call, order);
      } else if (is_reduced(call, ops::kCrossEntropyGrad)) {
        split_grad(call, order);
      } else {
        order.push_back(i);
      }
    }
    if (program_.calls.size() != count) {
      keep_calls(program_, order);
      tidy(program_);
    }
  }

 private:
  const CrossEntropyAttrs& attrs(const Call& call) const {
    return *static_cast<const CrossEntropyAttrs*>(program_.attrs_of(call));
  }

  bool is_reduced(const Call& call, const graph::Op& op) const {
    return call.kind == CallKind::kKernel && call.op == &op &&
           call.space == memory::kHost && call.listener == nullptr &&
           !call.reads_outputs &&
           attrs(call).reduction != LossReduction::kNone &&
           program_[program_.out(call)[0].value].over == kNoValue;
  }

  Operand fresh(ValueId like, DType dtype, const Shape& shape) {
    Value value = program_[like];
    ValueSpec spec = *value.spec;
    spec.dtype = dtype;
    spec.shape = shape;
    spec.size = shape.element_count() * size_of(dtype);
    value.spec = program_.keep(spec);
    return {program_.add(value),
            program_.keep(tensor::dense_layout(dtype, shape))};
  }

  void add(Call call, std::span<const Operand> read,
           std::span<const Operand> made,
           memory::Vector<std::uint32_t>& order) {
    const auto place = static_cast<std::uint32_t>(program_.calls.size());
    call.inputs = program_.add(read);
    call.outputs = program_.add(made);
    for (const Operand& operand : made) {
      program_[operand.value].index = place;
    }
    program_.add(call);
    order.push_back(place);
  }

  static Call with_kernels(Call call, const kernels::KernelList& list) {
    call.op = nullptr;
    call.name = list.name;
    call.kernels = &list;
    return call;
  }

  void split_loss(const Call& call, memory::Vector<std::uint32_t>& order) {
    const auto in = program_.in(call);
    const auto out = program_.out(call);
    const Operand logits = in[0];
    const Operand labels = in[1];
    const Operand loss = out[0];
    const Operand lse = out[1];
    const Operand losses =
        fresh(loss.value, f64, Shape{logits.layout->shape[0]});
    add(with_kernels(call, kernels::cross_entropy_rows_kernels),
        std::array{logits, labels}, std::array{losses, lse}, order);
    add(with_kernels(call, kernels::cross_entropy_total_kernels),
        std::array{losses, labels}, std::array{loss}, order);
  }

  void split_grad(Call call, memory::Vector<std::uint32_t>& order) {
    const auto in = program_.in(call);
    std::array<Operand, 4> read{in[0], in[1], in[2], in[3]};
    const Operand made = program_.out(call)[0];
    CrossEntropyAttrs of_sum = attrs(call);
    if (of_sum.reduction == LossReduction::kMean) {
      const Operand share = fresh(made.value, read[0].layout->dtype, Shape{});
      add(with_kernels(call, kernels::cross_entropy_share_kernels),
          std::array{read[0], read[2]}, std::array{share}, order);
      read[0] = share;
      of_sum.reduction = LossReduction::kSum;
      call.attrs = program_.keep_attrs(call.op, of_sum);
    }
    add(call, read, std::array{made}, order);
  }

  Program& program_;
};

}  // namespace

void split_losses(Program& program) {
  // Another library's kernels have bits of their own.
  if (std::string_view(kernels::kernel_set()) == "neap") {
    LossSplitter(program).run();
  }
}

}  // namespace neap::compiler
