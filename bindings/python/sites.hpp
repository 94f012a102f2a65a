// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Call sites of Python: the line, file and qualified name of the innermost
// frame that is not the package's own. Texts are kept for as long as the
// process lives, in a table of code objects with a bound.
//
// Thread rule: every function needs the GIL.
#pragma once

#include <nanobind/nanobind.h>

#include "neap/base/call_site.hpp"

namespace neap::python {

/// The call site of the Python line that runs; unknown where no Python runs, or
/// where the table of code objects is full.
CallSite here() noexcept;

/// A text that lives as long as the process, the same pointer for equal texts.
/// The number of texts is bounded: "(further names)" stands for later ones.
const char* kept_text(std::string_view text);

/// Frames of files in this folder are the package's own.
void set_package_folder(std::string_view folder);

/// The number of code objects in the table, and its bound.
int known_code_objects() noexcept;
inline constexpr int kMaxCodeObjects = 4096;

}  // namespace neap::python
