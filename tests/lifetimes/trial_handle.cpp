// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "neap/graph/hooks.hpp"
#include "neap/ops/elementwise/assign.hpp"
#include "trial_note.hpp"

namespace neap::lifetimes {

bool Trial::copy_handle(const Handle& handle) {
  note("t{} = copy of handle t{}", names_, handle.name);
  const int body = handle.body;
  keep(Tensor(handle.real), body);
  return true;
}

bool Trial::make_alias(const Handle& handle, bool is_detached) {
  note("t{} = {} of t{}", names_, is_detached ? "detached" : "alias",
       handle.name);
  const int body = model_.make_view(model_.array_of(handle.body));
  if (!is_detached) {
    model_.body(body).vertex = model_.body(handle.body).vertex;
    model_.body(body).output = model_.body(handle.body).output;
  }
  keep(is_detached ? handle.real.detach() : handle.real.alias(), body);
  return true;
}

bool Trial::require_grad(Handle& handle, bool value) {
  note("requires_grad_(t{}, {})", handle.name, value);
  const bool is_done = attempt(
      model_.is_node(handle.body)
          ? std::vector<
                std::string>{"the tensor is the result of a recorded op"}
          : std::vector<std::string>{},
      [&] { requires_grad_(handle.real, value, site()); });
  const int vertex = model_.body(handle.body).vertex;
  if (is_done && vertex != kNone) {
    model_.vertex(vertex).requires_grad = value;
  } else if (is_done && value) {
    const int leaf = model_.make_leaf(handle.body);
    model_.vertex(leaf).call.out[0] = model_.shape_of(handle.body);
    model_.vertex(leaf).real = handle.real.link().get();
  }
  return true;
}

// Gradients that lie on the same elements change with them.
bool Trial::write(const Action& action, Handle& handle) {
  const std::size_t count = count_of(model_.shape_of(handle.body));
  const double number = made_up(action.picks[1], 1)[0];
  note("fill_(t{}, {})", handle.name, number);
  const bool is_done =
      attempt(model_.is_node(handle.body) ? std::vector<std::string>{"fill_"}
                                          : std::vector<std::string>{},
              [&] {
                const NoGrad guard;
                fill_(handle.real, number, site());
              });
  if (!is_done) {
    return true;
  }
  Values values{};
  std::fill_n(values.begin(), count, number);
  model_.write(handle.body, values, action_);
  for (Vertex& vertex : model_.vertices) {
    for (std::size_t k = 0; k < 2; ++k) {
      if (vertex.grad[k] != kNone) {
        vertex.grad_value[k].value = model_.values_of(vertex.grad[k]);
        for (double& bound : vertex.grad_value[k].bound) {
          bound += std::abs(number);
        }
      }
    }
  }
  return true;
}

bool Trial::zero_grad(const Handle& handle) {
  note("zero_grad(t{})", handle.name);
  neap::zero_grad(std::span(&handle.real, 1));
  const int v = model_.body(handle.body).vertex;
  if (v == kNone || !model_.vertex(v).is_leaf) {
    return false;
  }
  model_.vertex(v).grad[0] = kNone;
  model_.vertex(v).grad_value[0] = {};
  return true;
}

bool Trial::take_grad(const Handle& handle) {
  const Body& body = model_.body(handle.body);
  const auto output = static_cast<std::size_t>(body.output);
  const int grad =
      body.vertex != kNone ? model_.vertex(body.vertex).grad[output] : kNone;
  if (grad == kNone) {
    return false;
  }
  note("t{} = t{}.grad()", names_, handle.name);
  keep(handle.real.grad(), grad);
  return true;
}

bool Trial::retain_grad(Handle& handle) {
  note("retain_grad(t{})", handle.name);
  const std::vector<std::string> refusals =
      model_.requires_grad(handle.body)
          ? std::vector<std::string>{}
          : std::vector<std::string>{
                "retain_grad: the tensor requires no grad"};
  const bool is_done =
      attempt(refusals, [&] { neap::retain_grad(handle.real); });
  if (is_done && model_.is_node(handle.body)) {
    const Body& body = model_.body(handle.body);
    const auto output = static_cast<std::size_t>(body.output);
    model_.vertex(body.vertex).keeps_grad[output] = true;
  }
  return true;
}

}  // namespace neap::lifetimes
