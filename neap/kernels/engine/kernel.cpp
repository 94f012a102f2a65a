// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/engine/kernel.hpp"

#include <array>
#include <atomic>

#include "neap/base/immortal.hpp"
#include "neap/base/raise.hpp"
#include "neap/kernels/engine/copy.hpp"
#include "neap/kernels/engine/plugin.hpp"

namespace neap::kernels {

using base::raise;

#define NEAP_KERNEL(name) extern const KernelList name##_kernels;
#include "neap/kernels/engine/kernel_list.inc"
#undef NEAP_KERNEL

namespace {

#define NEAP_KERNEL(name) &name##_kernels,
constexpr std::array kAllLists{
#include "neap/kernels/engine/kernel_list.inc"
};
#undef NEAP_KERNEL

class HostRuntime final : public SpaceRuntime {
 public:
  const Kernel* find(const KernelList& list, DType dtype,
                     const Args& args) const noexcept override {
    if (const Kernel* kernel = find_in_plugins(list, dtype, args)) {
      return kernel;
    }
    for (const Kernel& kernel : list.kernels) {
      const bool fits = kernel.dtype == dtype &&
                        (kernel.accepts == nullptr || kernel.accepts(args));
      if (fits) {
        return &kernel;
      }
    }
    return nullptr;
  }

  void launch(const Kernel& kernel, const Args& args) noexcept override {
    kernel.run(args);
  }

  void copy_from_host(const Strided& host,
                      const Strided& here) noexcept override {
    copy_elements(host, here, threads::serial_executor());
  }

  void copy_to_host(const Strided& here,
                    const Strided& host) noexcept override {
    copy_elements(here, host, threads::serial_executor());
  }
};

using Runtimes = std::array<std::atomic<SpaceRuntime*>, memory::kMaxSpaces>;

Runtimes& runtimes() noexcept {
  static base::Immortal<HostRuntime> host;
  static Runtimes table{&*host};
  return table;
}

}  // namespace

void register_space(memory::SpaceId space, SpaceRuntime& runtime) {
  if (space.value >= memory::kMaxSpaces) {
    raise<ValueError>("register_space: space {} is out of range, below {}",
                      space.value, memory::kMaxSpaces);
  }
  SpaceRuntime* expected = nullptr;
  if (!runtimes()[space.value].compare_exchange_strong(expected, &runtime)) {
    raise<ValueError>("register_space: space {} has a runtime already",
                      space.value);
  }
}

void remove_space(memory::SpaceId space) noexcept {
  if (space != memory::kHost && space.value < memory::kMaxSpaces) {
    runtimes()[space.value].store(nullptr);
  }
}

SpaceRuntime& runtime(memory::SpaceId space) {
  SpaceRuntime* found = space.value < memory::kMaxSpaces
                            ? runtimes()[space.value].load()
                            : nullptr;
  if (found == nullptr) {
    raise<DeviceError>("kernels: memory space {} has no runtime, register one",
                       space.value);
  }
  return *found;
}

const Kernel& find(const KernelList& list, SpaceRuntime& runtime, DType dtype,
                   const Args& args) {
  isa();  // pins the instruction set before the first kernel runs
  const Kernel* kernel = runtime.find(list, dtype, args);
  if (kernel == nullptr) {
    raise<DTypeError>("{}: no kernel for {} in the memory space of its operand",
                      list.name, name_of(dtype));
  }
  return *kernel;
}

const Kernel& find(const KernelList& list, memory::SpaceId space, DType dtype,
                   const Args& args) {
  return find(list, runtime(space), dtype, args);
}

std::span<const KernelList* const> all_lists() noexcept {
  return kAllLists;
}

}  // namespace neap::kernels
