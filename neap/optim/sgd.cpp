// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/optim/sgd.hpp"

#include <fmt/format.h>

#include <new>

#include "neap/base/raise.hpp"
#include "neap/kernels/engine/attrs.hpp"
#include "neap/kernels/optim/sgd.hpp"
#include "neap/optim/check.hpp"

namespace neap::optim {

void SGDOptions::check() const {
  check_not_negative("SGD", "lr", lr);
  check_not_negative("SGD", "momentum", momentum);
  check_not_negative("SGD", "dampening", dampening);
  check_not_negative("SGD", "weight_decay", weight_decay);
  if (nesterov && (momentum == 0.0 || dampening != 0.0)) {
    base::raise<ValueError>(
        "SGD: nesterov needs momentum and no dampening, not {} and {}",
        momentum, dampening);
  }
}

std::string SGD::describe(int group) const {
  check_not_read("describe");
  check_group(group);
  const SGDOptions& s = at(group);
  return fmt::format(
      "SGD(momentum={}, dampening={}, weight_decay={}, nesterov={}, "
      "maximize={})",
      s.momentum, s.dampening, s.weight_decay, s.nesterov, s.maximize);
}

const kernels::KernelList& SGD::update_kernels(int /*group*/) const noexcept {
  return kernels::sgd_kernels;
}

std::size_t SGD::state_count(int group) const noexcept {
  return at(group).momentum != 0.0 ? 1 : 0;
}

std::string_view SGD::state_name(std::size_t /*k*/) const noexcept {
  return "momentum_buffer";
}

void SGD::update_attrs(const Update& update, AttrBytes& attrs) const noexcept {
  static_assert(sizeof(kernels::SgdAttrs) <= sizeof(attrs.bytes));
  const SGDOptions& s = at(update.group);
  ::new (attrs.bytes.data())
      kernels::SgdAttrs{.lr = update.lr,
                        .momentum = s.momentum,
                        .dampening = s.dampening,
                        .weight_decay = s.weight_decay,
                        .grad_scale = update.grad_scale,
                        .nesterov = s.nesterov,
                        .maximize = s.maximize,
                        .is_first_step = update.is_first_state};
}

template class Grouped<SGDOptions>;

}  // namespace neap::optim
