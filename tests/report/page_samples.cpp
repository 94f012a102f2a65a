// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Writes the memory page of each model in each kind of plan into a folder, for
// a test that opens them in a browser.
#include <cstdio>

#include "neap/report/page.hpp"
#include "pages.hpp"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: neap_page_samples FOLDER\n", stderr);
    return 2;
  }
  const std::string folder = argv[1];
  for (const neap::tests::Kind model : neap::tests::kAllKinds) {
    for (const neap::tests::PlanKind kind : neap::tests::kPlanKinds) {
      const auto seen = neap::tests::pictured(model, kind);
      const std::string path = folder + "/" + neap::tests::name_of(model) +
                               "-" + neap::tests::name_of(kind) + ".html";
      const auto done = neap::report::write_page(neap::files::system_door(),
                                                 path, seen.snapshot);
      if (!done) {
        std::fputs(done.error().message.c_str(), stderr);
        return 1;
      }
    }
  }
  return 0;
}
