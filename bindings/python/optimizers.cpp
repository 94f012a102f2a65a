// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The optimizers: each is a function that makes its options of keywords, which
// serve its first group of parameters and those that are added.
#include "binding.hpp"
#include "modules.hpp"
#include "neap/optim/adafactor.hpp"
#include "neap/optim/adam.hpp"
#include "neap/optim/lbfgs.hpp"
#include "neap/optim/lion.hpp"
#include "neap/optim/muon.hpp"
#include "neap/optim/rmsprop.hpp"
#include "neap/optim/sgd.hpp"
#include "values.hpp"

namespace nanobind::detail {

NEAP_PYTHON_CHOICE(neap::optim::MuonRate, "'original', 'adamw', 'none'",
                   {"original", neap::optim::MuonRate::kOriginal},
                   {"adamw", neap::optim::MuonRate::kAdamW},
                   {"none", neap::optim::MuonRate::kNone})

}  // namespace nanobind::detail

namespace neap::python {
namespace {

using optim::Optimizer;

template <class T, class Options, class... A, class... Keywords>
void bind_optimizer(nb::module_& m, const char* name, Options (*make)(A...),
                    const Keywords&... keywords) {
  nb::class_<T, Optimizer>(m, name, nb::dynamic_attr())
      .def(
          "__init__",
          [make](T* self, const Parameters& parameters, A... settings) {
            new (self) T(parameters.list, make(settings...));
          },
          nb::arg("parameters"), nb::kw_only(), keywords...)
      .def(
          "_add_group",
          [make](T& self, const Parameters& parameters, A... settings) {
            self.add_group(parameters.list, make(settings...));
          },
          nb::arg("parameters"), nb::kw_only(), keywords...);
}

template <class T>
void bind_adam(nb::module_& m, const char* name, double weight_decay) {
  bind_optimizer<T>(
      m, name,
      +[](double lr, double beta1, double beta2, double eps, double decay,
          bool maximize) {
        return optim::AdamOptions{lr, beta1, beta2, eps, decay, maximize};
      },
      nb::arg("lr") = 1e-3, nb::arg("beta1") = 0.9, nb::arg("beta2") = 0.999,
      nb::arg("eps") = 1e-8, nb::arg("weight_decay") = weight_decay,
      nb::arg("maximize") = false);
}

void bind_elementwise(nb::module_& m) {
  bind_optimizer<optim::SGD>(
      m, "_SGD",
      +[](double lr, double momentum, double dampening, double weight_decay,
          bool nesterov, bool maximize) {
        return optim::SGDOptions{lr,           momentum, dampening,
                                 weight_decay, nesterov, maximize};
      },
      nb::arg("lr") = 1e-2, nb::arg("momentum") = 0.0,
      nb::arg("dampening") = 0.0, nb::arg("weight_decay") = 0.0,
      nb::arg("nesterov") = false, nb::arg("maximize") = false);
  bind_optimizer<optim::Lion>(
      m, "_Lion",
      +[](double lr, double beta1, double beta2, double weight_decay,
          bool maximize) {
        return optim::LionOptions{lr, beta1, beta2, weight_decay, maximize};
      },
      nb::arg("lr") = 1e-4, nb::arg("beta1") = 0.9, nb::arg("beta2") = 0.99,
      nb::arg("weight_decay") = 0.0, nb::arg("maximize") = false);
  bind_optimizer<optim::RMSprop>(
      m, "_RMSprop",
      +[](double lr, double alpha, double eps, double weight_decay,
          double momentum, bool maximize) {
        return optim::RMSpropOptions{lr,           alpha,    eps,
                                     weight_decay, momentum, maximize};
      },
      nb::arg("lr") = 1e-2, nb::arg("alpha") = 0.99, nb::arg("eps") = 1e-8,
      nb::arg("weight_decay") = 0.0, nb::arg("momentum") = 0.0,
      nb::arg("maximize") = false);
}

void bind_matrix(nb::module_& m) {
  bind_optimizer<optim::Adafactor>(
      m, "_Adafactor",
      +[](double lr, double beta2_decay, double eps1, double eps2, double clip,
          double weight_decay, bool maximize) {
        return optim::AdafactorOptions{lr,   beta2_decay,  eps1,    eps2,
                                       clip, weight_decay, maximize};
      },
      nb::arg("lr") = 1e-2, nb::arg("beta2_decay") = -0.8,
      nb::arg("eps1") = 0.0, nb::arg("eps2") = 1e-3, nb::arg("clip") = 1.0,
      nb::arg("weight_decay") = 0.0, nb::arg("maximize") = false);
  bind_optimizer<optim::Muon>(
      m, "_Muon",
      +[](double lr, double weight_decay, double momentum, bool nesterov,
          int ns_steps, double eps, optim::MuonRate rate, bool by_adam,
          double beta1, double beta2, double adam_eps) {
        return optim::MuonOptions{lr,       weight_decay, momentum, nesterov,
                                  ns_steps, eps,          rate,     by_adam,
                                  beta1,    beta2,        adam_eps};
      },
      nb::arg("lr") = 1e-3, nb::arg("weight_decay") = 0.1,
      nb::arg("momentum") = 0.95, nb::arg("nesterov") = true,
      nb::arg("ns_steps") = 5, nb::arg("eps") = 1e-7,
      nb::arg("rate") = "original", nb::arg("by_adam") = false,
      nb::arg("beta1") = 0.9, nb::arg("beta2") = 0.95,
      nb::arg("adam_eps") = 1e-10);
}

double lbfgs_step(optim::LBFGS& self, const nb::object& closure) {
  return self.step(
      [&] {
        const nb::object result =
            in_python([&] { return nb::object(closure()); });
        Tensor loss;
        if (result.is_none() || !nb::try_cast(result, loss, false)) {
          throw nb::type_error(
              "LBFGS.step: the closure returned no Tensor; it is to return the "
              "loss");
        }
        return loss;
      },
      here());
}

void bind_lbfgs(nb::module_& m) {
  nb::class_<optim::LBFGS, Optimizer>(m, "_LBFGS", nb::dynamic_attr())
      .def(
          "__init__",
          [](optim::LBFGS* self, const Parameters& parameters, double lr,
             int max_iter, int max_eval, double tolerance_grad,
             double tolerance_change, int history_size, bool line_search) {
            new (self) optim::LBFGS(
                parameters.list, {lr, max_iter, max_eval, tolerance_grad,
                                  tolerance_change, history_size, line_search});
          },
          nb::arg("parameters"), nb::kw_only(), nb::arg("lr") = 1.0,
          nb::arg("max_iter") = 20, nb::arg("max_eval") = 0,
          nb::arg("tolerance_grad") = 1e-7, nb::arg("tolerance_change") = 1e-9,
          nb::arg("history_size") = 10, nb::arg("line_search") = true)
      .def("step", &lbfgs_step, nb::arg("closure"),
           "Up to max_iter iterations; the loss before the first. The closure "
           "computes the loss and its gradients, and returns the loss.");
}

}  // namespace

void bind_optimizers(nb::module_& m) {
  bind_adam<optim::Adam>(m, "_Adam", 0.0);
  bind_adam<optim::AdamW>(m, "_AdamW", 1e-2);
  bind_elementwise(m);
  bind_matrix(m);
  bind_lbfgs(m);
}

}  // namespace neap::python
