// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/losses.hpp"

#include "neap/ops/div.hpp"
#include "neap/ops/labels.hpp"
#include "neap/ops/mean.hpp"
#include "neap/ops/mul.hpp"
#include "neap/ops/neg.hpp"
#include "neap/ops/one_hot.hpp"
#include "neap/ops/square.hpp"
#include "neap/ops/sub.hpp"
#include "neap/ops/sum.hpp"
#include "neap/ops/support.hpp"

namespace neap {

Tensor nll_loss(const Operand& log_probabilities, const Operand& labels) {
  const ops::AtSite here(log_probabilities);
  const Tensor& x = ops::tensor_of("nll_loss", log_probabilities);
  const Tensor& truth = ops::tensor_of("nll_loss", labels);
  ops::check_classification("nll_loss", x.spec(), truth.spec());
  const Tensor picked =
      mul(one_hot(labels, x.shape()[1], x.dtype()), log_probabilities);
  return neg(div(sum(picked),
                 static_cast<double>(std::max<std::int64_t>(x.shape()[0], 1))));
}

Tensor mse_loss(const Operand& prediction, const Operand& target) {
  const ops::AtSite here(prediction);
  return mean(square(sub(prediction, target)));
}

}  // namespace neap
