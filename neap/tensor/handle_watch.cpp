// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/tensor/handle_watch.hpp"

#include <array>
#include <mutex>
#include <utility>

#include "neap/base/spin_lock.hpp"
#include "neap/memory/context.hpp"
#include "neap/tensor/creator.hpp"
#include "neap/tensor/execution.hpp"

namespace neap::tensor {

// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): counted.
constinit std::atomic<std::uint32_t> handle_listeners{0};
constinit std::atomic<std::uint32_t> handle_watchers{0};
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

namespace {

// Watches by the address of their handle: a fixed table of lists, so that a
// watch asks for no memory.
struct Bucket {
  base::SpinLock lock;
  std::atomic<HandleWatch*> first{nullptr};
};

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): locked
constinit std::array<Bucket, 1024> buckets;

Bucket& bucket_of(const void* handle) noexcept {
  // Fibonacci hashing; handles are eight bytes.
  constexpr std::uint64_t kFactor = 0x9E3779B97F4A7C15U;
  const auto address = reinterpret_cast<std::uintptr_t>(handle) >> 3U;
  return buckets[(address * kFactor >> 54U) % buckets.size()];
}

}  // namespace

void HandleWatch::start(Tensor& handle) noexcept {
  key_ = &handle;
  handle_.store(&handle, std::memory_order_release);
  handle_watchers.fetch_add(1, std::memory_order_relaxed);
  Bucket& bucket = bucket_of(key_);
  const std::lock_guard guard(bucket.lock);
  next_ = bucket.first.load(std::memory_order_relaxed);
  bucket.first.store(this, std::memory_order_relaxed);
}

void HandleWatch::stop() noexcept {
  if (key_ == nullptr) {
    return;
  }
  Bucket& bucket = bucket_of(key_);
  {
    const std::lock_guard guard(bucket.lock);
    HandleWatch* at = bucket.first.load(std::memory_order_relaxed);
    if (at == this) {
      bucket.first.store(next_, std::memory_order_relaxed);
    } else {
      while (at->next_ != this) {
        at = at->next_;
      }
      at->next_ = next_;
    }
  }
  handle_watchers.fetch_sub(1, std::memory_order_relaxed);
  key_ = nullptr;
  handle_.store(nullptr, std::memory_order_release);
}

// A watch stays in its list until stop(): another handle at the same address is
// not the one that was watched.
void HandleWatch::end(const Tensor& handle) noexcept {
  Bucket& bucket = bucket_of(&handle);
  if (bucket.first.load(std::memory_order_relaxed) == nullptr) {
    return;
  }
  const std::lock_guard guard(bucket.lock);
  for (HandleWatch* at = bucket.first.load(std::memory_order_relaxed);
       at != nullptr; at = at->next_) {
    if (at->key_ == &handle) {
      at->handle_.store(nullptr, std::memory_order_release);
    }
  }
}

void handle_begins(const Tensor& handle) noexcept {
  if (Creator* creator = tensor::thread_execution().creator) {
    creator->on_handle_begin(handle);
  }
}

void handle_is_filled(const Tensor& handle) noexcept {
  if (Creator* creator = tensor::thread_execution().creator) {
    creator->on_handle_filled(handle);
  }
}

void handle_changes(const Tensor& handle) noexcept {
  if (Creator* creator = tensor::thread_execution().creator) {
    creator->on_handle_change(handle);
  }
}

void handle_is_taken(const Tensor& handle) noexcept {
  if (Creator* creator = tensor::thread_execution().creator) {
    creator->on_handle_taken(handle);
  }
}

void handle_is_asked(const Tensor& handle, Question question) noexcept {
  if (Creator* creator = tensor::thread_execution().creator) {
    creator->on_handle_asked(handle, question);
  }
}

void holders_are_asked(const Tensor& handle, const char* function,
                       const base::CallSite& site) noexcept {
  if (Creator* creator = tensor::thread_execution().creator) {
    creator->on_holders_asked(handle, function, site);
  }
}

void handle_ends(const Tensor& handle) noexcept {
  if (Creator* creator = tensor::thread_execution().creator) {
    creator->on_handle_end(handle);
  }
  HandleWatch::end(handle);
}

}  // namespace neap::tensor
