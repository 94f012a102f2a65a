// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/optim/launch.hpp"

#include <array>

#include "neap/base/raise.hpp"
#include "neap/kernels/engine/attrs.hpp"
#include "neap/kernels/engine/fill.hpp"
#include "neap/memory/scope.hpp"

namespace neap::optim {

base::SiteId site_or_context(const CallSite& site) noexcept {
  const base::SiteId outer = memory::thread_context().site;
  return outer.value != 0 ? outer : base::intern(site);
}

void check_gradient(std::string_view name, const Tensor& parameter,
                    const Tensor& grad) {
  if (grad.shape() != parameter.shape()) {
    base::raise<ShapeError>("step: \"{}\" has shape {}, its gradient {}", name,
                            format_shape(parameter.shape()),
                            format_shape(grad.shape()));
  }
  if (grad.dtype() != parameter.dtype()) {
    base::raise<DTypeError>("step: \"{}\" is {}, its gradient {}", name,
                            name_of(parameter.dtype()), name_of(grad.dtype()));
  }
  if (grad.space() != parameter.space()) {
    base::raise<DeviceError>(
        "step: \"{}\" lies in space {}, its gradient in {}", name,
        parameter.space().value, grad.space().value);
  }
}

Tensor zeros_for(const Tensor& like, const Shape& shape, const memory::Tag& tag,
                 threads::Executor& executor) {
  const memory::OutsideScopes outside;
  Tensor zeros(tensor::Array::allocate({like.dtype(), shape, like.space()}, tag,
                                       like.array()->storage()->domain()));
  if (!zeros.array()->storage()->has_elements()) {
    return zeros;  // a rehearsal
  }
  const std::array out{zeros.array()->strided()};
  const kernels::FillAttrs attrs{.value = 0.0};
  kernels::Args args;
  args.out = out;
  args.attrs = &attrs;
  args.executor = &executor;
  const kernels::Kernel& kernel =
      kernels::find(kernels::fill_kernels, like.space(), like.dtype(), args);
  const auto scratch = scratch_for(kernel, args, like, tag);
  if (scratch) {
    args.scratch = {scratch->data(), static_cast<std::size_t>(scratch->size())};
  }
  kernels::runtime(like.space()).launch(kernel, args);
  return zeros;
}

Tensor late_zeros_for(const Tensor& like, const Shape& shape,
                      const memory::Tag& tag) {
  const memory::OutsideScopes outside;
  return Tensor(
      tensor::Array::allocate_away({like.dtype(), shape, like.space()}, tag,
                                   like.array()->storage()->domain()));
}

base::Ref<tensor::Storage> scratch_for(const kernels::Kernel& kernel,
                                       const kernels::Args& args,
                                       const Tensor& beside, memory::Tag tag) {
  const Bytes bytes = kernels::scratch_bytes(kernel, args);
  if (bytes == 0) {
    return nullptr;
  }
  tag.category = memory::Category::kWorkspace;
  return tensor::Storage::allocate(bytes, tag,
                                   beside.array()->storage()->domain());
}

}  // namespace neap::optim
