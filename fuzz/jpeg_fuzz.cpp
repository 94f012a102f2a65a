// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "image_check.hpp"

void neap::fuzz::one_input(std::string_view bytes) {
  check_image(bytes);
}
