// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The place of each value of a training step and its lifetime, before the step
// has run: the plan as a table that scripts/step_picture.py draws.
#include <algorithm>
#include <array>
#include <cstdio>
#include <string>

#include "neap/neap.hpp"

namespace {

using neap::Tensor;
using neap::compiler::Buffer;
using neap::compiler::Lowered;
using neap::compiler::Where;

// A value's name: the call that computes it, or what it is a parameter of.
std::string name_of(const Lowered& lowered, const Buffer& buffer) {
  const auto& program = lowered.program;
  if (buffer.value == neap::compiler::kNoValue) {
    return "scratch of " + std::string(program.calls[buffer.first].name);
  }
  const auto& value = program[buffer.value];
  return value.origin == neap::compiler::Origin::kCall
             ? std::string(program.calls[value.index].name)
             : std::string(neap::memory::domain().path_of(value.spec->owner));
}

// A line a buffer: where, its name, category, first and last call, offset in
// the arena and size. RETURNS: the highest end in the arena.
neap::Bytes print_table(const Lowered& lowered) {
  neap::Bytes height = 0;
  std::printf("where,name,category,first,last,offset,bytes\n");
  const auto& lifetimes = lowered.plan.lifetimes;
  for (std::size_t i = 0; i < lifetimes.buffers.size(); ++i) {
    const Buffer& buffer = lifetimes.buffers[i];
    const bool is_in_arena = buffer.where == Where::kArena;
    const neap::Bytes offset = is_in_arena ? lowered.plan.offsets[i] : 0;
    const auto category = buffer.value == neap::compiler::kNoValue
                              ? neap::memory::Category::kWorkspace
                              : lowered.program[buffer.value].spec->category;
    std::printf("%s,%s,%s,%u,%u,%lld,%lld\n",
                is_in_arena                        ? "arena"
                : buffer.where == Where::kArgument ? "argument"
                                                   : "kept",
                name_of(lowered, buffer).c_str(),
                std::string(neap::memory::name_of(category)).c_str(),
                buffer.first, buffer.last, static_cast<long long>(offset),
                static_cast<long long>(buffer.size));
    height = std::max(height, is_in_arena ? offset + buffer.size : 0);
  }
  return height;
}

// The step that ./dev demo trains with.
bool print_step() {
  const auto rehearsal = neap::Domain::create({.is_rehearsal = true});
  const neap::UseDomain use(*rehearsal);
  neap::models::Mlp net(std::array<std::int64_t, 4>{784, 512, 256, 10});
  neap::optim::Adam adam(net.parameters());
  const auto step = [&](const Tensor& x, const Tensor& labels) {
    Tensor loss = cross_entropy(net(x), labels);
    backward(loss);
    adam.step();
    adam.zero_grad();
    return loss;
  };
  const auto lowered =
      neap::lower(step, {neap::tensor::Spec{neap::f32, {128, 28, 28}},
                         neap::tensor::Spec{neap::i64, {128}}});
  const neap::Bytes height = print_table(lowered);
  return height <= lowered.plan.arena_bytes();
}

}  // namespace

int main() {
  const bool is_good = print_step();
  return is_good && neap::memory::domain().stats().live == 0 ? 0 : 1;
}
