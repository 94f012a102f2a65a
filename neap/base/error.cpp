// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/base/error.hpp"

#include <algorithm>
#include <ostream>

namespace neap {

Error::Error(std::string_view message) noexcept : text_{} {
  const std::size_t length =
      std::min<std::size_t>(message.size(), kCapacity - 1);
  std::copy_n(message.data(), length, text_.data());
}

std::ostream& operator<<(std::ostream& out, const Error& error) {
  return out << error.what();
}

}  // namespace neap
