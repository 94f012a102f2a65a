// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "support/arguments.hpp"

#include <CLI/CLI.hpp>
#include <cstdlib>

namespace neap::bench {

Arguments read_arguments(int argc, char** argv, const char* about) {
  Arguments result;
  bool no_peers = false;
  CLI::App app{about};
  app.add_flag("--json", result.json, "JSON lines in place of tables");
  app.add_flag("--quick", result.quick, "one short turn each, as a smoke test");
  app.add_flag("--all", result.all,
               "every row (ops: half an hour), not a selection");
  app.add_flag("--no-peers", no_peers, "without other libraries");
  app.add_option("--threads", result.threads, "thread counts")
      ->delimiter(',')
      ->check(CLI::Range(1, 256));
  app.add_option("--filter", result.filter, "only rows whose name contains it");
  app.add_option("--results", result.results, "add JSON lines to this file");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error));
  }
  result.with_peers = !no_peers;
  return result;
}

}  // namespace neap::bench
