// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/testing/op_run.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>

#include "neap/autograd/backward.hpp"
#include "neap/autograd/jvp.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/tensor/create.hpp"

namespace neap::testing {
namespace {

bool carries_derivative(DType dtype) noexcept {
  return dtype == f32 || dtype == f64;
}

bool is_close(double got, double wanted, const Tolerance& tolerance) {
  if (std::isnan(got) || std::isnan(wanted)) {
    return std::isnan(got) && std::isnan(wanted);
  }
  return got == wanted ||
         std::abs(got - wanted) <=
             tolerance.absolute + tolerance.relative * std::abs(wanted);
}

}  // namespace

OpRun::OpRun(Fixture& fixture, const OpRow& row, DType dtype,
             std::vector<HostArray> values, std::string_view variant)
    : fixture_(fixture),
      row_(row),
      dtype_(dtype),
      values_(std::move(values)),
      label_(fmt::format("{}/{} [{}{}{}]", fixture.table.name, row.name,
                         neap::name_of(dtype), variant.empty() ? "" : ", ",
                         variant)) {
  for (std::size_t i = 0; i < row.inputs.size(); ++i) {
    if (row.differentiable && row.inputs[i].differentiable &&
        carries_derivative(dtype) && carries_derivative(dtype_of_input(i))) {
      differentiable_.push_back(i);
    }
  }
}

DType OpRun::dtype_of_input(std::size_t i) const {
  return row_.inputs[i].dtype.value_or(dtype_);
}

// --- evaluating ---

std::vector<Tensor> OpRun::make_inputs_of(std::span<const HostArray> values,
                                          LayoutKind layout,
                                          memory::SpaceId space) const {
  std::vector<Tensor> out;
  for (std::size_t i = 0; i < values.size(); ++i) {
    out.push_back(make_tensor(values[i], dtype_of_input(i), layout, i));
    if (space != memory::kHost) {
      out.back() = fixture_.shadow.from_host(out.back());
    }
  }
  return out;
}

std::vector<Tensor> OpRun::make_inputs(LayoutKind layout,
                                       memory::SpaceId space) const {
  return make_inputs_of(values_, layout, space);
}

Tensor OpRun::call(Inputs inputs) const {
  tensor::Generator generator(row_.seed);
  const tensor::UseGenerator guard(generator);
  return row_.fn(inputs);
}

Tensor OpRun::direction_like(const Tensor& like, std::size_t index) const {
  const Tensor host =
      make_tensor(make_direction(like.shape(), row_.seed, index), like.dtype());
  return like.space() == memory::kHost ? host : fixture_.shadow.from_host(host);
}

std::vector<Tensor> OpRun::vjp(std::vector<Tensor>& inputs,
                               std::span<const std::size_t> wanted,
                               const Tensor& w, bool create_graph) const {
  std::vector<Tensor> leaves;
  for (const std::size_t i : wanted) {
    leaves.push_back(requires_grad_(inputs[i]));
  }
  const Tensor out = call(inputs);
  const auto cotangents = grad(std::span(&out, 1), leaves,
                               {.cotangents = std::span(&w, 1),
                                .create_graph = create_graph,
                                .unused = GradOptions::Unused::kZeros});
  return {cotangents.begin(), cotangents.end()};
}

Tensor OpRun::jvp(const std::vector<Tensor>& inputs,
                  std::span<const std::size_t> wanted,
                  std::span<const Tensor> tangents) const {
  std::vector<Tensor> moving;
  for (const std::size_t i : wanted) {
    moving.push_back(inputs[i]);
  }
  const auto f = [&](Inputs moved) {
    std::vector<Tensor> all = inputs;
    for (std::size_t k = 0; k < wanted.size(); ++k) {
      all[wanted[k]] = moved[k];
    }
    return call(all);
  };
  return neap::jvp(f, moving, tangents).tangent;
}

HostArray OpRun::fetch(const Tensor& tensor) const {
  const Tensor host = tensor.space() == memory::kHost
                          ? tensor
                          : fixture_.shadow.to_host(tensor);
  const auto values = host.to_vector();
  return {host.shape(), {values.begin(), values.end()}};
}

Outcome OpRun::evaluate(LayoutKind layout, memory::SpaceId space) const {
  Outcome outcome;
  std::vector<Tensor> inputs = make_inputs(layout, space);
  const Tensor out = call(inputs);
  outcome.value = fetch(out);
  if (differentiable_.empty() || !carries_derivative(out.dtype())) {
    return outcome;
  }
  std::vector<Tensor> tangents;
  for (const std::size_t i : differentiable_) {
    tangents.push_back(direction_like(inputs[i], i));
  }
  outcome.tangent = fetch(jvp(inputs, differentiable_, tangents));
  const Tensor w = direction_like(out, kCotangent);
  for (const Tensor& cotangent : vjp(inputs, differentiable_, w)) {
    outcome.cotangents.push_back(fetch(cotangent));
  }
  return outcome;
}

// --- reporting ---

void OpRun::stage(const char* kind, const std::function<void()>& body) const {
  ++fixture_.report.checks[kind];
  kind_ = kind;
  const memory::Stats before = fixture_.domain.stats();
  try {
    body();
  } catch (const std::exception& error) {
    fail(fmt::format("threw {}", error.what()));
  }
  const memory::Stats after = fixture_.domain.stats();
  if (before.live != after.live || before.live_blocks != after.live_blocks ||
      before.lent != after.lent) {
    fail(fmt::format("left {} B in {} blocks live", after.live - before.live,
                     after.live_blocks - before.live_blocks));
  }
}

void OpRun::fail(std::string_view what) const {
  fixture_.report.failures.push_back(
      fmt::format("{} {}: {}", label_, kind_, what));
}

void OpRun::expect_close(std::span<const double> got,
                         std::span<const double> wanted,
                         const Tolerance& tolerance,
                         std::string_view what) const {
  if (got.size() != wanted.size()) {
    fail(fmt::format("{} has {} elements, expected {}", what, got.size(),
                     wanted.size()));
    return;
  }
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (!is_close(got[i], wanted[i], tolerance)) {
      fail(fmt::format(
          "{} element {} is {:.17g}, expected {:.17g} (within "
          "{} of it + {})",
          what, i, got[i], wanted[i], tolerance.relative, tolerance.absolute));
      return;
    }
  }
}

void OpRun::expect_same_bits(const HostArray& got, const HostArray& wanted,
                             std::string_view what) const {
  if (got.shape != wanted.shape) {
    fail(fmt::format("{} has shape {}, expected {}", what,
                     format_shape(got.shape), format_shape(wanted.shape)));
    return;
  }
  for (std::size_t i = 0; i < got.values.size(); ++i) {
    if (std::bit_cast<std::uint64_t>(got.values[i]) !=
        std::bit_cast<std::uint64_t>(wanted.values[i])) {
      fail(
          fmt::format("{} element {} is {:.17g}, expected the same bits as "
                      "{:.17g}",
                      what, i, got.values[i], wanted.values[i]));
      return;
    }
  }
}

void OpRun::expect_same_bits(const Outcome& got, const Outcome& wanted,
                             std::string_view how) const {
  expect_same_bits(got.value, wanted.value, fmt::format("{}: value", how));
  expect_same_bits(got.tangent, wanted.tangent,
                   fmt::format("{}: tangent", how));
  for (std::size_t k = 0; k < wanted.cotangents.size(); ++k) {
    expect_same_bits(
        got.cotangents[k], wanted.cotangents[k],
        fmt::format("{}: cotangent of input {}", how, differentiable_[k]));
  }
}

}  // namespace neap::testing
