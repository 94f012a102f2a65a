// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A program as a picture, in the language of Graphviz.
#pragma once

#include "neap/program/program.hpp"

namespace neap::compiler {

struct DotOptions {
  std::int64_t max_calls = 1'000;  // the rest is only counted
};

/// Calls are boxes from top to bottom, by layer; arguments and externals are
/// round. An arrow is a value and shows its elements; a dotted one says that
/// memory is taken over. THROWS: OutOfMemory.
NEAP_API memory::String to_dot(const Program& program,
                               const DotOptions& options = {});

}  // namespace neap::compiler
