// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/program/time_layers.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "neap/kernels/engine/attrs.hpp"
#include "neap/kernels/sequence/recurrent.hpp"
#include "neap/ops/linalg/matmul.hpp"
#include "neap/ops/reduction/sum.hpp"
#include "neap/ops/sequence/gru.hpp"
#include "neap/ops/sequence/lstm.hpp"
#include "neap/ops/sequence/recurrent_grads.hpp"
#include "neap/ops/sequence/rnn.hpp"
#include "neap/ops/shape/views.hpp"

namespace neap::compiler {
namespace {

using kernels::RecurrentAttrs;
using kernels::RecurrentGradAttrs;

constexpr std::array kForms{
    TimeForm{&ops::kLstm, &ops::kLstmGrad, 4, 2},
    TimeForm{&ops::kGru, &ops::kGruGrad, 3, 2},
    TimeForm{&ops::kRnn, &ops::kRnnGrad, 2, 0},
};

bool is_host_call(const Call& call) {
  return call.kind == CallKind::kKernel && call.space == memory::kHost &&
         call.listener == nullptr && !call.reads_outputs;
}

// All elements of a shape, row by row, from the first of a value on.
bool is_dense(const Operand& operand, const Shape& shape) {
  return operand.layout->offset == 0 && operand.layout->shape == shape &&
         tensor::is_contiguous(operand.layout);
}

class Finder {
 public:
  explicit Finder(const Program& program)
      : program_(program),
        flow_(program),
        layer_of_(program.calls.size(), kNoCall),
        use_of_(program.calls.size(), kNoCall),
        is_taken_(program.calls.size(), 0) {}

  memory::Vector<TimeLayer> run() {
    for (std::uint32_t i = 0; i < program_.calls.size(); ++i) {
      TimeLayer layer{.call = i};
      if (time_form_of(call(i)) != nullptr && find(layer) &&
          is_apart_from_others(layer)) {
        note(layer);
        layers_.push_back(std::move(layer));
      }
    }
    for (TimeLayer& layer : layers_) {
      layer.has_whole_y = !is_read_by_steps(layer);
      for (TimeGrad& grad : layer.grads) {
        for (TimeUse& use : grad.uses) {
          use.is_apart = use.kind == StepUse::kMapped &&
                         is_read_by_grads(out(use.call).value, layer);
        }
      }
    }
    return std::move(layers_);
  }

 private:
  Call call(std::uint32_t i) const { return program_.calls[i]; }
  std::span<const Operand> in(std::uint32_t i) const {
    return program_.in(call(i));
  }
  const Operand& out(std::uint32_t i, std::size_t k = 0) const {
    return program_.out(call(i))[k];
  }
  template <class T>
  const T& attrs(std::uint32_t i) const {
    return *static_cast<const T*>(program_.attrs_of(call(i)));
  }
  bool is(std::uint32_t i, const graph::Op& op) const {
    return call(i).op == &op && is_host_call(call(i));
  }

  // A new value that a call makes as a whole, and nothing writes to.
  bool is_plain(const Operand& operand) const {
    const Value& value = program_[operand.value];
    return value.over == kNoValue && flow_.heir(operand.value) == kNoValue &&
           is_whole(operand.layout, value.spec->size);
  }
  bool is_inner(const Operand& operand) const {
    return is_plain(operand) && !flow_.outlives(operand.value);
  }

  // --- a layer ---------------------------------------------------------------

  bool find(TimeLayer& layer) const {
    const TimeForm& form = *time_form_of(call(layer.call));
    if (!is_host_call(call(layer.call))) {
      return false;
    }
    const auto& how = attrs<RecurrentAttrs>(layer.call);
    const Shape& y = out(layer.call).layout->shape;
    layer.steps = y[0];
    layer.batch = y[1];
    layer.is_reverse = how.is_reverse;
    if (!how.keeps || layer.steps < 2 || layer.batch == 0 ||
        !is_plain(out(layer.call)) || !is_plain(out(layer.call, 1))) {
      return false;
    }
    for (std::size_t k = 2; k < form.outputs; ++k) {
      if (!is_inner(out(layer.call, k))) {
        return false;
      }
    }
    const Operand& kept = out(layer.call, form.has_gates() ? 2 : 0);
    for (const std::uint32_t reader : flow_.readers(kept.value)) {
      if (is(reader, *form.grad) && in(reader)[0].value == kept.value) {
        TimeGrad grad{.call = reader};
        if (!find_grad(layer, form, grad)) {
          return false;
        }
        layer.grads.push_back(std::move(grad));
      } else if (form.has_gates()) {
        return false;
      }
    }
    if (form.has_c()) {
      layer.has_last_c =
          flow_.readers(out(layer.call, 3).value).size() > layer.grads.size();
    }
    return !layer.grads.empty() && (!form.has_c() || has_good_c(layer));
  }

  // Beside the gradients, c is read at the last step alone.
  bool has_good_c(const TimeLayer& layer) const {
    const Operand& c = out(layer.call, 3);
    const Shape& shape = c.layout->shape;
    const std::int64_t step = shape[1] * shape[2];
    const std::int64_t last = layer.is_reverse ? 0 : (layer.steps - 1) * step;
    for (const std::uint32_t reader : flow_.readers(c.value)) {
      const bool is_grad =
          std::ranges::find(layer.grads, reader, &TimeGrad::call) !=
          layer.grads.end();
      for (const Operand& read : in(reader)) {
        const std::int64_t end =
            tensor::extent_bytes(read.layout) / size_of(read.layout->dtype);
        if (read.value == c.value && !is_grad &&
            (call(reader).kind != CallKind::kKernel ||
             read.layout->offset < last || end > last + step)) {
          return false;
        }
      }
    }
    return true;
  }

  // --- a gradient ------------------------------------------------------------

  bool find_grad(const TimeLayer& layer, const TimeForm& form,
                 TimeGrad& grad) const {
    const std::span<const Operand> read = in(grad.call);
    const Operand& kept = out(layer.call, form.has_gates() ? 2 : 0);
    const Operand& made = out(grad.call);
    if (std::ranges::count(read, kept.value, &Operand::value) != 1 ||
        !is_dense(read[0], kept.layout->shape) || !is_inner(made) ||
        attrs<RecurrentGradAttrs>(grad.call).is_reverse != layer.is_reverse ||
        attrs<RecurrentGradAttrs>(grad.call).has_last_dc) {
      return false;
    }
    for (std::size_t k = 1; k < call(grad.call).outputs.count; ++k) {
      if (!is_plain(out(grad.call, k))) {
        return false;
      }
    }
    if (form.values != 0) {
      const Operand& values = out(layer.call, form.has_c() ? 3 : 0);
      if (read[form.values].value != values.value ||
          std::ranges::count(read, values.value, &Operand::value) != 1 ||
          !is_dense(read[form.values], values.layout->shape)) {
        return false;
      }
    }
    return find_uses(layer, grad) && place(layer, grad);
  }

  bool find_uses(const TimeLayer& layer, TimeGrad& grad) const {
    for (const std::uint32_t reader : flow_.readers(out(grad.call).value)) {
      TimeUse use{.call = reader};
      if (!find_use(layer, grad, use)) {
        return false;
      }
      grad.uses.push_back(use);
    }
    for (TimeUse& use : grad.uses) {
      use.is_first = std::ranges::any_of(grad.uses, [&](const TimeUse& other) {
        return &other != &use && reads(other.call, out(use.call).value);
      });
    }
    return !grad.uses.empty();
  }

  bool reads(std::uint32_t i, ValueId id) const {
    return std::ranges::find(in(i), id, &Operand::value) != in(i).end();
  }

  bool find_use(const TimeLayer& layer, const TimeGrad& grad,
                TimeUse& use) const {
    const std::span<const Operand> read = in(use.call);
    const Operand& dgates = out(grad.call);
    const std::int64_t rows = layer.steps * layer.batch;
    const std::int64_t columns = dgates.layout->shape[2];
    if (std::ranges::count(read, dgates.value, &Operand::value) != 1 ||
        call(use.call).outputs.count != 1 || !is_plain(out(use.call))) {
      return false;
    }
    if (is(use.call, ops::kSum)) {
      use.kind = StepUse::kAdded;
      return is_dense(read[0], {rows, columns}) &&
             attrs<kernels::ReduceAttrs>(use.call).axes == 1;
    }
    const bool adds = is(use.call, ops::kMatmulAdd);
    if (!(adds || is(use.call, ops::kMatmul)) ||
        read[read.size() - 2].value != dgates.value ||
        out(use.call).layout->shape.rank() != 2) {
      return false;
    }
    const tensor::Layout& a = read[read.size() - 2].layout;
    const tensor::Layout& b = read[read.size() - 1].layout;
    if (a.shape.rank() != 2 || b.shape.rank() != 2) {
      return false;
    }
    if (a.shape[0] == rows && a.strides[0] == columns && a.strides[1] == 1) {
      use.kind = StepUse::kMapped;
      return !adds && a.offset < columns;
    }
    if (a.strides[0] != 1 || a.strides[1] != columns || a.shape[1] == 0 ||
        a.offset / columns % layer.batch != 0 ||
        a.shape[1] % layer.batch != 0) {
      return false;
    }
    use.kind = StepUse::kSummed;
    find_copy(layer, use);
    // Products in bf16 take rows in pairs.
    return layer.batch % 2 == 0 ||
           attrs<kernels::ProductAttrs>(use.call).precision !=
               kernels::Precision::kBf16;
  }

  // A copy of x, (T, b, f), that the product alone reads as (T b, f).
  void find_copy(const TimeLayer& layer, TimeUse& use) const {
    const Operand& b = in(use.call).back();
    const Value& value = program_[b.value];
    if (value.origin != Origin::kCall || !is(value.index, ops::kCopy)) {
      return;
    }
    const Operand& made = out(value.index);
    const Operand& from = in(value.index)[0];
    const Shape& shape = made.layout->shape;
    if (shape.rank() == 3 && shape[0] == layer.steps &&
        shape[1] == layer.batch && is_inner(made) &&
        is_dense(b, {shape[0] * shape[1], shape[2]}) &&
        from.layout->shape == shape && flow_.heir(from.value) == kNoValue &&
        flow_.readers(b.value).size() == 1) {
      use.copy = value.index;
    }
  }

  // --- where it runs ---------------------------------------------------------

  // All uses wait for the last of them, and what reads them waits, too.
  bool place(const TimeLayer& layer, TimeGrad& grad) const {
    grad.place = grad.uses.back().call;
    const auto is_use = [&](std::uint32_t i) {
      return std::ranges::find(grad.uses, i, &TimeUse::call) != grad.uses.end();
    };
    const auto waits = [&](std::uint32_t i) {
      return is_use(i) || std::ranges::find(grad.after, i) != grad.after.end();
    };
    for (std::uint32_t i = grad.uses.front().call; i < grad.place; ++i) {
      if (!is_use(i) && reads_any(i, grad)) {
        grad.after.push_back(i);
      }
    }
    if (std::ranges::any_of(grad.uses, [&](const TimeUse& use) {
          return !may_wait(use.call, grad.place, waits) ||
                 reads_after(use.call, grad);
        })) {
      return false;
    }
    grad.is_late = layer.is_reverse &&
                   std::ranges::none_of(grad.uses, &TimeUse::is_first) &&
                   may_wait(grad.call, grad.place, waits);
    return std::ranges::all_of(grad.after, [&](std::uint32_t i) {
      return is_host_call(call(i)) && !has_effect(call(i)) &&
             std::ranges::all_of(
                 program_.out(call(i)),
                 [&](const Operand& made) { return is_plain(made); }) &&
             may_wait(i, grad.place, waits);
    });
  }

  bool makes(std::uint32_t i, ValueId id) const {
    return program_[id].origin == Origin::kCall && program_[id].index == i;
  }
  bool reads_after(std::uint32_t i, const TimeGrad& grad) const {
    return std::ranges::any_of(in(i), [&](const Operand& read) {
      return std::ranges::any_of(grad.after, [&](std::uint32_t other) {
        return makes(other, read.value);
      });
    });
  }
  bool reads_any(std::uint32_t i, const TimeGrad& grad) const {
    return reads_after(i, grad) ||
           std::ranges::any_of(grad.uses, [&](const TimeUse& use) {
             return reads(i, out(use.call).value);
           });
  }

  // Nothing before `place` but what waits, too, reads what a call makes, or
  // writes over what it reads.
  template <class Waits>
  bool may_wait(std::uint32_t i, std::uint32_t place,
                const Waits& waits) const {
    for (const Operand& made : program_.out(call(i))) {
      for (const std::uint32_t reader : flow_.readers(made.value)) {
        if (reader < place && !waits(reader)) {
          return false;
        }
      }
    }
    return std::ranges::all_of(in(i), [&](const Operand& read) {
      const ValueId heir = flow_.heir(read.value);
      return heir == kNoValue || program_[heir].index > place;
    });
  }

  // --- who reads what leaves a layer -----------------------------------------

  // All calls of a layer; none is of two.
  template <class Visit>
  static void visit_calls(const TimeLayer& layer, const Visit& visit) {
    visit(layer.call);
    for (const TimeGrad& grad : layer.grads) {
      visit(grad.call);
      std::ranges::for_each(grad.after, visit);
      for (const TimeUse& use : grad.uses) {
        visit(use.call);
        if (use.copy != kNoCall) {
          visit(use.copy);
        }
      }
    }
  }
  bool is_apart_from_others(const TimeLayer& layer) const {
    bool is_apart = true;
    visit_calls(layer, [&](std::uint32_t i) {
      is_apart = is_apart && is_taken_[i] == 0;
    });
    return is_apart;
  }

  void note(const TimeLayer& layer) {
    const auto index = static_cast<std::uint32_t>(layers_.size());
    visit_calls(layer, [&](std::uint32_t i) { is_taken_[i] = 1; });
    layer_of_[layer.call] = index;
    for (const TimeGrad& grad : layer.grads) {
      layer_of_[grad.call] = index;
      for (const TimeUse& use : grad.uses) {
        use_of_[use.call] = index;
      }
    }
  }

  bool is_alike(std::uint32_t index, const TimeLayer& layer) const {
    return index != kNoCall && layers_[index].steps == layer.steps &&
           layers_[index].batch == layer.batch;
  }

  bool is_read_by_steps(const TimeLayer& layer) const {
    const Operand& y = out(layer.call);
    if (flow_.outlives(y.value)) {
      return false;
    }
    return std::ranges::all_of(
        flow_.readers(y.value), [&](std::uint32_t reader) {
          const std::span<const Operand> read = in(reader);
          if (std::ranges::count(read, y.value, &Operand::value) != 1) {
            return false;
          }
          if (is_alike(layer_of_[reader], layer)) {
            const bool is_own =
                std::ranges::find(layer.grads, reader, &TimeGrad::call) !=
                layer.grads.end();
            return is_own || (layers_[layer_of_[reader]].call == reader &&
                              read[0].value == y.value &&
                              is_dense(read[0], y.layout->shape));
          }
          return is_alike(use_of_[reader], layer) &&
                 read.back().value == y.value && are_rows(read.back(), layer);
        });
  }

  // Rows of (T b, h), from one step to another.
  bool are_rows(const Operand& operand, const TimeLayer& layer) const {
    const tensor::Layout& layout = operand.layout;
    const std::int64_t width = program_[operand.value].spec->shape[2];
    return layout.shape.rank() == 2 && layout.shape[1] == width &&
           layout.strides[0] == width && layout.strides[1] == 1 &&
           layout.offset % (width * layer.batch) == 0;
  }

  bool is_read_by_grads(ValueId id, const TimeLayer& layer) const {
    const std::int64_t width = program_[id].spec->shape[1];
    const Shape shape{layer.steps, layer.batch, width};
    return !flow_.outlives(id) && !flow_.readers(id).empty() &&
           std::ranges::all_of(flow_.readers(id), [&](std::uint32_t reader) {
             if (!is_alike(layer_of_[reader], layer) ||
                 layers_[layer_of_[reader]].call == reader) {
               return false;
             }
             const std::size_t dy = place_of_dy(reader);
             return dy != 0 && in(reader)[dy].value == id &&
                    is_dense(in(reader)[dy], shape) &&
                    std::ranges::count(in(reader), id, &Operand::value) == 1;
           });
  }

  // The input of a gradient that is the cotangent of y; 0: it has none.
  std::size_t place_of_dy(std::uint32_t i) const {
    const auto& how = attrs<RecurrentGradAttrs>(i);
    const bool has_values = call(i).op != &ops::kRnnGrad;
    return how.has_dy ? 2U + (has_values ? 1U : 0U) +
                            (has_values && how.has_state ? 1U : 0U)
                      : 0U;
  }

  const Program& program_;
  const Dataflow flow_;
  memory::Vector<TimeLayer> layers_;
  memory::Vector<std::uint32_t> layer_of_;  // that a call is, or a gradient of
  memory::Vector<std::uint32_t> use_of_;    // likewise, of uses
  memory::Vector<std::uint8_t> is_taken_;   // by a layer
};

}  // namespace

const TimeForm* time_form_of(const Call& call) noexcept {
  const auto* const form = std::ranges::find(kForms, call.op, &TimeForm::op);
  return call.op == nullptr || form == kForms.end() ? nullptr : form;
}

memory::Vector<TimeLayer> time_layers(const Program& program) {
  return Finder(program).run();
}

}  // namespace neap::compiler
