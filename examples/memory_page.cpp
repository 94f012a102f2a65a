// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Shows where every byte of a compiled step is: a page for a browser, and a
// snapshot that neap report reads.
#include "neap/report/page.hpp"

#include <cstdio>

#include "neap/neap.hpp"
#include "neap/report/snapshot_file.hpp"
#include "neap/report/snapshot_step.hpp"

int main() {
  namespace report = neap::report;
  namespace files = neap::files;
  using neap::Tensor;
  {
    neap::nn::Linear layer(64, 8);
    neap::optim::SGD optimizer(layer.parameters(), {.lr = 0.1});
    auto step = neap::compile([&](const Tensor& x) {
      const Tensor loss = mean(square(layer(x)));
      backward(loss);
      optimizer.step({.release_gradients = true});
      return loss.detach();
    });
    step(neap::rand({16, 64}));

    report::Snapshot snapshot = report::snapshot(step);
    snapshot.title = "a layer and its update";
    report::write_page(files::system_door(), "step.html", snapshot).value();

    report::write_snapshot(files::system_door(), "step.neapmem", snapshot)
        .value();
    const report::Snapshot read =
        report::read_snapshot(files::system_door(), "step.neapmem").value();
    const auto& sums = read.sums;
    std::printf("%zu values in %s of arena\n", read.blocks.size(),
                neap::format_bytes(sums.arena).c_str());
    if (sums.reserved !=
        sums.arena + sums.stays + sums.program + sums.idle + sums.overhead) {
      return 1;
    }
  }
  std::remove("step.html");
  std::remove("step.neapmem");
  return neap::memory::domain().stats().live == 0 ? 0 : 1;
}
