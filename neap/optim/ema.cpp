// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/optim/ema.hpp"

#include <algorithm>
#include <cstring>

#include "neap/base/outside.hpp"
#include "neap/base/raise.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/kernels/optim/ema.hpp"
#include "neap/memory/scope.hpp"
#include "neap/optim/elements.hpp"
#include "neap/optim/launch.hpp"
#include "neap/tensor/execution.hpp"
#include "neap/tensor/host_access.hpp"

namespace neap::optim {

using base::raise;

namespace {

void check_not_traced(const char* function) {
  if (graph::trace() != nullptr) {
    raise<TraceError>(
        "{}: inside a step that is traced, where it would be done once and not "
        "in each run; call it outside of the step",
        function);
  }
}

void check_tensor(const Parameter& parameter) {
  const Tensor& tensor = parameter.tensor;
  const std::string_view name = parameter.name;
  if (tensor.dtype() != f32 && tensor.dtype() != f64) {
    raise<DTypeError>("ema: \"{}\" is {}, expected f32 or f64", name,
                      name_of(tensor.dtype()));
  }
  if (tensor.space() != memory::kHost) {
    raise<DeviceError>("ema: \"{}\" lies in memory space {}, expected the host",
                       name, tensor.space().value);
  }
  if (!tensor.is_contiguous()) {
    raise<ShapeError>("ema: \"{}\" is a view with gaps", name);
  }
}

void check_apart(const ParameterList& tensors) {
  memory::Vector<const tensor::Array*> arrays;
  arrays.reserve(tensors.size());
  for (const Parameter& parameter : tensors) {
    arrays.push_back(parameter.tensor.array().get());
  }
  std::ranges::sort(arrays);
  const auto twice = std::ranges::adjacent_find(arrays);
  for (const Parameter& parameter : tensors) {
    if (twice != arrays.end() && parameter.tensor.array().get() == *twice) {
      raise<ValueError>("ema: \"{}\" is given twice",
                        std::string_view(parameter.name));
    }
  }
}

// A copy with the tensor's owner.
Tensor average_of(const Tensor& tensor, base::SiteId site) {
  const memory::OutsideScopes outside;
  memory::Tag tag =
      memory::current_tag(memory::Category::kOptimizerState, site);
  if (tensor.link() && tensor.is_leaf()) {
    tag.owner = graph::leaf_of(tensor)->owner();
  }
  Tensor average(tensor::Array::allocate(tensor.spec(), tag,
                                         tensor.array()->storage()->domain()));
  if (!is_rehearsed(average) && tensor.array()->storage()->fetch_elements()) {
    std::ranges::copy(bytes_of(tensor), bytes_of(average).begin());
  }
  return average;
}

}  // namespace

void EmaOptions::check() const {
  if (!(decay >= 0.0 && decay <= 1.0)) {
    raise<ValueError>("ema: decay is {}, expected 0 to 1", decay);
  }
}

Ema::Ema(const ParameterList& tensors, const EmaOptions& options, CallSite site)
    : options_(options), tensors_(tensors) {
  check_not_traced("Ema");
  options.check();
  if (tensors.empty()) {
    raise<ValueError>("ema: the list of tensors is empty");
  }
  check_apart(tensors);
  const base::SiteId where = site_or_context(site);
  averages_.reserve(tensors.size());
  joint_.reserve(tensors.size());
  for (const Parameter& parameter : tensors) {
    check_tensor(parameter);
    averages_.push_back(
        {parameter.name, average_of(parameter.tensor, where), {}});
  }
  for (const Parameter& parameter : tensors_) {
    memory::detach_from_scope(parameter.tensor);
  }
}

double Ema::decay_at(std::int64_t update) const noexcept {
  const auto t = static_cast<double>(update);
  return options_.warm_up ? std::min(options_.decay, (1.0 + t) / (10.0 + t))
                          : options_.decay;
}

void Ema::check_in_place(const char* function) const {
  if (is_swapped_) {
    raise<ValueError>(
        "{}: the averages are in the places of their tensors; swap() them back "
        "first",
        function);
  }
}

void Ema::update(CallSite site) {
  check_in_place("ema.update");
  const base::SiteId where = site_or_context(site);
  if (graph::Trace* trace = graph::trace()) {
    record(*trace, where);
    return;
  }
  const kernels::EmaAttrs attrs{decay_at(updates_)};
  threads::Executor& executor = tensor::executor();
  try {
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      const bool is_there =
          tensors_[i].tensor.array()->storage()->fetch_elements() &&
          averages_[i].tensor.array()->storage()->fetch_elements();
      if (!is_there) {
        continue;  // a rehearsal
      }
      const std::array in{tensors_[i].tensor.array()->strided()};
      const std::array out{averages_[i].tensor.array()->strided()};
      const kernels::Args args{in, out, &attrs, {}, &executor};
      const kernels::Kernel& kernel =
          kernels::find(kernels::ema_kernels, memory::kHost, in[0].dtype, args);
      if (!joint_.add(kernel, args)) {
        raise<InternalError>("ema: \"{}\" does not lie dense",
                             std::string_view(tensors_[i].name));
      }
    }
  } catch (...) {
    joint_.clear();
    throw;
  }
  joint_.run(executor);
  for (const Parameter& average : averages_) {
    average.tensor.array()->storage()->bump_version(where);
  }
  ++updates_;
}

void Ema::record(graph::Trace& trace, base::SiteId site) {
  trace.listen(*this);
  if (traced_in_ != trace.number()) {
    traced_in_ = trace.number();
    traced_updates_ = 0;
  }
  const kernels::EmaAttrs attrs{decay_at(updates_ + traced_updates_)};
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    const std::array in{tensors_[i].tensor};
    const std::array out{averages_[i].tensor};
    trace.write({.name = kernels::ema_kernels.name,
                 .list = kernels::ema_kernels,
                 .in = in,
                 .out = out,
                 .attrs = attrs,
                 .listener = this,
                 .index = traced_updates_,
                 .site = site});
  }
  ++traced_updates_;
}

void Ema::before_run() {
  check_in_place("ema.update");
}

void Ema::write_attrs(std::uint32_t index, void* attrs) const noexcept {
  const kernels::EmaAttrs now{decay_at(updates_ + index)};
  std::memcpy(attrs, &now, sizeof(now));
}

void Ema::after_run(std::uint32_t calls) noexcept {
  updates_ += calls;
}

void Ema::swap(CallSite site) {
  check_not_traced("ema.swap");
  for (const ParameterList* list : {&tensors_, &averages_}) {
    for (const Parameter& one : *list) {
      if (!is_rehearsed(one.tensor)) {
        tensor::check_host_access(one.tensor, "ema.swap", site);
        one.tensor.array()->storage()->fetch_elements();
      }
    }
  }
  const base::SiteId where = site_or_context(site);
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    const Tensor& tensor = tensors_[i].tensor;
    const Tensor& average = averages_[i].tensor;
    if (!is_rehearsed(tensor)) {
      std::ranges::swap_ranges(bytes_of(tensor), bytes_of(average));
    }
    tensor.array()->storage()->bump_version(where);
    average.array()->storage()->bump_version(where);
  }
  is_swapped_ = !is_swapped_;
}

bool Ema::is_swapped() const noexcept {
  base::tell_of_question("is_swapped", "whether averages are in place", {});
  return is_swapped_;
}

std::int64_t Ema::update_count() const {
  check_not_traced("ema.update_count");
  return updates_;
}

void Ema::set_update_count(std::int64_t count) {
  check_not_traced("ema.set_update_count");
  if (count < 0) {
    raise<ValueError>("ema: {} updates", count);
  }
  updates_ = count;
}

Bytes Ema::bytes() const noexcept {
  Bytes bytes = 0;
  for (const Parameter& average : averages_) {
    bytes += average.tensor.array()->storage()->size();
  }
  return bytes;
}

UseAverages::~UseAverages() {
  try {
    ema_.swap();
  } catch (...) {  // said by is_swapped()
  }
}

}  // namespace neap::optim
