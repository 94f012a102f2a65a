// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A derivative that is handed to the user is nobody else's memory. The rules
// pass cotangents and tangents on as they are, and as views: two gradients, or
// a gradient and the cotangent that the caller gave, may be the same elements.
// Where one of them leaves the library (to a leaf, a hook, a result of grad or
// jvp) it is copied, unless the elements are its own already, which they are
// in almost every case.
#pragma once

#include <span>

#include "neap/tensor/tensor.hpp"

namespace neap::autograd {

/// True when nothing else refers to the elements, which fill their storage in
/// row-major order. THROWS: UseAfterRelease when undefined.
bool owns_all_of_its_storage(const Tensor& t);

/// `t`, or a dense copy of it. One that reverse mode records is left alone:
/// nobody may write to it. THROWS: OutOfMemory.
Tensor in_own_memory(Tensor t);

/// The same for several that leave together; each may be undefined. Those that
/// reverse mode records become dense, and share nothing with one another nor
/// with `given` (undefined ones among them are passed over).
void put_in_own_memory(std::span<Tensor> results,
                       std::span<const Tensor> given = {});

}  // namespace neap::autograd
