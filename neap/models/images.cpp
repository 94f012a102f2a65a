// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/models/images.hpp"

#include "neap/base/raise.hpp"

namespace neap::models {

using base::raise;

void check_images(std::string_view model, const Shape& image,
                  std::int64_t least) {
  if (image.rank() != 3 || image[0] < 1 || image[1] < least ||
      image[2] < least) {
    raise<ShapeError>(
        "{}: images {}, expected (channels, height, width) with sides of at "
        "least {}",
        model, format_shape(image), least);
  }
}

void check_probability(std::string_view model, double dropout) {
  if (!(dropout >= 0.0 && dropout < 1.0)) {
    raise<ValueError>("{}: dropout {}, expected one in [0, 1)", model, dropout);
  }
}

}  // namespace neap::models
