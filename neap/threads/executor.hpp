// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Executor: whoever runs the parts of a parallel region: Neap's own pool, or
// threads that a host program lends.
#pragma once

namespace neap::threads {

class Executor {
 public:
  Executor() = default;
  virtual ~Executor() = default;
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  /// How many parts can run at once, the caller's own thread included.
  virtual int threads() const noexcept = 0;

  /// Calls part(context, i) once for every i in [0, parts), in any order and
  /// possibly at once, and returns when all are done.
  virtual void run(int parts, void (*part)(void* context, int i) noexcept,
                   void* context) noexcept = 0;
};

}  // namespace neap::threads
