// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Nested: a layer under a name within a name, as files have them
// ("intermediate.dense").
#pragma once

#include <string_view>
#include <utility>

#include "neap/nn/linear.hpp"

namespace neap::models {

/// A module with one child, which it calls.
template <class Child>
class Nested final : public nn::Cloneable<Nested<Child>> {
 public:
  /// REQUIRES: `name` is a literal. THROWS: OutOfMemory.
  Nested(std::string_view name, Child child)
      : name_(name), child_(std::move(child)) {
    this->register_module(name_, child_);
  }
  Nested(const Nested& other, nn::Cloning& cloning)
      : nn::Cloneable<Nested>(other, cloning),
        name_(other.name_),
        child_(other.child_, cloning) {
    this->register_module(name_, child_);
  }

  Tensor forward(const Tensor& x) const override { return child_(x); }

  Child& child() noexcept { return child_; }
  const Child& child() const noexcept { return child_; }

 private:
  std::string_view name_;
  Child child_;
};

}  // namespace neap::models
