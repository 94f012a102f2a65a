// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Tensors of constants, of lists and of random numbers.
#include "binding.hpp"
#include "neap/tensor/create.hpp"
#include "values.hpp"

namespace neap::python {
namespace {

Tensor from_floats(const std::vector<double>& values, const Shape& shape,
                   DType dtype) {
  return from_values(values, shape, dtype, here());
}

Tensor from_integers(const std::vector<std::int64_t>& values,
                     const Shape& shape, DType dtype) {
  const CallSite site = here();
  Tensor whole = from_span<std::int64_t>(values, shape, site);
  return dtype == DType::kI64 ? whole : cast({whole, site}, dtype);
}

void bind_random(nb::module_& m) {
  m.def(
      "rand",
      [](const Shape& shape, DType dtype) {
        return rand(shape, dtype, here());
      },
      nb::arg("shape"), nb::arg("dtype") = f32, "Uniform in [0, 1).");
  m.def(
      "randn",
      [](const Shape& shape, DType dtype) {
        return randn(shape, dtype, here());
      },
      nb::arg("shape"), nb::arg("dtype") = f32, "Normal, mean 0, variance 1.");
  m.def(
      "randint",
      [](std::int64_t low, std::int64_t high, const Shape& shape, DType dtype) {
        return randint(low, high, shape, dtype, here());
      },
      nb::arg("low"), nb::arg("high"), nb::arg("shape"), nb::arg("dtype") = i64,
      "Integers in [low, high).");
  m.def(
      "randperm",
      [](std::int64_t n, DType dtype) { return randperm(n, dtype, here()); },
      nb::arg("n"), nb::arg("dtype") = i64,
      "0, 1, ..., n - 1 in a random order.");
  m.def("seed", &seed, nb::arg("value"), "Restarts the current generator.");
  nb::class_<Generator>(m, "Generator", "Seed and number of the next draw.")
      .def(nb::init<std::uint64_t>(), nb::arg("seed") = 0);
  m.def(
      "default_generator", [] { return &tensor::generator(); },
      nb::rv_policy::reference, "The generator that draws come from now.");
}

void bind_ranges(nb::module_& m) {
  m.def(
      "arange",
      [](std::int64_t count, DType dtype) {
        return arange(count, dtype, here());
      },
      nb::arg("count"), nb::arg("dtype") = f32, "0, 1, ..., count - 1.");
  m.def(
      "arange",
      [](const Value& begin, const Value& end, const Value& step, DType dtype) {
        const CallSite site = here();
        return arange(begin.number(site), end.number(site), step.number(site),
                      dtype, site);
      },
      nb::arg("begin"), nb::arg("end"), nb::arg("step") = 1,
      nb::arg("dtype") = f32, "begin, begin + step, ... before end.");
  m.def(
      "linspace",
      [](const Value& begin, const Value& end, std::int64_t count,
         DType dtype) {
        const CallSite site = here();
        return linspace(begin.number(site), end.number(site), count, dtype,
                        site);
      },
      nb::arg("begin"), nb::arg("end"), nb::arg("count"),
      nb::arg("dtype") = f32, "Numbers at equal distances, ends included.");
}

}  // namespace

void bind_creation(nb::module_& m) {
  m.def(
      "empty",
      [](const Shape& shape, DType dtype) {
        return empty(shape, dtype, here());
      },
      nb::arg("shape"), nb::arg("dtype") = f32, "Not initialised.");
  m.def(
      "zeros",
      [](const Shape& shape, DType dtype) {
        return zeros(shape, dtype, here());
      },
      nb::arg("shape"), nb::arg("dtype") = f32);
  m.def(
      "ones",
      [](const Shape& shape, DType dtype) {
        return ones(shape, dtype, here());
      },
      nb::arg("shape"), nb::arg("dtype") = f32);
  m.def(
      "full",
      [](const Shape& shape, const Value& value, DType dtype) {
        const CallSite site = here();
        return full(shape, value.number(site), dtype, site);
      },
      nb::arg("shape"), nb::arg("value"), nb::arg("dtype") = f32);
  m.def(
      "scalar",
      [](const Value& value, DType dtype) {
        const CallSite site = here();
        return scalar(value.number(site), dtype, site);
      },
      nb::arg("value"), nb::arg("dtype") = f32, "A tensor of rank 0.");
  m.def("zeros_like", [](const Tensor& x) { return zeros_like(x, here()); });
  m.def("ones_like", [](const Tensor& x) { return ones_like(x, here()); });
  m.def(
      "eye", [](std::int64_t n, DType dtype) { return eye(n, dtype, here()); },
      nb::arg("n"), nb::arg("dtype") = f32);
  m.def("_from_floats", &from_floats);
  m.def("_from_integers", &from_integers);
  bind_ranges(m);
  bind_random(m);
}

}  // namespace neap::python
