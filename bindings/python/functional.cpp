// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Derivatives of Python's functions: vjp, jvp, hvp, jacobian, hessian. A
// function here takes a list of tensors and gives a list of them; the package
// makes such a function from the user's.
#include "neap/autograd/functional.hpp"

#include "binding.hpp"
#include "values.hpp"

namespace neap::python {
namespace {

using Given = std::vector<Tensor>;

// Everything that the library computes in between is reported under Python's
// line.
class HereGuard : public memory::ContextGuard {
 public:
  explicit HereGuard(const CallSite& site)
      : ContextGuard([&](memory::Context& c) { c.site = base::intern(site); }) {
  }
};

// A function of Python's, called without the GIL.
class Called {
 public:
  explicit Called(nb::handle function) : function_(function) {}

  Tensors operator()(std::span<const Tensor> primals) const {
    const Locked locked;
    const OwnSites sites;
    nb::list given;
    for (const Tensor& t : primals) {
      given.append(nb::cast(Tensor(t)));
    }
    const nb::object results =
        in_python([&] { return nb::object(function_(given)); });
    Tensors out;
    for (const nb::handle each : results) {
      out.push_back(nb::cast<const Tensor&>(each));
    }
    return out;
  }

 private:
  nb::handle function_;
};

// The same, of a function whose list has one element.
class CalledForOne : public Called {
 public:
  using Called::Called;
  Tensor operator()(std::span<const Tensor> primals) const {
    return Called::operator()(primals).at(0);
  }
};

// Runs `call` without the GIL, under the call site of the Python line.
template <class F>
auto run_unlocked(F&& call) {
  const CallSite site = here();
  const Unlocked release;
  const HereGuard guard(site);
  return call();
}

nb::tuple run_vjp(nb::handle function, const Given& primals,
                  bool create_graph) {
  const Called f(function);
  VjpResults found =
      run_unlocked([&] { return vjp(f, primals, {create_graph}); });
  return nb::make_tuple(to_python(std::move(found.values)),
                        nb::cast(std::move(found.pullback)));
}

TensorTuple pull_back(const Pullback& self, const Given& cotangents) {
  const Gradients all = run_unlocked([&] { return self(cotangents); });
  return to_python_tuple(all);
}

nb::tuple run_jvp(nb::handle function, const Given& primals,
                  const Given& tangents, bool create_graph) {
  const Called f(function);
  JvpResults found =
      run_unlocked([&] { return jvp(f, primals, tangents, {create_graph}); });
  return nb::make_tuple(to_python(std::move(found.values)),
                        to_python(std::move(found.tangents)));
}

Tensor run_directional(nb::handle function, const Given& primals,
                       const std::vector<Given>& directions,
                       bool create_graph) {
  const CalledForOne f(function);
  const std::vector<std::span<const Tensor>> spans(directions.begin(),
                                                   directions.end());
  return run_unlocked([&] {
    return directional_derivative(f, primals, spans, {create_graph});
  });
}

nb::tuple run_hvp(nb::handle function, const Given& primals,
                  const Given& directions, bool create_graph) {
  const CalledForOne f(function);
  HvpResults found =
      run_unlocked([&] { return hvp(f, primals, directions, {create_graph}); });
  return nb::make_tuple(nb::cast(std::move(found.value)),
                        to_python_tuple(found.gradients),
                        to_python_tuple(found.products));
}

TensorTuple run_jacobian(nb::handle function, const Given& primals,
                         JacobianMode mode, bool create_graph) {
  const CalledForOne f(function);
  return to_python(run_unlocked([&] {
    return jacobian(f, primals, {mode, create_graph});
  }));
}

nb::tuple run_hessian(nb::handle function, const Given& primals,
                      bool create_graph) {
  const CalledForOne f(function);
  memory::Vector<Tensors> all =
      run_unlocked([&] { return hessian(f, primals, {create_graph}); });
  nb::list rows;
  for (Tensors& row : all) {
    rows.append(to_python(std::move(row)));
  }
  return nb::tuple(rows);
}

}  // namespace

void bind_functional(nb::module_& m) {
  nb::class_<Pullback>(m, "_Pullback").def("__call__", &pull_back);
  m.def("_vjp", &run_vjp);
  m.def("_jvp", &run_jvp);
  m.def("_directional_derivative", &run_directional);
  m.def("_hvp", &run_hvp);
  m.def("_jacobian", &run_jacobian);
  m.def("_hessian", &run_hessian);
}

}  // namespace neap::python
