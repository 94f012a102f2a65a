// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A library to preload under the tool (LD_PRELOAD): it counts every call of
// malloc's and mmap's families, and makes the n-th fail, or the n-th and all
// that follow. sweep.py drives it through these variables:
//   NEAP_FAULT_FILE   a file of sizeof(Tally) bytes: what was counted, readable
//                     after the process has died in any way
//   NEAP_FAULT_AT     the first call that fails, from 1; 0: none
//   NEAP_FAULT_COUNT  how many fail from there on; 0: all
//   NEAP_FAULT_KIND   1: only heap is counted, 2: only maps; 0: both
//   NEAP_FAULT_SIZE   smaller ones are not counted, in bytes
//   NEAP_FAULT_TRACE  1: writes the stack of the first failing call to stderr
//
// The tool defines malloc and mmap itself (apps/support) on top of glibc's
// __libc_malloc and syscall. Both are functions of libc.so, so that definitions
// here come before libc's. Nothing here allocates, and nothing runs
// before the loader has called the constructor: the loader's own calls pass.
#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace {

// Counts that sweep.py reads; eight-byte integers in this order.
struct Tally {
  std::atomic<std::int64_t> calls;   // counted so far
  std::atomic<std::int64_t> failed;  // of these
  std::atomic<std::int64_t> before_main;
  std::atomic<std::int64_t> first_size;  // bytes asked for by the first failed
  std::atomic<std::int64_t> first_kind;  // 1: heap, 2: map
  std::atomic<std::int64_t> by_loader;   // before the constructor, not counted
};

enum Kind : std::int64_t { kHeap = 1, kMap = 2 };

struct State {
  Tally own;  // where there is no file
  std::atomic<Tally*> tally = &own;
  std::atomic<bool> is_counting = false;
  std::int64_t fail_at = 0;
  std::int64_t fail_count = 1;
  std::int64_t kind_counted = 0;
  std::int64_t smallest_counted = 0;
  bool has_trace = false;
  int (*program_main)(int, char**, char**) = nullptr;
};

State& state() noexcept {
  static constinit State instance;
  return instance;
}

Tally& tally() noexcept {
  return *state().tally.load(std::memory_order_relaxed);
}

// Whether the current thread is in a function below that takes memory.
bool& is_inside() noexcept {
  static constinit thread_local bool instance = false;
  return instance;
}

using Malloc = void* (*)(std::size_t);
using Calloc = void* (*)(std::size_t, std::size_t);
using Realloc = void* (*)(void*, std::size_t);
using Memalign = void* (*)(std::size_t, std::size_t);
using Syscall = long (*)(long, long, long, long, long, long, long);
using Main = int (*)(int, char**, char**);

// The next definition of a name in the order of loading: libc's. dlsym takes no
// memory where the name exists.
template <class Function>
Function next(const char* name) noexcept {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

long real_syscall(long number, const std::array<long, 6>& a) noexcept {
  static constinit std::atomic<Syscall> real = nullptr;
  Syscall function = real.load(std::memory_order_relaxed);
  if (function == nullptr) {
    function = next<Syscall>("syscall");
    real.store(function, std::memory_order_relaxed);
  }
  return function(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

void write_trace() noexcept {
  void* frames[64];
  is_inside() = true;  // what backtrace itself takes is not counted
  const int depth = ::backtrace(frames, 64);
  ::backtrace_symbols_fd(frames, depth, STDERR_FILENO);
  is_inside() = false;
}

// Counts a call; true where it has to fail.
bool fails(Kind kind, std::size_t size) noexcept {
  const State& s = state();
  if (is_inside() || (s.kind_counted != 0 && s.kind_counted != kind) ||
      static_cast<std::int64_t>(size) < s.smallest_counted) {
    return false;
  }
  if (!s.is_counting.load(std::memory_order_acquire)) {
    tally().by_loader.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  const std::int64_t number =
      tally().calls.fetch_add(1, std::memory_order_relaxed) + 1;
  const bool is_due = s.fail_at > 0 && number >= s.fail_at &&
                      (s.fail_count == 0 || number < s.fail_at + s.fail_count);
  if (is_due && tally().failed.fetch_add(1, std::memory_order_relaxed) == 0) {
    tally().first_size.store(static_cast<std::int64_t>(size));
    tally().first_kind.store(kind);
    if (s.has_trace) {
      write_trace();
    }
  }
  if (is_due) {
    errno = ENOMEM;
  }
  return is_due;
}

const char* value_of(char** environment, const char* name) noexcept {
  const std::size_t size = std::strlen(name);
  for (; *environment != nullptr; ++environment) {
    if (std::strncmp(*environment, name, size) == 0 &&
        (*environment)[size] == '=') {
      return *environment + size + 1;
    }
  }
  return nullptr;
}

std::int64_t number_of(const char* text, std::int64_t otherwise) noexcept {
  if (text == nullptr) {
    return otherwise;
  }
  std::int64_t number = 0;
  for (; *text >= '0' && *text <= '9'; ++text) {
    number = number * 10 + (*text - '0');
  }
  return number;
}

void open_tally(const char* path) noexcept {
  if (path == nullptr) {
    return;
  }
  const int file = ::open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) {
    return;
  }
  const long pages = real_syscall(
      SYS_mmap,
      {0, sizeof(Tally), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0});
  ::close(file);
  if (pages != -1) {
    const std::int64_t by_loader = tally().by_loader.load();
    state().tally = reinterpret_cast<Tally*>(pages);  // NOLINT: a system call's
    tally().by_loader.store(by_loader);
  }
}

// Runs before the constructors of every other library (-z initfirst).
[[gnu::constructor]] void start(int, char**, char** environment) {
  const auto number = [&](const char* name, std::int64_t otherwise) {
    return number_of(value_of(environment, name), otherwise);
  };
  State& s = state();
  open_tally(value_of(environment, "NEAP_FAULT_FILE"));
  s.fail_at = number("NEAP_FAULT_AT", 0);
  s.fail_count = number("NEAP_FAULT_COUNT", 1);
  s.kind_counted = number("NEAP_FAULT_KIND", 0);
  s.smallest_counted = number("NEAP_FAULT_SIZE", 0);
  s.has_trace = number("NEAP_FAULT_TRACE", 0) != 0;
  s.is_counting.store(true, std::memory_order_release);
}

int counted_main(int argc, char** argv, char** environment) {
  tally().before_main.store(tally().calls.load(std::memory_order_relaxed));
  return state().program_main(argc, argv, environment);
}

}  // namespace

#define NEAP_OVER __attribute__((visibility("default"), used))

extern "C" {
NEAP_OVER void* __libc_malloc(std::size_t size) noexcept {  // NOLINT
  static const auto real = next<Malloc>("__libc_malloc");
  return fails(kHeap, size) ? nullptr : real(size);
}

NEAP_OVER void* __libc_calloc(std::size_t count,  // NOLINT
                              std::size_t size) noexcept {
  static const auto real = next<Calloc>("__libc_calloc");
  return fails(kHeap, count * size) ? nullptr : real(count, size);
}

NEAP_OVER void* __libc_realloc(void* block,  // NOLINT
                               std::size_t size) noexcept {
  static const auto real = next<Realloc>("__libc_realloc");
  return fails(kHeap, size) ? nullptr : real(block, size);
}

NEAP_OVER void* __libc_memalign(std::size_t alignment,  // NOLINT
                                std::size_t size) noexcept {
  static const auto real = next<Memalign>("__libc_memalign");
  return fails(kHeap, size) ? nullptr : real(alignment, size);
}

NEAP_OVER long syscall(long number, ...) noexcept {
  va_list rest;
  va_start(rest, number);
  std::array<long, 6> a;
  for (long& argument : a) {
    argument = va_arg(rest, long);
  }
  va_end(rest);
  const auto size = static_cast<std::size_t>(a[1]);
  const auto larger = static_cast<std::size_t>(a[2]);
  if ((number == SYS_mmap && fails(kMap, size)) ||
      (number == SYS_mremap && larger > size && fails(kMap, larger))) {
    return -1;
  }
  return real_syscall(number, a);
}

NEAP_OVER int __libc_start_main(Main main, int argc, char** argv,  // NOLINT
                                void (*init)(), void (*fini)(),
                                void (*loader_fini)(), void* stack) {
  using Start =
      int (*)(Main, int, char**, void (*)(), void (*)(), void (*)(), void*);
  state().program_main = main;
  return next<Start>("__libc_start_main")(&counted_main, argc, argv, init, fini,
                                          loader_fini, stack);
}
}
