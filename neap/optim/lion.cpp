// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/optim/lion.hpp"

#include <fmt/format.h>

#include <new>

#include "neap/base/raise.hpp"
#include "neap/kernels/engine/attrs.hpp"
#include "neap/kernels/optim/lion.hpp"
#include "neap/optim/check.hpp"

namespace neap::optim {

void LionOptions::check() const {
  check_not_negative("Lion", "lr", lr);
  check_not_negative("Lion", "beta1", beta1);
  check_not_negative("Lion", "beta2", beta2);
  check_not_negative("Lion", "weight_decay", weight_decay);
  if (beta1 > 1.0 || beta2 > 1.0) {
    base::raise<ValueError>("Lion: betas are {} and {}, expected at most 1",
                            beta1, beta2);
  }
}

std::string Lion::describe(int group) const {
  check_not_read("describe");
  check_group(group);
  const LionOptions& s = at(group);
  return fmt::format("Lion(beta1={}, beta2={}, weight_decay={}, maximize={})",
                     s.beta1, s.beta2, s.weight_decay, s.maximize);
}

const kernels::KernelList& Lion::update_kernels(int /*group*/) const noexcept {
  return kernels::lion_kernels;
}

std::size_t Lion::state_count(int /*group*/) const noexcept {
  return 1;
}

std::string_view Lion::state_name(std::size_t /*k*/) const noexcept {
  return "exp_avg";
}

void Lion::update_attrs(const Update& update, AttrBytes& attrs) const noexcept {
  static_assert(sizeof(kernels::LionAttrs) <= sizeof(attrs.bytes));
  const LionOptions& s = at(update.group);
  ::new (attrs.bytes.data()) kernels::LionAttrs{.lr = update.lr,
                                                .beta1 = s.beta1,
                                                .beta2 = s.beta2,
                                                .weight_decay = s.weight_decay,
                                                .grad_scale = update.grad_scale,
                                                .maximize = s.maximize};
}

template class Grouped<LionOptions>;

}  // namespace neap::optim
