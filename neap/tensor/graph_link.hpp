// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// GraphLink: the seam between tensor and graph. A tensor carries at most one,
// opaquely; graph/ implements it (as a node of the tape, or as a leaf). This
// room knows only how to keep one alive and what a user may ask of it.
#pragma once

#include <atomic>
#include <cstdint>

namespace neap {
class Tensor;
}

namespace neap::tensor {

class GraphLink {
 public:
  GraphLink(const GraphLink&) = delete;
  GraphLink& operator=(const GraphLink&) = delete;

  void acquire() noexcept { refs_.fetch_add(1, std::memory_order_relaxed); }
  void release() noexcept {
    if (drop_reference()) {
      destroy();
    }
  }

  virtual bool is_leaf() const noexcept = 0;
  virtual bool requires_grad() const noexcept = 0;
  /// The accumulated gradient of an output; undefined where there is none.
  virtual Tensor grad(std::uint32_t output) const = 0;

 protected:
  GraphLink() noexcept = default;
  virtual ~GraphLink() = default;
  bool drop_reference() noexcept {
    return refs_.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }
  /// Takes a reference unless the last one was dropped already.
  bool try_acquire() noexcept {
    std::uint32_t count = refs_.load(std::memory_order_relaxed);
    while (count != 0 && !refs_.compare_exchange_weak(
                             count, count + 1, std::memory_order_relaxed)) {
    }
    return count != 0;
  }
  bool is_unique() const noexcept {
    return refs_.load(std::memory_order_acquire) == 1;
  }
  /// Ends the object, without recursing into a long chain of links.
  virtual void destroy() noexcept = 0;

 private:
  std::atomic<std::uint32_t> refs_{1};
};

}  // namespace neap::tensor
