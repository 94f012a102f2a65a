// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "modules.hpp"

#include <string>

#include "binding.hpp"
#include "failures.hpp"
#include "neap/nn/init.hpp"
#include "neap/train/save.hpp"
#include "neap/train/state_hash.hpp"
#include "values.hpp"

namespace nanobind::detail {

NEAP_PYTHON_CHOICE(neap::nn::KaimingOptions::Fan, "'fan_in', 'fan_out'",
                   {"fan_in", neap::nn::KaimingOptions::Fan::kIn},
                   {"fan_out", neap::nn::KaimingOptions::Fan::kOut})

}  // namespace nanobind::detail

namespace neap::python {
namespace {

std::string text(const memory::String& name) {
  return {name.data(), name.size()};
}

nb::list tensors_of(const Parameters& all) {
  nb::list out;
  for (const Parameter& each : all.list) {
    out.append(nb::cast(Tensor(each.tensor)));
  }
  return out;
}

nb::list items_of(const Parameters& all) {
  nb::list out;
  for (const Parameter& each : all.list) {
    out.append(nb::make_tuple(text(each.name), nb::cast(Tensor(each.tensor))));
  }
  return out;
}

void bind_parameters(nb::module_& m) {
  nb::class_<Parameters>(m, "ParameterList",
                         "Parameters or buffers: a sequence of tensors, which "
                         "also have names.")
      .def("__len__", [](const Parameters& all) { return all.list.size(); })
      .def("__getitem__",
           [](const Parameters& all, std::int64_t i) {
             const auto count = static_cast<std::int64_t>(all.list.size());
             if (i < -count || i >= count) {
               throw nb::index_error("there are not as many parameters");
             }
             return Tensor(
                 all.list[static_cast<std::size_t>(i < 0 ? i + count : i)]
                     .tensor);
           })
      .def("__iter__",
           [](const Parameters& all) { return nb::iter(tensors_of(all)); })
      .def("items", &items_of, "Pairs of name and tensor.");
  m.def(
      "_parameter_list",
      [](const std::vector<Tensor>& tensors,
         const std::vector<std::string>& names) {
        Parameters all;
        for (std::size_t i = 0; i < tensors.size(); ++i) {
          Parameter one;
          one.name = memory::String(names[i]);
          one.tensor = tensors[i];
          all.list.push_back(std::move(one));
        }
        return all;
      },
      nb::arg("tensors"), nb::arg("names"));
}

// Parameters and buffers of a module itself, by name.
Tensor entry(const nn::Module& self, const std::string& name) {
  for (const nn::Entry& each : self.registry().entries()) {
    if (std::string_view(each.name.data(), each.name.size()) == name) {
      return each.tensor;
    }
  }
  throw nb::attribute_error(name.c_str());
}

/// "parameter", "buffer", or "" for a name that is neither here.
const char* kind_of(const nn::Module& self, std::string_view name) {
  for (const nn::Entry& each : self.registry().entries()) {
    if (std::string_view(each.name.data(), each.name.size()) == name) {
      return each.is_parameter ? "parameter" : "buffer";
    }
  }
  return "";
}

/// Whether each part is in training: the module, then what is below it.
nb::typed<nb::list, bool> modes_of(const nn::Module& self) {
  nb::typed<nb::list, bool> out;
  self.registry().walk(
      [&](const nn::Registry& at) { out.append(at.is_training()); });
  return out;
}

void set_modes(nn::Module& self, const std::vector<bool>& modes) {
  std::size_t i = 0;
  self.registry().walk([&](nn::Registry& at) {
    at.note_use();
    at.set_training(i < modes.size() ? modes[i++] : at.is_training());
  });
}

nb::object call(nb::handle self, nb::args arguments, nb::kwargs keywords) {
  if (!nb::inst_ready(self)) {
    throw nb::attribute_error("Module.__init__() was not called");
  }
  const auto& module = nb::cast<const nn::Module&>(self);
  const nn::ModuleScope scope(module, here());
  nb::object result = in_python(
      [&] { return nb::object(self.attr("forward")(*arguments, **keywords)); });
  if (nb::isinstance<Tensor>(result) && arguments.size() > 0 &&
      nb::isinstance<Tensor>(arguments[0])) {
    scope.note(nb::cast<const Tensor&>(result),
               nb::cast<const Tensor&>(arguments[0]));
  }
  return result;
}

void bind_files(nb::class_<nn::Module>& module) {
  module
      .def(
          "_save",
          [](const nn::Module& self, const std::string& path) {
            const CallSite site = here();
            const Unlocked release;
            check(train::save(self, path, {}, site));
          },
          nb::arg("path"))
      .def(
          "_load",
          [](nn::Module& self, const std::string& path, bool strict) {
            const CallSite site = here();
            const Unlocked release;
            check(train::load(self, path, {.strict = strict}, site));
          },
          nb::arg("path"), nb::arg("strict"));
}

void bind_module(nb::module_& m) {
  nb::class_<nn::Module> module(m, "_Module", nb::dynamic_attr());
  module
      .def("parameters",
           [](const nn::Module& self) { return Parameters{self.parameters()}; })
      .def("named_parameters",
           [](const nn::Module& self) {
             return items_of({self.named_parameters()});
           })
      .def("buffers",
           [](const nn::Module& self) { return Parameters{self.buffers()}; })
      .def(
          "parameter",
          [](const nn::Module& self, const std::string& path) {
            return self.parameter(path);
          },
          nb::arg("path"), "A parameter by its path, \"fc1.weight\".")
      .def(
          "train",
          [](nb::object self, bool mode) {
            nb::cast<nn::Module&>(self).train(mode);
            return self;
          },
          nb::arg("mode") = true)
      .def("eval",
           [](nb::object self) {
             nb::cast<nn::Module&>(self).eval();
             return self;
           })
      .def_prop_ro("training",
                   [](const nn::Module& self) { return self.is_training(); })
      .def("freeze", [](nn::Module& self) { self.freeze(); })
      .def("unfreeze", [](nn::Module& self) { self.unfreeze(); })
      .def("zero_grad", [](nn::Module& self) { self.zero_grad(); })
      .def("tie", [](nn::Module& self, const std::string& path,
                     const Tensor& home) { self.tie(path, home); })
      .def("parameter_count",
           [](const nn::Module& self) { return self.parameter_count(); })
      .def("parameter_bytes",
           [](const nn::Module& self) { return self.parameter_bytes(); })
      .def("_kind_of", &kind_of)
      .def("_modes", &modes_of)
      .def("_set_modes", &set_modes)
      .def("_replace_by",
           [](nn::Module& self, const nn::Module& other) {
             self.registry().replace_by(
                 base::Ref<nn::Registry>::share(&other.registry()));
           })
      .def("__getattr__", &entry);
  bind_files(module);
}

// Parts that the Python side of modules needs.
void bind_python_module(nb::module_& m) {
  m.def("_is_ready", [](nb::handle self) { return nb::inst_ready(self); });
  nb::class_<PythonModule, nn::Module>(m, "_PythonModule", nb::dynamic_attr())
      .def(nb::init<>())
      .def("_register_parameter",
           [](PythonModule& self, const std::string& name, const Tensor& t) {
             return self.register_parameter(name, t, here());
           })
      .def("_register_buffer",
           [](PythonModule& self, const std::string& name, const Tensor& t) {
             return self.register_buffer(name, t, here());
           })
      .def("_register_module",
           [](PythonModule& self, const std::string& name,
              const nn::Module& child) { self.register_module(name, child); })
      .def("__call__", &call);
}

using KaimingFan = nn::KaimingOptions::Fan;

template <class Fill>
void bind_kaiming(nb::module_& init, const char* name, Fill fill) {
  init.def(
      name,
      [fill](const Tensor& t, double negative_slope, KaimingFan mode) {
        return fill(t, {.negative_slope = negative_slope, .fan = mode}, here());
      },
      nb::arg("tensor"), nb::arg("negative_slope") = 0.0,
      nb::arg("mode") = "fan_in");
}

void bind_init(nb::module_& m) {
  nb::module_ init = m.def_submodule("_init", "Fills tensors in place.");
  init.def(
      "constant_",
      [](const Tensor& t, double value) {
        return nn::constant_(t, value, here());
      },
      nb::arg("tensor"), nb::arg("value"));
  init.def(
      "uniform_",
      [](const Tensor& t, double low, double high) {
        return nn::uniform_(t, low, high, here());
      },
      nb::arg("tensor"), nb::arg("low") = 0.0, nb::arg("high") = 1.0);
  init.def(
      "normal_",
      [](const Tensor& t, double mean, double stddev) {
        return nn::normal_(t, mean, stddev, here());
      },
      nb::arg("tensor"), nb::arg("mean") = 0.0, nb::arg("stddev") = 1.0);
  init.def(
      "xavier_uniform_",
      [](const Tensor& t, double gain) {
        return nn::xavier_uniform_(t, gain, here());
      },
      nb::arg("tensor"), nb::arg("gain") = 1.0);
  init.def(
      "xavier_normal_",
      [](const Tensor& t, double gain) {
        return nn::xavier_normal_(t, gain, here());
      },
      nb::arg("tensor"), nb::arg("gain") = 1.0);
  bind_kaiming(init, "kaiming_uniform_", &nn::kaiming_uniform_);
  bind_kaiming(init, "kaiming_normal_", &nn::kaiming_normal_);
}

}  // namespace

void bind_modules(nb::module_& m) {
  bind_parameters(m);
  bind_module(m);
  bind_python_module(m);
  bind_init(m);
}

}  // namespace neap::python
