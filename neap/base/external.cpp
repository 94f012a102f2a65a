// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/base/external.hpp"
#include "neap/base/outside.hpp"

#include <fcntl.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>

namespace neap::base {
namespace {

// /proc/self/statm: all pages, resident ones, and of these the pages of files.
struct Resident {
  Bytes all = 0;
  Bytes of_files = 0;
};

Bytes page() noexcept {
  return ::sysconf(_SC_PAGESIZE);
}

Resident resident_now() noexcept {
  const int file = ::open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return {};
  }
  std::array<char, 128> text{};
  const ssize_t got = ::read(file, text.data(), text.size() - 1);
  ::close(file);
  char* at = text.data();
  Resident resident;
  if (got > 0) {
    std::strtoll(at, &at, 10);
    resident.all = std::strtoll(at, &at, 10) * page();
    resident.of_files = std::strtoll(at, &at, 10) * page();
  }
  return resident;
}

int add_module(dl_phdr_info* module, std::size_t, void* sum) noexcept {
  for (int i = 0; i < module->dlpi_phnum; ++i) {
    const auto& segment = module->dlpi_phdr[i];
    if (segment.p_type == PT_LOAD) {
      const auto begin = static_cast<Bytes>(segment.p_vaddr) / page() * page();
      const auto end = static_cast<Bytes>(segment.p_vaddr + segment.p_memsz);
      *static_cast<Bytes*>(sum) += round_up(end - begin, page());
    }
  }
  return 0;
}

// Room beside the pages that are there already: for stacks of threads, buffers
// of the standard library.
constexpr Bytes kLeastSpare = kMiB * 3 / 4;

// Steps of a MiB hide how a start differs from the next.
Bytes bound_beside(Bytes held) noexcept {
  const Bytes modules = module_bytes();
  Resident resident = resident_now();
  resident.all = std::max(resident.of_files, resident.all - held);
  const Bytes own =
      round_up(resident.all - resident.of_files + kLeastSpare, kMiB);
  const Bytes bound = modules + std::max(own, kExternalAllowance);
  // Files that the program has mapped may lie behind no module.
  return std::max(bound, round_up(resident.all, kMiB));
}

// Bytes by which the process's own part was found larger than at the start.
// NOLINTNEXTLINE(*-avoid-non-const-global-variables): one for the process
constinit std::atomic<Bytes> recounted{0};

constexpr int kBookRows = kMaxExternalRows - 1;  // one is the process's own

struct Book {
  std::mutex mutex;
  std::array<ExternalRow, kBookRows> rows{};
  int count = 0;
};

Book& book() noexcept {
  static constinit Book instance;
  return instance;
}

}  // namespace

Bytes module_bytes() noexcept {
  Bytes sum = 0;
  ::dl_iterate_phdr(&add_module, &sum);
  return sum;
}

Bytes external_at_start() noexcept {
  static const Bytes at_start = bound_beside(0);
  return at_start;
}

Bytes recount_external(Bytes held) noexcept {
  const Bytes at_start = external_at_start();
  const Bytes more = std::max<Bytes>(0, bound_beside(held) - at_start);
  recounted.store(more, std::memory_order_relaxed);
  return at_start + more;
}

void add_external(const char* name, Bytes bytes) noexcept {
  external_at_start();
  Book& b = book();
  const std::lock_guard lock(b.mutex);
  for (int i = 0; i < b.count; ++i) {
    ExternalRow& row = b.rows[static_cast<std::size_t>(i)];
    if (std::strcmp(row.name, name) == 0) {
      row.bytes += bytes;
      return;
    }
  }
  // A full table folds further names into its last row: bytes are never lost.
  if (b.count == kBookRows) {
    b.rows.back().bytes += bytes;
    return;
  }
  b.rows[static_cast<std::size_t>(b.count++)] = {name, bytes};
}

Bytes external_bytes(const CallSite& site) noexcept {
  tell_of_question("external_bytes", "for figures of the whole program", site);
  return count_external();
}

Bytes count_external() noexcept {
  const Bytes own =
      external_at_start() + recounted.load(std::memory_order_relaxed);
  Book& b = book();
  const std::lock_guard lock(b.mutex);
  Bytes total = own;
  for (int i = 0; i < b.count; ++i) {
    total += b.rows[static_cast<std::size_t>(i)].bytes;
  }
  return total;
}

int external_rows(ExternalRow* rows, const CallSite& site) noexcept {
  tell_of_question("external_rows", "for figures of the whole program", site);
  rows[0] = {"process at start",
             external_at_start() + recounted.load(std::memory_order_relaxed)};
  Book& b = book();
  const std::lock_guard lock(b.mutex);
  int count = 1;
  for (int i = 0; i < b.count; ++i) {
    rows[count++] = b.rows[static_cast<std::size_t>(i)];
  }
  return count;
}

}  // namespace neap::base
