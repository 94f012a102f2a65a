// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Memory of the program's own as a tensor: nothing is copied, the bytes are
// counted as lent, and the program is told when Neap is done with them.
#include <cstdio>
#include <numeric>
#include <vector>

#include "neap/neap.hpp"

namespace {

using neap::Tensor;

neap::memory::Stats stats() {
  return neap::memory::domain().stats();
}

bool run() {
  std::vector<float> samples(1000);
  std::iota(samples.begin(), samples.end(), 0.0F);
  bool is_returned = false;
  {
    const Tensor x = Tensor::borrow(std::span(samples), {10, 100},
                                    [&is_returned] { is_returned = true; });
    std::printf("lent   %s\n", neap::format_bytes(stats().lent).c_str());
    std::printf("mean of each row  %s\n", format(mean(x, {1})).c_str());
    samples[0] = 1000.0F;  // the tensor sees it: there is one copy
    if (x.at({0, 0}) != 1000.0 || is_returned) {
      return false;
    }
  }
  std::printf("returned: %s, lent %s\n", is_returned ? "yes" : "no",
              neap::format_bytes(stats().lent).c_str());
  return is_returned && stats().lent == 0;
}

}  // namespace

int main() {
  const bool is_right = run();
  const neap::Bytes live = stats().live;
  std::printf("live at exit: %s\n", neap::format_bytes(live).c_str());
  return is_right && live == 0 ? 0 : 1;
}
