// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/threads/worker_stack.hpp"

#include <link.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>

#include "neap/base/external.hpp"

namespace neap::threads {
namespace {

constexpr const char* kName = "thread stacks";
// The bytes of a stack for kernels. A thread may get its first share late, and
// must not ask the system for a page then.
constexpr Bytes kTouched = 256 * kKiB;

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

// The host program's signal handlers run on the host's threads, never on ours:
// a new thread inherits a mask that blocks all.
class BlockSignals {
 public:
  BlockSignals() noexcept {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  BlockSignals(const BlockSignals&) = delete;
  BlockSignals& operator=(const BlockSignals&) = delete;
  ~BlockSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

// Makes the pages at the upper end resident, where a stack begins.
void touch(std::byte* stack, Bytes bytes) noexcept {
  const Bytes page = ::sysconf(_SC_PAGESIZE);
  for (Bytes below = page; below <= std::min(bytes, kTouched); below += page) {
    *const_cast<volatile std::byte*>(stack + bytes - below) = std::byte{0};
  }
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
  touch(static_cast<std::byte*>(stack) + guard_bytes(), bytes);
  return stack;
}

void unmap_stack(void* stack, Bytes bytes) noexcept {
  const Bytes all = bytes + guard_bytes();
  ::munmap(stack, static_cast<std::size_t>(all));
  base::add_external(kName, -all);
}

bool start_on_stack(pthread_t& thread, void* stack, Bytes bytes,
                    void* (*main)(void*), void* argument,
                    const char* name) noexcept {
  pthread_attr_t attributes;
  if (::pthread_attr_init(&attributes) != 0) {
    return false;
  }
  const BlockSignals blocked;
  void* lowest = static_cast<std::byte*>(stack) + guard_bytes();
  const bool is_started =
      ::pthread_attr_setstack(&attributes, lowest,
                              static_cast<std::size_t>(bytes)) == 0 &&
      ::pthread_create(&thread, &attributes, main, argument) == 0;
  ::pthread_attr_destroy(&attributes);
  if (is_started) {
    ::pthread_setname_np(thread, name);
  }
  return is_started;
}

}  // namespace neap::threads
