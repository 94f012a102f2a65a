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
//
//   dw', db' = group_norm_sums(dy, x, stats)   over zeros, in double
//   dw, db   = cast(dw'), cast(db')
#include <array>
#include <optional>

#include "neap/kernels/norm/channel_norm_grad.hpp"
#include "neap/kernels/norm/layer_norm_grad.hpp"
#include "neap/kernels/reduction/sum_planes.hpp"
#include "neap/ops/elementwise/cast.hpp"
#include "neap/ops/elementwise/fill.hpp"
#include "neap/ops/norm/group_norm.hpp"
#include "neap/ops/norm/layer_norm.hpp"
#include "neap/ops/norm/rms_norm.hpp"
#include "neap/ops/reduction/sum.hpp"
#include "neap/program/passes.hpp"
#include "neap/program/rewrite.hpp"
#include "neap/program/shard_roles.hpp"

namespace neap::compiler {
namespace {

using kernels::ChannelNormGradAttrs;
using kernels::NormGradAttrs;

class SumSplitter {
 public:
  SumSplitter(Program& program, std::int64_t rows)
      : program_(program), roles_(roles_of(program, rows)) {}

  void run() {
    const auto count = static_cast<std::uint32_t>(program_.calls.size());
    for (std::uint32_t i = 0; i < count; ++i) {
      const Call call = program_.calls[i];
      if (!roles_.calls[i].is_each || !split(call)) {
        order_.push_back(i);
      }
    }
    keep_calls(program_, order_);
    tidy(program_);
  }

 private:
  bool split(const Call& call) {
    if (call.op == &ops::kSum) {
      return split_sum(call);
    }
    if (call.op == &ops::kLayerNormGrad || call.op == &ops::kRmsNormGrad) {
      return split_norm<NormGradAttrs>(call,
                                       call.op == &ops::kLayerNormGrad
                                           ? kernels::layer_norm_sums_kernels
                                           : kernels::rms_norm_sums_kernels);
    }
    return call.op == &ops::kGroupNormGrad &&
           split_norm<ChannelNormGradAttrs>(call,
                                            kernels::group_norm_sums_kernels);
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
    Call fill = with_op(near, ops::kFill);
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

  static Call with_op(Call call, const graph::Op& op) {
    call.op = &op;
    call.name = op.name;
    call.kernels = op.kernel;
    return call;
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

  // The sums by a call of their own, dx by what is left of the norm's.
  template <class Attrs>
  bool split_norm(const Call& call, const kernels::KernelList& list) {
    const auto wanted = *static_cast<const Attrs*>(program_.attrs_of(call));
    if (!wanted.dw && !wanted.db) {
      return false;
    }
    const memory::Vector<Operand> read(program_.in(call).begin(),
                                       program_.in(call).end());
    const memory::Vector<Operand> made(program_.out(call).begin(),
                                       program_.out(call).end());
    const bool in_double = call.op == &ops::kGroupNormGrad;
    memory::Vector<Operand> sums;
    for (std::size_t k = 1; k < made.size(); ++k) {
      if (k == 1 ? wanted.dw : wanted.db) {
        sums.push_back(running(call, made[k], in_double));
      }
    }
    Call add_up = with_kernels(call, list);
    Attrs attrs = wanted;
    attrs.dx = false;
    add_up.attrs = program_.keep_attrs(nullptr, attrs);
    add_up.reads_outputs = true;
    add(add_up, std::span(read).first(3), sums);
    std::size_t next = 0;
    for (std::size_t k = 1; k < made.size(); ++k) {
      if (k == 1 ? wanted.dw : wanted.db) {
        round_to(call, sums[next++], made[k]);
      }
    }
    if (wanted.dx) {
      add_dx(call, wanted, read, made);
    }
    return true;
  }

  // The memory of a sum that begins with zeros: its own, or one in double.
  Operand running(const Call& near, const Operand& made, bool in_double) {
    const tensor::Spec& spec = *program_[made.value].spec;
    const DType dtype = in_double ? f64 : spec.dtype;
    const ValueId before = zeros(near, made.value, dtype, spec.shape);
    if (dtype == spec.dtype) {
      program_[made.value].over = before;
      return made;
    }
    Value after = program_[before];
    after.over = before;
    return view(program_.add(after), tensor::dense_layout(dtype, spec.shape));
  }

  void round_to(const Call& near, const Operand& sum, const Operand& made) {
    if (sum.value == made.value) {
      return;
    }
    Call cast = with_op(near, ops::kCast);
    const ops::CastAttrs attrs{sum.layout->dtype, made.layout->dtype};
    cast.attrs = program_.keep_attrs(cast.op, attrs);
    cast.attrs_size = sizeof(attrs);
    add(cast, std::array{sum}, std::array{made});
  }

  template <class Attrs>
  void add_dx(Call call, Attrs attrs, std::span<const Operand> read,
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
