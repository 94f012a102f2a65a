// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/base/external.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <mutex>

namespace neap::base {
namespace {

// The second number of /proc/self/statm: resident pages.
Bytes resident_now() noexcept {
  const int file = ::open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return 0;
  }
  std::array<char, 128> text{};
  const ssize_t got = ::read(file, text.data(), text.size() - 1);
  ::close(file);
  const char* second = got > 0 ? std::strchr(text.data(), ' ') : nullptr;
  return second != nullptr
             ? std::strtoll(second, nullptr, 10) * ::sysconf(_SC_PAGESIZE)
             : 0;
}

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

Bytes external_at_start() noexcept {
  static const Bytes at_start = resident_now();
  return at_start;
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

Bytes external_bytes() noexcept {
  const Bytes at_start = external_at_start();
  Book& b = book();
  const std::lock_guard lock(b.mutex);
  Bytes total = at_start;
  for (int i = 0; i < b.count; ++i) {
    total += b.rows[static_cast<std::size_t>(i)].bytes;
  }
  return total;
}

int external_rows(ExternalRow* rows) noexcept {
  rows[0] = {"process at start", external_at_start()};
  Book& b = book();
  const std::lock_guard lock(b.mutex);
  int count = 1;
  for (int i = 0; i < b.count; ++i) {
    rows[count++] = b.rows[static_cast<std::size_t>(i)];
  }
  return count;
}

}  // namespace neap::base
