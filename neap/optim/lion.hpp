// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Lion: "evolved sign momentum" (Chen et al., "Symbolic discovery of
// optimization algorithms", 2023, algorithm 2), with one state where Adam has
// two:
//
//   u = sign(beta1 m + (1 - beta1) grad)
//   w = w - lr (u + weight_decay w)
//   m = beta2 m + (1 - beta2) grad
//
// Every element moves by lr, so that its authors advise a rate three to ten
// times smaller than AdamW's, and a decay larger by as much.
// State: "exp_avg" (m), as large as the parameter.
#pragma once

#include "neap/optim/optimizer.hpp"

namespace neap::optim {

struct NEAP_API LionOptions {
  double lr = 1e-4;
  double beta1 = 0.9;
  double beta2 = 0.99;
  double weight_decay = 0.0;
  bool maximize = false;  // climbs instead

  /// THROWS: ValueError for a setting that is negative or not finite, or a
  /// beta above 1.
  NEAP_API void check() const;
};

extern template class Grouped<LionOptions>;

class NEAP_API Lion final : public Grouped<LionOptions> {
 public:
  explicit Lion(const ParameterList& parameters,
                const LionOptions& options = {})
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
