// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// TornLoad: a load that failed after it had begun to write. It reads a file
// twice where memory does not suffice for a copy of the tensors, and the second
// time failed. The message names the tensors that do not have the file's
// elements; everything else does. A load that succeeds makes them whole.
#pragma once

#include "neap/files/io_error.hpp"

namespace neap::train {

class NEAP_API TornLoad : public files::IoError {
  using IoError::IoError;
};

}  // namespace neap::train

namespace neap {
using train::TornLoad;
}  // namespace neap
