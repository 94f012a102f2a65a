// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A Hamiltonian simulation: three equal masses that chase each other along a
// figure of eight (Chenciner and Montgomery, 2000). The program states the
// potential energy; the forces are its gradient. A symplectic integrator keeps
// the energy, and after one period everybody is back.
#include <cmath>
#include <cstdio>

#include "neap/neap.hpp"

namespace {

using neap::Tensor;

constexpr double kPeriod = 6.32591398;
constexpr int kSteps = 4000;

struct State {
  Tensor q;  // (3, 2): positions
  Tensor p;  // (3, 2): momenta, of masses 1
};

// -1 / r summed over the pairs. The ones that stand for the distance of each
// body from itself add up to a constant, and have no gradient.
Tensor potential(const Tensor& q) {
  const Tensor apart = unsqueeze(q, 0) - unsqueeze(q, 1);  // (3, 3, 2)
  const Tensor squares = sum(square(apart), {2}) + neap::eye(3, neap::f64);
  return (3.0 - sum(rsqrt(squares))) / 2.0;
}

Tensor forces(const Tensor& q) {
  const Tensor x = requires_grad_(q.detach());
  return -grad(potential(x), {x})[0];
}

double energy(const State& state) {
  return (sum(square(state.p)) / 2.0 + potential(state.q)).item();
}

// Stoermer and Verlet: half a kick, a drift, half a kick.
void step(State& state, Tensor& force, double dt) {
  const Tensor half = state.p + force * (dt / 2);
  state.q = state.q + half * dt;
  force = forces(state.q);
  state.p = half + force * (dt / 2);
}

State figure_of_eight() {
  const double x = 0.97000436;
  const double y = -0.24308753;
  const double u = -0.93240737;
  const double v = -0.86473146;
  return {neap::from_values({x, y, -x, -y, 0, 0}, {3, 2}, neap::f64),
          neap::from_values({-u / 2, -v / 2, -u / 2, -v / 2, u, v}, {3, 2},
                            neap::f64)};
}

bool run() {
  State state = figure_of_eight();
  const State start = state;
  const double energy_at_start = energy(start);
  Tensor force = forces(state.q);
  double drift = 0.0;
  for (int i = 0; i < kSteps; ++i) {
    step(state, force, kPeriod / kSteps);
    if (i % 100 == 0) {
      drift = std::max(drift, std::abs(energy(state) - energy_at_start));
    }
  }
  const double distance = norm(state.q - start.q).item();
  const double momentum = norm(sum(state.p, {0})).item();
  std::printf("energy            %.6f\n", energy_at_start);
  std::printf("largest drift     %.1e\n", drift);
  std::printf("momentum          %.1e\n", momentum);
  std::printf("distance to the start after one period  %.1e\n", distance);
  return drift < 1e-5 && momentum < 1e-12 && distance < 1e-3;
}

}  // namespace

int main() {
  const bool is_right = run();
  const neap::Bytes live = neap::memory::domain().stats().live;
  std::printf("live at exit: %s\n", neap::format_bytes(live).c_str());
  return is_right && live == 0 ? 0 : 1;
}
