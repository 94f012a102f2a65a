// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Checks of first derivatives, by random projections: with cotangent w of the
// result and direction u of the inputs,
//
//   <u, vjp w>  =  <w, jvp u>  =  d/dt <w, f(x + t u)>
//
// so that a few evaluations test a whole Jacobian.
#include <fmt/format.h>

#include <algorithm>

#include "neap/tensor/create.hpp"
#include "neap/testing/projections.hpp"

namespace neap::testing {
namespace {

constexpr int kRounds = 2;        // random directions tried
constexpr double kExact = 1e-11;  // relative, between two exact derivatives

// An input alone: its cotangent has the bits that it has among others, and
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
