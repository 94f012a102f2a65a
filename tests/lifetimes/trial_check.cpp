// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstring>

#include "trial_note.hpp"

namespace neap::lifetimes {
namespace {

constexpr std::array<std::string_view, 4> kStates = {"available", "consumed",
                                                     "released", "unavailable"};

template <class Enum>
std::string_view name_of_state(Enum state) {
  return kStates[static_cast<std::size_t>(state)];
}

}  // namespace

Values numbers_of(const Tensor& tensor) {
  const tensor::Strided view = tensor.array()->strided();
  const auto* data = reinterpret_cast<const double*>(view.data);
  const bool is_matrix = view.shape.rank() == 2;
  const std::int64_t columns = is_matrix ? view.shape[1] : 1;
  Values out{};
  for (std::int64_t i = 0; i < tensor.element_count(); ++i) {
    const std::int64_t offset = i / columns * view.strides[0] +
                                (is_matrix ? i % columns * view.strides[1] : 0);
    out[static_cast<std::size_t>(i)] = data[offset];
  }
  return out;
}

Values made_up(std::uint64_t seed, std::size_t count) noexcept {
  Values values{};
  for (std::size_t i = 0; i < count; ++i) {
    seed = seed * 6364136223846793005U + 1442695040888963407U;
    values[i] = static_cast<double>(seed >> 59U) / 8.0 - 2.0;
  }
  return values;
}

// A real gradient is taken over once it is found right. Whether it is a view of
// memory that nothing else is on is a matter of the rules that made it.
void Trial::check_grad(Vertex& vertex, std::size_t output) {
  const int grad = vertex.grad[output];
  const Tensor real = vertex.real->grad(static_cast<std::uint32_t>(output));
  if (real.defined() != (grad != kNone)) {
    throw Mismatch(fmt::format("the result of action {} {} a gradient",
                               vertex.action, grad != kNone ? "lacks" : "has"));
  }
  if (grad == kNone) {
    return;
  }
  const Values found = numbers_of(real);
  Cotangent& expected = vertex.grad_value[output];
  for (std::size_t i = 0; i < kMaxElements; ++i) {
    constexpr double kTolerance = 1e-13;
    const double away = std::abs(found[i] - expected.value[i]);
    if (!(away <= kTolerance * expected.bound[i])) {
      throw Mismatch(fmt::format(
          "gradient at {} of the result of action {}: {:.17g}, expected "
          "{:.17g}",
          i, vertex.action, found[i], expected.value[i]));
    }
  }
  expected.value = found;
  Array& array =
      model_.arrays[static_cast<std::size_t>(model_.body(grad).array)];
  array.is_view = !real.array()->is_placed();
  model_.storages[static_cast<std::size_t>(array.storage)].values = found;
}

void Trial::check_grads() {
  for (Vertex& vertex : model_.vertices) {
    for (std::size_t k = 0; k < 2 && vertex.is_alive; ++k) {
      if (k == 0 || !vertex.is_leaf) {
        check_grad(vertex, k);
      }
    }
  }
}

void Trial::check_values(const Handle& handle) const {
  const Values expected = model_.values_of(handle.body);
  const Values found = numbers_of(handle.real);
  if (std::memcmp(&found, &expected, sizeof(Values)) != 0) {
    throw Mismatch(fmt::format("values of t{} changed", handle.name));
  }
}

void Trial::check_handle(const Handle& handle) const {
  const Body& body = model_.body(handle.body);
  const Tensor& real = handle.real;
  if (real.requires_grad() != model_.requires_grad(handle.body) ||
      real.is_leaf() == model_.is_node(handle.body)) {
    throw Mismatch(fmt::format("t{}: requires grad {}, leaf {}", handle.name,
                               real.requires_grad(), real.is_leaf()));
  }
  if (model_.is_node(handle.body)) {
    const auto state = static_cast<const graph::Node&>(*real.link()).state();
    const State wanted = model_.vertex(body.vertex).state;
    if (name_of_state(state) != name_of_state(wanted)) {
      throw Mismatch(fmt::format("t{} is {}, expected {}", handle.name,
                                 name_of_state(state), name_of_state(wanted)));
    }
  }
}

// Checks which nodes lost their residuals in this action, and why. A node that
// nothing needs any more and that is cut off as well may be told as either.
void Trial::check_freed() {
  std::size_t count = 0;
  for (const Vertex& v : model_.vertices) {
    if (v.is_leaf || !v.was_kept ||
        (v.is_alive && v.state == State::kAvailable)) {
      continue;
    }
    ++count;
    const Witness::Seen* told = nullptr;
    for (const Witness::Seen& seen : witness_.seen()) {
      told = seen.action == v.action ? &seen : told;
    }
    if (told == nullptr) {
      throw Mismatch(
          fmt::format("nobody was told that the node of action {} "
                      "was freed",
                      v.action));
    }
    constexpr std::array<graph::Why, 4> kWhy = {
        graph::Why::kUnreferenced, graph::Why::kConsumed, graph::Why::kReleased,
        graph::Why::kUnavailable};
    const bool may_be_either = v.state == State::kUnavailable && !v.is_alive &&
                               told->why == graph::Why::kUnreferenced;
    if (told->why != kWhy[static_cast<std::size_t>(v.state)] &&
        !may_be_either) {
      throw Mismatch(fmt::format("the node of action {} was freed as {}",
                                 v.action, graph::name_of(told->why)));
    }
    ++mix_->freed[static_cast<std::size_t>(told->why)];
  }
  if (count != witness_.seen().size()) {
    throw Mismatch(fmt::format("{} nodes were freed, expected {}",
                               witness_.seen().size(), count));
  }
}

// First who is alive: gradients are asked of what the model says is.
void Trial::check_all() {
  model_.work_out();
  check_freed();
  check_scopes();
  for (const Handle& handle : handles_) {
    check_handle(handle);
  }
  check_grads();
  const Bytes live = domain_.stats().live;
  const Bytes expected = model_.work_out_bytes();
  if (live != expected) {
    throw Mismatch(fmt::format("{} bytes live ({} before), expected {}", live,
                               bytes_before_, expected));
  }
  for (const Handle& handle : handles_) {
    check_values(handle);
  }
}

}  // namespace neap::lifetimes
