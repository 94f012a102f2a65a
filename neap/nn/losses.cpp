// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/nn/losses.hpp"

#include <cmath>
#include <limits>

#include "neap/base/raise.hpp"
#include "neap/graph/trace.hpp"
#include "neap/tensor/element.hpp"
#include "neap/tensor/host_access.hpp"

namespace neap::nn {

using base::raise;

namespace {

// The position of the largest of a row, or -1 where one is NaN.
std::int64_t largest_of_row(const tensor::Strided& logits, std::int64_t row) {
  std::int64_t best = -1;
  double largest = -std::numeric_limits<double>::infinity();
  for (std::int64_t k = 0; k < logits.shape[1]; ++k) {
    const double value = tensor::element_as_double(
        logits, row * logits.strides[0] + k * logits.strides[1]);
    if (std::isnan(value)) {
      return -1;
    }
    if (best < 0 || value > largest) {
      best = k;
      largest = value;
    }
  }
  return best;
}

void check_accuracy(const Tensor& logits, const Tensor& labels) {
  if (logits.rank() != 2 || labels.rank() != 1 ||
      logits.shape()[0] != labels.shape()[0]) {
    raise<ShapeError>(
        "accuracy: logits {} and labels {}, expected (n, classes) and (n)",
        format_shape(logits.shape()), format_shape(labels.shape()));
  }
  if (!is_floating(logits.dtype()) || is_floating(labels.dtype()) ||
      labels.dtype() == boolean) {
    raise<DTypeError>("accuracy: {} and {}, expected floats and integers",
                      name_of(logits.dtype()), name_of(labels.dtype()));
  }
}

}  // namespace

double accuracy(const Tensor& logits, const Tensor& labels, CallSite site) {
  check_accuracy(logits, labels);
  if (graph::trace() != nullptr) {
    raise<TraceError>(
        "accuracy: gives a number, which a step that is traced cannot know; "
        "call it on what the step returns");
  }
  tensor::check_host_access(logits, "accuracy", site);
  tensor::check_host_access(labels, "accuracy", site);
  const tensor::Strided x = logits.array()->strided();
  const tensor::Strided label = labels.array()->strided();
  const std::int64_t rows = x.shape[0];
  std::int64_t hits = 0;
  for (std::int64_t row = 0; row < rows; ++row) {
    const double wanted =
        tensor::element_as_double(label, row * label.strides[0]);
    const std::int64_t found = largest_of_row(x, row);
    hits += found >= 0 && static_cast<double>(found) == wanted ? 1 : 0;
  }
  return static_cast<double>(hits) / static_cast<double>(rows);
}

}  // namespace neap::nn
