// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Moving averages of parameters, and rates that fall where a measure stands.
#include "binding.hpp"
#include "modules.hpp"
#include "neap/optim/ema.hpp"
#include "neap/optim/plateau.hpp"
#include "values.hpp"

namespace neap::python {
namespace {

using optim::Ema;
using optim::Optimizer;
using optim::ReduceOnPlateau;

// A compiled step refers to the averages that it updates.
void update(nb::handle self) {
  auto& ema = nb::cast<Ema&>(self);
  keep_for_traces(self);
  const CallSite site = here();
  const Unlocked release;
  ema.update(site);
}

void bind_ema(nb::module_& m) {
  nb::class_<Ema>(m, "_Ema", nb::dynamic_attr())
      .def(
          "__init__",
          [](Ema* self, const Parameters& tensors, double decay, bool warm_up) {
            new (self) Ema(tensors.list, {decay, warm_up}, here());
          },
          nb::arg("tensors"), nb::kw_only(), nb::arg("decay") = 0.999,
          nb::arg("warm_up") = false)
      .def("update", &update, "Moves every average towards its tensor.")
      .def(
          "swap",
          [](Ema& self) {
            const CallSite site = here();
            const Unlocked release;
            self.swap(site);
          },
          "Averages and tensors change places; a second time ends that.")
      .def_prop_ro("is_swapped",
                   [](const Ema& self) { return self.is_swapped(); })
      .def_prop_ro("update_count",
                   [](const Ema& self) { return self.update_count(); })
      .def_prop_ro("decay",
                   [](const Ema& self) { return self.options().decay; })
      .def_prop_ro(
          "averages",
          [](const Ema& self) { return Parameters{self.averages()}; },
          "The averages, under the names of their tensors.")
      .def_prop_ro("bytes", [](const Ema& self) { return self.bytes(); });
}

void bind_plateau(nb::module_& m) {
  nb::class_<ReduceOnPlateau>(
      m, "ReduceOnPlateau",
      "Lowers the rates of an optimizer when a measure has not improved for "
      "some time; torch.optim.lr_scheduler.ReduceLROnPlateau's rules.")
      .def(
          "__init__",
          [](ReduceOnPlateau* self, Optimizer& optimizer, double factor,
             std::int64_t patience, double threshold, bool relative,
             bool maximize, std::int64_t cooldown, double min_lr, double eps) {
            new (self) ReduceOnPlateau(
                optimizer, {factor, patience, threshold, relative, maximize,
                            cooldown, min_lr, eps});
          },
          nb::keep_alive<1, 2>(), nb::arg("optimizer"), nb::kw_only(),
          nb::arg("factor") = 0.1, nb::arg("patience") = 10,
          nb::arg("threshold") = 1e-4, nb::arg("relative") = true,
          nb::arg("maximize") = false, nb::arg("cooldown") = 0,
          nb::arg("min_lr") = 0.0, nb::arg("eps") = 1e-8)
      .def("step", &ReduceOnPlateau::step, nb::arg("measure"),
           "Takes a measure; True where the rates were lowered.")
      .def_prop_ro("best", [](const ReduceOnPlateau& self) {
        return self.state().best;
      });
}

}  // namespace

void bind_averages(nb::module_& m) {
  bind_ema(m);
  bind_plateau(m);
}

}  // namespace neap::python
