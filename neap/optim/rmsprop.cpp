// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/optim/rmsprop.hpp"

#include <fmt/format.h>

#include <new>

#include "neap/base/raise.hpp"
#include "neap/kernels/engine/attrs.hpp"
#include "neap/kernels/optim/rmsprop.hpp"
#include "neap/optim/check.hpp"

namespace neap::optim {

void RMSpropOptions::check() const {
  check_not_negative("RMSprop", "lr", lr);
  check_not_negative("RMSprop", "alpha", alpha);
  check_not_negative("RMSprop", "eps", eps);
  check_not_negative("RMSprop", "weight_decay", weight_decay);
  check_not_negative("RMSprop", "momentum", momentum);
  if (alpha > 1.0) {
    base::raise<ValueError>("RMSprop: alpha is {}, expected at most 1", alpha);
  }
}

std::string RMSprop::describe(int group) const {
  check_not_read("describe");
  check_group(group);
  const RMSpropOptions& s = at(group);
  return fmt::format(
      "RMSprop(alpha={}, eps={}, weight_decay={}, momentum={}, maximize={})",
      s.alpha, s.eps, s.weight_decay, s.momentum, s.maximize);
}

const kernels::KernelList& RMSprop::update_kernels(
    int /*group*/) const noexcept {
  return kernels::rmsprop_kernels;
}

std::size_t RMSprop::state_count(int group) const noexcept {
  return at(group).momentum != 0.0 ? 2 : 1;
}

std::string_view RMSprop::state_name(std::size_t k) const noexcept {
  return k == 0 ? "square_avg" : "momentum_buffer";
}

void RMSprop::update_attrs(const Update& update,
                           AttrBytes& attrs) const noexcept {
  static_assert(sizeof(kernels::RmspropAttrs) <= sizeof(attrs.bytes));
  const RMSpropOptions& s = at(update.group);
  ::new (attrs.bytes.data())
      kernels::RmspropAttrs{.lr = update.lr,
                            .alpha = s.alpha,
                            .eps = s.eps,
                            .momentum = s.momentum,
                            .weight_decay = s.weight_decay,
                            .grad_scale = update.grad_scale,
                            .maximize = s.maximize};
}

template class Grouped<RMSpropOptions>;

}  // namespace neap::optim
