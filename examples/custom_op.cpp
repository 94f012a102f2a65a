// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// An operation of one's own, with state: the calibration curve of a sensor, a
// table of measured points with straight lines between them. It is applied,
// differentiated and fitted through like any other operation.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "neap/neap.hpp"

namespace {

using neap::CustomOp;
using neap::Tensor;

// The line of the table that a reading x lies on: points are 1 apart, x = 0 is
// the first; beyond the ends the outer lines go on.
struct Line {
  double start;  // height at the left point
  double slope;
  double offset;  // of x from the left point
};

Line line_at(std::span<const double> table, double x) {
  const auto last = static_cast<double>(table.size()) - 2.0;
  const double left = std::clamp(std::floor(x), 0.0, last);
  const auto i = static_cast<std::size_t>(left);
  return {table[i], table[i + 1] - table[i], x - left};
}

void check_f64(const char* op, CustomOp::Specs in) {
  if (in[0].dtype != neap::f64) {
    throw neap::DTypeError(std::string(op) + ": expected f64");
  }
}

// dy/dx of the curve.
struct Slope {
  static constexpr std::string_view name = "curve_slope";
  static constexpr int inputs = 1;
  static constexpr bool dense = true;
  Tensor table;

  void shape(CustomOp::Specs in, CustomOp::OutSpecs out) const {
    check_f64("curve_slope", in);
    out[0] = in[0];
  }
  void forward(const CustomOp::Forward& c) const noexcept {
    const auto points = table.values<double>();
    std::ranges::transform(c.values<double>(0), c.results<double>().begin(),
                           [&](double x) { return line_at(points, x).slope; });
  }
  void vjp(CustomOp::Vjp& /*c*/) const {}  // constant on every line
  void jvp(CustomOp::Jvp& /*c*/) const {}
};

// The curve. Its table and the op of its slope are its state.
struct Curve {
  static constexpr std::string_view name = "curve";
  static constexpr std::string_view formula = "y = table[i] + (x - i) slope(x)";
  static constexpr int inputs = 1;
  static constexpr bool dense = true;
  static constexpr CustomOp::Facts facts{.vjp_reads = {{{.inputs = 0b1}}},
                                         .donates = 0b1};
  Tensor table;
  CustomOp slope;

  void shape(CustomOp::Specs in, CustomOp::OutSpecs out) const {
    check_f64("curve", in);
    out[0] = in[0];
  }
  void forward(const CustomOp::Forward& c) const noexcept {
    const auto points = table.values<double>();
    const auto x = c.values<double>(0);
    const auto y = c.results<double>();
    neap::threads::parallel_for(
        c.executor(), static_cast<std::int64_t>(x.size()), 1024,
        [&](std::int64_t begin, std::int64_t end) noexcept {
          for (auto i = static_cast<std::size_t>(begin);
               i < static_cast<std::size_t>(end); ++i) {
            const Line line = line_at(points, x[i]);
            y[i] = line.start + line.slope * line.offset;
          }
        });
  }
  void vjp(CustomOp::Vjp& c) const {
    c.set(0, c.take_cotangent() * slope(c.input(0)));
  }
  void jvp(CustomOp::Jvp& c) const {
    c.set(0, c.tangent() * slope(c.input(0)));
  }
};

CustomOp make_curve(const Tensor& table) {
  return CustomOp(Curve{table, CustomOp(Slope{table})});
}

bool is_near(double a, double b) {
  return std::abs(a - b) < 1e-9;
}

// Finds the reading of a height of 5, by Newton's method through the curve.
bool solve_for_reading(const CustomOp& curve) {
  Tensor x = neap::from_values({0.5}, {}, neap::f64);
  for (int step = 0; step < 10; ++step) {
    const Tensor at = requires_grad_(x.detach());
    const Tensor error = curve(at) - 5.0;
    backward(error);
    x = at.detach() - error.detach() / at.grad();
  }
  std::printf("curve(%.3f) = 5\n", x.item());
  return is_near(curve(x).item(), 5.0);
}

bool run() {
  const CustomOp curve =
      make_curve(neap::from_values({0, 1, 4, 9, 16}, {5}, neap::f64));
  const Tensor x =
      requires_grad_(neap::from_values({0.5, 1.5, 3.25}, {3}, neap::f64));
  const Tensor y = curve(x);
  backward(sum(y));
  std::printf("y      %s\n", format(y).c_str());
  std::printf("dy/dx  %s\n", format(x.grad()).c_str());
  return is_near(y.at({2}), 10.75) && is_near(x.grad().at({1}), 3.0) &&
         solve_for_reading(curve);
}

}  // namespace

int main() {
  const bool is_right = run();
  const neap::Bytes live = neap::memory::domain().stats().live;
  std::printf("live at exit: %s\n", neap::format_bytes(live).c_str());
  return is_right && live == 0 ? 0 : 1;
}
