// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Handle objects as state of a step. A traced step may assign to a handle that
// it captured, or read one that the program assigns to between two calls. Both
// are about the handle object (a variable, a member), not about its elements,
// so handles tell when they change or end, while somebody listens.
//
// Nobody listens outside of traces and of programs that depend on handles: the
// cost is then one load and one branch.
#pragma once

#include <atomic>
#include <cstdint>

#include "neap/base/api.hpp"
#include "neap/base/call_site.hpp"

namespace neap {
class Tensor;
}

namespace neap::tensor {

// Counters that every handle reads: inline reads need them to be seen here.
// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables)
/// Traces in progress: they hear of everything.
NEAP_API extern std::atomic<std::uint32_t> handle_listeners;
/// These, and watches that have started: they hear of ends.
NEAP_API extern std::atomic<std::uint32_t> handle_watchers;
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

inline bool are_handles_heard() noexcept {
  return handle_listeners.load(std::memory_order_relaxed) != 0;
}
inline bool are_ends_heard() noexcept {
  return handle_watchers.load(std::memory_order_relaxed) != 0;
}

/// The property that a read of a handle asks for.
enum class Question : std::uint8_t {
  kMeaning,       // all but the following
  kRequiresGrad,  // requires_grad of its vertex
  kIsLeaf,
  kGrad,
};

/// The handle object was created, with a meaning or undefined.
NEAP_API void handle_begins(const Tensor& handle) noexcept;
/// The library has filled a handle of its own.
NEAP_API void handle_is_filled(const Tensor& handle) noexcept;
/// The handle is about to mean something else. What fails is kept by the
/// context's creator, which refuses the trace.
NEAP_API void handle_changes(const Tensor& handle) noexcept;
/// The tensor that the handle means is about to be moved to another handle.
NEAP_API void handle_is_taken(const Tensor& handle) noexcept;
/// The handle is read: copied, or asked what it means.
NEAP_API void handle_is_asked(const Tensor& handle, Question question) noexcept;
/// The step asks by `function` who holds the tensor.
NEAP_API void holders_are_asked(const Tensor& handle, const char* function,
                                const base::CallSite& site) noexcept;
/// The handle object is being destroyed.
NEAP_API void handle_ends(const Tensor& handle) noexcept;

/// Keeps handles reporting for as long as it lives.
class NEAP_API HearHandles {
 public:
  HearHandles() noexcept {
    handle_listeners.fetch_add(1, std::memory_order_relaxed);
    handle_watchers.fetch_add(1, std::memory_order_relaxed);
  }
  ~HearHandles() {
    handle_listeners.fetch_sub(1, std::memory_order_relaxed);
    handle_watchers.fetch_sub(1, std::memory_order_relaxed);
  }
  HearHandles(const HearHandles&) = delete;
  HearHandles& operator=(const HearHandles&) = delete;
};

/// HandleWatch: a pointer to a handle object that is cleared when the object is
/// destroyed. Thread rule: the object may be destroyed in any thread; start()
/// and stop() are for one thread at a time.
class NEAP_API HandleWatch {
 public:
  HandleWatch() = default;
  ~HandleWatch() { stop(); }
  HandleWatch(const HandleWatch&) = delete;
  HandleWatch& operator=(const HandleWatch&) = delete;

  /// REQUIRES: not started; `handle` is alive.
  void start(Tensor& handle) noexcept;
  void stop() noexcept;
  /// nullptr: it was destroyed, or nothing was started.
  Tensor* handle() const noexcept {
    return handle_.load(std::memory_order_acquire);
  }

 private:
  friend void handle_ends(const Tensor& handle) noexcept;
  static void end(const Tensor& handle) noexcept;

  std::atomic<Tensor*> handle_{nullptr};
  const Tensor* key_ = nullptr;  // nullptr: not started
  HandleWatch* next_ = nullptr;  // next in its bucket
};

}  // namespace neap::tensor
