// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The memory that the training of a model would need, on a machine that could
// never hold it: in a dry run, tensors have shapes and places but no memory
// behind them.
#include <cstdio>

#include "neap/neap.hpp"

namespace {

using neap::Tensor;
using neap::models::GptKeep;
using neap::tensor::Spec;

// A step of GPT-2 with 1.6 billion parameters, over `rows` rows of 512 tokens.
neap::Bytes plan(GptKeep keep, const char* what) {
  const auto rehearsal = neap::Domain::create({.is_rehearsal = true});
  const neap::UseDomain use(*rehearsal);
  neap::models::Gpt gpt({.layers = 48, .heads = 25, .dim = 1600, .keep = keep});
  neap::optim::AdamW adam(gpt.parameters());
  const auto step = [&](const Tensor& tokens, const Tensor& targets) {
    Tensor loss = gpt.loss(tokens, targets);
    backward(loss);
    adam.step();
    adam.zero_grad();
    return loss;
  };
  const Spec tokens{neap::i64, {4, 512}};
  const auto lowered = neap::lower(step, {tokens, tokens});
  const auto said = neap::compiler::predict(lowered.program, lowered.plan);
  std::printf("%s: at least %s, of it arena %s\n", what,
              neap::format_bytes(said.peak()).c_str(),
              neap::format_bytes(said.arena).c_str());
  if (keep == GptKeep::kEverything) {
    std::printf("%s", format(said, {.max_lines = 4}).c_str());
  }
  return said.arena;
}

// The packing by itself: lifetimes and sizes in, offsets out.
bool pack() {
  neap::planner::Problem problem;
  problem.buffers = {{.lower = 0, .upper = 2, .size = 16},
                     {.lower = 1, .upper = 5, .size = 8},
                     {.lower = 2, .upper = 4, .size = 24},
                     {.lower = 4, .upper = 6, .size = 16}};
  const auto solution = neap::planner::solve(problem);
  std::printf("height %lld, %s\n", static_cast<long long>(solution.height),
              solution.is_proven ? "none is lower" : "a lower one may exist");
  return solution.height == 32 && solution.is_proven &&
         neap::planner::validate(problem, solution).is_good();
}

}  // namespace

int main() {
  const neap::Bytes everything = plan(GptKeep::kEverything, "all is kept");
  const neap::Bytes nothing = plan(GptKeep::kNothing, "blocks run again");
  const bool is_packed = pack();
  const neap::Bytes live = neap::memory::domain().stats().live;
  std::printf("live at exit: %s\n", neap::format_bytes(live).c_str());
  return is_packed && nothing < everything && live == 0 ? 0 : 1;
}
