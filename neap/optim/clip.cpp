// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/optim/clip.hpp"

#include <array>
#include <cmath>

#include "neap/base/raise.hpp"
#include "neap/kernels/attrs.hpp"
#include "neap/kernels/fill.hpp"
#include "neap/kernels/maximum.hpp"
#include "neap/kernels/scale.hpp"
#include "neap/kernels/sum_of_squares.hpp"
#include "neap/memory/executor.hpp"
#include "neap/optim/check.hpp"
#include "neap/optim/launch.hpp"

namespace neap::optim {

using kernels::Strided;

namespace {

memory::Tag workspace_tag(const Tensor& beside, base::SiteId site) noexcept {
  return {.category = memory::Category::kWorkspace,
          .space = beside.space(),
          .owner = beside.array()->storage()->tag().owner,
          .site = site};
}

// One kernel over one gradient, ready to run. The operands stay where they
// are, so that their views can be made again when it runs.
struct Launch {
  Tensor grad;   // out[0], and in[0] where the kernel reads it
  Tensor other;  // in[1], where defined
  const kernels::KernelList* list = nullptr;
  const void* attrs = nullptr;
  const kernels::Kernel* kernel = nullptr;
  base::Ref<tensor::Storage> scratch;

  struct Views {
    std::array<Strided, 2> in;
    std::array<Strided, 1> out;
    kernels::Args args;
  };
  void view(Views& views, threads::Executor& executor) const noexcept {
    views.out[0] = grad.array()->strided();
    if (other.defined()) {
      views.in = {views.out[0], other.array()->strided()};
      views.args.in = views.in;
    }
    views.args.out = views.out;
    views.args.attrs = attrs;
    views.args.executor = &executor;
    if (scratch) {
      views.args.scratch = {scratch->data(),
                            static_cast<std::size_t>(scratch->size())};
    }
  }
  void prepare(threads::Executor& executor, base::SiteId site) {
    Views views;
    view(views, executor);
    kernel = &kernels::find(*list, grad.space(), grad.dtype(), views.args);
    scratch = scratch_for(*kernel, views.args, grad, workspace_tag(grad, site));
  }
  void run(threads::Executor& executor, base::SiteId site) const {
    Views views;
    view(views, executor);
    kernels::runtime(grad.space()).launch(*kernel, views.args);
    grad.array()->storage()->bump_version(site);
  }
};

memory::Vector<Tensor> gradients_of(const ParameterList& parameters) {
  memory::Vector<Tensor> gradients;
  gradients.reserve(parameters.size());
  for (const Parameter& parameter : parameters) {
    Tensor grad = parameter.tensor.grad();
    if (grad.defined()) {
      gradients.push_back(std::move(grad));
    }
  }
  return gradients;
}

// A rank-0 tensor of one number in the space of `beside`.
Tensor number_beside(const Tensor& beside, DType dtype, double value,
                     threads::Executor& executor, base::SiteId site) {
  Tensor number(tensor::Array::allocate({dtype, {}, beside.space()},
                                        workspace_tag(beside, site),
                                        beside.array()->storage()->domain()));
  const kernels::FillAttrs attrs{.value = value};
  Launch fill{.grad = number,
              .other = {},
              .list = &kernels::fill_kernels,
              .attrs = &attrs,
              .kernel = nullptr,
              .scratch = {}};
  fill.prepare(executor, site);
  fill.run(executor, site);
  return number;
}

double read_number(const Tensor& number) {
  double value = 0.0;
  const Strided host{.data = reinterpret_cast<std::byte*>(&value),
                     .dtype = f64,
                     .shape = {},
                     .strides = {}};
  kernels::runtime(number.space())
      .copy_to_host(number.array()->strided(), host);
  return value;
}

double sum_of_squares(const Tensor& x, threads::Executor& executor,
                      base::SiteId site) {
  const Tensor sum = number_beside(x, f64, 0.0, executor, site);
  const std::array in{x.array()->strided()};
  const std::array out{sum.array()->strided()};
  kernels::Args args;
  args.in = in;
  args.out = out;
  args.executor = &executor;
  const kernels::Kernel& kernel = kernels::find(kernels::sum_of_squares_kernels,
                                                x.space(), x.dtype(), args);
  const auto scratch = scratch_for(kernel, args, x, workspace_tag(x, site));
  if (scratch) {
    args.scratch = {scratch->data(), static_cast<std::size_t>(scratch->size())};
  }
  kernels::runtime(x.space()).launch(kernel, args);
  return read_number(sum);
}

void run_all(memory::Vector<Launch>& launches, threads::Executor& executor,
             base::SiteId site) {
  for (Launch& launch : launches) {
    launch.prepare(executor, site);
  }
  for (const Launch& launch : launches) {
    launch.run(executor, site);
  }
}

}  // namespace

double clip_grad_norm(const ParameterList& parameters, double max_norm,
                      const ClipOptions& options, CallSite site) {
  check_not_negative("clip_grad_norm", "max_norm", max_norm);
  const base::SiteId where = site_or_context(site);
  threads::Executor& executor = memory::executor();
  const memory::Vector<Tensor> gradients = gradients_of(parameters);
  double squares = 0.0;
  for (const Tensor& grad : gradients) {
    squares += sum_of_squares(grad, executor, where);
  }
  const double norm = std::sqrt(squares);
  if (!std::isfinite(norm) && options.throw_if_not_finite) {
    base::raise<ValueError>("clip_grad_norm: the norm of the gradients is {}",
                            norm);
  }
  const kernels::ScaleAttrs attrs{.factor = max_norm / (norm + 1e-6)};
  if (!std::isfinite(norm) || attrs.factor >= 1.0) {
    return norm;
  }
  memory::Vector<Launch> launches;
  for (const Tensor& grad : gradients) {
    launches.push_back({.grad = grad,
                        .other = {},
                        .list = &kernels::scale_kernels,
                        .attrs = &attrs,
                        .kernel = nullptr,
                        .scratch = {}});
  }
  run_all(launches, executor, where);
  return norm;
}

void clip_grad_value(const ParameterList& parameters, double limit,
                     CallSite site) {
  check_not_negative("clip_grad_value", "limit", limit);
  const base::SiteId where = site_or_context(site);
  threads::Executor& executor = memory::executor();
  memory::Vector<Launch> launches;
  for (const Tensor& grad : gradients_of(parameters)) {
    for (const bool is_upper : {true, false}) {
      launches.push_back(
          {.grad = grad,
           .other = number_beside(grad, grad.dtype(), is_upper ? limit : -limit,
                                  executor, where),
           .list =
               is_upper ? &kernels::minimum_kernels : &kernels::maximum_kernels,
           .attrs = nullptr,
           .kernel = nullptr,
           .scratch = {}});
    }
  }
  run_all(launches, executor, where);
}

}  // namespace neap::optim
