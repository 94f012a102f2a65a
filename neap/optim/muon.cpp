// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/optim/muon.hpp"

#include <fmt/format.h>

#include <new>

#include "neap/base/raise.hpp"
#include "neap/kernels/engine/attrs.hpp"
#include "neap/kernels/optim/adam.hpp"
#include "neap/optim/adam_attrs.hpp"
#include "neap/optim/check.hpp"

namespace neap::optim {

using base::raise;

void MuonOptions::check() const {
  check_not_negative("Muon", "lr", lr);
  check_not_negative("Muon", "weight_decay", weight_decay);
  check_not_negative("Muon", "momentum", momentum);
  check_not_negative("Muon", "eps", eps);
  check_not_negative("Muon", "beta1", beta1);
  check_not_negative("Muon", "beta2", beta2);
  check_not_negative("Muon", "adam_eps", adam_eps);
  if (momentum >= 1.0 || beta1 >= 1.0 || beta2 >= 1.0) {
    raise<ValueError>("Muon: momentum is {}, betas {} and {}, expected below 1",
                      momentum, beta1, beta2);
  }
  if (ns_steps < 0 || ns_steps >= 100) {
    raise<ValueError>("Muon: ns_steps is {}, expected 0 to 99", ns_steps);
  }
}

const ParameterList& Muon::checked(const ParameterList& parameters,
                                   const MuonOptions& options) {
  for (const Parameter& parameter : parameters) {
    if (!options.by_adam && parameter.tensor.rank() < 2) {
      raise<ShapeError>(
          "Muon: \"{}\" has shape {}, expected two axes or more; give it to a "
          "group with .by_adam",
          std::string_view(parameter.name),
          format_shape(parameter.tensor.shape()));
    }
  }
  return parameters;
}

void Muon::set_options(int group, const MuonOptions& options) {
  check_not_traced("set_options");
  check_group(group);
  if (at(group).by_adam != options.by_adam) {
    raise<ValueError>("Muon: group {} keeps its by_adam of {}", group,
                      at(group).by_adam);
  }
  Grouped::set_options(group, options);
}

std::string Muon::describe(int group) const {
  check_not_read("describe");
  check_group(group);
  const MuonOptions& s = at(group);
  if (s.by_adam) {
    return fmt::format(
        "Muon by AdamW(beta1={}, beta2={}, eps={}, "
        "weight_decay={})",
        s.beta1, s.beta2, s.adam_eps, s.weight_decay);
  }
  return fmt::format(
      "Muon(weight_decay={}, momentum={}, nesterov={}, ns_steps={}, eps={}, "
      "rate={})",
      s.weight_decay, s.momentum, s.nesterov, s.ns_steps, s.eps,
      static_cast<int>(s.rate));
}

const kernels::KernelList& Muon::update_kernels(int group) const noexcept {
  return at(group).by_adam ? kernels::adam_kernels : kernels::muon_kernels;
}

std::size_t Muon::state_count(int group) const noexcept {
  return at(group).by_adam ? 2 : 1;
}

std::string_view Muon::state_name(std::size_t k) const noexcept {
  return k == 0 ? "momentum_buffer" : "exp_avg_sq";
}

void Muon::update_attrs(const Update& update, AttrBytes& attrs) const noexcept {
  static_assert(sizeof(kernels::MuonAttrs) <= sizeof(attrs.bytes));
  const MuonOptions& s = at(update.group);
  if (s.by_adam) {
    ::new (attrs.bytes.data())
        kernels::AdamAttrs(corrected({.lr = update.lr,
                                      .beta1 = s.beta1,
                                      .beta2 = s.beta2,
                                      .eps = s.adam_eps,
                                      .weight_decay = s.weight_decay,
                                      .grad_scale = update.grad_scale,
                                      .decoupled = true},
                                     update.step));
    return;
  }
  ::new (attrs.bytes.data()) kernels::MuonAttrs{.lr = update.lr,
                                                .momentum = s.momentum,
                                                .weight_decay = s.weight_decay,
                                                .eps = s.eps,
                                                .grad_scale = update.grad_scale,
                                                .steps = s.ns_steps,
                                                .rate = s.rate,
                                                .nesterov = s.nesterov};
}

template class Grouped<MuonOptions>;

}  // namespace neap::optim
