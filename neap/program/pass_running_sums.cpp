// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Sums over rows that begin with zero become sums that go on from what is
// there, to the same bits, so that some rows can be added at a time:
//
//   state  = fill
//   state' = sum_rows(x)                 over state
//   y      = sum_rows_end(state')        y = sum(x) over its leading axes
//
//   the same by sum_planes                 over leading and trailing axes, all
//
//   dw, db = fill, fill
//   dw, db = layer_norm_sums(dy, x, stats)     over them
#include <array>
#include <optional>

#include "neap/kernels/norm/layer_norm_grad.hpp"
#include "neap/kernels/reduction/sum_planes.hpp"
#include "neap/ops/elementwise/fill.hpp"
#include "neap/ops/norm/layer_norm.hpp"
#include "neap/ops/norm/rms_norm.hpp"
#include "neap/ops/reduction/sum.hpp"
#include "neap/program/passes.hpp"
#include "neap/program/rewrite.hpp"
#include "neap/program/shard_roles.hpp"

namespace neap::compiler {
namespace {

using kernels::NormGradAttrs;

class SumSplitter {
 public:
  SumSplitter(Program& program, std::int64_t rows)
      : program_(program), roles_(roles_of(program, rows)) {}

  void run() {
    const auto count = static_cast<std::uint32_t>(program_.calls.size());
    for (std::uint32_t i = 0; i < count; ++i) {
      const Call call = program_.calls[i];
      const bool is_split =
          roles_.calls[i].is_each && (call.op == &ops::kSum ? split_sum(call)
                                      : is_norm(call)       ? split_norm(call)
                                                            : false);
      if (!is_split) {
        order_.push_back(i);
      }
    }
    keep_calls(program_, order_);
    tidy(program_);
  }

 private:
  static bool is_norm(const Call& call) {
    return call.op == &ops::kLayerNormGrad || call.op == &ops::kRmsNormGrad;
  }

  Operand view(ValueId id, const tensor::Layout& layout) {
    return {id, program_.keep(layout)};
  }

  // Zeros like a value, perhaps of another dtype and shape.
  ValueId zeros(const Call& near, ValueId like, DType dtype,
                const Shape& shape) {
    Value value = program_[like];
    ValueSpec spec = *value.spec;
    spec.dtype = dtype;
    spec.shape = shape;
    spec.size = shape.element_count() * size_of(dtype);
    value.spec = program_.keep(spec);
    value.over = kNoValue;
    const ValueId id = program_.add(value);
    const auto attrs = ops::filled_attrs(*program_[id].spec, 0.0);
    Call fill = near;
    fill.op = &ops::kFill;
    fill.name = fill.op->name;
    fill.kernels = fill.op->kernel;
    fill.attrs = program_.keep_attrs(fill.op, attrs);
    fill.attrs_size = sizeof(attrs);
    add(fill, {}, std::array{view(id, tensor::dense_layout(dtype, shape))});
    return id;
  }

  void add(Call call, std::span<const Operand> read,
           std::span<const Operand> made) {
    const auto place = static_cast<std::uint32_t>(program_.calls.size());
    call.inputs = program_.add(read);
    call.outputs = program_.add(made);
    for (const Operand& operand : made) {
      program_[operand.value].index = place;
    }
    program_.add(call);
    order_.push_back(place);
  }

  static Call with_kernels(Call call, const kernels::KernelList& list) {
    call.op = nullptr;
    call.name = list.name;
    call.kernels = &list;
    return call;
  }

  // A sum as its running form sees it.
  struct RunningSum {
    const kernels::KernelList* goes_on;
    const kernels::KernelList* ends;
    tensor::Layout x;
    Shape state;
  };

  // Over leading axes, (n, C), or over these and trailing ones, (n, C, L). With
  // all axes there is one list, (n, 1, L).
  std::optional<RunningSum> running_sum(const Call& call) const {
    const auto axes =
        static_cast<const kernels::ReduceAttrs*>(program_.attrs_of(call))->axes;
    const tensor::Layout& x = program_.in(call)[0].layout;
    const int rank = x.shape.rank();
    const auto is_summed = [&](int axis) { return (axes >> axis & 1U) != 0; };
    int leading = 0;
    while (leading < rank && is_summed(leading)) {
      ++leading;
    }
    int trailing = rank;  // the first of them
    while (trailing > leading && is_summed(trailing - 1)) {
      --trailing;
    }
    for (int axis = leading; axis < trailing; ++axis) {
      if (is_summed(axis)) {
        return std::nullopt;
      }
    }
    if (leading == 0 || !is_floating(x.dtype) || x.dtype == bf16) {
      return std::nullopt;
    }
    if (leading == rank) {
      leading = 1;
      trailing = 1;
    }
    const std::array extents{product_of(x.shape, 0, leading),
                             product_of(x.shape, leading, trailing),
                             product_of(x.shape, trailing, rank)};
    return trailing < rank || rank == 1 ? by_planes(x, extents)
                                        : by_rows(x, extents);
  }

  static std::int64_t product_of(const Shape& shape, int begin, int end) {
    return Shape(shape.span().subspan(static_cast<std::size_t>(begin),
                                      static_cast<std::size_t>(end - begin)))
        .element_count();
  }

  using Extents = std::array<std::int64_t, 3>;
  static std::optional<RunningSum> by_rows(const tensor::Layout& x,
                                           const Extents& extents) {
    const auto matrix = tensor::reshaped(x, {extents[0], extents[1]});
    return matrix ? std::optional(RunningSum{&kernels::sum_rows_kernels,
                                             &kernels::sum_rows_end_kernels,
                                             *matrix,
                                             {2, extents[1]}})
                  : std::nullopt;
  }
  static std::optional<RunningSum> by_planes(const tensor::Layout& x,
                                             const Extents& extents) {
    const auto planes =
        tensor::reshaped(x, {extents[0], extents[1], extents[2]});
    return planes ? std::optional(
                        RunningSum{&kernels::sum_planes_kernels,
                                   &kernels::sum_planes_end_kernels,
                                   *planes,
                                   {extents[1], kernels::kPlaneSumState}})
                  : std::nullopt;
  }

  bool split_sum(const Call& call) {
    const std::optional<RunningSum> form = running_sum(call);
    if (!form) {
      return false;
    }
    const ValueId x = program_.in(call)[0].value;
    const Operand y = program_.out(call)[0];
    const ValueId before = zeros(call, y.value, f64, form->state);
    Value after = program_[before];
    after.over = before;
    const Operand state =
        view(program_.add(after), tensor::dense_layout(f64, form->state));
    Call sum = with_kernels(call, *form->goes_on);
    const kernels::SumRowsAttrs none;
    sum.attrs = program_.keep_attrs(nullptr, none);
    sum.attrs_size = sizeof(none);
    sum.reads_outputs = true;
    add(sum, std::array{view(x, form->x)}, std::array{state});
    Call end = with_kernels(call, *form->ends);
    end.attrs_size = 0;
    add(end, std::array{state}, std::array{y});
    return true;
  }

  bool split_norm(const Call& call) {
    const auto wanted =
        *static_cast<const NormGradAttrs*>(program_.attrs_of(call));
    if (!wanted.dw && !wanted.db) {
      return false;
    }
    const memory::Vector<Operand> read(program_.in(call).begin(),
                                       program_.in(call).end());
    const memory::Vector<Operand> made(program_.out(call).begin(),
                                       program_.out(call).end());
    memory::Vector<Operand> sums;
    for (std::size_t k = 1; k < made.size(); ++k) {
      if (k == 1 ? wanted.dw : wanted.db) {
        const tensor::Spec& spec = *program_[made[k].value].spec;
        program_[made[k].value].over =
            zeros(call, made[k].value, spec.dtype, spec.shape);
        sums.push_back(made[k]);
      }
    }
    Call add_up = with_kernels(call, call.op == &ops::kLayerNormGrad
                                         ? kernels::layer_norm_sums_kernels
                                         : kernels::rms_norm_sums_kernels);
    NormGradAttrs attrs = wanted;
    attrs.dx = false;
    add_up.attrs = program_.keep_attrs(nullptr, attrs);
    add_up.reads_outputs = true;
    add(add_up, std::span(read).first(3), sums);
    if (wanted.dx) {
      add_dx(call, wanted, read, made);
    }
    return true;
  }

  void add_dx(Call call, NormGradAttrs attrs, std::span<const Operand> read,
              std::span<const Operand> made) {
    attrs.dw = false;
    attrs.db = false;
    call.attrs = program_.keep_attrs(call.op, attrs);
    memory::Vector<Operand> out(made.begin(), made.end());
    for (std::size_t k = 1; k < out.size(); ++k) {
      out[k] = nothing(made[k].value);
    }
    add(call, read, out);
  }

  // An output that is not wanted.
  Operand nothing(ValueId like) {
    Value value = program_[like];
    ValueSpec spec = *value.spec;
    spec.shape = Shape{0};
    spec.size = 0;
    value.spec = program_.keep(spec);
    value.over = kNoValue;
    return view(program_.add(value),
                tensor::dense_layout(spec.dtype, spec.shape));
  }

  Program& program_;
  Roles roles_;
  memory::Vector<std::uint32_t> order_;
};

}  // namespace

void split_sums(Program& program, std::int64_t rows) {
  SumSplitter(program, rows).run();
}

}  // namespace neap::compiler
