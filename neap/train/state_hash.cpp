// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/train/state_hash.hpp"

#define XXH_STATIC_LINKING_ONLY  // the state on the stack: no heap call
#include <xxhash.h>

#include <string_view>

#include "neap/base/function_ref.hpp"
#include "neap/base/raise.hpp"
#include "neap/tensor/host_access.hpp"

namespace neap::train {
namespace {

class Hasher {
 public:
  explicit Hasher(const CallSite& site) noexcept : site_(site) {
    XXH64_reset(&state_, 0);
  }

  void add_bytes(const void* data, std::size_t size) noexcept {
    XXH64_update(&state_, data, size);
  }
  void add_number(std::uint64_t value) noexcept {
    add_bytes(&value, sizeof(value));
  }
  void add_text(std::string_view text) noexcept {
    add_number(text.size());
    add_bytes(text.data(), text.size());
  }
  void add_tensor(std::string_view name, const Tensor& tensor) {
    add_text(name);
    add_text(name_of(tensor.dtype()));
    for (const std::int64_t extent : tensor.shape()) {
      add_number(static_cast<std::uint64_t>(extent));
    }
    const tensor::HostLook look(tensor, "state_hash", site_);
    if (!tensor.is_contiguous()) {
      throw ShapeError("state_hash: every tensor must be dense");
    }
    add_bytes(look.strided().data,
              static_cast<std::size_t>(tensor.element_count() *
                                       size_of(tensor.dtype())));
  }
  std::uint64_t digest() const noexcept { return XXH64_digest(&state_); }

 private:
  CallSite site_;
  XXH64_state_t state_{};
};

void add_state(const nn::Module& model, const optim::Optimizer& optimizer,
               const Generator& generator, Hasher& hasher) {
  for (const Parameter& parameter : model.parameters()) {
    hasher.add_tensor(parameter.name, parameter.tensor);
  }
  for (const Parameter& buffer : model.buffers()) {
    hasher.add_tensor(buffer.name, buffer.tensor);
  }
  hasher.add_number(static_cast<std::uint64_t>(optimizer.step_count()));
  optimizer.visit_steps([&](std::string_view name, std::int64_t steps) {
    hasher.add_text(name);
    hasher.add_number(static_cast<std::uint64_t>(steps));
  });
  optimizer.visit_state([&](std::string_view name, const Tensor& tensor) {
    hasher.add_tensor(name, tensor);
  });
  hasher.add_number(generator.key().seed);
  hasher.add_number(generator.key().draw);
}

// Ranks that share out the state have that of rank 0, which reads all of it.
std::uint64_t hash_of(const optim::Optimizer& optimizer, const CallSite& site,
                      base::FunctionRef<void(Hasher&)> add) {
  const auto found = optimizer.read_state("state_hash", [&] {
    Hasher hasher(site);
    add(hasher);
    return hasher.digest();
  });
  if (!found) {
    base::raise<ValueError>(
        "state_hash: rank 0 could not read all of the state; it says why");
  }
  return *found;
}

}  // namespace

std::uint64_t state_hash(const nn::Module& model,
                         const optim::Optimizer& optimizer,
                         const Generator& generator, CallSite site) {
  return hash_of(optimizer, site, [&](Hasher& hasher) {
    add_state(model, optimizer, generator, hasher);
  });
}

std::uint64_t state_hash(const nn::Module& model,
                         const optim::Optimizer& optimizer,
                         const optim::Ema& average, const Generator& generator,
                         CallSite site) {
  return hash_of(optimizer, site, [&](Hasher& hasher) {
    add_state(model, optimizer, generator, hasher);
    for (const Parameter& one : average.averages()) {
      hasher.add_tensor(one.name, one.tensor);
    }
    hasher.add_number(static_cast<std::uint64_t>(average.update_count()));
  });
}

}  // namespace neap::train
