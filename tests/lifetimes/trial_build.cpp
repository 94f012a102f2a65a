// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "neap/graph/node.hpp"
#include "neap/ops/activation/activations.hpp"
#include "neap/ops/activation/relu.hpp"
#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/elementwise/exponential.hpp"
#include "neap/ops/elementwise/trigonometry.hpp"
#include "neap/ops/linalg/matmul.hpp"
#include "neap/ops/reduction/sum.hpp"
#include "neap/ops/reduction/var.hpp"
#include "neap/ops/shape/slice.hpp"
#include "neap/ops/shape/views.hpp"
#include "neap/tensor/create.hpp"
#include "neap/tensor/execution.hpp"
#include "trial_note.hpp"

namespace neap::lifetimes {
namespace {

const std::array<Shape, 9> kShapes = {Shape{1},    Shape{2},    Shape{3},
                                      Shape{4},    Shape{6},    Shape{2, 3},
                                      Shape{3, 2}, Shape{2, 2}, Shape{1, 2}};

double size_of_values(const Values& values) {
  double sum = 0.0;
  for (const double value : values) {
    sum += std::abs(value);
  }
  return sum;
}

// Another shape of as many elements.
Shape reshaped(const Shape& from) {
  const std::int64_t count = from.element_count();
  if (from.rank() == 2) {
    return {count};
  }
  return count % 2 == 0 ? Shape{2, count / 2} : Shape{1, count};
}

Shape summed(const Shape& from, const std::array<bool, 2>& reduces) {
  Shape shape = from;
  for (int axis = 0; axis < from.rank(); ++axis) {
    shape[axis] = reduces[static_cast<std::size_t>(axis)] ? 1 : from[axis];
  }
  return shape;
}

bool is_single(const Shape& shape) {
  return shape.element_count() == 1;
}

// The shape of both or, where one is a single number, of the other.
std::optional<Shape> joined(const Shape& a, const Shape& b) {
  if (a == b) {
    return a;
  }
  if (is_single(b) && b.rank() <= a.rank()) {
    return a;
  }
  if (is_single(a) && a.rank() <= b.rank()) {
    return b;
  }
  return std::nullopt;
}

std::optional<Shape> product(const Shape& a, const Shape& b) {
  if (a.rank() != 2 || b.rank() != 2 || a[1] != b[0] ||
      a[0] * b[1] > static_cast<std::int64_t>(kMaxElements)) {
    return std::nullopt;
  }
  return Shape{a[0], b[1]};
}

std::optional<Shape> result_of_two(OpKind op, const Shape& a, const Shape& b) {
  return op == OpKind::kMatmul ? product(a, b) : joined(a, b);
}

std::uint64_t mask_of(const std::array<bool, 2>& axes) {
  return (axes[0] ? 1U : 0U) | (axes[1] ? 2U : 0U);
}

}  // namespace

void Trial::make_tensor(const Action& action, bool is_leaf) {
  if (handles_.size() > 24) {
    drop(0);
    return;
  }
  const Shape shape = kShapes[action.picks[0] % kShapes.size()];
  const Values values = made_up(action.picks[1], count_of(shape));
  Tensor real =
      from_values(std::span(values).first(count_of(shape)), shape, f64, site());
  const int body = model_.make_fresh(shape, values);
  Handle& handle = keep(std::move(real), body);
  note("t{} = {} {}", handle.name, is_leaf ? "leaf" : "plain",
       format_shape(shape));
  if (is_leaf) {
    require_grad(handle, true);
  }
}

// The first handle from a random one on that the op can join with `a`.
Trial::Handle* Trial::find_second(OpKind op, const Handle& a,
                                  std::size_t from) {
  for (std::size_t i = 0; i < handles_.size(); ++i) {
    Handle& b = handles_[(from + i) % handles_.size()];
    if (result_of_two(op, model_.shape_of(a.body), model_.shape_of(b.body))) {
      return &b;
    }
  }
  return nullptr;
}

// The call that was drawn, or another where shapes or sizes forbid it.
Call Trial::choose_call(const Action& action, Handle& a, Handle** b) {
  Call call;
  const Shape& shape = model_.shape_of(a.body);
  call.in[0] = shape;
  call.op = static_cast<OpKind>(action.picks[1] %
                                static_cast<unsigned>(OpKind::kCount));
  constexpr double kLarge = 100.0;
  const bool is_large = size_of_values(model_.values_of(a.body)) > kLarge;
  if (call.facts().inputs == 2) {
    *b = find_second(call.op, a, action.picks[2]);
    if (*b != nullptr && !is_large &&
        size_of_values(model_.values_of((*b)->body)) <= kLarge) {
      call.in[1] = model_.shape_of((*b)->body);
      call.out[0] = *result_of_two(call.op, shape, call.in[1]);
      return call;
    }
    *b = nullptr;
    call.op = OpKind::kSin;
  }
  const bool is_strided = !model_.is_contiguous(a.body);
  if (call.op == OpKind::kReshape && is_strided) {
    call.op = OpKind::kNeg;
  }
  if (is_large || (call.op == OpKind::kExp &&
                   size_of_values(model_.values_of(a.body)) > 4.0)) {
    call.op = OpKind::kTanh;
  }
  call.out[0] = shape;
  const unsigned number = action.picks[2];
  if (call.op == OpKind::kReshape) {
    call.out[0] = reshaped(shape);
  } else if (call.op == OpKind::kSum) {
    call.reduces = {shape.rank() == 1 || number % 3 != 0, number % 3 != 1};
    call.out[0] = summed(shape, call.reduces);
  } else if (call.op == OpKind::kVarMean) {
    call.out[0] = call.out[1] = summed(shape, {true, false});
  } else if (call.op == OpKind::kSlice) {
    call.axis = number % static_cast<unsigned>(shape.rank());
    const std::int64_t extent = shape[static_cast<int>(call.axis)];
    call.start = number / 2 % extent;
    call.out[0][static_cast<int>(call.axis)] =
        1 + number / 16 % (extent - call.start);
  }
  return call;
}

std::array<Tensor, 2> Trial::call_real(const Call& call, const Operand& a,
                                       const Operand& b) {
  switch (call.op) {
    case OpKind::kAdd:
      return {add(a, b)};
    case OpKind::kSub:
      return {sub(a, b)};
    case OpKind::kMul:
      return {mul(a, b)};
    case OpKind::kMatmul:
      return {matmul(a, b)};
    case OpKind::kNeg:
      return {neg(a)};
    case OpKind::kSquare:
      return {square(a)};
    case OpKind::kSin:
      return {sin(a)};
    case OpKind::kExp:
      return {exp(a)};
    case OpKind::kTanh:
      return {tanh(a)};
    case OpKind::kRelu:
      return {relu(a)};
    case OpKind::kSum: {
      std::array<bool, 2> axes = call.reduces;
      axes[1] = axes[1] && call.in[0].rank() == 2;
      return {ops::sum_axes(a, mask_of(axes))};
    }
    case OpKind::kReshape:
      return {reshape(a, call.out[0])};
    case OpKind::kSlice:
      return {slice(a, call.axis, call.start,
                    call.start + call.out[0][static_cast<int>(call.axis)])};
    default: {
      VarMean both = var_mean(a, {0}, true, 0.0);
      return {std::move(both.var), std::move(both.mean)};
    }
  }
}

// Values within rounding of the formulas' are taken over, so that errors do not
// add up along the program.
void Trial::check_values(const Call& call, const Built& built,
                         std::array<Tensor, 2>& results) {
  for (std::size_t k = 0; k < results.size() && results[k].defined(); ++k) {
    const int body = built.bodies[k];
    const Values found = numbers_of(results[k]);
    const Values expected = model_.values_of(body);
    if (results[k].shape() != call.out[k]) {
      throw Mismatch("shape of a result");
    }
    for (std::size_t i = 0; i < count_of(call.out[k]); ++i) {
      constexpr double kTolerance = 1e-10;  // values are at most 1e4 or so
      if (!(std::abs(found[i] - expected[i]) <= kTolerance)) {
        throw Mismatch(fmt::format("{} gives {:.17g} at {}, expected {:.17g}",
                                   call.facts().name, found[i], i,
                                   expected[i]));
      }
    }
    if (!call.facts().is_view) {
      const int storage = model_.array_of(body).storage;
      model_.storages[static_cast<std::size_t>(storage)].values = found;
    }
    if (built.vertex != kNone) {
      model_.vertex(built.vertex).out[k] = found;
    }
  }
}

void Trial::take_over(int vertex, const Tensor& real) {
  model_.vertex(vertex).real = real.link().get();
  model_.vertex(vertex).bytes =
      static_cast<const graph::Node&>(*real.link()).footprint();
}

bool Trial::build(const Action& action, bool is_moved, bool is_grad_enabled) {
  const std::size_t place = action.picks[0] % handles_.size();
  Handle& a = handles_[place];
  Handle* b = nullptr;
  const Call call = choose_call(action, a, &b);
  const std::array<int, 2> operands = {a.body, b != nullptr ? b->body : kNone};
  note("t{} = {}({}t{}{})", names_, call.facts().name, is_moved ? "moved " : "",
       a.name, b != nullptr ? fmt::format(", t{}", b->name) : std::string());
  const Built built = lifetimes::build(
      model_, call, operands, is_moved ? 0 : kNone, is_grad_enabled, action_);
  std::array<Tensor, 2> results;
  {
    const memory::ContextGuard guard(
        [&](memory::Context& c) { c.site = base::intern(site()); });
    const tensor::UseGradMode mode(is_grad_enabled);
    const Tensor& other = b != nullptr ? b->real : a.real;
    results = is_moved ? call_real(call, std::move(a.real), other)
                       : call_real(call, a.real, other);
  }
  mix_->nodes += built.vertex != kNone ? 1 : 0;
  mix_->donated += built.is_donated ? 1 : 0;
  if (built.vertex != kNone) {
    take_over(built.vertex, results[0]);
  }
  check_values(call, built, results);
  for (std::size_t k = 0; k < results.size() && results[k].defined(); ++k) {
    keep(std::move(results[k]), built.bodies[k]);
  }
  if (is_moved) {
    drop(place);
  }
  return true;
}

}  // namespace neap::lifetimes
