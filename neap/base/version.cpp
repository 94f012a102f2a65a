// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/base/version.hpp"

namespace neap {

const char* version() noexcept {
  return NEAP_VERSION;
}

}  // namespace neap
