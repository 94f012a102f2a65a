// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/optim/adafactor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <new>

#include "neap/base/raise.hpp"
#include "neap/kernels/optim/adafactor.hpp"
#include "neap/optim/check.hpp"

namespace neap::optim {

void AdafactorOptions::check() const {
  check_not_negative("Adafactor", "lr", lr);
  check_not_negative("Adafactor", "-beta2_decay", -beta2_decay);
  check_not_negative("Adafactor", "eps1", eps1);
  check_not_negative("Adafactor", "eps2", eps2);
  check_not_negative("Adafactor", "clip", clip);
  check_not_negative("Adafactor", "weight_decay", weight_decay);
  if (clip == 0.0) {
    base::raise<ValueError>("Adafactor: clip is 0, expected more");
  }
}

std::string Adafactor::describe(int group) const {
  check_not_read("describe");
  check_group(group);
  const AdafactorOptions& s = at(group);
  return fmt::format(
      "Adafactor(beta2_decay={}, eps1={}, eps2={}, clip={}, weight_decay={}, "
      "maximize={})",
      s.beta2_decay, s.eps1, s.eps2, s.clip, s.weight_decay, s.maximize);
}

const kernels::KernelList& Adafactor::update_kernels(
    int /*group*/) const noexcept {
  return kernels::adafactor_kernels;
}

std::size_t Adafactor::state_count(int /*group*/) const noexcept {
  return 2;
}

std::size_t Adafactor::states_of(int /*group*/,
                                 const Shape& parameter) const noexcept {
  return parameter.rank() >= 2 ? 2 : 1;
}

Shape Adafactor::shape_of_state(const Shape& parameter,
                                std::size_t k) const noexcept {
  Shape shape = parameter;
  if (shape.rank() >= 2) {
    shape[shape.rank() - (k == 0 ? 1 : 2)] = 1;
  }
  return shape;
}

std::string_view Adafactor::state_name(std::size_t k) const noexcept {
  return k == 0 ? "row_var" : "col_var";
}

void Adafactor::update_attrs(const Update& update,
                             AttrBytes& attrs) const noexcept {
  static_assert(sizeof(kernels::AdafactorAttrs) <= sizeof(attrs.bytes));
  const AdafactorOptions& s = at(update.group);
  const auto t = static_cast<double>(update.step);
  ::new (attrs.bytes.data())
      kernels::AdafactorAttrs{.lr = update.lr,
                              .rho = std::min(update.lr, 1.0 / std::sqrt(t)),
                              .fresh = std::pow(t, s.beta2_decay),
                              .eps1 = s.eps1,
                              .eps2 = s.eps2,
                              .clip = s.clip,
                              .weight_decay = s.weight_decay,
                              .grad_scale = update.grad_scale,
                              .maximize = s.maximize};
}

template class Grouped<AdafactorOptions>;

}  // namespace neap::optim
