// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"
#include "neap/memory/containers.hpp"

namespace neap {

// Views of the parts of x along one axis. A backward through all of them costs
// what x holds, however many they are.

/// Views of `size` positions each; the last has what is left.
/// THROWS: ShapeError for a bad axis; ValueError unless size > 0.
NEAP_API memory::Vector<Tensor> split(const TensorOperand& x, std::int64_t size,
                                      std::int64_t axis = 0);

/// Views of so many positions each. THROWS: ShapeError for a bad axis or unless
/// the sizes, none of them negative, add up to its extent.
NEAP_API memory::Vector<Tensor> split(const TensorOperand& x,
                                      std::span<const std::int64_t> sizes,
                                      std::int64_t axis = 0);
NEAP_API memory::Vector<Tensor> split(const TensorOperand& x,
                                      std::initializer_list<std::int64_t> sizes,
                                      std::int64_t axis = 0);

/// At most `count` parts (of nothing: `count`), all but the last of one size, as
/// PyTorch's. THROWS: ShapeError for a bad axis; ValueError unless count > 0.
NEAP_API memory::Vector<Tensor> chunk(const TensorOperand& x,
                                      std::int64_t count,
                                      std::int64_t axis = 0);

/// A view for each position; the axis goes. THROWS: ShapeError for a bad axis.
NEAP_API memory::Vector<Tensor> unbind(const TensorOperand& x,
                                       std::int64_t axis = 0);

}  // namespace neap
