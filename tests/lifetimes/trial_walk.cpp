// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "neap/autograd/backward.hpp"
#include "neap/graph/lifetime.hpp"
#include "neap/ops/shape/views.hpp"
#include "neap/tensor/create.hpp"
#include "trial_note.hpp"

namespace neap::lifetimes {
namespace {

const std::vector<std::string> kNoGraph = {
    "the result depends on no tensor that requires grad"};

Edge place_of(const Body& body) {
  return {body.vertex, body.output};
}

}  // namespace

// None for some of the results of one element, some other tensor of the
// program, or numbers made up.
Cotangent Trial::make_cotangent(const Action& action, const Handle& root,
                                Tensor& real) {
  const Shape& shape = model_.shape_of(root.body);
  const std::size_t count = count_of(shape);
  Values values = made_up(action.picks[1], count);
  const Handle& other = pick(action.picks[2]);
  if (count == 1 && action.picks[1] % 2 == 0) {
    values[0] = 1.0;
  } else if (model_.shape_of(other.body) == shape) {
    real = other.real;
    values = model_.values_of(other.body);
  } else {
    real = from_values(std::span(values).first(count), shape, f64, site());
  }
  Cotangent cotangent;
  cotangent.is_defined = true;
  for (std::size_t i = 0; i < count; ++i) {
    cotangent.add(i, values[i], std::abs(values[i]));
  }
  return cotangent;
}

bool Trial::run_backward(const Action& action, Handle& root, bool retains) {
  Tensor cotangent;
  WalkRequest request{.retains = retains, .action = action_};
  request.cotangents = {make_cotangent(action, root, cotangent)};
  request.roots = {place_of(model_.body(root.body))};
  note("backward(t{}){}", root.name, retains ? " retaining" : "");
  const bool has_graph = model_.requires_grad(root.body);
  const WalkResult expected =
      has_graph ? walk(model_, request) : WalkResult{kNoGraph, {}};
  attempt(expected.refusals, [&] {
    backward(root.real, {.cotangent = cotangent, .retain_graph = retains},
             site());
  });
  return true;
}

bool Trial::run_grad(const Action& action, bool retains) {
  WalkRequest request{.is_to_leaves = false,
                      .must_use_all = action.picks[3] % 4 == 0,
                      .retains = retains,
                      .action = action_};
  std::vector<Tensor> outputs;
  std::vector<Tensor> cotangents;
  std::vector<Tensor> inputs;
  std::string names;
  bool has_graph = true;
  for (unsigned i = 0; i <= action.picks[3] / 4U % 2; ++i) {
    Action one = action;
    one.picks[1] = static_cast<std::uint16_t>(action.picks[1] + 7 * i);
    const Handle& root =
        pick(static_cast<std::uint16_t>(action.picks[0] + 3 * i));
    has_graph = has_graph && model_.requires_grad(root.body);
    request.roots.push_back(place_of(model_.body(root.body)));
    request.cotangents.push_back(
        make_cotangent(one, root, cotangents.emplace_back()));
    outputs.push_back(root.real);
    names += fmt::format(" t{}", root.name);
  }
  names += " to";
  for (unsigned i = 0; i <= action.picks[3] / 8U % 3; ++i) {
    const Handle& input = pick(static_cast<std::uint16_t>(
        action.picks[2] / (1U + i) + i * (action.picks[3] / 32U)));
    request.targets.push_back(place_of(model_.body(input.body)));
    inputs.push_back(input.real);
    names += fmt::format(" t{}", input.name);
  }
  note("grad({}){}{}", names, retains ? " retaining" : "",
       request.must_use_all ? " using all" : "");
  const WalkResult expected =
      has_graph ? walk(model_, request) : WalkResult{kNoGraph, {}};
  Gradients found;
  const bool is_done = attempt(expected.refusals, [&] {
    found = grad(outputs, inputs,
                 {.cotangents = cotangents,
                  .retain_graph = retains,
                  .unused = request.must_use_all ? GradOptions::Unused::kError
                                                 : GradOptions::Unused::kZeros},
                 site());
  });
  for (std::size_t i = 0; is_done && i < inputs.size(); ++i) {
    check_cotangent(found[i], expected.targets[i]);
  }
  if (is_done && action.picks[1] % 3 == 0) {
    keep_copy(found[0]);
  }
  return true;
}

void Trial::check_cotangent(const Tensor& real, const Cotangent& expected) {
  const Values found = numbers_of(real);
  for (std::size_t i = 0; i < kMaxElements; ++i) {
    constexpr double kTolerance = 1e-13;
    const double away = std::abs(found[i] - expected.value[i]);
    if (!(away <= kTolerance * expected.bound[i])) {
      throw Mismatch(fmt::format("cotangent at {}: {:.17g}, expected {:.17g}",
                                 i, found[i], expected.value[i]));
    }
  }
}

// A result of grad() may share memory with other cotangents, or be one that it
// was given: a copy is neither.
void Trial::keep_copy(const Tensor& cotangent) {
  const int body = model_.make_fresh(cotangent.shape(), numbers_of(cotangent));
  const NoGrad guard;
  const Handle& handle = keep(copy(cotangent), body);
  note("t{} = copy of the first", handle.name);
}

void Trial::release(Handle& handle) {
  note("release(t{})", handle.name);
  const int stand_in = lifetimes::release(model_, handle.body, action_);
  graph::release(handle.real, site());
  if (stand_in != kNone) {
    take_over(stand_in, handle.real);
  }
}

}  // namespace neap::lifetimes
