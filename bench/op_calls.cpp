// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "op_calls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>

#include "neap/base/error.hpp"
#include "neap/tensor/create.hpp"

namespace neap::bench {
namespace {

using graph::Attrs;
using graph::Op;
using graph::OpArgs;
using graph::Spec;

Bytes bytes_of(const Spec& spec) {
  return spec.shape.element_count() * size_of(spec.dtype);
}

std::vector<Spec> specs_of(const std::vector<Tensor>& tensors) {
  std::vector<Spec> specs(tensors.size());
  std::ranges::transform(tensors, specs.begin(), &Tensor::spec);
  return specs;
}

// --- from examples ----------------------------------------------------------

// Runs all ops at once, as ever, and keeps the call of one of them that moves
// the most bytes. Of no op: notes the names of all.
class Watch final : public graph::Recorder {
 public:
  explicit Watch(const Op* wanted) : wanted_(wanted) {}

  void record(const graph::OpCall& call, std::span<Tensor> outputs) override {
    seen_.push_back(&call.op);
    if (&call.op == wanted_) {
      std::vector<Tensor> inputs;
      for (const Operand& input : call.inputs) {
        inputs.push_back(input.tensor().detach());
      }
      OpCalled called(call.op, std::move(inputs), call.attrs);
      if (!best_ || best_->cost().read < called.cost().read) {
        best_.emplace(std::move(called));
      }
    }
    graph::eager().record(call, outputs);
  }

  std::optional<OpCalled> take() { return std::move(best_); }
  const std::vector<const Op*>& seen() const noexcept { return seen_; }

 private:
  const Op* wanted_;
  std::optional<OpCalled> best_;
  std::vector<const Op*> seen_;
};

bool is_named(const Example& example, const Op& op) {
  const std::string names = fmt::format(" {} ", example.names);
  return names.find(fmt::format(" {} ", op.name)) != std::string::npos;
}

// Examples by the op that they show: found by running all of them once, small.
struct Shown {
  std::map<const Op*, const Example*> by_name;
  std::map<const Op*, const Example*> in_passing;
};

Shown run_examples() {
  Shown shown;
  for (const Example& example : examples()) {
    Watch watch(nullptr);
    const graph::UseRecorder use(&watch);
    example.run({.rows = 8, .columns = 8, .side = 8});
    for (const Op* op : watch.seen()) {
      auto& where = is_named(example, *op) ? shown.by_name : shown.in_passing;
      where.emplace(op, &example);
    }
  }
  return shown;
}

const Shown& shown() {
  static const Shown all = run_examples();
  return all;
}

std::optional<OpCalled> from_example(const Example& example, const Op& op,
                                     const Extents& extents) {
  Watch watch(&op);
  const graph::UseRecorder use(&watch);
  example.run(extents);
  return watch.take();
}

// --- by trying --------------------------------------------------------------

// Attributes of any op, as far as it reads them: a first word, then zeros.
struct AnyAttrs {
  alignas(16) std::uint64_t first = 0;
  std::array<std::uint64_t, 31> rest{};
};

// A shape that no op accepts beside a matrix, unless it does not look.
const Shape kStranger{3, 5, 7};

// Equal operands, as a shape rule sees them, and maybe a stranger. A rule that
// wants more of them than there are reads on, and finds strangers.
class Guess {
 public:
  Guess(const Spec& spec, std::size_t count, bool with_stranger = false)
      : count_(count + (with_stranger ? 1 : 0)) {
    specs_.fill({.dtype = bf16, .shape = kStranger});
    std::fill_n(specs_.begin(), count, spec);
    specs_[count].dtype = spec.dtype;
  }
  std::span<const Spec> inputs() const {
    return std::span(specs_).first(count_);
  }

 private:
  std::array<Spec, 8> specs_;
  std::size_t count_;
};

// The outputs' specs, or nothing where the shape rule refuses.
std::optional<std::vector<Spec>> infer(const Op& op, const Guess& guess,
                                       const AnyAttrs& attrs) {
  std::vector<Spec> outputs(static_cast<std::size_t>(op.outputs));
  try {
    op.infer({op.name, guess.inputs(), attrs}, outputs);
  } catch (const Error&) {
    return std::nullopt;
  }
  const bool is_good = std::ranges::all_of(
      outputs, [](const Spec& spec) { return spec.shape.element_count() > 0; });
  return is_good ? std::optional(outputs) : std::nullopt;
}

// Finds the first word: a set of axes where 2 (the columns) makes less of the
// matrix; else 1, an axis or a number that says nothing; else 0.
std::optional<AnyAttrs> find_attrs(const Op& op, const Guess& inputs) {
  const auto plain = infer(op, inputs, {});
  const auto reduced = infer(op, inputs, {.first = 2});
  if (plain && reduced && (*plain)[0].shape != (*reduced)[0].shape) {
    return AnyAttrs{.first = 2};
  }
  for (const std::uint64_t first : {1U, 0U}) {
    if (infer(op, inputs, {.first = first})) {
      return AnyAttrs{.first = first};
    }
  }
  return std::nullopt;
}

// How many equal operands the op takes; 0: that is not its kind. A rule that
// serves ops of any number looks at all that it is given: it accepts one
// operand, refuses a stranger beside it, and belongs to an op of two.
std::size_t find_count(const Op& op, const Spec& spec) {
  if (find_attrs(op, Guess(spec, 1))) {
    return find_attrs(op, Guess(spec, 1, true)) ? 1 : 2;
  }
  for (const std::size_t count : {2U, 3U}) {
    if (find_attrs(op, Guess(spec, count))) {
      return count;
    }
  }
  return 0;
}

std::optional<OpCalled> by_trying(const Op& op, const Extents& extents) {
  const Shape shape{extents.rows, extents.columns};
  for (const DType dtype : {f32, i32, boolean}) {
    const Spec spec{.dtype = dtype, .shape = shape};
    const std::size_t count = find_count(op, spec);
    const auto attrs = find_attrs(op, Guess(spec, count));
    if (count == 0 || !attrs) {
      continue;
    }
    std::vector<Tensor> inputs;
    for (std::size_t i = 0; i < count; ++i) {
      inputs.push_back(numbers(shape, dtype));
    }
    return OpCalled(op, std::move(inputs), *attrs);
  }
  return std::nullopt;
}

}  // namespace

OpCalled::OpCalled(const Op& op, std::vector<Tensor> inputs, const Attrs& attrs)
    : op_(&op), inputs_(std::move(inputs)), attrs_(attrs.size()) {
  if (!attrs_.empty()) {
    std::memcpy(attrs_.data(), attrs.data(), attrs_.size());
  }
  const std::vector<Spec> specs = specs_of(inputs_);
  std::vector<Spec> outputs(static_cast<std::size_t>(op.outputs));
  const OpArgs args{op.name, specs, this->attrs()};
  op.infer(args, outputs);
  cost_ = graph::cost_of(op, args, outputs);
  const Bytes tenth = (cost_.read + cost_.written) / 10;
  reads_ = static_cast<int>(std::ranges::count_if(
      specs, [&](const Spec& spec) { return bytes_of(spec) >= tenth; }));
  writes_ = cost_.written >= tenth ? 1 : 0;
}

void OpCalled::run() const {
  const NoGrad no_grad;
  std::vector<Operand> operands(inputs_.begin(), inputs_.end());
  std::array<Tensor, graph::kMaxOutputs> outputs;
  graph::dispatch(
      *op_, operands, attrs(), CallSite::here(),
      std::span(outputs).first(static_cast<std::size_t>(op_->outputs)));
}

Tensor numbers(const Shape& shape, DType dtype) {
  Tensor x = empty(shape, dtype);
  if (dtype == f32) {
    std::size_t i = 0;
    for (float& value : x.mutable_values<float>()) {
      value = 0.25F + static_cast<float>(i++ * 2654435761U % 1024U) / 1024.0F;
    }
    return x;
  }
  return ones(shape, dtype);
}

Tensor labels(const Shape& shape, std::int64_t below) {
  Tensor x = empty(shape, i64);
  std::size_t i = 0;
  for (std::int64_t& value : x.mutable_values<std::int64_t>()) {
    value = static_cast<std::int64_t>(i++ * 2654435761U %
                                      static_cast<std::size_t>(below));
  }
  return x;
}

std::optional<OpCalled> sample_call(const Op& op, const Extents& extents) {
  const auto named = shown().by_name.find(&op);
  if (named != shown().by_name.end()) {
    return from_example(*named->second, op, extents);
  }
  if (std::optional<OpCalled> call = by_trying(op, extents)) {
    return call;
  }
  const auto passing = shown().in_passing.find(&op);
  return passing != shown().in_passing.end()
             ? from_example(*passing->second, op, extents)
             : std::nullopt;
}

}  // namespace neap::bench
