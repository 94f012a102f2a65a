// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Adafactor (Shazeer and Stern, "Adafactor: Adaptive learning rates with
// sublinear memory cost", 2018, arXiv 1804.04235), by the formulas of
// torch.optim.Adafactor. Of a matrix it keeps the squares of gradients as means
// of rows and of columns, whose product stands for all of them:
//
//   rho = min(lr, 1 / sqrt(t));  alpha = max(eps2, rms(w)) rho
//   f = t^beta2_decay
//   R = R + f (mean of grad^2 along rows - R);  C likewise along columns
//   v = R C / max(mean of R, eps1)
//   u = grad / max(sqrt(v), eps1)
//   w = (1 - lr weight_decay) w - alpha u / max(1, rms(u) / clip)
//
// with t the number of the parameter's update, counted from 1. Tensors of more
// axes are stacks of matrices; a vector keeps v itself, v + f (grad^2 - v).
// State: "row_var" (..., R, 1) and "col_var" (..., 1, C); of a vector "row_var"
// alone, as large as it.
#pragma once

#include "neap/optim/optimizer.hpp"

namespace neap::optim {

struct NEAP_API AdafactorOptions {
  double lr = 1e-2;  // relative to the size of the parameter
  double beta2_decay = -0.8;
  double eps1 = 0.0;  // 0: the dtype's epsilon
  double eps2 = 1e-3;
  double clip = 1.0;  // largest rms of an update
  double weight_decay = 0.0;
  bool maximize = false;  // climbs instead

  /// THROWS: ValueError for a setting that is negative (beta2_decay: positive)
  /// or not finite, or a clip of 0.
  NEAP_API void check() const;
};

extern template class Grouped<AdafactorOptions>;

class NEAP_API Adafactor final : public Grouped<AdafactorOptions> {
 public:
  explicit Adafactor(const ParameterList& parameters,
                     const AdafactorOptions& options = {})
      : Grouped(parameters, options) {}

  std::string describe(int group) const override;

 protected:
  const kernels::KernelList& update_kernels(int group) const noexcept override;
  std::size_t state_count(int group) const noexcept override;
  std::size_t states_of(int group,
                        const Shape& parameter) const noexcept override;
  Shape shape_of_state(const Shape& parameter,
                       std::size_t k) const noexcept override;
  std::string_view state_name(std::size_t k) const noexcept override;
  void update_attrs(const Update& update,
                    AttrBytes& attrs) const noexcept override;
};

}  // namespace neap::optim
