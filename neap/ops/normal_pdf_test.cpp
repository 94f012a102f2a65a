// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/normal_pdf.hpp"

#include <cmath>
#include <numbers>

#include "neap/testing/elementwise.hpp"

namespace neap::testing {
namespace {

double density(double x, double mean, double d) {
  const double z = (x - mean) / d;
  return std::exp(-z * z / 2) / (d * std::sqrt(2 * std::numbers::pi));
}

std::vector<double> reference(std::span<const HostArray> in) {
  std::vector<double> out;
  for (std::size_t i = 0; i < in[0].values.size(); ++i) {
    const std::size_t k = i % in[1].values.size();  // by the last axis
    out.push_back(density(in[0].values[i], in[1].values[k], in[2].values[k]));
  }
  return out;
}

OpTable normal_pdf_table() {
  return {
      .name = "normal_pdf",
      .rows = {{.name = "standard",
                .fn = [](Inputs x) { return normal_pdf(x[0]); },
                .inputs = {uniform({3, 4}, -2, 2)},
                .reference = each([](double x) { return density(x, 0, 1); }),
                .zero_size = {{{0, 4}}}},
               {.name = "numbers",
                .fn = [](Inputs x) { return normal_pdf(x[0], 0.5, 2); },
                .inputs = {uniform({5}, -2, 2)},
                .reference = each([](double x) { return density(x, 0.5, 2); })},
               {.name = "tensors",
                .fn = [](Inputs x) { return normal_pdf(x[0], x[1], x[2]); },
                .inputs = {uniform({2, 3}, -1, 1), uniform({3}, -1, 1),
                           uniform({3}, 0.5, 2)},
                .reference = reference}},
      .errors = {{.name = "deviation 0",
                  .fn = [](Inputs x) { return normal_pdf(x[0], 0, 0); },
                  .inputs = {uniform({2}, -1, 1)},
                  .error = typeid(ValueError)},
                 {.name = "shapes",
                  .fn = [](Inputs x) { return normal_pdf(x[0], x[1]); },
                  .inputs = {uniform({2}, -1, 1), uniform({3}, -1, 1)},
                  .error = typeid(ShapeError),
                  .says = "sub:"}}};
}

const Listed kListed(normal_pdf_table);

}  // namespace
}  // namespace neap::testing
