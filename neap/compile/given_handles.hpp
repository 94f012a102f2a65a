// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// GivenHandles: which tensors the results of a traced step are. Copies of a
// handle are one tensor, with one place in the graph and in scopes. A result
// that is a tensor of before, an argument or an earlier result is given as
// such a copy by every run, as the plain step does. For sources of this room.
#pragma once

#include <unordered_map>

#include "neap/program/program.hpp"

namespace neap::compiler {

class GivenHandles {
 public:
  /// The stand-in of argument `i`. THROWS: OutOfMemory.
  void add_argument(const Tensor& stand_in, std::uint32_t i);
  /// `handle` is what the step gives as the program's result `at`.
  /// THROWS: OutOfMemory.
  void note(Program& program, std::uint32_t at, const Tensor& handle);
  /// The first result that is the tensor of `body`, or nullptr.
  Result* find(Program& program, const tensor::Body* body) const noexcept;

 private:
  using Map = std::unordered_map<
      const tensor::Body*, std::uint32_t, std::hash<const void*>,
      std::equal_to<>,
      memory::Allocator<std::pair<const tensor::Body* const, std::uint32_t>>>;
  // Never followed: bodies that are compared are there when they are noted.
  Map arguments_;
  Map first_;  // results
};

}  // namespace neap::compiler
