// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// RMSprop (Tieleman and Hinton, "Lecture 6.5", 2012), by the formulas of
// torch.optim.RMSprop, which is not centered here:
//
//   g = grad + weight_decay w
//   v = alpha v + (1 - alpha) g g
//   b = momentum b + g / (sqrt(v) + eps)
//   w = w - lr b
//
// State, each as large as the parameter: "square_avg" (v), and
// "momentum_buffer" (b) when momentum > 0.
#pragma once

#include "neap/optim/optimizer.hpp"

namespace neap::optim {

struct NEAP_API RMSpropOptions {
  double lr = 1e-2;
  double alpha = 0.99;
  double eps = 1e-8;
  double weight_decay = 0.0;
  double momentum = 0.0;
  bool maximize = false;  // climbs instead

  /// THROWS: ValueError for a setting that is negative or not finite, or an
  /// alpha above 1.
  NEAP_API void check() const;
};

extern template class Grouped<RMSpropOptions>;

class NEAP_API RMSprop final : public Grouped<RMSpropOptions> {
 public:
  explicit RMSprop(const ParameterList& parameters,
                   const RMSpropOptions& options = {})
      : Grouped(parameters, options) {}

  std::string describe(int group) const override;

 protected:
  const kernels::KernelList& update_kernels(int group) const noexcept override;
  std::size_t state_count(int group) const noexcept override;
  std::string_view state_name(std::size_t k) const noexcept override;
  void update_attrs(const Update& update,
                    AttrBytes& attrs) const noexcept override;
};

}  // namespace neap::optim
