// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Checks of second and third derivatives of F(x) = <w, f(x)>. With H its matrix
// of second derivatives and u, v, z directions,
//
//   H v  by reverse over reverse, reverse over forward, forward over reverse
//   u H v                         by forward over forward as well
//   T = d/dx (u H v)              by reverse over reverse over reverse, and by
//                                 reverse over forward over forward
//   <T, z>                        by forward over forward over reverse as well
//
// all agree with one another, and with differences of the order below.
#include <fmt/format.h>

#include <algorithm>

#include "neap/autograd/backward.hpp"
#include "neap/autograd/jvp.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/tensor/create.hpp"
#include "neap/testing/projections.hpp"

namespace neap::testing {
namespace {

constexpr Tolerance kExact{1e-9, 1e-10};  // between two exact derivatives
constexpr double kThird = 1e-5;           // of differences, at least
constexpr std::size_t kThirdSeed = 3000;

// An evaluation: leaves, directions and the cotangent, made anew.
class Point {
 public:
  Point(const OpRun& run, const Tensor& w) : Point(run, w, run.values()) {}
  Point(const OpRun& run, const Tensor& w, const std::vector<HostArray>& values)
      : run_(run),
        w_(w),
        inputs_(run.make_inputs_of(values)),
        u_(tangents_for(run, inputs_, 0)),
        v_(tangents_for(run, inputs_, kSecond)),
        z_(tangents_for(run, inputs_, kThirdSeed)) {
    for (const std::size_t i : run.differentiable()) {
      primals_.push_back(inputs_[i]);
    }
  }

  const std::vector<Tensor>& u() const noexcept { return u_; }
  const std::vector<Tensor>& v() const noexcept { return v_; }
  const std::vector<Tensor>& z() const noexcept { return z_; }

  void make_leaves() {
    for (const Tensor& primal : primals_) {
      requires_grad_(primal);
    }
  }

  // H v, by forward over reverse.
  Tensors forward_over_reverse() const { return hessian_times_v(primals_); }

  // The derivative of H v along z.
  Tensors forward_over_forward_over_reverse() const {
    return neap::jvp([this](Inputs at) { return hessian_times_v(at); },
                     primals_, z_)
        .tangents;
  }

  // The derivative of f along v, and of that along u.
  Tensor forward() const {
    return neap::jvp([this](Inputs at) { return call(at); }, primals_, v_)
        .tangent;
  }
  Tensor forward_over_forward() const {
    const auto inner = [this](Inputs at) {
      return neap::jvp([this](Inputs deep) { return call(deep); }, at, v_)
          .tangent;
    };
    return neap::jvp(inner, primals_, u_).tangent;
  }

  // d/dx <outputs, cotangents>; zeros where they do not depend on x.
  Tensors reverse(std::span<const Tensor> outputs,
                  std::span<const Tensor> cotangents,
                  bool create_graph = false) const {
    Tensors roots;
    Tensors given;
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      if (outputs[k].requires_grad()) {
        roots.push_back(outputs[k]);
        given.push_back(cotangents[k]);
      }
    }
    Gradients found = grad(roots, primals_,
                           {.cotangents = given,
                            .create_graph = create_graph,
                            .unused = GradOptions::Unused::kZeros});
    return {found.begin(), found.end()};
  }
  // REQUIRES: make_leaves().
  Tensors reverse_of_f(const Tensor& w, bool create_graph) const {
    const Tensor y = run_.call(inputs_);
    return reverse(std::span(&y, 1), std::span(&w, 1), create_graph);
  }

 private:
  Tensor call(Inputs moved) const { return run_.call(with(moved)); }

  std::vector<Tensor> with(Inputs moved) const {
    std::vector<Tensor> all = inputs_;
    for (std::size_t k = 0; k < moved.size(); ++k) {
      all[run_.differentiable()[k]] = moved[k];
    }
    return all;
  }

  Tensors hessian_times_v(Inputs at) const {
    const auto gradient = [this](Inputs deep) {
      std::vector<Tensor> all = with(deep);
      const auto found = run_.vjp(all, run_.differentiable(), w_);
      return Tensors(found.begin(), found.end());
    };
    return neap::jvp(gradient, at, v_).tangents;
  }

  const OpRun& run_;
  Tensor w_;
  std::vector<Tensor> inputs_;
  std::vector<Tensor> u_, v_, z_;
  std::vector<Tensor> primals_;  // the differentiable inputs
};

double dot_all(const std::vector<HostArray>& a,
               const std::vector<HostArray>& b) {
  double sum = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    sum += dot(a[k], b[k]);
  }
  return sum;
}

double scale_of_all(const std::vector<HostArray>& a,
                    const std::vector<HostArray>& b) {
  double sum = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    sum += dot_scale(a[k], b[k]);
  }
  return sum;
}

void expect_all_close(const OpRun& run, const std::vector<HostArray>& got,
                      const std::vector<HostArray>& wanted,
                      std::string_view what) {
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    run.expect_close(
        got[k].values, wanted[k].values, kExact,
        fmt::format("{}, input {}", what, run.differentiable()[k]));
  }
}

// All inputs moved by t, each along its direction.
std::vector<HostArray> all_moved(const OpRun& run,
                                 const std::vector<HostArray>& along,
                                 double t) {
  std::vector<HostArray> values = run.values();
  for (std::size_t k = 0; k < along.size(); ++k) {
    values = moved(values, run.differentiable()[k], along[k], t);
  }
  return values;
}

// H v by reverse over reverse; by the cotangent, the derivative of the vjp is
// the jvp.
std::vector<HostArray> reverse_over_reverse(const OpRun& run, const Tensor& w) {
  Point at(run, w);
  at.make_leaves();
  const Tensor leaf = requires_grad_(w.alias());
  const Tensors first = at.reverse_of_f(leaf, true);
  const Tensors second = at.reverse(first, at.v());
  return fetch_all(run, second);
}

void check_by_cotangent(const OpRun& run, const Tensor& w) {
  Point at(run, w);
  at.make_leaves();
  const Tensor leaf = requires_grad_(w.alias());
  const Tensors first = at.reverse_of_f(leaf, true);
  const Tensor y = at.forward();
  Tensors roots;
  Tensors given;
  for (std::size_t k = 0; k < first.size(); ++k) {
    if (first[k].requires_grad()) {
      roots.push_back(first[k]);
      given.push_back(at.v()[k]);
    }
  }
  const Gradients found =
      grad(roots, std::span(&leaf, 1),
           {.cotangents = given, .unused = GradOptions::Unused::kZeros});
  run.expect_close(run.fetch(found[0]).values, run.fetch(y).values, kExact,
                   "derivative of the vjp by its cotangent");
}

// d/dx <w, y> for a tangent y; zeros where y is constant.
std::vector<HostArray> reverse_over(const OpRun& run, const Tensor& w,
                                    Tensor (Point::*forward)() const) {
  Point at(run, w);
  at.make_leaves();
  const Tensor y = (at.*forward)();
  return fetch_all(run, at.reverse(std::span(&y, 1), std::span(&w, 1)));
}

// <v, vjp w> at other values of the inputs.
double first_at(const OpRun& run, const Tensor& w,
                const std::vector<HostArray>& values) {
  Point at(run, w, values);
  at.make_leaves();
  return dot_all(fetch_all(run, at.v()),
                 fetch_all(run, at.reverse_of_f(w, false)));
}

void check_second_by_differences(const OpRun& run, const Tensor& w,
                                 const std::vector<HostArray>& second,
                                 const std::vector<HostArray>& u) {
  for (std::size_t k = 0; k < second.size(); ++k) {
    const std::size_t i = run.differentiable()[k];
    const double differences = slope([&](double t) {
      return first_at(run, w, moved(run.values(), i, u[k], t));
    });
    expect_number(run, dot(u[k], second[k]), differences,
                  dot_scale(u[k], second[k]), run.row().difference,
                  fmt::format("derivative of the vjp by input {}", i));
  }
}

// T, by reverse mode thrice.
std::vector<HostArray> reverse_thrice(const OpRun& run, const Tensor& w) {
  Point at(run, w);
  at.make_leaves();
  const Tensors first = at.reverse_of_f(w, true);
  const Tensors second = at.reverse(first, at.v(), true);
  return fetch_all(run, at.reverse(second, at.u()));
}

void check_third(const OpRun& run, const Tensor& w) {
  const Point at(run, w);
  const std::vector<HostArray> u = fetch_all(run, at.u());
  const std::vector<HostArray> z = fetch_all(run, at.z());
  const std::vector<HostArray> third = reverse_thrice(run, w);
  expect_all_close(run, reverse_over(run, w, &Point::forward_over_forward),
                   third, "third derivative, reverse over forward twice");
  const double along = dot_all(third, z);
  const double scale = scale_of_all(third, z);
  const std::vector<HostArray> forward =
      fetch_all(run, at.forward_over_forward_over_reverse());
  expect_number(run, dot_all(forward, u), along,
                scale + scale_of_all(forward, u), kExact.relative,
                "third derivative, forward twice over reverse");
  const double differences = slope([&](double t) {
    const Point near(run, w, all_moved(run, z, t));
    return dot_all(fetch_all(run, near.forward_over_reverse()), u);
  });
  expect_number(run, along, differences, scale,
                std::max(kThird, 100 * run.row().difference),
                "third derivative along a direction");
}

}  // namespace

void check_second_derivative(const OpRun& run) {
  if (is_skipped(run) || !run.row().second_derivative) {
    return;
  }
  run.stage("second derivative", [&] {
    const Tensor w = cotangent_of_result(run, 0);
    const Point at(run, w);
    const std::vector<HostArray> u = fetch_all(run, at.u());
    const std::vector<HostArray> second = reverse_over_reverse(run, w);
    check_by_cotangent(run, w);
    check_second_by_differences(run, w, second, u);
    expect_all_close(run, reverse_over(run, w, &Point::forward), second,
                     "second derivative, reverse over forward");
    expect_all_close(run, fetch_all(run, at.forward_over_reverse()), second,
                     "second derivative, forward over reverse");
    const double along = dot_all(second, u);
    const HostArray twice = run.fetch(at.forward_over_forward());
    const HostArray wh = run.fetch(w);
    expect_number(run, dot(twice, wh), along,
                  scale_of_all(second, u) + dot_scale(twice, wh),
                  kExact.relative, "second derivative, forward twice");
  });
}

void check_third_derivative(const OpRun& run) {
  if (is_skipped(run) || !run.row().second_derivative ||
      !run.row().third_derivative) {
    return;
  }
  run.stage("third derivative",
            [&] { check_third(run, cotangent_of_result(run, 0)); });
}

}  // namespace neap::testing
