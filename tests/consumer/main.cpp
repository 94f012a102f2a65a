// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Uses an installed Neap as a stranger would: by its headers and one library.
#include <cstdio>

#include "neap/base/shape.hpp"
#include "neap/base/version.hpp"

int main() {
  const neap::Shape shape = {60000, 28, 28};
  try {
    neap::base::normalize_axis("consumer", 3, shape.rank());
  } catch (const neap::ShapeError& error) {
    std::printf("neap %s: %s has %s; %s\n", neap::version(),
                neap::format_shape(shape).c_str(),
                neap::format_bytes(shape.element_count()).c_str(),
                error.what());
    return 0;
  }
  return 1;
}
