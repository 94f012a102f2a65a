// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/tensor/host_access.hpp"

#include "neap/base/raise.hpp"
#include "neap/tensor/creator.hpp"
#include "neap/tensor/execution.hpp"

namespace neap::tensor {

void check_host_access(const Tensor& tensor, const char* what,
                       const CallSite& site, bool is_write) {
  const Storage& storage = *tensor.array()->storage();
  if (!storage.has_elements()) {
    refuse_elements(storage, what, base::intern(site));
  }
  if (Creator* creator = tensor::execution().creator) {
    creator->on_host_access(tensor, what, is_write, site);
  }
  if (tensor.space() != memory::kHost) {
    base::raise<DeviceError>(
        "{}: the tensor lies in memory space {}, copy it to the host first",
        what, tensor.space().value);
  }
}

}  // namespace neap::tensor
