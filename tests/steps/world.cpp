// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "world.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "neap/graph/vertex.hpp"
#include "neap/ops/ops.hpp"
#include "neap/optim/adam.hpp"
#include "neap/optim/sgd.hpp"
#include "neap/tensor/create.hpp"

namespace neap::steps {
namespace {

template <class T>
void append_elements(std::string& bits, const Tensor& dense) {
  const std::span<const T> values = dense.values<T>();
  bits.append(reinterpret_cast<const char*>(values.data()),  // NOLINT
              values.size_bytes());
}

std::string message_start(const Error& error) {
  const std::string_view text = error.what();
  return fmt::format("unreadable: {}", text.substr(0, text.find(':')));
}

ParameterList parameters_of(const World& world) {
  ParameterList list = world.net.parameters();
  for (Parameter& parameter : world.pair.parameters()) {
    parameter.name = memory::String(
        fmt::format("pair.{}", std::string_view(parameter.name)));
    list.push_back(std::move(parameter));
  }
  for (std::size_t i = 0; i + 1 < world.leaves.size(); ++i) {
    list.push_back(
        {memory::String(fmt::format("l{}", i)), world.leaves[i], {}});
  }
  return list;
}

// A net of its own draws, whatever generator is current.
struct Drawn {
  explicit Drawn(std::uint64_t seed) : generator(seed), use(generator) {}
  Generator generator;
  UseGenerator use;
};

class Looker {
 public:
  explicit Looker(std::vector<Seen>& out) : out_(out) {}

  void look(std::string name, const Tensor& tensor) {
    out_.push_back({std::move(name), bits_of(tensor)});
  }
  template <class List>
  void look_all(std::string_view name, const List& list) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      look(fmt::format("{}{}", name, i), list[i]);
    }
  }
  void say(std::string name, std::string text) {
    out_.push_back({std::move(name), std::move(text)});
  }

 private:
  std::vector<Seen>& out_;
};

std::vector<Tensor> gradients_of(std::span<const Tensor> tensors) {
  std::vector<Tensor> gradients;
  for (const Tensor& tensor : tensors) {
    gradients.push_back(tensor.defined() && tensor.is_leaf() ? tensor.grad()
                                                             : Tensor());
  }
  return gradients;
}

void look_at_net(Looker& looker, std::string_view of, const nn::Module& net) {
  for (const Parameter& parameter : net.parameters()) {
    const std::string name =
        fmt::format("{}{}", of, std::string_view(parameter.name));
    looker.look("net " + name, parameter.tensor);
    looker.look("gradient of net " + name, parameter.tensor.grad());
    looker.say("requires_grad of net " + name,
               std::to_string(parameter.tensor.requires_grad()));
  }
  for (const Parameter& buffer : net.buffers()) {
    looker.look(fmt::format("net {}{}", of, std::string_view(buffer.name)),
                buffer.tensor);
  }
  looker.say(fmt::format("mode of the net {}", of),
             std::to_string(net.is_training()));
}

void look_at_optimizer(Looker& looker, const optim::Optimizer& optimizer) {
  looker.say("step count", std::to_string(optimizer.step_count()));
  looker.say("learning rate", fmt::format("{}", optimizer.lr()));
  optimizer.visit_state([&](std::string_view name, const Tensor& state) {
    looker.look(fmt::format("optimizer's {}", name), state);
  });
  optimizer.visit_steps([&](std::string_view name, std::int64_t steps) {
    looker.say(fmt::format("updates of {}", name), std::to_string(steps));
  });
}

}  // namespace

Tensor made_up(int seed, const Shape& shape) {
  const Drawn drawn(static_cast<std::uint64_t>(seed) + 100);
  return rand(shape) * 2.0 - 1.0;
}

std::string bits_of(const Tensor& tensor) {
  if (!tensor.defined()) {
    return "none";
  }
  try {
    const NoGrad guard;
    const Tensor dense = contiguous(tensor.detach());
    std::string bits = fmt::format("{} [{}] ", static_cast<int>(dense.dtype()),
                                   fmt::join(dense.shape().span(), ", "));
    switch (dense.dtype()) {
      case f32:
        append_elements<float>(bits, dense);
        break;
      case f64:
        append_elements<double>(bits, dense);
        break;
      default:
        append_elements<std::int64_t>(bits, dense);
    }
    return bits;
  } catch (const Error& error) {
    return message_start(error);
  }
}

nn::Linear drawn_layer(int seed) {
  const Drawn drawn(static_cast<std::uint64_t>(seed) + 300);
  return nn::Linear(kWidth, kWidth);
}

Pair drawn_pair(int seed) {
  const Drawn drawn(static_cast<std::uint64_t>(seed) + 400);
  return Pair();
}

void World::open_scope() {
  if (!scope) {
    const memory::OutsideScopes apart;  // puts back what it is found in, too
    scope.emplace("over calls");
  }
}

void World::close_scope(bool has_results) {
  if (!scope) {
    return;
  }
  const Inside inside(*this);
  const auto keep = [&](const auto& list) {
    for (const Tensor& tensor : list) {
      if (tensor.defined()) {
        scope->keep(tensor);
      }
    }
  };
  keep(handles);
  keep(pool);
  keep(other_pool);
  if (has_results) {
    keep(results);
  }
  scope.reset();
}

World::World(std::uint64_t seed)
    : generators{Generator(seed), Generator(seed + 9)},
      net([&] {
        const Drawn drawn(seed + 1);
        return Net();
      }()),
      pair(drawn_pair(static_cast<int>(seed % 100))) {
  const Shape whole{kRows, kWidth};
  leaves = {
      requires_grad_(made_up(1, {kWidth, kWidth}) * 0.5),
      requires_grad_(made_up(2, {kWidth})), requires_grad_(made_up(3, whole)),
      requires_grad_(slice(made_up(4, {kRows, 2 * kWidth}), 1, 0, kEnd, 2)),
      requires_grad_(made_up(11, {kWidth}))};
  states = {made_up(5, whole), made_up(6, {kRows, 2 * kWidth}),
            made_up(7, {kWidth, kRows})};
  views = {slice(states[1], 1, 0, kEnd, 2), slice(states[1], 1, kWidth),
           transpose(states[2]), slice(states[0], 0, 1, 2)};
  handles = {made_up(8, whole), made_up(9, whole), made_up(10, {kWidth})};
  pool = {full({kWidth}, 0.5), full({kWidth}, -0.25), made_up(12, {kWidth})};
  other_pool = {made_up(13, {kWidth}), full({kWidth}, 0.75),
                full({kWidth}, 0.125)};
  is_adam = seed % 3 == 0;
  if (is_adam) {
    optimizer = std::make_unique<optim::Adam>(parameters_of(*this),
                                              optim::AdamOptions{.lr = 0.02});
  } else {
    optimizer = std::make_unique<optim::SGD>(
        parameters_of(*this),
        optim::SGDOptions{.lr = 0.05, .momentum = seed % 3 == 1 ? 0.9 : 0.0});
  }
}

std::vector<Seen> World::seen() const {
  std::vector<Seen> out;
  Looker looker(out);
  looker.look_all("leaf ", leaves);
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    looker.look(fmt::format("gradient of leaf {}", i), leaves[i].grad());
    looker.say(fmt::format("requires_grad of leaf {}", i),
               std::to_string(leaves[i].requires_grad()));
  }
  looker.look_all("state ", states);
  looker.look("gradient of state 0", states[0].grad());
  looker.look_all("view ", views);
  looker.look_all("handle ", handles);
  looker.look_all("gradient of handle ", gradients_of(handles));
  look_at_net(looker, "", net);
  look_at_net(looker, "pair ", pair);
  looker.look_all("item ", pool);
  looker.look_all("other item ", other_pool);
  look_at_optimizer(looker, *optimizer);
  looker.say("count of kept", std::to_string(kept.size()));
  looker.look_all("kept ", kept);
  looker.look("retained", retained);
  if (retained.defined()) {
    looker.look("gradient of retained", retained.grad());
  }
  for (const Generator& generator : generators) {
    const base::DrawKey& key = generator.state();
    looker.say("generator", fmt::format("{} {}", key.seed, key.draw));
  }
  return out;
}

std::vector<Seen> World::sharing(std::span<const Tensor> arguments) const {
  std::vector<std::pair<std::string, Tensor>> all;
  const auto add = [&](std::string_view name, const auto& list) {
    for (std::size_t i = 0; i < std::size(list); ++i) {
      all.emplace_back(fmt::format("{}{}", name, i), list[i]);
    }
  };
  add("leaf ", leaves);
  add("state ", states);
  add("view ", views);
  add("handle ", handles);
  add("gradient of leaf ", gradients_of(leaves));
  add("gradient of state ", gradients_of(states));
  add("gradient of handle ", gradients_of(handles));
  add("retained ", std::span(&retained, 1));
  add("kept ", kept);
  add("argument ", arguments);
  add("result ", results);
  std::erase_if(all, [](const auto& each) { return !each.second.defined(); });
  std::vector<Seen> out;
  for (const auto& [name, tensor] : all) {
    const auto is_same = [&](const auto& other) {
      return other.second.identity() == tensor.identity();
    };
    const auto is_beside = [&](const auto& other) {
      return other.second.is_alias_of(tensor);
    };
    out.push_back(
        {name + " is one with",
         fmt::format("{}, on the storage of {}",
                     std::find_if(all.begin(), all.end(), is_same)->first,
                     std::find_if(all.begin(), all.end(), is_beside)->first)});
  }
  return out;
}

World::HostState World::host_state() const {
  return {numbers, counter, kept.size(), hooks.size()};
}

void World::restore(const HostState& state) {
  numbers = state.numbers;
  counter = state.counter;
  kept.resize(std::min(state.kept, kept.size()));
  while (hooks.size() > state.hooks) {
    hooks.back().remove();
    hooks.pop_back();
  }
}

std::vector<std::string> differences(const std::vector<Seen>& a,
                                     const std::vector<Seen>& b) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    if (i >= a.size() || i >= b.size() || a[i].name != b[i].name) {
      names.push_back(i < a.size() ? a[i].name : b[i].name);
      break;
    }
    if (a[i].bits != b[i].bits) {
      names.push_back(a[i].name);
    }
  }
  return names;
}

}  // namespace neap::steps
