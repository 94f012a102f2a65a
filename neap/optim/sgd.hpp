// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// SGD: stochastic gradient descent with momentum (Polyak, 1964), Nesterov's
// form of it as Sutskever et al. (2013) write it, and weight decay, by the
// formulas of torch.optim.SGD:
//
//   g = grad + weight_decay w
//   b = momentum b + (1 - dampening) g      (b = g at first)
//   w = w - lr (nesterov ? g + momentum b : b)
//
// State: "momentum_buffer", as large as the parameter, when momentum > 0.
#pragma once

#include "neap/optim/optimizer.hpp"

namespace neap::optim {

struct NEAP_API SGDOptions {
  double lr = 1e-2;
  double momentum = 0.0;
  double dampening = 0.0;
  double weight_decay = 0.0;
  bool nesterov = false;
  bool maximize = false;  // climbs instead

  /// THROWS: ValueError for a setting that is negative or not finite, or for
  /// nesterov with dampening or without momentum.
  NEAP_API void check() const;
};

extern template class Grouped<SGDOptions>;

class NEAP_API SGD final : public Grouped<SGDOptions> {
 public:
  explicit SGD(const ParameterList& parameters, const SGDOptions& options = {})
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
