// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A storage's tag for reports, which look beside threads that may move the
// storage to another category and owner (a gradient that is put into its leaf).
#pragma once

#include "neap/tensor/storage.hpp"

namespace neap::tensor {

/// storage.tag(), read from any thread.
NEAP_API memory::Tag tag_of(const Storage& storage) noexcept;

}  // namespace neap::tensor
