// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The checks of every function that reads or writes elements on the host.
#pragma once

#include "neap/tensor/tensor.hpp"

namespace neap::tensor {

/// The host may look at elements that are there, and while a step is traced at
/// none that may be others in the next run. THROWS: TraceError, UseAfterRelease
/// (as refuse_elements), DeviceError off the host.
NEAP_API void check_host_access(const Tensor& tensor, const char* what,
                                const CallSite& site, bool is_write = false);

/// The same, of a HostLook that is to come, or of a write of all elements:
/// what is away stays so. THROWS: as check_host_access().
NEAP_API void check_host_look(const Tensor& tensor, const char* what,
                              const CallSite& site, bool is_write = false);

/// Whoever writes its elements writes all of its storage.
NEAP_API bool is_whole(const Tensor& tensor);

/// A tensor's elements for a host that reads all of it once, and then goes on
/// to another (a save, a hash): what is away stays so, and is looked at in a
/// copy that goes with this.
class NEAP_API HostLook {
 public:
  /// THROWS: as check_host_access(); IoError, OutOfMemory for the copy.
  HostLook(const Tensor& tensor, const char* what, const CallSite& site);

  /// LIFETIME: this, and the tensor.
  Strided strided() const noexcept;

 private:
  base::Ref<Array> array_;
  base::Ref<Storage> copy_;  // null: the tensor's own elements
};

}  // namespace neap::tensor
