// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/optim/clip.hpp"

#include <cmath>

#include "neap/base/raise.hpp"
#include "neap/graph/trace.hpp"
#include "neap/kernels/elementwise/clip.hpp"
#include "neap/kernels/elementwise/scale.hpp"
#include "neap/kernels/engine/attrs.hpp"
#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/elementwise/comparison.hpp"
#include "neap/ops/elementwise/extremes.hpp"
#include "neap/ops/elementwise/transfer.hpp"
#include "neap/ops/elementwise/where.hpp"
#include "neap/ops/reduction/sum.hpp"
#include "neap/optim/check.hpp"
#include "neap/optim/launch.hpp"
#include "neap/tensor/create.hpp"
#include "neap/tensor/execution.hpp"

namespace neap::optim {

using kernels::Strided;

namespace {

// Ops inside a clipping belong to the call and leave nothing on the tape.
class Clipping : public memory::ContextGuard {
 public:
  explicit Clipping(const CallSite& site)
      : ContextGuard([&](memory::Context& c) {
          c.site = site_or_context(site);
          c.category = memory::Category::kWorkspace;
        }) {}

 private:
  NoGrad no_grad_;
};

memory::Vector<Tensor> gradients_of(const ParameterList& parameters) {
  memory::Vector<Tensor> gradients;
  gradients.reserve(parameters.size());
  for (const Parameter& parameter : parameters) {
    Tensor grad = parameter.tensor.grad();
    if (grad.is_given()) {
      gradients.push_back(std::move(grad));
    }
  }
  return gradients;
}

// A kernel that writes over one gradient.
struct Rewrite {
  Tensor grad;  // out[0]
  Tensor in;    // in[0]; may be the gradient
  const kernels::KernelList* list = nullptr;
  graph::Attrs attrs{};
  bool reads_out = false;
  const kernels::Kernel* kernel = nullptr;
  base::Ref<tensor::Storage> scratch{};

  void record(graph::Trace& trace) const {
    trace.write({.name = list->name,
                 .list = *list,
                 .in = std::span(&in, 1),
                 .out = std::span(&grad, 1),
                 .attrs = attrs,
                 .reads_out = reads_out,
                 .site = memory::thread_context().site});
  }
  void prepare() {
    with_args([&](const kernels::Args& args) {
      kernel = &kernels::find(*list, grad.space(), grad.dtype(), args);
      scratch = scratch_for(
          *kernel, args, grad,
          memory::current_tag(memory::Category::kWorkspace, {}, grad.space()));
    });
  }
  void run() const {
    if (grad.array()->storage()->has_elements()) {  // no rehearsal
      with_args([&](const kernels::Args& args) {
        kernels::runtime(grad.space()).launch(*kernel, args);
      });
    }
    grad.array()->storage()->bump_version(memory::thread_context().site);
  }

 private:
  template <class Use>
  void with_args(const Use& use) const {
    const Strided from = in.array()->strided();
    const Strided to = grad.array()->strided();
    kernels::Args args{std::span(&from, 1),
                       std::span(&to, 1),
                       attrs.data(),
                       {},
                       &tensor::executor()};
    if (scratch) {
      args.scratch = {scratch->data(),
                      static_cast<std::size_t>(scratch->size())};
    }
    use(args);
  }
};

void run_all(memory::Vector<Rewrite>& rewrites) {
  if (graph::Trace* trace = graph::trace()) {
    for (const Rewrite& rewrite : rewrites) {
      rewrite.record(*trace);
    }
    return;
  }
  for (Rewrite& rewrite : rewrites) {
    rewrite.prepare();
  }
  for (const Rewrite& rewrite : rewrites) {
    rewrite.run();
  }
}

Tensor norm_of(const memory::Vector<Tensor>& gradients) {
  Tensor squares;
  for (const Tensor& grad : gradients) {
    Tensor more = to(sum_of_squares(grad), memory::kHost);
    squares = squares.defined() ? add(std::move(squares), more) : more;
  }
  return squares.defined() ? sqrt(std::move(squares)) : scalar(0.0, f64);
}

// 1 where nothing is to be done.
Tensor factor_of(const Tensor& norm, double max_norm) {
  const Tensor factor = minimum(div(max_norm, add(norm, 1e-6)), 1.0);
  return where(isfinite(norm), factor, 1.0);
}

void refuse_not_finite(const char* op, std::span<const Strided> values,
                       const graph::Attrs& /*attrs*/) {
  const double norm = *values[0].as<double>();
  if (!std::isfinite(norm)) {
    base::raise<ValueError>("{}: the norm of the gradients is {}", op, norm);
  }
}

// Whether it is known now that nothing is to be written.
bool is_one(const Tensor& factor) {
  return graph::trace() == nullptr &&
         factor.array()->storage()->has_elements() && factor.item() == 1.0;
}

}  // namespace

Tensor clip_grad_norm(const ParameterList& parameters, double max_norm,
                      const ClipOptions& options, CallSite site) {
  check_not_negative("clip_grad_norm", "max_norm", max_norm);
  const Clipping guard(site);
  const memory::Vector<Tensor> gradients = gradients_of(parameters);
  Tensor norm = norm_of(gradients);
  if (options.throw_if_not_finite) {
    graph::run_check({.op = "clip_grad_norm",
                      .look = refuse_not_finite,
                      .values = std::span(&norm, 1),
                      .attrs = {},
                      .site = memory::thread_context().site});
  }
  const Tensor factor = factor_of(norm, max_norm);
  if (is_one(factor)) {
    return norm;
  }
  memory::Vector<Rewrite> rewrites;
  for (const Tensor& grad : gradients) {
    rewrites.push_back({.grad = grad,
                        .in = to(factor, grad.space()),
                        .list = &kernels::scale_kernels,
                        .reads_out = true});
  }
  run_all(rewrites);
  return norm;
}

void clip_grad_value(const ParameterList& parameters, double limit,
                     CallSite site) {
  check_not_negative("clip_grad_value", "limit", limit);
  const Clipping guard(site);
  const kernels::ClipAttrs attrs{-limit, limit};
  memory::Vector<Rewrite> rewrites;
  for (const Tensor& grad : gradients_of(parameters)) {
    rewrites.push_back({.grad = grad,
                        .in = grad,
                        .list = &kernels::clip_kernels,
                        .attrs = attrs});
  }
  run_all(rewrites);
}

}  // namespace neap::optim
