// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "torch_workers.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <array>

namespace neap::bench {
namespace {

struct Blas {
  std::string name;  // its folder below the system's libraries
  std::string column;
  std::string further;  // where it has no LAPACK of its own
};

std::string library_folder() {
  utsname system{};
  ::uname(&system);
  return fmt::format("/usr/lib/{}-linux-gnu/", system.machine);
}

// Whoever has pools of threads shall have as many threads as we have.
Environment environment_of(const Blas& blas, int threads) {
  const std::string folder = library_folder();
  std::string path = folder + blas.name;
  if (!blas.further.empty()) {
    path += ":" + folder + blas.further;
  }
  const std::string count = std::to_string(threads);
  return {{"LD_LIBRARY_PATH", path},
          {"OMP_NUM_THREADS", count},
          {"OPENBLAS_NUM_THREADS", count},
          {"BLIS_NUM_THREADS", count}};
}

}  // namespace

std::vector<TorchWorker> start_torch_workers(int threads, Report& report) {
  const std::array<Blas, 3> all{{{"openblas-pthread", "pthread", ""},
                                 {"openblas-openmp", "openmp", ""},
                                 {"blis-openmp", "blis", "lapack"}}};
  std::vector<TorchWorker> workers;
  for (const Blas& blas : all) {
    try {
      workers.push_back({blas.name, blas.column,
                         std::make_unique<Worker>(
                             std::vector<std::string>{
                                 "/usr/bin/python3",
                                 NEAP_BENCH_FOLDER "/peers/models_torch.py",
                                 std::to_string(threads), blas.name},
                             environment_of(blas, threads))});
    } catch (const WorkerError& error) {
      report.note(fmt::format("t{}: no PyTorch on {}: {}", threads, blas.name,
                              error.what()));
    }
  }
  return workers;
}

Worker& add_best(Row& row, std::span<const Timing> timings,
                 std::vector<TorchWorker>& peers) {
  const Timing& best = fastest(timings);
  Worker& worker =
      *peers[static_cast<std::size_t>(&best - timings.data())].worker;
  row.peer = best.median * 1e3;
  row.peer_name = worker.greeting();
  row.figures.push_back({"peer low", best.low * 1e3});
  return worker;
}

void add_columns(Row& row, std::span<const Timing> timings,
                 const std::vector<TorchWorker>& peers) {
  for (std::size_t i = 0; i < peers.size(); ++i) {
    row.figures.push_back({peers[i].column, timings[i].median * 1e3});
  }
}

}  // namespace neap::bench
