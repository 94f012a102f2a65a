// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "random_step.hpp"

#include <bit>

#include "neap/autograd/backward.hpp"
#include "neap/autograd/jvp.hpp"
#include "neap/autograd/rematerialise.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/ops/elementwise/assign.hpp"
#include "neap/ops/ops.hpp"
#include "neap/optim/adafactor.hpp"
#include "neap/optim/adam.hpp"
#include "neap/optim/clip.hpp"
#include "neap/optim/lion.hpp"
#include "neap/optim/muon.hpp"
#include "neap/optim/rmsprop.hpp"
#include "neap/optim/schedule.hpp"
#include "neap/optim/sgd.hpp"
#include "neap/tensor/create.hpp"

namespace neap::programs {
namespace {

constexpr std::int64_t kWidth = World::kWidth;

std::uint64_t mixed(std::uint64_t hash, std::uint64_t word) noexcept {
  hash = (hash ^ word) * 0x9E3779B97F4A7C15U;
  return hash ^ hash >> 29U;
}

ParameterList list_of(const World& world) {
  ParameterList list;
  int number = 0;
  for (const Tensor& weight : world.weights) {
    memory::String name("w");
    name += static_cast<char>('0' + number++);
    list.push_back({name, weight, {}});
  }
  list.push_back({memory::String("b"), world.bias, {}});
  return list;
}

std::unique_ptr<optim::Optimizer> random_optimizer(Choices& choices,
                                                   const ParameterList& list) {
  std::unique_ptr<optim::Optimizer> made;
  switch (choices.below(7)) {
    case 0:
      made = std::make_unique<optim::SGD>(list, optim::SGDOptions{.lr = 0.05});
      break;
    case 1:
      made = std::make_unique<optim::SGD>(
          list, optim::SGDOptions{.lr = 0.05, .momentum = 0.9});
      break;
    case 2:
      made =
          std::make_unique<optim::Lion>(list, optim::LionOptions{.lr = 0.01});
      break;
    case 3:
      made = std::make_unique<optim::RMSprop>(
          list, optim::RMSpropOptions{.lr = 0.01, .momentum = 0.9});
      break;
    case 4:
      made = std::make_unique<optim::Adafactor>(
          list, optim::AdafactorOptions{.lr = 0.02});
      break;
    case 5:
      made = std::make_unique<optim::Muon>(
          ParameterList(list.begin(), list.end() - 1),
          optim::MuonOptions{.lr = 0.01});
      static_cast<optim::Muon&>(*made).add_group(
          ParameterList(list.end() - 1, list.end()),
          {.lr = 0.01, .by_adam = true});
      break;
    default:
      made = std::make_unique<optim::AdamW>(
          list, optim::AdamOptions{.lr = 0.01, .weight_decay = 0.1});
  }
  if (choices.one_in(2)) {
    made->set_schedule(optim::warm_up(0.02, 5));
  }
  return made;
}

// One run of a step: a pool of values that actions take from and add to.
class Run {
 public:
  Run(std::uint64_t seed, World& world, const Tensor& x)
      : choices_(seed), world_(world), batch_(x.size(0)) {
    pool_.push_back(x);
  }

  void act() {
    switch (choices_.below(16)) {
      case 0:
      case 1:
      case 2:
        return put(unary(any()));
      case 3:
      case 4:
        return put(binary(any(), any()));
      case 5:
      case 6:
        return put(tanh(matmul(any(), weight())));
      case 7:
        return put(reduced(any()));
      case 8:
        return put(viewed(any()));
      case 9:
        return put(dropout(any(), 0.25));
      case 10:
        return put(chosen(any(), any()));
      case 11:
        return put(segment(any()));
      case 12:
        return write();
      case 13:
        return put(drawn(any()));
      case 14:
        return put(tangent(any()));
      default:
        return drop();
    }
  }

  Tensor loss(const Tensor& y) {
    Tensor sum = mean(square(sub(any(), y)));
    if (choices_.one_in(3)) {
      sum = sum + mean(any()) * 0.5;
    }
    if (choices_.one_in(4)) {
      sum = sum + mean(abs(world_.bias));
    }
    return sum;
  }

  Choices& choices() { return choices_; }
  const Tensor& any() {
    return pool_[static_cast<std::size_t>(
        choices_.below(static_cast<int>(pool_.size())))];
  }

 private:
  void put(Tensor value) { pool_.push_back(std::move(value)); }
  const Tensor& weight() {
    return world_.weights[static_cast<std::size_t>(
        choices_.below(static_cast<int>(world_.weights.size())))];
  }

  Tensor unary(const Tensor& x) {
    switch (choices_.below(12)) {
      case 0:
        return tanh(x);
      case 1:
        return sigmoid(x);
      case 2:
        return relu(x);
      case 3:
        return sin(x);
      case 4:
        return x * 0.5 + 0.25;
      case 5:
        return neg(x);
      case 6:
        return gelu(x);
      case 7:
        return softplus(x);
      case 8:
        return softmax(x);
      case 9:
        return square(tanh(x));
      case 10:
        return exp(tanh(x)) - 1.0;
      default:
        return silu(x);
    }
  }

  Tensor binary(const Tensor& a, const Tensor& b) {
    switch (choices_.below(7)) {
      case 0:
        return a + b;
      case 1:
        return a - b;
      case 2:
        return tanh(a) * b;
      case 3:
        return a / (square(b) + 1.0);
      case 4:
        return maximum(a, b);
      case 5:
        return a + world_.bias;
      default:
        return sin(a) * (world_.buffer + 0.0);  // a value of its own
    }
  }

  Tensor reduced(const Tensor& x) {
    switch (choices_.below(4)) {
      case 0:
        return x - mean(x, {-1}, true);
      case 1:
        return x * 0.5 + tanh(sum(x, {0}, true));
      case 2:
        return x - amax(x, {1}, true);
      default:
        return x + tanh(sum(x));
    }
  }

  Tensor viewed(const Tensor& x) {
    switch (choices_.below(4)) {
      case 0:
        return concat({slice(x, 1, kWidth / 2), slice(x, 1, 0, kWidth / 2)}, 1);
      case 1:
        return transpose(tanh(transpose(x, 0, 1)), 0, 1);
      case 2:
        return reshape(sin(reshape(x, {-1})), {batch_, kWidth});
      default:
        return flip(x, {1}) + slice(x, 0, 0, 1);
    }
  }

  Tensor chosen(const Tensor& a, const Tensor& b) {
    return choices_.one_in(2) ? where(gt(a, b), a, neg(b))
                              : where(lt(a, 0.0), tanh(b), a);
  }

  Tensor segment(const Tensor& x) {
    const Tensor w = weight();
    const bool drops = choices_.one_in(2);
    const auto inner = [w, drops](const Tensor& in) {
      Tensor h = tanh(matmul(in, w));
      h = drops ? dropout(h, 0.5) : sigmoid(h);
      return h * 0.5 + sin(in);
    };
    return rematerialise(inner)(x);
  }

  Tensor drawn(const Tensor& x) {
    return choices_.one_in(2) ? x + randn({batch_, kWidth}) * 0.1
                              : x * rand({kWidth});
  }

  Tensor tangent(const Tensor& x) {
    return jvp([](const Tensor& in) { return sin(in) * in; }, x,
               ones({batch_, kWidth}))
        .tangent;
  }

  // Writes tensors that no graph keeps: backward refuses overwritten values.
  void write() {
    const NoGrad guard;
    const Tensor row = mean(any(), {0});
    switch (choices_.below(3)) {
      case 0:
        copy_(world_.buffer, row);
        return;
      case 1:
        put(world_.buffer + any());
        return;
      default: {
        const Tensor fresh = zeros({batch_, kWidth});
        add_(fresh, any());
        fill_(slice(fresh, 1, 0, 2), 0.5);
        put(fresh);
      }
    }
  }

  void drop() {
    if (pool_.size() > 2) {
      pool_.erase(pool_.begin() +
                  choices_.below(static_cast<int>(pool_.size())));
    }
  }

  Choices choices_;
  World& world_;
  std::int64_t batch_;
  std::vector<Tensor> pool_;
};

// The plain loss, or one with a penalty on a gradient.
void differentiate(Run& run, World& world, const Tensor& loss) {
  if (run.choices().one_in(4)) {
    const Gradients first =
        grad(loss, {world.weights[0]},
             {.create_graph = true, .unused = GradOptions::Unused::kZeros});
    if (first[0].requires_grad()) {
      return backward(loss + mean(square(first[0])) * 0.1);
    }
  }
  backward(loss);
}

void update(Run& run, World& world) {
  if (run.choices().one_in(3)) {
    optim::clip_grad_norm(list_of(world), 0.5);
  }
  const bool releases = run.choices().one_in(2);
  world.optimizer->step({.release_gradients = releases});
  if (run.choices().one_in(2)) {
    world.optimizer->zero_grad();
  }
}

}  // namespace

std::uint64_t Choices::next() noexcept {
  state_ += 0x9E3779B97F4A7C15U;
  std::uint64_t z = state_;
  z = (z ^ z >> 30U) * 0xBF58476D1CE4E5B9U;
  z = (z ^ z >> 27U) * 0x94D049BB133111EBU;
  return z ^ z >> 31U;
}

World::World(std::uint64_t seed) : generator(seed) {
  Choices choices(seed * 31 + 7);
  Generator initial(seed + 1000);
  const UseGenerator use(initial);
  for (int i = 0; i < 3; ++i) {
    weights.push_back(requires_grad_(randn({kWidth, kWidth}) * 0.4));
  }
  bias = requires_grad_(randn({kWidth}));
  buffer = rand({kWidth});
  optimizer = random_optimizer(choices, list_of(*this));
}

std::uint64_t hash_of(const Tensor& tensor, std::uint64_t before) {
  std::uint64_t hash = mixed(before, static_cast<std::uint64_t>(tensor.rank()));
  for (const std::int64_t extent : tensor.shape()) {
    hash = mixed(hash, static_cast<std::uint64_t>(extent));
  }
  for (const double value : tensor.to_vector()) {
    hash = mixed(hash, std::bit_cast<std::uint64_t>(value));
  }
  return hash;
}

std::uint64_t World::hash() const {
  std::uint64_t hash = hash_of(buffer);
  const auto leaf = [&](const Tensor& tensor) {
    hash = hash_of(tensor, hash);
    hash =
        tensor.grad().defined() ? hash_of(tensor.grad(), hash) : mixed(hash, 1);
  };
  for (const Tensor& weight : weights) {
    leaf(weight);
  }
  leaf(bias);
  optimizer->visit_state([&](std::string_view, const Tensor& state) {
    hash = hash_of(state, hash);
  });
  optimizer->visit_steps([&](std::string_view, std::int64_t steps) {
    hash = mixed(hash, static_cast<std::uint64_t>(steps));
  });
  return mixed(hash, generator.state().draw);
}

Tensor made_up(std::uint64_t seed, std::int64_t batch) {
  Generator source(seed);
  const UseGenerator use(source);
  return randn({batch, kWidth});
}

Tensors RandomStep::operator()(const Tensor& x, const Tensor& y) const {
  Run run(seed_, world_, x);
  if (run.choices().one_in(2)) {
    world_.optimizer->zero_grad();
  }
  for (int i = 0; i < actions_; ++i) {
    run.act();
  }
  Tensors results;
  const Tensor loss = run.loss(y);
  results.push_back(loss);
  results.push_back(run.any().detach());
  if (run.choices().one_in(2)) {
    results.push_back(slice(run.any(), 1, 1, 3));
  }
  if (loss.requires_grad()) {
    differentiate(run, world_, loss);
    update(run, world_);
  }
  for (Tensor& result : results) {
    result = result.detach();
  }
  return results;
}

}  // namespace neap::programs
