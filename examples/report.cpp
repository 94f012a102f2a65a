// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Looking at memory: where it went at the peak, what leaks, what can be given
// back, and two models in two domains.
#include <cstdio>

#include "neap/neap.hpp"

namespace {

using neap::Tensor;

// A step's worth of memory of a small network.
void run_once(neap::nn::Layer& net) {
  const Tensor x = neap::randn({64, 256});
  backward(mean(square(net(x))));
  net.zero_grad();
}

// The table of the high-water mark, by layer and category.
void where_it_went() {
  neap::nn::Sequential net(neap::nn::named("fc1", neap::nn::Linear(256, 128)),
                           neap::nn::ReLU(),
                           neap::nn::named("fc2", neap::nn::Linear(128, 10)));
  run_once(net);
  const auto peak = neap::report::breakdown(neap::memory::domain(),
                                            neap::report::Instant::kLivePeak);
  std::printf("%s", neap::report::format_table(peak).c_str());
}

// Finds the memory that is there at the end and was not at the start.
bool what_leaks() {
  const neap::report::Baseline baseline;
  const Tensor kept = neap::zeros({1000});
  std::printf("%s", baseline.format().c_str());
  return baseline.leaks().size() > 0;
}

// Pages kept for reuse go back to the system when asked for.
bool what_goes_back() {
  { const Tensor large = neap::zeros({1024, 1024}); }
  neap::memory::Domain& door = neap::memory::domain();
  const neap::Bytes idle = door.stats().idle;
  const neap::Bytes given_back = door.trim();
  std::printf("idle %s, given back %s\n", neap::format_bytes(idle).c_str(),
              neap::format_bytes(given_back).c_str());
  return door.stats().idle == 0;
}

// Two parts of a program, each with a ledger and a budget of its own.
bool two_doors() {
  const auto small = neap::Domain::create({.name = "small"});
  const auto large = neap::Domain::create({.name = "large"});
  Tensor a;
  Tensor b;
  {
    const neap::UseDomain use(*small);
    a = neap::zeros({100});
  }
  {
    const neap::UseDomain use(*large);
    b = neap::zeros({100, 100});
  }
  std::printf("one door %s, the other %s\n",
              neap::format_bytes(small->stats().live).c_str(),
              neap::format_bytes(large->stats().live).c_str());
  return small->stats().live < large->stats().live;
}

}  // namespace

int main() {
  where_it_went();
  const bool is_right = what_leaks() && what_goes_back() && two_doors();
  const neap::Bytes live = neap::memory::domain().stats().live;
  std::printf("live at exit: %s\n", neap::format_bytes(live).c_str());
  return is_right && live == 0 ? 0 : 1;
}
