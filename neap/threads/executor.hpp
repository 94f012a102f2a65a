// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Executor: the source of kernels' threads. It runs numbered parts of one job;
// a kernel does not know who owns the threads behind it (our Pool, or the
// program that lends its own). The caller owns the executor, and any thread may
// call it.
//
// A job is split into parts by its size, its grain and the thread count alone,
// so the same call always gives the same split. Results must not depend on it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "neap/base/api.hpp"

namespace neap::threads {

/// A part of a job. It never throws: no thread could catch the exception.
using PartFunction = void (*)(void* context, int part) noexcept;

class NEAP_API Executor {
 public:
  Executor() = default;
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;
  virtual ~Executor();

  /// The number of parts that can run at one time, the caller's thread
  /// included; >= 1.
  virtual int threads() const noexcept = 0;

  /// Calls function(context, part) once for each part in [0, parts) and
  /// returns when all are done; what they wrote is then visible to the caller.
  /// Parts may run at one time and in any order, or one after the other.
  virtual void run(int parts, PartFunction function,
                   void* context) noexcept = 0;
};

/// Everything in the caller's thread, in order.
NEAP_API Executor& serial_executor() noexcept;

/// Calls body(part) for each part in [0, parts): for work that keeps scratch
/// per part. REQUIRES: body is noexcept and does not fork.
template <class Body>
void parallel_parts(Executor& executor, int parts, const Body& body) {
  static_assert(std::is_nothrow_invocable_v<const Body&, int>,
                "a parallel body is called as body(int) and must be noexcept");
  const auto call = [](void* context, int part) noexcept {
    (*static_cast<const Body*>(context))(part);
  };
  executor.run(parts, call, const_cast<Body*>(&body));
}

/// The number of contiguous ranges that parallel_for divides [0, n) into.
inline int range_count(const Executor& executor, std::int64_t n,
                       std::int64_t grain) noexcept {
  const std::int64_t blocks = n > 0 ? (n - 1) / grain + 1 : 0;
  return static_cast<int>(std::min<std::int64_t>(blocks, executor.threads()));
}

/// Calls body(begin, end) for contiguous ranges that together are [0, n). All
/// bounds but n itself are multiples of `grain`; no range is empty.
/// REQUIRES: grain >= 1; body is noexcept and does not fork.
template <class Body>
void parallel_for(Executor& executor, std::int64_t n, std::int64_t grain,
                  const Body& body) {
  static_assert(
      std::is_nothrow_invocable_v<const Body&, std::int64_t, std::int64_t>,
      "a parallel body is called as body(begin, end) and must be noexcept");
  const int parts = range_count(executor, n, grain);
  if (parts == 0) {
    return;
  }
  if (parts == 1) {
    body(std::int64_t{0}, n);
    return;
  }
  // The first `longer` ranges have one block more than the others.
  const std::int64_t blocks = (n - 1) / grain + 1;
  const std::int64_t shorter_blocks = blocks / parts;
  const std::int64_t longer = blocks % parts;
  const auto first_block = [=](std::int64_t part) noexcept {
    return part * shorter_blocks + std::min(part, longer);
  };
  parallel_parts(executor, parts, [&](int part) noexcept {
    const std::int64_t begin = first_block(part) * grain;
    const bool is_last = part + 1 == parts;
    body(begin, is_last ? n : first_block(part + 1) * grain);
  });
}

}  // namespace neap::threads
