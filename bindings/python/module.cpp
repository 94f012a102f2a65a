// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "binding.hpp"
#include "neap/base/version.hpp"
#include "ops.hpp"
#include "sites.hpp"
#include "values.hpp"

NB_MODULE(_core, m) {
  using namespace neap::python;  // NOLINT(google-build-using-namespace)
  // Types, threads and tables are the process', not an interpreter's.
  static bool is_loaded = false;
  if (std::exchange(is_loaded, true)) {
    throw nb::import_error(
        "neap: the compiled part can be loaded once in a process; it was, "
        "before sys.modules was emptied or in another interpreter");
  }
  m.doc() = "The compiled part of neap.";
  m.attr("__version__") = neap::version();
  m.def("set_leak_warnings", [](bool value) { nb::set_leak_warnings(value); });
  m.def("set_package_folder",
        [](const std::string& folder) { set_package_folder(folder); });
  m.def(
      "call_site",
      [] {
        const neap::CallSite site = here();
        return nb::make_tuple(site.file, site.line, site.function);
      },
      "File, line and function that an operation called here would note.");
  m.def("known_code_objects", &known_code_objects);

  bind_errors();
  nb::class_<neap::Tensor> tensor = bind_tensor(m);
  bind_ops(m, tensor);
  bind_indexing(tensor);
  bind_creation(m);
  bind_arrays(m, tensor);
  bind_autograd(m, tensor);
  bind_functional(m);
  bind_custom(m);
  bind_guards(m);
  bind_modules(m);
  bind_compile(m);
  bind_traced_values(m);
  nb::module_ memory = m.def_submodule("_memory");
  bind_memory(memory);
  nb::module_ layers = m.def_submodule("_layers");
  bind_layers(layers);
  nb::module_ optim = m.def_submodule("_optim");
  bind_optim(optim);
  nb::module_ data = m.def_submodule("_data");
  bind_data(data);
  bind_loaders(data);
  nb::module_ models = m.def_submodule("_models");
  bind_models(models);
  nb::module_ train = m.def_submodule("_train");
  bind_train(train);
}
