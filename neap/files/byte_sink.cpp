// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/files/byte_sink.hpp"

namespace neap::files {

ByteSink::~ByteSink() = default;

}  // namespace neap::files
