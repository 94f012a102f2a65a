// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "network_command.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "join_deadline.hpp"
#include "neap/dist/errors.hpp"
#include "neap/dist/init.hpp"
#include "neap/dist/measure.hpp"
#include "neap/dist/plugin.hpp"
#include "neap/files/door.hpp"
#include "network.hpp"
#include "output_files.hpp"
#include "run_text.hpp"
#include "text_file.hpp"

namespace neap::app {
namespace {

constexpr double kJoinSeconds = 60.0;

ExitCode report(const NetworkSettings& settings, const dist::Network& found,
                const dist::Engine& engine) {
  constexpr double kMicroseconds = 1e6;
  const std::string text = fmt::format(
      "latency    {:.3g} us\noverhead   {:.3g} us a message\nrate       {} a "
      "second, each way\nengine     {}\n",
      kMicroseconds * found.latency, kMicroseconds * found.overhead,
      format_bytes_short(static_cast<Bytes>(found.rate)), engine.name());
  static_cast<void>(std::fwrite(text.data(), 1, text.size(), stdout));
  if (settings.out.empty()) {
    return ExitCode::kOk;
  }
  const auto written = write_text(files::system_door(), settings.out,
                                  to_json(found, engine.name()));
  return written ? ExitCode::kOk
                 : fail(ExitCode::kOutput, written.error().message);
}

ExitCode measure(const NetworkSettings& settings, dist::Engine& engine) {
  const bool is_first = engine.rank() == 0;
  if (is_first && !settings.out.empty()) {
    if (auto good = try_output(files::system_door(), "--out", settings.out);
        !good) {
      return fail(ExitCode::kOutput, good.error().message);
    }
  }
  const dist::Network found = dist::measure_network(engine);
  return is_first ? report(settings, found, engine) : ExitCode::kOk;
}

}  // namespace

ExitCode run_network(const NetworkSettings& settings) {
  if (const int ranks = dist::launched_ranks(); ranks != 2) {
    return fail(ExitCode::kUsage,
                fmt::format("network: {} of 2 ranks: start one on each host, "
                            "mpirun -n 2 --map-by node neap network --out FILE",
                            ranks));
  }
  const auto engine = [] {
    const JoinDeadline deadline(kJoinSeconds);
    return dist::load_engine("mpi");
  }();
  ExitCode code = ExitCode::kOk;
  try {
    code = measure(settings, *engine);
  } catch (const DistError& error) {
    code = fail(ExitCode::kRanks, error.what());
  }
  if (code != ExitCode::kOk) {  // the other one waits
    engine->abort(static_cast<int>(code));
  }
  return code;
}

}  // namespace neap::app
