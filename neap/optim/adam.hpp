// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Adam (Kingma and Ba, 2015) and AdamW (Loshchilov and Hutter, "Decoupled
// weight decay regularization", 2019), by the formulas of torch.optim:
//
//   g = grad + weight_decay w                  AdamW: w = w - lr weight_decay w
//   m = beta1 m + (1 - beta1) g
//   v = beta2 v + (1 - beta2) g g
//   w = w - lr / (1 - beta1^t) m / (sqrt(v / (1 - beta2^t)) + eps)
//
// with t the number of the parameter's update, counted from 1.
// State: "exp_avg" (m) and "exp_avg_sq" (v), each as large as the parameter.
#pragma once

#include "neap/optim/optimizer.hpp"

namespace neap::optim {

struct AdamOptions {
  double lr = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0.0;
  bool maximize = false;  // climbs instead

  /// THROWS: ValueError for a setting that is negative or not finite, or a
  /// beta that is not below 1.
  NEAP_API void check() const;
};

class NEAP_API Adam : public Grouped<AdamOptions> {
 public:
  explicit Adam(const ParameterList& parameters,
                const AdamOptions& options = {})
      : Grouped(parameters, options) {}

  std::string describe(int group) const override;

 protected:
  Adam(const ParameterList& parameters, const AdamOptions& options,
       bool is_decoupled)
      : Grouped(parameters, options), is_decoupled_(is_decoupled) {}

  const kernels::KernelList& update_kernels() const noexcept override;
  std::size_t state_count(int group) const noexcept override;
  std::string_view state_name(std::size_t k) const noexcept override;
  void update_attrs(const Update& update,
                    AttrBytes& attrs) const noexcept override;

 private:
  bool is_decoupled_ = false;
};

/// As Adam, with the weight decay apart from the gradient: 1e-2 where no
/// options are given, else what they say.
class NEAP_API AdamW final : public Adam {
 public:
  explicit AdamW(const ParameterList& parameters)
      : AdamW(parameters, {.weight_decay = 1e-2}) {}
  AdamW(const ParameterList& parameters, const AdamOptions& options)
      : Adam(parameters, options, true) {}
};

}  // namespace neap::optim
