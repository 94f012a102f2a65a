// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The base of optimizers, clipping, schedules, and the hash of a
// training state. The optimizers themselves are in optimizers.cpp.
#include "binding.hpp"
#include "modules.hpp"
#include "neap/optim/clip.hpp"
#include "neap/optim/optimizer.hpp"
#include "neap/train/state_hash.hpp"
#include "values.hpp"

namespace neap::python {
namespace {

using optim::Optimizer;
using optim::Schedule;

// Compiled steps refer to the optimizers that they update, so that each is kept
// by those that are traced while it steps.
void step(nb::handle self, double grad_scale, bool release_gradients) {
  auto& optimizer = nb::cast<Optimizer&>(self);
  keep_for_traces(self);
  const CallSite site = here();
  const Unlocked release;
  optimizer.step(
      {.grad_scale = grad_scale, .release_gradients = release_gradients}, site);
}

void bind_schedules(nb::module_& m) {
  nb::class_<Schedule>(m, "Schedule", "The learning rate of each step.")
      .def("__call__", [](const Schedule& self, std::int64_t at) {
        return self ? self(at) : 0.0;
      });
  m.def("constant", &optim::constant, nb::arg("lr"));
  m.def("warm_up", &optim::warm_up, nb::arg("lr"), nb::arg("steps"));
  m.def("cosine", &optim::cosine, nb::arg("lr"), nb::arg("total"),
        nb::arg("warmup") = 0, nb::arg("min") = 0.0);
  m.def("linear", &optim::linear, nb::arg("lr"), nb::arg("total"),
        nb::arg("warmup") = 0, nb::arg("min") = 0.0);
  m.def("warmup_stable_decay", &optim::warmup_stable_decay, nb::arg("lr"),
        nb::arg("total"), nb::arg("warmup"), nb::arg("decay"),
        nb::arg("min") = 0.0);
  m.def("one_cycle", &optim::one_cycle, nb::arg("lr"), nb::arg("total"),
        nb::arg("rise") = 0.3);
  m.def("cosine_restarts", &optim::cosine_restarts, nb::arg("lr"),
        nb::arg("first"), nb::arg("factor") = 1, nb::arg("min") = 0.0);
  m.def("inverse_sqrt", &optim::inverse_sqrt, nb::arg("lr"), nb::arg("warmup"));
  m.def("step_decay", &optim::step_decay, nb::arg("lr"), nb::arg("every"),
        nb::arg("factor") = 0.1);
  m.def("exponential", &optim::exponential, nb::arg("lr"), nb::arg("gamma"));
}

void bind_base(nb::module_& m) {
  nb::class_<Optimizer>(m, "Optimizer", nb::dynamic_attr())
      .def("step", &step, nb::kw_only(), nb::arg("grad_scale") = 1.0,
           nb::arg("release_gradients") = false,
           "Updates every parameter that has a gradient.")
      .def("zero_grad", [](Optimizer& self) { self.zero_grad(); })
      .def_prop_ro("step_count",
                   [](const Optimizer& self) { return self.step_count(); })
      .def_prop_rw(
          "lr", [](const Optimizer& self) { return self.lr(); },
          [](Optimizer& self, double lr) { self.set_lr(lr); })
      .def(
          "group_lr",
          [](const Optimizer& self, int group) { return self.lr(group); },
          nb::arg("group"), "The learning rate of a group.")
      .def(
          "set_group_lr",
          [](Optimizer& self, int group, double lr) { self.set_lr(group, lr); },
          nb::arg("group"), nb::arg("lr"))
      .def_prop_ro("group_count",
                   [](const Optimizer& self) { return self.group_count(); })
      .def(
          "describe",
          [](const Optimizer& self, int group) { return self.describe(group); },
          nb::arg("group") = 0, "The settings of a group, but for its rate.")
      .def(
          "set_schedule",
          [](Optimizer& self, const Schedule& schedule) {
            self.set_schedule(schedule);
          },
          nb::arg("schedule"))
      .def("state_bytes",
           [](const Optimizer& self) { return self.state_bytes(); });
}

}  // namespace

void bind_optim(nb::module_& m) {
  bind_base(m);
  bind_optimizers(m);
  bind_averages(m);
  bind_schedules(m);
  m.def(
      "_clip_grad_norm",
      [](const Parameters& parameters, double most) {
        return optim::clip_grad_norm(parameters.list, most, {}, here());
      },
      nb::arg("parameters"), nb::arg("max_norm"));
  m.def(
      "_clip_grad_value",
      [](const Parameters& parameters, double limit) {
        optim::clip_grad_value(parameters.list, limit, here());
      },
      nb::arg("parameters"), nb::arg("limit"));
  m.def(
      "_state_hash",
      [](const nn::Module& model, const Optimizer& optimizer) {
        return train::state_hash(model, optimizer, tensor::generator(), here());
      },
      nb::arg("model"), nb::arg("optimizer"),
      "64 bits of everything that a training step changes.");
}

}  // namespace neap::python
