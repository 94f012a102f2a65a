// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/optim/adam.hpp"

#include <fmt/format.h>

#include <new>

#include "neap/base/raise.hpp"
#include "neap/kernels/engine/attrs.hpp"
#include "neap/kernels/optim/adam.hpp"
#include "neap/optim/adam_attrs.hpp"
#include "neap/optim/check.hpp"

namespace neap::optim {

void AdamOptions::check() const {
  check_not_negative("Adam", "lr", lr);
  check_not_negative("Adam", "beta1", beta1);
  check_not_negative("Adam", "beta2", beta2);
  check_not_negative("Adam", "eps", eps);
  check_not_negative("Adam", "weight_decay", weight_decay);
  if (beta1 >= 1.0 || beta2 >= 1.0) {
    base::raise<ValueError>("Adam: betas are {} and {}, expected below 1",
                            beta1, beta2);
  }
}

std::string Adam::describe(int group) const {
  check_not_read("describe");
  check_group(group);
  const AdamOptions& s = at(group);
  return fmt::format(
      "{}(beta1={}, beta2={}, eps={}, weight_decay={}, maximize={})",
      is_decoupled_ ? "AdamW" : "Adam", s.beta1, s.beta2, s.eps, s.weight_decay,
      s.maximize);
}

const kernels::KernelList& Adam::update_kernels(int /*group*/) const noexcept {
  return kernels::adam_kernels;
}

std::size_t Adam::state_count(int /*group*/) const noexcept {
  return 2;
}

std::string_view Adam::state_name(std::size_t k) const noexcept {
  return k == 0 ? "exp_avg" : "exp_avg_sq";
}

void Adam::update_attrs(const Update& update, AttrBytes& attrs) const noexcept {
  static_assert(sizeof(kernels::AdamAttrs) <= sizeof(attrs.bytes));
  const AdamOptions& s = at(update.group);
  ::new (attrs.bytes.data())
      kernels::AdamAttrs(corrected({.lr = update.lr,
                                    .beta1 = s.beta1,
                                    .beta2 = s.beta2,
                                    .eps = s.eps,
                                    .weight_decay = s.weight_decay,
                                    .grad_scale = update.grad_scale,
                                    .decoupled = is_decoupled_,
                                    .maximize = s.maximize},
                                   update.step));
}

template class Grouped<AdamOptions>;

}  // namespace neap::optim
