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

#include <concepts>

#include "neap/optim/optimizer.hpp"

namespace neap::optim {

struct NEAP_API AdamOptions {
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

extern template class Grouped<AdamOptions>;

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

  const kernels::KernelList& update_kernels(int group) const noexcept override;
  std::size_t state_count(int group) const noexcept override;
  std::string_view state_name(std::size_t k) const noexcept override;
  void update_attrs(const Update& update,
                    AttrBytes& attrs) const noexcept override;

 private:
  bool is_decoupled_ = false;
};

/// AdamOptions but for the default of the weight decay, which is 0.01 where
/// nothing is said (as in PyTorch), whatever else is set.
struct AdamWOptions {
  double lr = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 1e-2;
  bool maximize = false;  // climbs instead

  // Implicit on purpose: an AdamW keeps AdamOptions.
  // NOLINTNEXTLINE(google-explicit-constructor)
  operator AdamOptions() const noexcept {
    return {lr, beta1, beta2, eps, weight_decay, maximize};
  }
};

/// Like Adam, with the weight decay apart from the gradient. Settings in braces
/// are AdamWOptions: AdamW(parameters, {.lr = 1e-4}) decays by 0.01. An
/// AdamOptions object is used unchanged.
class NEAP_API AdamW final : public Adam {
 public:
  explicit AdamW(const ParameterList& parameters,
                 const AdamWOptions& options = {})
      : Adam(parameters, options, true) {}
  template <std::same_as<AdamOptions> Options>
  AdamW(const ParameterList& parameters, const Options& options)
      : Adam(parameters, options, true) {}

  /// THROWS: as Grouped.
  void add_group(const ParameterList& parameters, const AdamWOptions& options) {
    Adam::add_group(parameters, options);
  }
  template <std::same_as<AdamOptions> Options>
  void add_group(const ParameterList& parameters, const Options& options) {
    Adam::add_group(parameters, options);
  }
  void set_options(int group, const AdamWOptions& options) {
    Adam::set_options(group, options);
  }
  template <std::same_as<AdamOptions> Options>
  void set_options(int group, const Options& options) {
    Adam::set_options(group, options);
  }
};

}  // namespace neap::optim
