// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/testing/projections.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numeric>

namespace neap::testing {

double dot(const HostArray& a, const HostArray& b) {
  return std::inner_product(a.values.begin(), a.values.end(), b.values.begin(),
                            0.0);
}

double dot_scale(const HostArray& a, const HostArray& b) {
  double scale = 1.0;
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    scale += std::abs(a.values[i] * b.values[i]);
  }
  return scale;
}

std::vector<HostArray> moved(const std::vector<HostArray>& values,
                             std::size_t i, const HostArray& u, double t) {
  std::vector<HostArray> out = values;
  for (std::size_t k = 0; k < u.values.size(); ++k) {
    out[i].values[k] += t * u.values[k];
  }
  return out;
}

void expect_number(const OpRun& run, double got, double wanted, double scale,
                   double relative, std::string_view what) {
  if (!(std::abs(got - wanted) <= relative * scale)) {
    run.fail(fmt::format("{} is {:.12g}, expected {:.12g} (within {:.2g})",
                         what, got, wanted, relative * scale));
  }
}

std::vector<HostArray> fetch_all(const OpRun& run,
                                 std::span<const Tensor> tensors) {
  std::vector<HostArray> out;
  for (const Tensor& tensor : tensors) {
    out.push_back(run.fetch(tensor));
  }
  return out;
}

std::vector<Tensor> tangents_for(const OpRun& run,
                                 const std::vector<Tensor>& inputs,
                                 std::size_t seed) {
  std::vector<Tensor> out;
  for (const std::size_t i : run.differentiable()) {
    out.push_back(run.direction_like(inputs[i], seed + i));
  }
  return out;
}

Tensor cotangent_of_result(const OpRun& run, std::size_t seed) {
  return run.direction_like(run.call(run.make_inputs()), kCotangent + seed);
}

bool is_skipped(const OpRun& run) {
  return run.differentiable().empty() || !run.row().smooth;
}

}  // namespace neap::testing
