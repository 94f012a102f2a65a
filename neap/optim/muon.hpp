// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Muon (Jordan et al., "Muon: An optimizer for hidden layers in neural
// networks", 2024): the momentum of a matrix, made nearly orthogonal by five
// steps of a Newton-Schulz iteration, as torch.optim.Muon has it:
//
//   m = m + (1 - momentum) (grad - m)
//   x = grad + momentum (m - grad), or m;  x = x / max(|x|, eps)
//   ns_steps times: s = x x^T;  x = a x + (b s + c s s) x
//   w = (1 - lr weight_decay) w - lr r x
//
// with r by `rate`, (a, b, c) = (3.4445, -4.7750, 2.0315). The products are in
// the parameter's dtype, PyTorch's in bf16. Tensors of more axes, as a
// convolution's weights, are taken as matrices of shape[0] rows.
//
// Its authors give it the weights of hidden layers, and AdamW all else:
// vectors, embeddings and the last layer. Such parameters make a group with
// `.by_adam`:
//
//   optim::Muon muon(hidden, {.lr = 0.02});
//   muon.add_group(others, {.lr = 3e-4, .by_adam = true});
//
// State: "momentum_buffer", as large as the parameter; by AdamW
// "momentum_buffer" is its first moment, and "exp_avg_sq" the second. An update
// needs scratch of twice the parameter and twice the square of its shorter
// side.
#pragma once

#include "neap/kernels/optim/muon.hpp"
#include "neap/optim/optimizer.hpp"

namespace neap::optim {

using kernels::MuonRate;

struct NEAP_API MuonOptions {
  double lr = 1e-3;
  double weight_decay = 0.1;
  double momentum = 0.95;
  bool nesterov = true;
  int ns_steps = 5;
  double eps = 1e-7;
  MuonRate rate = MuonRate::kOriginal;
  /// AdamW with the settings below, and lr and weight_decay, instead.
  bool by_adam = false;
  double beta1 = 0.9;
  double beta2 = 0.95;
  double adam_eps = 1e-10;

  /// THROWS: ValueError for a setting that is negative or not finite, a
  /// momentum or a beta that is not below 1, or 100 steps or more.
  NEAP_API void check() const;
};

extern template class Grouped<MuonOptions>;

class NEAP_API Muon final : public Grouped<MuonOptions> {
 public:
  /// THROWS: as add_group.
  explicit Muon(const ParameterList& parameters,
                const MuonOptions& options = {})
      : Grouped(checked(parameters, options), options) {}

  /// THROWS: as Grouped::add_group; ShapeError for a parameter of fewer than
  /// two axes unless `.by_adam`. Strong.
  void add_group(const ParameterList& parameters, const MuonOptions& options) {
    Grouped::add_group(checked(parameters, options), options);
  }
  /// THROWS: as Grouped::set_options; ValueError where `.by_adam` changes.
  void set_options(int group, const MuonOptions& options);

  std::string describe(int group) const override;

 protected:
  const kernels::KernelList& update_kernels(int group) const noexcept override;
  std::size_t state_count(int group) const noexcept override;
  std::string_view state_name(std::size_t k) const noexcept override;
  void update_attrs(const Update& update,
                    AttrBytes& attrs) const noexcept override;

 private:
  static const ParameterList& checked(const ParameterList& parameters,
                                      const MuonOptions& options);
};

}  // namespace neap::optim
