// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "torch_workers.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <filesystem>

namespace neap::bench {
namespace {

// A PyTorch, and what it runs on (peers/torch_worker.py).
struct Peer {
  std::string on;
  std::string column;
  std::string python = "/usr/bin/python3";
  std::string libraries = {};  // where the distribution's looks for its BLAS
};

std::string library_folder() {
  utsname system{};
  ::uname(&system);
  return fmt::format("/usr/lib/{}-linux-gnu/", system.machine);
}

// The newest, eagerly and by torch.compile; without it, the distribution's on
// each BLAS that it can be given.
std::vector<Peer> peers() {
  const std::string newest = newest_python();
  if (!newest.empty()) {
    return {{"eager", "eager", newest, ""}, {"compile", "compile", newest, ""}};
  }
  const std::string folder = library_folder();
  std::vector<Peer> all{{"openblas-pthread", "pthread"},
                        {"openblas-openmp", "openmp"},
                        {"blis-openmp", "blis"}};
  for (Peer& peer : all) {
    peer.libraries = folder + peer.on;
  }
  all.back().libraries += ":" + folder + "lapack";  // it has none of its own
  return all;
}

// Whoever has pools of threads shall have as many threads as we have.
Environment environment_of(const Peer& peer, int threads) {
  const std::string count = std::to_string(threads);
  Environment all{{"TORCHINDUCTOR_CACHE_DIR", NEAP_BENCH_TORCH "/compiled"},
                  {"OMP_NUM_THREADS", count},
                  {"MKL_NUM_THREADS", count},
                  {"OPENBLAS_NUM_THREADS", count},
                  {"BLIS_NUM_THREADS", count}};
  if (!peer.libraries.empty()) {
    all.push_back({"LD_LIBRARY_PATH", peer.libraries});
  }
  return all;
}

}  // namespace

std::string newest_python() {
  const std::filesystem::path newest = NEAP_BENCH_TORCH;
  return std::filesystem::exists(newest / "ready")
             ? (newest / "bin" / "python").string()
             : std::string();
}

std::vector<TorchWorker> start_torch_workers(int threads, Report& report) {
  std::vector<TorchWorker> workers;
  for (const Peer& peer : peers()) {
    try {
      workers.push_back(
          {peer.on, peer.column,
           std::make_unique<Worker>(
               std::vector<std::string>{
                   peer.python, NEAP_BENCH_FOLDER "/peers/models_torch.py",
                   std::to_string(threads), peer.on},
               environment_of(peer, threads))});
    } catch (const WorkerError& error) {
      report.note(fmt::format("t{}: no PyTorch on {}: {}", threads, peer.on,
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
