// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// What every function does first that reads or writes elements on the host.
#pragma once

#include "neap/tensor/tensor.hpp"

namespace neap::tensor {

/// The host may look at elements that are there, and while a step is traced at
/// none that may be others in the next run. THROWS: TraceError, UseAfterRelease
/// (as refuse_elements), DeviceError off the host.
NEAP_API void check_host_access(const Tensor& tensor, const char* what,
                                const CallSite& site, bool is_write = false);

}  // namespace neap::tensor
