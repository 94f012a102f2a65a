// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// LBFGS: the limited-memory quasi-Newton method of Nocedal and Wright
// ("Numerical Optimization", 2006, algorithms 7.4 and 7.5), with a line search
// for the strong Wolfe conditions, by the formulas of torch.optim.LBFGS:
//
//   d = -H grad, by two loops over the latest pairs (s, y)
//   x = x + t d;  s = t d;  y = the change of the gradient
//
// A pair counts where s y > 1e-10; before there is one, d = -grad. For problems
// whose loss is the same function at every call: all samples, and no dropout.
// A step takes a closure that computes the loss and its gradients, and calls it
// as often as it needs:
//
//   optim::LBFGS lbfgs(net.parameters());
//   const double before = lbfgs.step([&] {
//     lbfgs.zero_grad();
//     Tensor loss = nn::cross_entropy(net(x), labels);
//     backward(loss);
//     return loss;
//   });
//
// State: "steps" and "gradient_changes", each with history_size + 1 rows as
// large as the parameter: the pairs, the latest first, and below them the last
// step and gradient. During a step there are six more such vectors, as
// workspace. Numbers are kept in the dtype of the parameters, sums are taken in
// f64 in a fixed order: the bits do not depend on threads.
//
// After the closure has thrown, parameters and state are those of the latest
// whole iteration. A step that is traced, and step() without a closure, as a
// Trainer calls it, are refused.
#pragma once

#include "neap/base/function_ref.hpp"
#include "neap/optim/optimizer.hpp"

namespace neap::optim {

struct NEAP_API LBFGSOptions {
  double lr = 1.0;    // the first step length that is tried
  int max_iter = 20;  // iterations of a step
  int max_eval = 0;   // calls of the closure in a step; 0: 1.25 max_iter
  double tolerance_grad = 1e-7;    // ends where no element is larger
  double tolerance_change = 1e-9;  // ends where nothing changes by more
  int history_size = 10;           // pairs
  /// Without it every step length is `lr`.
  bool line_search = true;

  /// THROWS: ValueError for a setting that is negative or not finite, or a
  /// count below 1.
  NEAP_API void check() const;
};

class NEAP_API LBFGS final : public Optimizer {
 public:
  using Closure = base::FunctionRef<Tensor()>;

  /// One group of parameters that lie dense in the host's memory. THROWS: as
  /// Optimizer::add_parameters and LBFGSOptions::check; DeviceError off the
  /// host; ShapeError for a view with gaps.
  explicit LBFGS(const ParameterList& parameters,
                 const LBFGSOptions& options = {});

  /// Up to max_iter iterations. RETURNS: the loss before the first. A parameter
  /// without a gradient, or that requires none, counts as one whose gradient is
  /// zero. A loss that is not finite on the way is taken for too high. In a dry
  /// run (rehearsal) the closure is called once. THROWS: as the closure;
  /// ShapeError, DTypeError, DeviceError for a gradient unlike its parameter;
  /// TraceError in a step that is traced; IoError; OutOfMemory.
  double step(Closure closure, CallSite site = CallSite::here());

  /// THROWS: TraceError while a step is traced.
  const LBFGSOptions& options() const {
    check_not_read("options");
    return options_;
  }
  std::string describe(int group) const override;

 protected:
  void check_plain_step() const override;
  bool is_by_parameter() const noexcept override { return false; }
  const kernels::KernelList& update_kernels(int group) const noexcept override;
  std::size_t state_count(int group) const noexcept override;
  Shape shape_of_state(const Shape& parameter,
                       std::size_t k) const noexcept override;
  std::string_view state_name(std::size_t k) const noexcept override;
  void update_attrs(const Update& update,
                    AttrBytes& attrs) const noexcept override;
  double get_lr(int group) const noexcept override;
  void put_lr(int group, double lr) noexcept override;

 private:
  class Iterations;

  LBFGSOptions options_;
};

}  // namespace neap::optim
