// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// OpRun: one row of a table with one dtype and one set of values, and how the
// checks evaluate it. For the sources of this room only. Checks are functions
// that take a run; each is made of stages, and a stage turns whatever goes
// wrong in it into lines of the report.
#pragma once

#include <functional>
#include <map>
#include <string_view>
#include <utility>

#include "neap/testing/inputs.hpp"
#include "neap/testing/op_check.hpp"
#include "neap/testing/shadow_space.hpp"
#include "neap/threads/pool.hpp"

namespace neap::testing {

/// A residual that the facts of an op declare: for the cotangent of `input`,
/// the one at `position` (as in graph::Residual).
struct DeclaredRead {
  std::size_t input = 0;
  std::uint16_t position = 0;
  friend auto operator<=>(const DeclaredRead&, const DeclaredRead&) = default;
};

/// The common part of all runs of a check.
struct Fixture {
  const OpTable& table;
  Report& report;
  memory::Domain& domain;
  ShadowSpace& shadow;
  std::array<threads::Executor*, 3> executors;  // of 1, 2, 3 threads
  std::map<DeclaredRead, bool> reads{};         // did one ever matter?
};

/// Everything that a row computes, as numbers.
struct Outcome {
  HostArray value;
  std::vector<HostArray> cotangents;  // of the differentiable inputs
  HostArray tangent;                  // all inputs moving
};

class OpRun {
 public:
  OpRun(Fixture& fixture, const OpRow& row, DType dtype,
        std::vector<HostArray> values, std::string_view variant);

  Fixture& fixture() const noexcept { return fixture_; }
  const OpTable& table() const noexcept { return fixture_.table; }
  const OpRow& row() const noexcept { return row_; }
  DType dtype() const noexcept { return dtype_; }
  const std::vector<HostArray>& values() const noexcept { return values_; }
  std::size_t inputs() const noexcept { return values_.size(); }
  DType dtype_of_input(std::size_t i) const;
  /// Inputs with a derivative in this run; empty where the row has none.
  const std::vector<std::size_t>& differentiable() const noexcept {
    return differentiable_;
  }

  // --- evaluating ----------------------------------------------------------

  std::vector<Tensor> make_inputs(LayoutKind layout = LayoutKind::kContiguous,
                                  memory::SpaceId space = memory::kHost) const;
  /// Like make_inputs, with other values.
  std::vector<Tensor> make_inputs_of(
      std::span<const HostArray> values,
      LayoutKind layout = LayoutKind::kContiguous,
      memory::SpaceId space = memory::kHost) const;
  /// The row's function, with its generator started anew.
  Tensor call(Inputs inputs) const;
  /// A fixed random array of the row, as a tensor like `like`.
  Tensor direction_like(const Tensor& like, std::size_t index) const;
  /// Cotangents of `wanted` inputs for cotangent `w` of the result. Makes the
  /// inputs leaves. THROWS: GraphError where the result depends on none.
  std::vector<Tensor> vjp(std::vector<Tensor>& inputs,
                          std::span<const std::size_t> wanted, const Tensor& w,
                          bool create_graph = false) const;
  /// Tangent of the result when `wanted` inputs move along `tangents`.
  Tensor jvp(const std::vector<Tensor>& inputs,
             std::span<const std::size_t> wanted,
             std::span<const Tensor> tangents) const;
  HostArray fetch(const Tensor& tensor) const;
  Outcome evaluate(LayoutKind layout = LayoutKind::kContiguous,
                   memory::SpaceId space = memory::kHost) const;

  // --- reporting -----------------------------------------------------------

  /// Runs and counts one check. An exception is a failure; so are live bytes
  /// that stay.
  void stage(const char* kind, const std::function<void()>& body) const;
  void fail(std::string_view what) const;
  void expect_close(std::span<const double> got, std::span<const double> wanted,
                    const Tolerance& tolerance, std::string_view what) const;
  void expect_same_bits(const HostArray& got, const HostArray& wanted,
                        std::string_view what) const;
  void expect_same_bits(const Outcome& got, const Outcome& wanted,
                        std::string_view how) const;

 private:
  Fixture& fixture_;
  const OpRow& row_;
  DType dtype_;
  std::vector<HostArray> values_;
  std::vector<std::size_t> differentiable_;
  std::string label_;
  mutable const char* kind_ = "";
};

/// Index of the row's random arrays: tangents of inputs are 0, 1, ...
inline constexpr std::size_t kCotangent = 1000;
inline constexpr std::size_t kSecond = 2000;

// The checks. REQUIRES (of all): the fixture's domain is the current one.
void check_value(const OpRun& run);
void check_layouts(const OpRun& run);
void check_threads(const OpRun& run);
void check_donation(const OpRun& run);
void check_second_space(const OpRun& run);
void check_first_derivative(const OpRun& run);
void check_second_derivative(const OpRun& run);
void check_third_derivative(const OpRun& run);
/// f32 against f64.
void check_narrow_derivative(const OpRun& narrow, const OpRun& wide);
void check_kink(const OpRun& run);
void check_calls(const OpRun& run);
void check_residuals(const OpRun& run);
void check_faults(const OpRun& run);
void check_error(Fixture& fixture, const ErrorRow& row);

}  // namespace neap::testing
