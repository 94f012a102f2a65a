// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/threads/worker_stack.hpp"

#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>

#include "neap/base/external.hpp"

namespace neap::threads {
namespace {

constexpr const char* kName = "thread stacks";

int add_tls(dl_phdr_info* module, std::size_t, void* sum) noexcept {
  for (int i = 0; i < module->dlpi_phnum; ++i) {
    const auto& segment = module->dlpi_phdr[i];
    if (segment.p_type == PT_TLS) {
      *static_cast<Bytes*>(sum) +=
          static_cast<Bytes>(segment.p_memsz + segment.p_align);
    }
  }
  return 0;
}

}  // namespace

Bytes guard_bytes() noexcept {
  return ::sysconf(_SC_PAGESIZE);
}

Bytes stack_bytes_for(Bytes bytes) noexcept {
  Bytes thread_locals = 0;
  ::dl_iterate_phdr(&add_tls, &thread_locals);
  return base::round_up(bytes + thread_locals, ::sysconf(_SC_PAGESIZE));
}

void* map_stack(Bytes bytes) noexcept {
  const Bytes all = bytes + guard_bytes();
  void* stack =
      ::mmap(nullptr, static_cast<std::size_t>(all), PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
  if (stack == MAP_FAILED) {
    return nullptr;
  }
  // Stacks grow down: the guard is the lowest page.
  ::mprotect(stack, static_cast<std::size_t>(guard_bytes()), PROT_NONE);
  base::add_external(kName, all);
  return stack;
}

void unmap_stack(void* stack, Bytes bytes) noexcept {
  const Bytes all = bytes + guard_bytes();
  ::munmap(stack, static_cast<std::size_t>(all));
  base::add_external(kName, -all);
}

}  // namespace neap::threads
