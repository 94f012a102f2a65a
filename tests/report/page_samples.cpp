// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Writes the memory page of each model, eager and in each kind of plan, into a
// folder, for a test that opens them in a browser.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "neap/report/page.hpp"
#include "pages.hpp"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: neap_page_samples FOLDER\n", stderr);
    return 2;
  }
  const std::string folder = argv[1];
  const auto write = [&](const std::string& name,
                         const neap::report::Snapshot& snapshot) {
    const auto done = neap::report::write_page(
        neap::files::system_door(), folder + "/" + name + ".html", snapshot);
    if (!done) {
      std::fputs(done.error().message.c_str(), stderr);
      std::exit(1);
    }
  };
  for (const neap::tests::Kind model : neap::tests::kAllKinds) {
    const std::string name = neap::tests::name_of(model);
    write(name + "-eager", neap::tests::pictured_eagerly(model).snapshot);
    for (const neap::tests::PlanKind kind : neap::tests::kPlanKinds) {
      write(name + "-" + neap::tests::name_of(kind),
            neap::tests::pictured(model, kind).snapshot);
    }
  }
  return 0;
}
