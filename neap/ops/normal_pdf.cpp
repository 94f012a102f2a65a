// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/normal_pdf.hpp"

#include <numbers>

#include "neap/ops/div.hpp"
#include "neap/ops/gaussian.hpp"
#include "neap/ops/mul.hpp"
#include "neap/ops/sub.hpp"
#include "neap/ops/support.hpp"

namespace neap {

Tensor normal_pdf(const Operand& x, const Operand& mean,
                  const Operand& deviation) {
  constexpr double kHalfRoot = std::numbers::sqrt2 / 2;
  constexpr double kPeak = std::numbers::inv_sqrtpi * kHalfRoot;
  const ops::AtSite here(x);
  const Tensor distance = sub(ops::tensor_of("normal_pdf", x), mean);
  if (deviation.is_number()) {
    const double d = deviation.number();
    if (!(d > 0.0)) {
      base::raise<ValueError>("normal_pdf: deviation {}, expected above 0", d);
    }
    return mul(gaussian(mul(distance, kHalfRoot / d)), kPeak / d);
  }
  const Tensor& d = deviation.tensor();
  return div(mul(gaussian(mul(div(distance, d), kHalfRoot)), kPeak), d);
}

}  // namespace neap
