// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Gradients: the result of grad(), one for each tensor asked for, in order. It
// is a value: nothing was accumulated anywhere, and each gradient can be looked
// at, taken out or replaced before an optimizer sees it. It holds the graph
// nodes of the tensors asked for, not their elements.
#pragma once

#include <span>

#include "neap/memory/containers.hpp"
#include "neap/memory/slot_index.hpp"
#include "neap/tensor/tensor.hpp"

namespace neap {

class NEAP_API Gradients {
 public:
  Gradients() = default;
  /// Slots for the gradients of `inputs`, undefined so far.
  /// THROWS: OutOfMemory.
  explicit Gradients(std::span<const Tensor> inputs);

  std::size_t size() const noexcept { return values_.size(); }
  bool empty() const noexcept { return values_.empty(); }
  const Tensor* begin() const noexcept { return values_.data(); }
  const Tensor* end() const noexcept { return begin() + size(); }

  /// The gradient of the i-th tensor; undefined once it was taken.
  /// THROWS: ValueError when there are not as many.
  const Tensor& operator[](std::size_t i) const;
  /// The gradient of one of the tensors (or of a handle to the same node of the
  /// graph), in time that does not depend on how many there are. THROWS:
  /// ValueError when it was not asked for.
  const Tensor& get(const Tensor& input) const { return values_[find(input)]; }
  bool contains(const Tensor& input) const noexcept;

  /// Moves a gradient out, so that whoever takes it decides when it is freed.
  /// THROWS: ValueError as operator[] and get().
  Tensor take(std::size_t i);
  Tensor take(const Tensor& input) { return take(find(input)); }

  /// Replaces a gradient. THROWS: ShapeError, DTypeError when it cannot be a
  /// gradient of that tensor; ValueError as operator[] and get().
  void replace(std::size_t i, Tensor gradient);
  void replace(const Tensor& input, Tensor gradient) {
    replace(find(input), std::move(gradient));
  }

 private:
  // A tensor is identified by its vertex of the graph. Holding a leaf, or a
  // node that was consumed, costs next to nothing; a node that was retained
  // keeps its residuals.
  struct Key {
    base::Ref<tensor::GraphLink> link;
    std::uint32_t output = 0;
    tensor::Spec spec;
  };
  static bool is_key_of(const Key& key, const Tensor& input) noexcept;
  static std::size_t hash_of(const tensor::GraphLink* link,
                             std::uint32_t output) noexcept;
  std::size_t position_of(const Tensor& input) const noexcept;
  std::size_t find(const Tensor& input) const;
  void check_index(const char* op, std::size_t i) const;

  memory::Vector<Tensor> values_;
  memory::Vector<Key> keys_;
  memory::SlotIndex index_;  // finds keys_ where they are many
};

}  // namespace neap
