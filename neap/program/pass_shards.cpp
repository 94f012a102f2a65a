// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The calls of a step whose batch is cut into shards (shard_roles.hpp):
//
//   for each stage: calls that run once, then for each shard
//     %3.s  = linear(rows of %0, %1)           a part of its own
//     %9    = softmax(%3.s)    over rows of %9    where a call needs all of %9
//     %12.s = matmul(%9', %3.s)                a term of %12
//     %t    = add(%t, %12.s)                   as soon as both terms are there
//
// Terms are joined by one binary tree in the order of the shards, ((0 + 1) + (2
// + 3)) + ..., so that a step's bits are a function of the number of shards
// alone. Where several ranks share out the shards, a rank runs its own, and the
// tree's upper levels are an exchange (rank_cut.hpp).
#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "neap/base/ceil_div.hpp"
#include "neap/base/raise.hpp"
#include "neap/kernels/reduction/sum_planes.hpp"
#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/elementwise/fill.hpp"
#include "neap/ops/shape/views.hpp"
#include "neap/program/call_specs.hpp"
#include "neap/program/passes.hpp"
#include "neap/program/rank_cut.hpp"
#include "neap/program/rewrite.hpp"
#include "neap/program/shard_calls.hpp"
#include "neap/program/shard_roles.hpp"

namespace neap::compiler {
namespace {

using graph::RowAxes;

// Terms of a sum, joined in pairs of equal size from the left.
struct Terms {
  struct Term {
    ValueId value = kNoValue;
    std::uint32_t size = 1;  // shards that it is of
  };
  memory::Vector<Term> open;
};

class Sharder {
 public:
  Sharder(Program& program, std::int64_t rows, std::uint32_t shards, Join join)
      : program_(program),
        roles_(roles_of(program, rows, join)),
        join_(join),
        rows_(rows),
        unit_(roles_.in_pairs ? 2 : 1),
        shards_(static_cast<std::uint32_t>(
            std::min<std::int64_t>(shards, base::ceil_div(rows, unit_)))),
        count_(static_cast<std::uint32_t>(program.calls.size())),
        latest_(program.values.size(), kNoValue),
        terms_(program.values.size()),
        ranks_(program, program.ranks.get(), rows, shards_) {
    for (auto shard = 0U; shard < ranks_.end_shard(); ++shard) {
      parts_.emplace_back(program.values.size(), kNoValue);
    }
  }

  void run() {
    for (std::uint32_t stage = 0; stage < roles_.stages; ++stage) {
      for_each_call(stage, false, [&](std::uint32_t i) { add_once(i); });
      for (shard_ = ranks_.first_shard(); shard_ < ranks_.end_shard();
           ++shard_) {
        now_ = range_of(shard_);
        for_each_call(stage, true, [&](std::uint32_t i) { add_part(i); });
      }
    }
    ranks_.cut_arguments();
    keep_calls(program_, order_);
    tidy(program_);
  }

  Sharding sharding() const {
    return {.shards = shards_,
            .rows = rows_,
            .each = roles_.each,
            .together = roles_.together,
            .ranks = ranks_.count(),
            .sent = ranks_.sent()};
  }

  bool is_worth_it() const {
    return (roles_.each != 0 && shards_ > 1) || ranks_.has_others();
  }

 private:
  bool is_first() const { return shard_ == ranks_.first_shard(); }
  bool is_last() const { return shard_ + 1 == ranks_.end_shard(); }

  // The first shards have one row more where they cannot be of one size, or a
  // pair of rows.
  RowRange range_of(std::int64_t shard) const {
    if (unit_ == 1) {
      return ranks_.range_of(shard);
    }
    const std::int64_t units = base::ceil_div(rows_, unit_);
    const std::int64_t least = units / shards_;
    const std::int64_t longer = units % shards_;
    const std::int64_t first =
        (shard * least + std::min(shard, longer)) * unit_;
    const std::int64_t count = (least + (shard < longer ? 1 : 0)) * unit_;
    return {first, std::min(count, rows_ - first)};
  }

  template <class Visit>
  void for_each_call(std::uint32_t stage, bool is_each, const Visit& visit) {
    for (std::uint32_t i = 0; i < count_; ++i) {
      const CallRole& role = roles_.calls[i];
      if (role.stage == stage && role.is_each == is_each) {
        visit(i);
      }
    }
  }

  const ValueRole& role_of(ValueId id) const { return roles_.values[id.value]; }

  // --- calls and values ------------------------------------------------------

  Operand whole(ValueId id) {
    const tensor::Spec& spec = *program_[id].spec;
    return {id, program_.keep(tensor::dense_layout(spec.dtype, spec.shape))};
  }

  // A value like another, of another shape.
  ValueId fresh(ValueId like, const Shape& shape) {
    Value value = program_[like];
    ValueSpec spec = *value.spec;
    spec.shape = shape;
    spec.size = shape.element_count() * size_of(spec.dtype);
    value.spec = program_.keep(spec);
    value.origin = Origin::kCall;
    value.over = kNoValue;
    value.origin = Origin::kCall;
    return program_.add(value);
  }
  ValueId fresh_over(ValueId id) {
    Value value = program_[id];
    value.over = id;
    return program_.add(value);
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

  // A call of another op where this one is.
  template <class Attributes>
  Call call_of(const graph::Op& op, const Call& near, const Attributes& attrs) {
    Call call = call_near(near, op);
    call.attrs = program_.keep_attrs(&op, attrs);
    call.attrs_size = sizeof(attrs);
    return call;
  }
  // Zeros in the memory of a value.
  void add_zeros(const Call& near, ValueId id) {
    add(call_of(ops::kFill, near, ops::filled_attrs(*program_[id].spec, 0.0)),
        {}, std::array{whole(id)});
  }

  // --- a call for all rows ---------------------------------------------------

  void add_once(std::uint32_t i) {
    const Call call = program_.calls[i];
    for (std::uint32_t k = 0; k < call.inputs.count; ++k) {
      const ValueId id = program_.in(call)[k].value;
      if (ranks_.is_shared_out(id)) {
        const ValueId whole = whole_argument(call, id);
        program_.operands[call.inputs.first + k].value = whole;
      }
    }
    order_.push_back(i);
  }

  // A copy of an argument, in which all ranks fill in their rows.
  ValueId whole_argument(const Call& near, ValueId id) {
    ValueId& latest = latest_[id.value];
    if (latest == kNoValue) {
      const tensor::Spec spec = *program_[id].spec;
      const tensor::Layout dense = tensor::dense_layout(spec.dtype, spec.shape);
      const RowAxis rows{0, {}};
      const RowRange own = ranks_.own();
      const ValueId zeros = fresh(id, spec.shape);
      add_zeros(near, zeros);
      const ValueId filled = fresh_over(zeros);
      Call copy = call_near(near, ops::kCopy);
      copy.reads_outputs = true;
      add(copy,
          std::array{Operand{id, program_.keep(part_of_view(
                                     dense, rows, ranks_.in_argument(own)))}},
          std::array{
              Operand{filled, program_.keep(part_of_view(dense, rows, own))}});
      const ValueId whole = fresh_over(filled);
      add_share(near, whole, rows_in(spec.shape, rows));
      latest_[id.value] = whole;
    }
    return latest_[id.value];
  }

  void add_share(const Call& near, ValueId id, const ValueRows& rows) {
    add(ranks_.share(near, rows, program_[id].spec->dtype), {},
        std::array{whole(id)});
  }

  // --- a call for one shard --------------------------------------------------

  void add_part(std::uint32_t i) {
    const Call call = program_.calls[i];
    const CallRole& role = roles_.calls[i];
    const memory::Vector<Operand> read(program_.in(call).begin(),
                                       program_.in(call).end());
    const memory::Vector<Operand> made(program_.out(call).begin(),
                                       program_.out(call).end());
    const auto axes = roles_.axes_of(role, read.size() + made.size());
    memory::Vector<Operand> in;
    for (std::size_t k = 0; k < read.size(); ++k) {
      in.push_back(input(call, read[k], axes[k], role.form));
    }
    if (role.is_onto && shard_ != 0) {
      in[0] = onto(call, read[0], made[0].value);
    }
    memory::Vector<Operand> out;
    for (std::size_t k = 0; k < made.size(); ++k) {
      out.push_back(output(call, role, made[k], k));
    }
    Call part = call;
    part.reads_outputs = role.is_adder || fills_directly(call);  // they stay
    count_on(part, role);
    const bool goes_on = join_ == Join::kChain && shard_ != 0 &&
                         role_of(made[0].value).held == Held::kSummed;
    if (goes_on && !role.is_onto && adding_op(part.op) != nullptr) {
      in.insert(in.begin(), whole(latest_[made[0].value.value]));
      part.op = adding_op(part.op);
      part.name = part.op->name;
      part.kernels = part.op->kernel;
    }
    add(part, in, out);
    for (std::size_t k = 0; k < made.size(); ++k) {
      finish(call, made[k], out[k]);
    }
  }

  Operand input(const Call& near, const Operand& read, int axis,
                const RowForm& form) {
    const ValueRole& from = role_of(read.value);
    const RowAxis along{axis, form};
    if (from.held == Held::kApart) {
      return whole(parts_[shard_][read.value.value]);
    }
    if (from.held == Held::kParts) {
      return {parts_[shard_][read.value.value],
              program_.keep(view_of_part(read.layout, from.rows, along, rows_,
                                         now_.count))};
    }
    if (ranks_.is_shared_out(read.value)) {
      return axis < 0
                 ? Operand{whole_argument(near, read.value), read.layout}
                 : Operand{read.value,
                           program_.keep(part_of_view(
                               read.layout, along, ranks_.in_argument(now_)))};
    }
    const ValueId filled = latest_[read.value.value];
    const ValueId id = filled == kNoValue ? read.value : filled;
    return axis < 0
               ? Operand{id, read.layout}
               : Operand{id,
                         program_.keep(part_of_view(read.layout, along, now_))};
  }

  // The memory that a sum goes on from: each shard's begins with zeros in a
  // tree.
  Operand onto(const Call& near, const Operand& first, ValueId sum) {
    if (join_ == Join::kChain) {
      return whole(latest_[sum.value]);
    }
    const Operand zeros = whole(fresh(first.value, first.layout->shape));
    add_zeros(near, zeros.value);
    return zeros;
  }

  // A call writes rows of the whole itself where these are one piece of it, and
  // all its outputs are such; elsewhere its part is copied there.
  bool fills_directly(const Call& call) const {
    return std::ranges::all_of(program_.out(call), [&](const Operand& made) {
      const ValueRole& role = role_of(made.value);
      return role.held == Held::kFilled && role.rows.outer == 1;
    });
  }

  Operand output(const Call& call, const CallRole& role, const Operand& made,
                 std::size_t k) {
    const ValueRole& to = role_of(made.value);
    if (to.held == Held::kSummed) {
      return role.is_adder ? next_added(made.value)
             : join_ == Join::kTree
                 ? whole(fresh(made.value, made.layout->shape))
             : is_last() ? made
                         : whole(fresh(made.value, made.layout->shape));
    }
    if (to.held == Held::kApart) {
      return whole(fresh(made.value, apart_shape(call, role, k)));
    }
    if (fills_directly(call)) {
      return {next_filled(call, made.value),
              program_.keep(part_of_view(made.layout, to.axis, now_))};
    }
    return whole(
        fresh(made.value, cut_shape(made.layout->shape, to.axis, now_.count)));
  }

  Shape apart_shape(const Call& call, const CallRole& role, std::size_t k) {
    const auto read = program_.in(call);
    const auto axes = roles_.axes_of(role, read.size());
    CallSpecs specs(program_, call);
    specs.cut(role.form, axes, now_.count);
    for (std::size_t i = 0; i < read.size(); ++i) {
      if (axes[i] == RowAxes::kApart) {
        const ValueId part = parts_[shard_][read[i].value.value];
        specs.set_input(i, program_[part].spec->shape);
      }
    }
    std::array<tensor::Spec, graph::kMaxOutputs> out;
    if (!specs.infer(std::span(out).first(call.outputs.count))) {
      base::raise<InternalError>("shards: {} refuses a part of its rows",
                                 call.name);
    }
    return out[k].shape;
  }

  // The whole, with the rows of this shard. The last shard makes the value that
  // others know.
  ValueId next_filled(const Call& near, ValueId id) {
    ValueId& latest = latest_[id.value];
    if (latest == kNoValue) {
      latest = fresh(id, program_[id].spec->shape);
      add_zeros(near, latest);
    }
    ValueId next = id;
    if (!is_last() || ranks_.has_others()) {
      const Value copy = program_[id];
      next = program_.add(copy);
    }
    program_[next].over = latest;
    return latest = next;
  }

  // The sum in the memory that it goes on from.
  Operand next_added(ValueId id) {
    ValueId& latest = latest_[id.value];
    if (latest == kNoValue) {
      latest = program_[id].over;
    }
    ValueId next = id;
    if (!is_last()) {
      const Value copy = program_[id];
      next = program_.add(copy);
    }
    program_[next].over = latest;
    latest = next;
    return whole(next);
  }

  // A part counts on from the rows before it.
  void count_on(Call& part, const CallRole& role) {
    if (part.kernels == &kernels::sum_rows_kernels ||
        part.kernels == &kernels::sum_planes_kernels) {
      const kernels::SumRowsAttrs attrs{.first = now_.first * role.form.each};
      part.attrs = program_.keep_attrs(nullptr, attrs);
      return;
    }
    count_draws_on(program_, part, rows_, now_.first);
  }

  // Takes what a part has made to where others look for it.
  void finish(const Call& call, const Operand& made, const Operand& out) {
    const ValueRole& to = role_of(made.value);
    if (to.held == Held::kSummed) {
      if (join_ == Join::kTree) {
        join(call, made.value, out.value);
      } else {
        latest_[made.value.value] = out.value;
      }
    } else if (to.held != Held::kFilled) {
      parts_[shard_][made.value.value] = out.value;
    } else if (!fills_directly(call)) {
      Call copy = call_near(call, ops::kCopy);
      copy.reads_outputs = true;
      const ValueId next = next_filled(call, made.value);
      add(copy, std::array{out},
          std::array{Operand{
              next, program_.keep(part_of_view(made.layout, to.axis, now_))}});
    }
    if (to.held == Held::kFilled && is_last() && ranks_.has_others()) {
      ValueId& latest = latest_[made.value.value];
      program_[made.value].over = std::exchange(latest, made.value);
      add_share(call, made.value, to.rows);
    }
  }

  // --- the tree of a sum -----------------------------------------------------

  void join(const Call& near, ValueId sum, ValueId term) {
    auto& open = terms_[sum.value].open;
    open.push_back({term});
    while (open.size() > 1 &&
           (is_last() || open.back().size == open[open.size() - 2].size)) {
      const Terms::Term right = open.back();
      open.pop_back();
      const Terms::Term left = open.back();
      const bool is_root =
          is_last() && open.size() == 1 && !ranks_.has_others();
      const ValueId both =
          is_root ? sum : fresh(sum, program_[sum].spec->shape);
      add(call_near(near, ops::kAdd),
          std::array{whole(left.value), whole(right.value)},
          std::array{whole(both)});
      open.back() = {both, left.size + right.size};
    }
    if (is_last() && ranks_.has_others()) {  // the tree goes on over the ranks
      program_[sum].over = open.back().value;
      add(ranks_.sum(near, program_[sum].spec->size), {},
          std::array{whole(sum)});
    }
  }

  Program& program_;
  Roles roles_;
  Join join_;
  std::int64_t rows_;
  std::int64_t unit_;  // rows that stay together, but for the last
  std::uint32_t shards_;
  std::uint32_t count_;  // calls of the step as it was
  memory::Vector<std::uint32_t> order_;
  memory::Vector<memory::Vector<ValueId>> parts_;  // by shard, by value
  memory::Vector<ValueId> latest_;                 // of what shards fill
  memory::Vector<Terms> terms_;
  RankCut ranks_;
  std::uint32_t shard_ = 0;
  RowRange now_;
};

}  // namespace

void cut_into_shards(Program& program, std::int64_t rows,
                     std::uint32_t shards) {
  const auto most =
      static_cast<std::uint32_t>(std::min<std::int64_t>(rows, shards));
  program.sharding = {.shards = std::max(most, 1U), .rows = rows};
  if (most < 2) {
    return;
  }
  split_losses(program);
  Sharder sharder(program, rows, most, Join::kTree);
  if (sharder.is_worth_it()) {
    sharder.run();
  }
  program.sharding = sharder.sharding();
}

void cut_into_micro_batches(Program& program, std::uint32_t count) {
  const std::int64_t rows = rows_of_batch(program);
  const auto most =
      static_cast<std::uint32_t>(std::min<std::int64_t>(rows, count));
  // Another library's products have bits of their own.
  if (most < 2 || program.sharding.shards > 1 ||
      std::string_view(kernels::kernel_set()) != "neap") {
    return;
  }
  split_losses(program);
  split_sums(program, rows);
  Sharder sharder(program, rows, most, Join::kChain);
  if (sharder.is_worth_it()) {
    sharder.run();
    program.fitting.micro_batches = sharder.sharding().shards;
  }
}

}  // namespace neap::compiler
