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

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace {

// What sweep.py reads; eight-byte integers in this order.
struct Tally {
  std::atomic<std::int64_t> calls;   // counted so far
  std::atomic<std::int64_t> failed;  // of these
  std::atomic<std::int64_t> before_main;
  std::atomic<std::int64_t> first_size;  // bytes asked for by the first failed
  std::atomic<std::int64_t> first_kind;  // 1: heap, 2: map
  std::atomic<std::int64_t> by_loader;   // before the constructor, not counted
};

enum Kind : std::int64_t { kHeap = 1, kMap = 2 };

constinit Tally own_tally;
constinit Tally* tally = &own_tally;
constinit std::atomic<bool> is_counting = false;
constinit std::int64_t fail_at = 0;
constinit std::int64_t fail_count = 1;
constinit std::int64_t kind_counted = 0;
constinit std::int64_t smallest_counted = 0;
constinit bool has_trace = false;
constinit thread_local bool is_inside = false;

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

long real_syscall(long number, long a, long b, long c, long d, long e,
                  long f) noexcept {
  static constinit std::atomic<Syscall> real = nullptr;
  Syscall function = real.load(std::memory_order_relaxed);
  if (function == nullptr) {
    function = next<Syscall>("syscall");
    real.store(function, std::memory_order_relaxed);
  }
  return function(number, a, b, c, d, e, f);
}

void write_trace() noexcept {
  void* frames[64];
  is_inside = true;  // what backtrace itself takes is not counted
  const int depth = ::backtrace(frames, 64);
  ::backtrace_symbols_fd(frames, depth, STDERR_FILENO);
  is_inside = false;
}

// Counts a call; true where it has to fail.
bool fails(Kind kind, std::size_t size) noexcept {
  if (is_inside || (kind_counted != 0 && kind_counted != kind) ||
      static_cast<std::int64_t>(size) < smallest_counted) {
    return false;
  }
  if (!is_counting.load(std::memory_order_acquire)) {
    tally->by_loader.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  const std::int64_t number =
      tally->calls.fetch_add(1, std::memory_order_relaxed) + 1;
  const bool is_due = fail_at > 0 && number >= fail_at &&
                      (fail_count == 0 || number < fail_at + fail_count);
  if (is_due && tally->failed.fetch_add(1, std::memory_order_relaxed) == 0) {
    tally->first_size.store(static_cast<std::int64_t>(size));
    tally->first_kind.store(kind);
    if (has_trace) {
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
  const long pages = real_syscall(SYS_mmap, 0, sizeof(Tally),
                                  PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  if (pages != -1) {
    const std::int64_t by_loader = tally->by_loader.load();
    tally = reinterpret_cast<Tally*>(pages);
    tally->by_loader.store(by_loader);
  }
}

// Runs before the constructors of every other library (-z initfirst).
[[gnu::constructor]] void start(int, char**, char** environment) {
  open_tally(value_of(environment, "NEAP_FAULT_FILE"));
  fail_at = number_of(value_of(environment, "NEAP_FAULT_AT"), 0);
  fail_count = number_of(value_of(environment, "NEAP_FAULT_COUNT"), 1);
  kind_counted = number_of(value_of(environment, "NEAP_FAULT_KIND"), 0);
  smallest_counted = number_of(value_of(environment, "NEAP_FAULT_SIZE"), 0);
  has_trace = number_of(value_of(environment, "NEAP_FAULT_TRACE"), 0) != 0;
  is_counting.store(true, std::memory_order_release);
}

constinit Main program_main = nullptr;

int counted_main(int argc, char** argv, char** environment) {
  tally->before_main.store(tally->calls.load(std::memory_order_relaxed));
  return program_main(argc, argv, environment);
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
  long a[6];
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
  return real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

NEAP_OVER int __libc_start_main(Main main, int argc, char** argv,  // NOLINT
                                void (*init)(), void (*fini)(),
                                void (*loader_fini)(), void* stack) {
  using Start =
      int (*)(Main, int, char**, void (*)(), void (*)(), void (*)(), void*);
  program_main = main;
  return next<Start>("__libc_start_main")(&counted_main, argc, argv, init, fini,
                                          loader_fini, stack);
}
}
