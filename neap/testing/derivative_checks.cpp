// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Checks of derivatives, by random projections: with cotangent w of the result
// and direction u of the inputs,
//
//   <u, vjp w>  =  <w, jvp u>  =  d/dt <w, f(x + t u)>
//
// so that a few evaluations test a whole Jacobian. Differences are central, of
// fourth order, in f64.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "neap/autograd/backward.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/tensor/create.hpp"
#include "neap/testing/op_run.hpp"

namespace neap::testing {
namespace {

using Directions = std::vector<HostArray>;  // one a differentiable input

constexpr int kRounds = 2;        // random directions tried
constexpr double kStep = 1e-3;    // of a difference
constexpr double kExact = 1e-11;  // relative, between two exact derivatives

double dot(const HostArray& a, const HostArray& b) {
  return std::inner_product(a.values.begin(), a.values.end(), b.values.begin(),
                            0.0);
}

// Size of the sum's terms: what rounding is relative to.
double dot_scale(const HostArray& a, const HostArray& b) {
  double scale = 1.0;
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    scale += std::abs(a.values[i] * b.values[i]);
  }
  return scale;
}

// Values with input `i` moved by t along u.
std::vector<HostArray> moved(const std::vector<HostArray>& values,
                             std::size_t i, const HostArray& u, double t) {
  std::vector<HostArray> out = values;
  for (std::size_t k = 0; k < u.values.size(); ++k) {
    out[i].values[k] += t * u.values[k];
  }
  return out;
}

// d/dt of `f(t)` at 0; its error is of order kStep^4.
template <class F>
double slope(F&& f) {
  const double near = f(kStep) - f(-kStep);
  const double far = f(2 * kStep) - f(-2 * kStep);
  return (8.0 * near - far) / (12.0 * kStep);
}

void expect_number(const OpRun& run, double got, double wanted, double scale,
                   double relative, std::string_view what) {
  if (!(std::abs(got - wanted) <= relative * scale)) {
    run.fail(fmt::format("{} is {:.12g}, expected {:.12g} (within {:.2g})",
                         what, got, wanted, relative * scale));
  }
}

std::vector<HostArray> fetch_all(const OpRun& run,
                                 const std::vector<Tensor>& tensors) {
  std::vector<HostArray> out;
  for (const Tensor& tensor : tensors) {
    out.push_back(run.fetch(tensor));
  }
  return out;
}

std::vector<Tensor> tangents_for(const OpRun& run,
                                 const std::vector<Tensor>& inputs,
                                 std::size_t seed) {
  std::vector<Tensor> out;
  for (const std::size_t i : run.differentiable()) {
    out.push_back(run.direction_like(inputs[i], seed + i));
  }
  return out;
}

// One input alone: its cotangent has the bits that it has among others, and
// agrees with its tangent and with differences.
void check_one_input(const OpRun& run, std::size_t i,
                     const HostArray& cotangent, const Tensor& w,
                     std::size_t seed) {
  const std::array<std::size_t, 1> one{i};
  std::vector<Tensor> inputs = run.make_inputs();
  const Tensor u = run.direction_like(inputs[i], seed + i);
  const HostArray uh = run.fetch(u);
  const HostArray wh = run.fetch(w);

  const HostArray tangent = run.fetch(run.jvp(inputs, one, std::span(&u, 1)));
  const HostArray alone = run.fetch(run.vjp(inputs, one, w)[0]);
  run.expect_same_bits(alone, cotangent,
                       fmt::format("cotangent of input {} alone", i));
  const double by_differences = slope([&](double t) {
    return dot(
        wh,
        run.fetch(run.call(run.make_inputs_of(moved(run.values(), i, uh, t)))));
  });
  const double reverse = dot(uh, alone);
  const double forward = dot(wh, tangent);
  const double scale = dot_scale(uh, alone) + dot_scale(wh, tangent);
  const double tolerance = run.row().difference;
  expect_number(run, reverse, by_differences, scale, tolerance,
                fmt::format("vjp of input {} along a direction", i));
  expect_number(run, forward, by_differences, scale, tolerance,
                fmt::format("jvp of input {} along a direction", i));
  expect_number(run, forward, reverse, scale, kExact,
                fmt::format("<jvp u, w> - <u, vjp w> of input {}: jvp", i));
}

// What a second derivative is made of: <v, vjp w> over inputs and w as leaves.
struct Second {
  std::vector<HostArray> by_inputs;
  HostArray by_cotangent;
};

Second reverse_over_reverse(const OpRun& run, const Tensor& w) {
  std::vector<Tensor> inputs = run.make_inputs();
  const Tensor leaf = requires_grad_(w.alias());
  const std::vector<Tensor> first =
      run.vjp(inputs, run.differentiable(), leaf, true);
  const std::vector<Tensor> v = tangents_for(run, inputs, kSecond);
  std::vector<Tensor> outputs;
  std::vector<Tensor> cotangents;
  for (std::size_t k = 0; k < first.size(); ++k) {
    if (first[k].requires_grad()) {
      outputs.push_back(first[k]);
      cotangents.push_back(v[k]);
    }
  }
  std::vector<Tensor> leaves;
  for (const std::size_t i : run.differentiable()) {
    leaves.push_back(inputs[i]);
  }
  leaves.push_back(leaf);
  const auto second =
      grad(outputs, leaves,
           {.cotangents = cotangents, .unused = GradOptions::Unused::kZeros});
  Second result;
  result.by_inputs = fetch_all(run, {second.begin(), std::prev(second.end())});
  result.by_cotangent = run.fetch(second[second.size() - 1]);
  return result;
}

// The same by the inputs, from the forward rules: d/dx <w, jvp v>.
std::vector<HostArray> reverse_over_forward(const OpRun& run, const Tensor& w) {
  std::vector<Tensor> inputs = run.make_inputs();
  std::vector<Tensor> leaves;
  for (const std::size_t i : run.differentiable()) {
    leaves.push_back(requires_grad_(inputs[i]));
  }
  const Tensor tangent =
      run.jvp(inputs, run.differentiable(), tangents_for(run, inputs, kSecond));
  std::vector<Tensor> result;
  if (!tangent.requires_grad()) {  // linear: the tangent is constant
    for (const Tensor& leaf : leaves) {
      result.push_back(zeros_like(leaf));
    }
    return fetch_all(run, result);
  }
  const auto second = grad(
      std::span(&tangent, 1), leaves,
      {.cotangents = std::span(&w, 1), .unused = GradOptions::Unused::kZeros});
  return fetch_all(run, {second.begin(), second.end()});
}

Tensor cotangent_of_result(const OpRun& run, std::size_t seed) {
  return run.direction_like(run.call(run.make_inputs()), kCotangent + seed);
}

bool is_skipped(const OpRun& run) {
  return run.differentiable().empty() || !run.row().smooth;
}

}  // namespace

void check_first_derivative(const OpRun& run) {
  if (is_skipped(run)) {
    return;
  }
  for (std::size_t round = 0; round < kRounds; ++round) {
    run.stage("first derivative", [&] {
      const std::size_t seed = 100 * round;
      const Tensor w = cotangent_of_result(run, seed);
      std::vector<Tensor> inputs = run.make_inputs();
      const std::vector<Tensor> u = tangents_for(run, inputs, seed);
      const HostArray tangent =
          run.fetch(run.jvp(inputs, run.differentiable(), u));
      const std::vector<HostArray> cotangents =
          fetch_all(run, run.vjp(inputs, run.differentiable(), w));
      double reverse = 0.0;
      double scale = dot_scale(run.fetch(w), tangent);
      for (std::size_t k = 0; k < u.size(); ++k) {
        const HostArray uh = run.fetch(u[k]);
        if (cotangents[k].shape != uh.shape) {
          run.fail(fmt::format("cotangent of input {} has shape {}",
                               run.differentiable()[k],
                               format_shape(cotangents[k].shape)));
          return;
        }
        reverse += dot(uh, cotangents[k]);
        scale += dot_scale(uh, cotangents[k]);
        check_one_input(run, run.differentiable()[k], cotangents[k], w, seed);
      }
      expect_number(run, dot(run.fetch(w), tangent), reverse, scale, kExact,
                    "<jvp u, w> - <u, vjp w> of all inputs: jvp");
    });
  }
}

void check_second_derivative(const OpRun& run) {
  if (is_skipped(run) || !run.row().second_derivative) {
    return;
  }
  run.stage("second derivative", [&] {
    const Tensor w = cotangent_of_result(run, 0);
    const Second second = reverse_over_reverse(run, w);
    const std::vector<HostArray> forward = reverse_over_forward(run, w);
    const std::vector<Tensor> inputs = run.make_inputs();
    const std::vector<Tensor> vs = tangents_for(run, inputs, kSecond);
    const std::vector<HostArray> v = fetch_all(run, vs);
    const Tolerance exact{1e-9, 1e-10};
    run.expect_close(
        second.by_cotangent.values,
        run.fetch(run.jvp(inputs, run.differentiable(), vs)).values, exact,
        "derivative of the vjp by its cotangent");
    const auto first_at = [&](const std::vector<HostArray>& values) {
      std::vector<Tensor> at = run.make_inputs_of(values);
      double sum = 0.0;
      const auto cotangents = run.vjp(at, run.differentiable(), w);
      for (std::size_t k = 0; k < v.size(); ++k) {
        sum += dot(v[k], run.fetch(cotangents[k]));
      }
      return sum;
    };
    for (std::size_t k = 0; k < v.size(); ++k) {
      const std::size_t i = run.differentiable()[k];
      const HostArray u = run.fetch(run.direction_like(inputs[i], i));
      const double differences = slope(
          [&](double t) { return first_at(moved(run.values(), i, u, t)); });
      expect_number(run, dot(u, second.by_inputs[k]), differences,
                    dot_scale(u, second.by_inputs[k]), run.row().difference,
                    fmt::format("derivative of the vjp by input {}", i));
      run.expect_close(forward[k].values, second.by_inputs[k].values, exact,
                       fmt::format("derivative of the jvp by input {}", i));
    }
  });
}

void check_narrow_derivative(const OpRun& narrow, const OpRun& wide) {
  if (narrow.differentiable().empty() || wide.differentiable().empty()) {
    return;
  }
  narrow.stage("f32 derivative", [&] {
    const Outcome got = narrow.evaluate();
    const Outcome wanted = wide.evaluate();
    const Tolerance& tolerance = narrow.row().f32_derivative;
    narrow.expect_close(got.tangent.values, wanted.tangent.values, tolerance,
                        "tangent against f64");
    for (std::size_t k = 0; k < wanted.cotangents.size(); ++k) {
      narrow.expect_close(got.cotangents[k].values, wanted.cotangents[k].values,
                          tolerance,
                          fmt::format("cotangent of input {} against f64",
                                      narrow.differentiable()[k]));
    }
  });
}

void check_kink(const OpRun& run) {
  const OpRow& row = run.row();
  if (run.differentiable().empty() ||
      (row.expected_vjp.empty() && row.expected_jvp.empty())) {
    return;
  }
  run.stage("expected derivative", [&] {
    const Tolerance exact{};
    std::vector<Tensor> inputs = run.make_inputs();
    if (!row.expected_jvp.empty()) {
      std::vector<Tensor> u;
      for (const std::size_t i : run.differentiable()) {
        u.push_back(ones_like(inputs[i]));
      }
      run.expect_close(
          run.fetch(run.jvp(inputs, run.differentiable(), u)).values,
          row.expected_jvp, exact, "tangent");
    }
    const Tensor w = ones_like(run.call(inputs));
    const std::vector<Tensor> cotangents =
        run.vjp(inputs, run.differentiable(), w);
    for (std::size_t k = 0; k < row.expected_vjp.size(); ++k) {
      run.expect_close(
          run.fetch(cotangents.at(k)).values, row.expected_vjp[k], exact,
          fmt::format("cotangent of input {}", run.differentiable()[k]));
    }
  });
}

}  // namespace neap::testing
