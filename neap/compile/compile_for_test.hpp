// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Shared by tests of compiled steps.
#pragma once

#include <string>
#include <vector>

#include "neap/compile/compile.hpp"
#include "neap/ops/ops.hpp"

namespace neap::compiler {

inline std::vector<float> floats(const Tensor& t) {
  const std::span<const float> values = t.values<float>();
  return {values.begin(), values.end()};
}

/// The message of what `run` throws, "" for nothing.
template <class F>
std::string message_of(F&& run) {
  try {
    run();
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

/// A step of several calls.
inline Tensor doubled(const Tensor& x) {
  return exp(x) * 2.0 + x;
}

}  // namespace neap::compiler
