// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Failures that C++ returns are exceptions in Python.
#pragma once

#include "neap/files/io_error.hpp"

namespace neap::python {

/// THROWS: IoError for a failure.
template <class R>
void check(const R& result) {
  if (!result) {
    throw IoError(result.error());
  }
}

}  // namespace neap::python
