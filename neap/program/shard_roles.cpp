// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/program/shard_roles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "neap/base/error.hpp"
#include "neap/ops/conv/conv2d_weight.hpp"
#include "neap/ops/indexing/scatter.hpp"
#include "neap/ops/linalg/matmul.hpp"
#include "neap/ops/precision.hpp"
#include "neap/program/call_specs.hpp"
#include "neap/program/dataflow.hpp"

namespace neap::compiler {
namespace {

using graph::RowAxes;
using graph::RowUse;

// Some of a step's calls are found not to run by shards only when their
// readers are known; each round finds at least one. Steps of layers need two.
// So many calls are looked at in all, and as many rounds in short steps.
constexpr std::size_t kMostLooks = 20'000'000;
constexpr std::size_t kLeastRounds = 64;

// Sums of products in bf16 take pairs of rows.
bool has_pairs(const Call& call, const Program& program) {
  return ops::precision_of(*call.op, program.attrs_of(call)) ==
             Precision::kBf16 &&
         program.out(call)[0].layout->dtype == f32;
}

bool is_empty(const tensor::Spec& spec) {
  return spec.shape.element_count() == 0;
}

// A tree of additions joins terms of these.
bool is_addable(DType dtype) {
  return dtype == f32 || dtype == f64 || dtype == i32 || dtype == i64;
}

class Analysis {
 public:
  Analysis(const Program& program, std::int64_t rows, Join join)
      : program_(program),
        rows_(rows),
        join_(join),
        flow_(program),
        must_run_once_(program.calls.size(), 0),
        must_be_whole_(program.values.size(), 0) {}

  Roles run() {
    const std::size_t rounds =
        std::max(kLeastRounds,
                 kMostLooks / std::max<std::size_t>(program_.calls.size(), 1));
    for (std::size_t round = 0; round < rounds; ++round) {
      classify();
      if (!require_whole()) {
        set_stages();
        return std::move(roles_);
      }
    }
    std::ranges::fill(must_run_once_, 1);
    classify();
    return std::move(roles_);
  }

 private:
  ValueRole& value(ValueId id) { return roles_.values[id.value]; }

  // --- which calls run for each shard ----------------------------------------

  void classify() {
    roles_ = {};
    roles_.values.resize(program_.values.size());
    roles_.calls.resize(program_.calls.size());
    for (std::uint32_t v = 0; v < program_.values.size(); ++v) {
      mark_argument({v});
    }
    for (std::uint32_t i = 0; i < program_.calls.size(); ++i) {
      classify(i);
    }
  }

  void mark_argument(ValueId id) {
    const Value& value = program_[id];
    if (value.origin != Origin::kArgument) {
      return;
    }
    const tensor::Spec& spec = program_.arguments[value.index];
    const bool is_gapped =
        std::ranges::any_of(program_.gapped, [&](const GappedArgument& gapped) {
          return gapped.argument == value.index;
        });
    if (spec.shape.rank() > 0 && spec.shape[0] == rows_ && !is_empty(spec) &&
        !is_gapped) {
      this->value(id).rows = rows_in(spec.shape, RowAxis{0, {}});
    }
  }

  void classify(std::uint32_t i) {
    const Call& call = program_.calls[i];
    const auto read = program_.in(call);
    const auto made = program_.out(call);
    CallRole& role = roles_.calls[i];
    role.axes = static_cast<std::uint32_t>(roles_.axes.size());
    roles_.axes.resize(role.axes + read.size() + made.size(), RowAxes::kWhole);
    const auto axes = std::span(roles_.axes).subspan(role.axes);
    const RowAxes rule{axes.first(read.size()), axes.subspan(read.size())};
    bool sees_rows = false;
    const bool is_seen = see(call, rule.inputs, role.form, sees_rows);
    if (!sees_rows) {
      return;
    }
    const RowUse use = is_seen ? use_of(i, call, rule) : RowUse::kUnknown;
    if (use == RowUse::kTogether) {
      note_outputs(made, rule.outputs);
    }
    role.is_each = (use == RowUse::kEach || use == RowUse::kOnto) &&
                   is_cut_well(call, role, rule);
    role.is_onto = use == RowUse::kOnto;
    role.is_adder = rule_of(call).is_adder;
    if (role.is_each) {
      ++roles_.each;
      roles_.in_pairs =
          roles_.in_pairs || goes_on_in_pairs(call, role, rule.outputs);
      note_parts(i, made, rule.outputs, role.form);
    } else if (call.op != nullptr) {
      ++roles_.together;
    }
  }

  // The axes of a call's inputs that hold rows, all of one form. False: one has
  // rows in another way, or they are of several forms.
  bool see(const Call& call, std::span<int> axes, RowForm& form,
           bool& sees_rows) {
    bool is_good = true;
    bool is_first = true;
    const auto read = program_.in(call);
    for (std::size_t k = 0; k < read.size(); ++k) {
      const ValueRole& role = value(read[k].value);
      if (role.held == Held::kApart) {
        axes[k] = RowAxes::kApart;
        sees_rows = true;
        is_good = is_good && (is_first || role.axis.form == form);
        form = role.axis.form;
        is_first = false;
        continue;
      }
      if (role.rows.inner == 0) {
        continue;
      }
      sees_rows = true;
      const auto found = row_axis(read[k].layout, role.rows, rows_);
      if (!found || (role.held != Held::kParts && found->form.outer != 1)) {
        is_good = is_good && role.held != Held::kParts;
        continue;
      }
      axes[k] = found->axis;
      is_good = is_good && (is_first || found->form == form);
      form = found->form;
      is_first = false;
    }
    return is_good;
  }

  RowUse use_of(std::uint32_t i, const Call& call, const RowAxes& axes) {
    const auto [kernels, rule, is_adder] = rule_of(call);
    const bool may_be_cut =
        rule != nullptr && call.kind == CallKind::kKernel &&
        call.space == memory::kHost && call.listener == nullptr &&
        (is_adder ? adds_to_own(call)
                  : !call.reads_outputs && makes_whole(call));
    if (!may_be_cut || (must_run_once_[i] != 0 && call.op == nullptr)) {
      return RowUse::kUnknown;
    }
    const CallSpecs specs(program_, call);
    const RowUse use = rule(specs.args(), specs.outputs(), axes);
    return must_run_once_[i] != 0 && use != RowUse::kTogether ? RowUse::kUnknown
                                                              : use;
  }

  // Each output goes on from a value that is made in the step for it alone.
  bool adds_to_own(const Call& call) const {
    return call.reads_outputs &&
           std::ranges::all_of(program_.out(call), [&](const Operand& out) {
             const ValueId from = program_[out.value].over;
             return from != kNoValue &&
                    program_[from].origin == Origin::kCall &&
                    program_[from].over == kNoValue &&
                    flow_.readers(from).empty() &&
                    is_whole(out.layout, program_[out.value].spec->size);
           });
  }

  // Each output is all of a new memory.
  bool makes_whole(const Call& call) const {
    return std::ranges::all_of(program_.out(call), [&](const Operand& out) {
      const Value& value = program_[out.value];
      return value.over == kNoValue && is_whole(out.layout, value.spec->size);
    });
  }

  // The rule's answer, against what it cannot know.
  bool is_cut_well(const Call& call, CallRole& role, const RowAxes& axes) {
    return fits_inputs(call, role, axes.inputs) &&
           fits_outputs(call, role, axes.outputs) &&
           draws_in_order(call, role, axes.outputs) &&
           joins_terms(call, role, axes.outputs) &&
           agrees_with_shape_rule(call, role, axes);
  }

  bool fits_inputs(const Call& call, CallRole& role,
                   std::span<const int> axes) {
    const auto read = program_.in(call);
    for (std::size_t k = 0; k < read.size(); ++k) {
      const ValueRole& from = value(read[k].value);
      if (axes[k] < 0) {
        const bool is_there =
            from.held != Held::kParts || axes[k] == RowAxes::kApart;
        if (!is_there) {
          return false;  // the rule needs all of it
        }
        continue;
      }
      const std::int64_t extent = read[k].layout->shape[axes[k]];
      if (extent != role.form.outer * rows_ * role.form.each) {
        return false;
      }
      const bool is_part_of_whole = from.held != Held::kParts;
      if (is_part_of_whole &&
          (role.form.outer != 1 ||
           (takes_dense(call) && !is_dense_part(read[k].layout, axes[k])))) {
        return false;
      }
    }
    return true;
  }

  static bool takes_dense(const Call& call) {
    return call.op != nullptr && call.op->facts.takes_dense;
  }

  // Whether rows along an axis are one piece of a memory.
  static bool is_dense_part(const tensor::Layout& layout, int axis) {
    const Shape& shape = layout.shape;
    return std::all_of(shape.begin(), shape.begin() + axis,
                       [](std::int64_t extent) { return extent == 1; });
  }

  bool fits_outputs(const Call& call, const CallRole& role,
                    std::span<int> axes) {
    const auto made = program_.out(call);
    for (std::size_t k = 0; k < made.size(); ++k) {
      const tensor::Layout& layout = made[k].layout;
      if (layout.shape.element_count() == 0) {
        axes[k] = RowAxes::kApart;  // one for each, of no bytes
      } else if (axes[k] == RowAxes::kSummed) {
        if (!is_addable(layout.dtype)) {
          return false;
        }
      } else if (axes[k] == RowAxes::kWhole ||
                 (axes[k] >= 0 &&
                  layout.shape[axes[k]] !=
                      role.form.outer * rows_ * role.form.each)) {
        return false;
      }
    }
    return true;
  }

  // Sums go on from shard to shard, where they have to.
  bool joins_terms(const Call& call, const CallRole& role,
                   std::span<const int> axes) const {
    if (!is_sum(axes) || join_ == Join::kTree) {
      return true;
    }
    const bool goes_on = adding_op(call.op) != nullptr ||
                         call.op == &ops::kScatterAdd || rule_of(call).is_adder;
    return goes_on && role.form.outer == 1;
  }

  static bool is_sum(std::span<const int> axes) {
    return std::ranges::find(axes, RowAxes::kSummed) != axes.end();
  }

  bool goes_on_in_pairs(const Call& call, const CallRole& role,
                        std::span<const int> axes) const {
    return join_ == Join::kChain && is_sum(axes) &&
           adding_op(call.op) != nullptr && role.form.each % 2 != 0 &&
           has_pairs(call, program_);
  }

  // A random call draws for its elements by their number, which a part has to
  // count on from.
  bool draws_in_order(const Call& call, const CallRole& role,
                      std::span<const int> axes) const {
    if (call.op == nullptr ||
        (call.op->facts.effect == graph::Effect::kPure && call.draw_at < 0)) {
      return true;
    }
    const graph::Facts& facts = call.op->facts;
    if (facts.effect != graph::Effect::kRandom || facts.first_at < 0 ||
        role.form.outer != 1) {
      return false;
    }
    const Shape& shape = program_.out(call)[0].layout->shape;
    return facts.draws != nullptr ||
           (axes[0] >= 0 && rows_in(shape, {axes[0], role.form}).outer == 1);
  }

  bool agrees_with_shape_rule(const Call& call, const CallRole& role,
                              const RowAxes& axes) {
    if (call.op == nullptr) {
      return true;
    }
    CallSpecs part(program_, call);
    part.cut(role.form, axes.inputs, 1);
    const auto read = program_.in(call);
    for (std::size_t k = 0; k < read.size(); ++k) {
      if (axes.inputs[k] == RowAxes::kApart) {
        part.set_input(k, value(read[k].value).one);
      }
    }
    std::array<tensor::Spec, graph::kMaxOutputs> out;
    const auto made = program_.out(call);
    if (!part.infer(std::span(out).first(made.size()))) {
      return false;
    }
    for (std::size_t k = 0; k < made.size(); ++k) {
      const Shape& whole = made[k].layout->shape;
      const int axis = axes.outputs[k];
      if (axis == RowAxes::kApart) {
        value(made[k].value).one = out[k].shape;
      } else if (out[k].shape !=
                 (axis < 0 ? whole : cut_shape(whole, {axis, role.form}, 1))) {
        return false;
      }
    }
    return true;
  }

  void note_outputs(std::span<const Operand> made, std::span<const int> axes) {
    for (std::size_t k = 0; k < made.size(); ++k) {
      const Value& value = program_[made[k].value];
      if (axes[k] < 0 || value.over != kNoValue ||
          !is_whole(made[k].layout, value.spec->size)) {
        continue;
      }
      const Shape& shape = made[k].layout->shape;
      if (const auto form = form_of(shape[axes[k]], rows_)) {
        this->value(made[k].value).rows = rows_in(shape, {axes[k], *form});
      }
    }
  }

  void note_parts(std::uint32_t call, std::span<const Operand> made,
                  std::span<const int> axes, const RowForm& form) {
    for (std::size_t k = 0; k < made.size(); ++k) {
      ValueRole& role = value(made[k].value);
      role.maker = call;
      if (axes[k] == RowAxes::kSummed) {
        role.held = Held::kSummed;
      } else if (axes[k] == RowAxes::kApart) {
        role.held = Held::kApart;
        role.axis.form = form;
      } else {
        const bool is_filled =
            must_be_whole_[made[k].value.value] != 0 && form.outer == 1;
        role.held = is_filled ? Held::kFilled : Held::kParts;
        role.axis = {axes[k], form};
        role.rows = rows_in(made[k].layout->shape, role.axis);
      }
    }
  }

  // --- what has to be whole --------------------------------------------------

  // RETURNS: whether something is that was not.
  bool require_whole() {
    bool is_new = false;
    for (const Result& result : program_.results) {
      is_new = require_whole(result.operand.value) || is_new;
    }
    for (const LeafGrad& grad : program_.grads) {
      is_new =
          (grad.last.value != kNoValue && require_whole(grad.last.value)) ||
          is_new;
    }
    // Backwards, since what has to run once needs its inputs whole.
    for (std::size_t i = program_.calls.size(); i-- > 0;) {
      if (!roles_.calls[i].is_each || must_run_once_[i] != 0) {
        for (const Operand& in : program_.in(program_.calls[i])) {
          is_new = require_whole(in.value) || is_new;
        }
        for (const Operand& out : program_.out(program_.calls[i])) {
          const ValueId over = program_[out.value].over;
          is_new = (over != kNoValue && require_whole(over)) || is_new;
        }
      }
    }
    return is_new;
  }

  // A memory is filled with rows that are each one piece of it.
  bool require_whole(ValueId id) {
    if (id == kNoValue) {
      return false;
    }
    const ValueRole& role = value(id);
    const bool is_filled =
        role.held == Held::kParts && role.axis.form.outer == 1;
    if (!is_filled && role.held != Held::kParts && role.held != Held::kApart) {
      return false;
    }
    std::uint8_t& must =
        is_filled ? must_be_whole_[id.value] : must_run_once_[role.maker];
    return std::exchange(must, 1) == 0;
  }

  // --- stages ----------------------------------------------------------------

  void set_stages() {
    const Lists before = dependences(program_, flow_);
    for (std::uint32_t i = 0; i < program_.calls.size(); ++i) {
      CallRole& role = roles_.calls[i];
      for (const std::uint32_t earlier : before[i]) {
        const CallRole& other = roles_.calls[earlier];
        const bool needs_all = other.is_each && !role.is_each;
        role.stage = std::max(role.stage, other.stage + (needs_all ? 1U : 0U));
      }
      if (role.is_each) {
        role.stage = std::max(role.stage, stage_of_inputs(i, role));
      }
      roles_.stages = std::max(roles_.stages, role.stage + 1);
    }
  }

  // Whether a shard reads the rows that it has made itself, not some that are
  // at the same positions of another extent.
  bool reads_own_rows(const Operand& in, int axis) {
    const auto found = row_axis(in.layout, value(in.value).rows, rows_);
    return found && found->axis == axis && found->form.outer == 1;
  }

  // A value that all shards make together is there in the stage after.
  std::uint32_t stage_of_inputs(std::uint32_t i, const CallRole& role) {
    std::uint32_t stage = 0;
    const auto read = program_.in(program_.calls[i]);
    const auto axes = roles_.axes_of(role, read.size());
    for (std::size_t k = 0; k < read.size(); ++k) {
      const ValueRole& from = value(read[k].value);
      const bool is_of_all =
          from.held == Held::kSummed ||
          (from.held == Held::kFilled && !reads_own_rows(read[k], axes[k]));
      if (is_of_all) {
        stage = std::max(stage, roles_.calls[from.maker].stage + 1);
      }
    }
    return stage;
  }

  const Program& program_;
  std::int64_t rows_;
  Join join_;
  Dataflow flow_;
  memory::Vector<std::uint8_t> must_run_once_;  // by call
  memory::Vector<std::uint8_t> must_be_whole_;  // by value
  Roles roles_;
};

}  // namespace

std::string parts_of(const Sharding& sharding) {
  const auto counted = [](std::uint32_t count, const char* one) {
    return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
  };
  return fmt::format(
      "a batch of {} in {}: {} for each, {} for all rows at once",
      sharding.rows, counted(sharding.shards, "shard"),
      counted(sharding.each, "call"), counted(sharding.together, "op"));
}

const graph::Op* adding_op(const graph::Op* op) {
  return op == &ops::kMatmul || op == &ops::kMatmulAdd ? &ops::kMatmulAdd
         : op == &ops::kConv2dWeight || op == &ops::kConv2dWeightAdd
             ? &ops::kConv2dWeightAdd
             : nullptr;
}

Roles roles_of(const Program& program, std::int64_t rows, Join join) {
  return Analysis(program, rows, join).run();
}

}  // namespace neap::compiler
