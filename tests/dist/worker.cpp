// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A rank that sums a tensor over and over, for tests that end one of them:
//
//   neap_dist_worker EXCHANGES DEADLINE [kill|stop|exit|throw|shape RANK AT]
//
// Prints "sum X, sent Y" in rank 0. Exit status 6 where a rank is lost, 7 where
// ranks differ.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string_view>

#include "neap/dist/init.hpp"
#include "neap/ops/ops.hpp"
#include "neap/tensor/create.hpp"

namespace {

struct Failure {
  std::string_view kind;
  int rank = -1;
  int at = -1;
};

void fail(const Failure& failure) {
  if (failure.kind == "kill") {
    std::raise(SIGKILL);
  } else if (failure.kind == "stop") {
    std::raise(SIGSTOP);
  } else if (failure.kind == "exit") {
    std::_Exit(3);
  } else if (failure.kind == "throw") {
    throw std::runtime_error("as asked");
  }
}

int run(const neap::dist::Group& world, int exchanges, const Failure& failure) {
  double total = 0.0;
  for (int i = 0; i < exchanges; ++i) {
    const bool fails = world.rank() == failure.rank && i == failure.at;
    if (fails) {
      fail(failure);
    }
    const std::int64_t rows = fails && failure.kind == "shape" ? 999 : 1000;
    const neap::Tensor x =
        neap::full({rows, 300}, 0.1 * (1 + world.rank()) + i);
    world.sum(x, "layer.weight");
    total += x.at({7, 7});
  }
  if (world.rank() == 0) {
    std::printf("sum %.17g, sent %lld, engine %s\n", total,
                static_cast<long long>(world.counts().sent),
                std::string(world.engine_name()).c_str());
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    return 2;
  }
  Failure failure;
  if (argc > 5) {
    failure = {argv[3], std::atoi(argv[4]), std::atoi(argv[5])};
  }
  const neap::dist::Group world =
      neap::dist::init({.deadline = std::atof(argv[2])});
  int status = 0;
  try {
    return run(world, std::atoi(argv[1]), failure);
  } catch (const neap::RankMismatch& error) {
    std::fprintf(stderr, "%s\n", error.what());
    status = 7;
  } catch (const neap::DistError& error) {
    std::fprintf(stderr, "%s\n", error.what());
    status = 6;
  }
  world.abort(status);
  return status;
}
