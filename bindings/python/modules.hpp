// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Modules of Python: classes over nn::Module's registry.
#pragma once

#include "neap/nn/module.hpp"

namespace neap::python {

/// A module whose forward is Python's; its names are given from there.
class PythonModule : public nn::Module {
 public:
  PythonModule() = default;
  using Module::register_buffer;
  using Module::register_module;
  using Module::register_parameter;
};

/// Parameters or buffers, with their names.
struct Parameters {
  ParameterList list;
};

}  // namespace neap::python
