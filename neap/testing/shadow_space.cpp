// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/testing/shadow_space.hpp"

#include <cstring>
#include <memory>
#include <vector>

#include "neap/memory/host_backends.hpp"
#include "neap/tensor/create.hpp"

namespace neap::testing {
namespace {

using kernels::Strided;

// One bit above what a user's address can have (48 bits on x86-64 and AArch64),
// below the top byte that AArch64 ignores, and a multiple of any alignment.
constexpr std::uintptr_t kBias = std::uintptr_t{1} << 52U;

bool is_shifted(const void* address) noexcept {
  return (reinterpret_cast<std::uintptr_t>(address) & kBias) != 0;
}

template <class T>
T* shifted(T* real) noexcept {
  return reinterpret_cast<T*>(reinterpret_cast<std::uintptr_t>(real) | kBias);
}

template <class T>
T* real(T* address) noexcept {
  return reinterpret_cast<T*>(reinterpret_cast<std::uintptr_t>(address) &
                              ~kBias);
}

class ShadowBackend final : public memory::Backend {
 public:
  Bytes growth_for(Bytes size, Bytes alignment) const noexcept override {
    return host_.growth_for(size, alignment);
  }
  void* allocate(Bytes size, Bytes alignment) noexcept override {
    void* block = host_.allocate(size, alignment);
    return block != nullptr ? shifted(block) : nullptr;
  }
  void release(void* block, Bytes size, Bytes alignment) noexcept override {
    host_.release(real(block), size, alignment);
  }
  Bytes trim() noexcept override { return 0; }
  Bytes held() const noexcept override { return host_.held(); }
  Bytes idle() const noexcept override { return 0; }
  std::int64_t system_calls() const noexcept override {
    return host_.system_calls();
  }

 private:
  memory::SystemBackend host_;
};

// Views of one call with real addresses. `foreign` counts those that were not
// of the space.
std::vector<Strided> real_views(std::span<const Strided> views,
                                std::int64_t& foreign) {
  std::vector<Strided> out(views.begin(), views.end());
  for (Strided& view : out) {
    if (view.data != nullptr) {
      foreign += is_shifted(view.data) ? 0 : 1;
      view.data = real(view.data);
    }
  }
  return out;
}

void copy_elements(const Strided& from, const Strided& to) noexcept {
  const auto size = static_cast<std::int64_t>(size_of(from.dtype));
  const int rank = from.shape.rank();
  Shape at = Shape::filled(rank, 0);
  std::int64_t source = 0;
  std::int64_t target = 0;
  for (std::int64_t left = from.shape.element_count(); left > 0; --left) {
    std::memcpy(to.data + target * size, from.data + source * size,
                static_cast<std::size_t>(size));
    for (int axis = rank - 1; axis >= 0; --axis) {
      source += from.strides[axis];
      target += to.strides[axis];
      if (++at[axis] < from.shape[axis]) {
        break;
      }
      source -= at[axis] * from.strides[axis];
      target -= at[axis] * to.strides[axis];
      at[axis] = 0;
    }
  }
}

}  // namespace

ShadowSpace::ShadowSpace(memory::Domain& domain, memory::SpaceId space)
    : domain_(domain), space_(space) {
  domain.add_space(space, std::make_unique<ShadowBackend>());
  try {
    kernels::register_space(space, *this);
  } catch (...) {
    domain.remove_space(space);
    throw;
  }
}

ShadowSpace::~ShadowSpace() {
  kernels::remove_space(space_);
  domain_.remove_space(space_);
}

Tensor ShadowSpace::from_host(const Tensor& host) const {
  const tensor::Array& array = *host.array();
  const Bytes bytes = tensor::extent_bytes(array.layout());
  memory::Tag tag = array.storage()->tag();
  tag.space = space_;
  auto storage = tensor::Storage::allocate(bytes, tag, memory::domain());
  if (bytes > 0) {
    std::memcpy(real(storage->data()), array.storage()->data(),
                static_cast<std::size_t>(bytes));
  }
  return Tensor(tensor::Array::make(std::move(storage), array.layout()));
}

Tensor ShadowSpace::to_host(const Tensor& here) const {
  Tensor host = empty(here.shape(), here.dtype());
  kernels::runtime(space_).copy_to_host(here.array()->strided(),
                                        host.array()->strided());
  return host;
}

const kernels::Kernel* ShadowSpace::find(
    const kernels::KernelList& list, DType dtype,
    const kernels::Args& args) const noexcept {
  return kernels::runtime(memory::kHost).find(list, dtype, args);
}

void ShadowSpace::launch(const kernels::Kernel& kernel,
                         const kernels::Args& args) noexcept {
  std::int64_t foreign = 0;
  const std::vector<Strided> in = real_views(args.in, foreign);
  const std::vector<Strided> out = real_views(args.out, foreign);
  kernels::Args host = args;
  host.in = in;
  host.out = out;
  if (!args.scratch.empty()) {
    foreign += is_shifted(args.scratch.data()) ? 0 : 1;
    host.scratch = {real(args.scratch.data()), args.scratch.size()};
  }
  foreign_views_ += foreign;
  if (foreign == 0) {
    ++launches_;
    kernels::runtime(memory::kHost).launch(kernel, host);
  }
}

void ShadowSpace::copy_from_host(const Strided& host,
                                 const Strided& here) noexcept {
  if (here.data == nullptr) {
    return;
  }
  foreign_views_ += is_shifted(here.data) ? 0 : 1;
  Strided target = here;
  target.data = real(here.data);
  copy_elements(host, target);
}

void ShadowSpace::copy_to_host(const Strided& here,
                               const Strided& host) noexcept {
  if (here.data == nullptr) {
    return;
  }
  foreign_views_ += is_shifted(here.data) ? 0 : 1;
  Strided source = here;
  source.data = real(here.data);
  copy_elements(source, host);
}

}  // namespace neap::testing
