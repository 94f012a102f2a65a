// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/tensor/host_access.hpp"

#include "neap/base/raise.hpp"
#include "neap/tensor/creator.hpp"
#include "neap/tensor/execution.hpp"

namespace neap::tensor {

namespace {

// Checks everything but whether the elements themselves may be read.
void check_look(const Tensor& tensor, const char* what, const CallSite& site,
                bool is_write) {
  if (Creator* creator = tensor::thread_execution().creator) {
    creator->on_host_access(tensor, what, is_write, site);
  }
  if (tensor.space() != memory::kHost) {
    base::raise<DeviceError>(
        "{}: the tensor lies in memory space {}, copy it to the host first",
        what, tensor.space().value);
  }
}

}  // namespace

void check_host_access(const Tensor& tensor, const char* what,
                       const CallSite& site, bool is_write) {
  Storage& storage = *tensor.array()->storage();
  if (!storage.fetch_elements()) {
    refuse_elements(storage, what, base::intern(site));
  }
  check_look(tensor, what, site, is_write);
}

void check_host_look(const Tensor& tensor, const char* what,
                     const CallSite& site, bool is_write) {
  const Storage& storage = *tensor.array()->storage();
  if (!storage.has_elements() && storage.absence() != Absence::kAway) {
    refuse_elements(storage, what, base::intern(site));
  }
  check_look(tensor, what, site, is_write);
}

bool is_whole(const Tensor& tensor) {
  const Array& array = *tensor.array();
  return is_contiguous(array.layout()) &&
         tensor.element_count() * size_of(array.dtype()) ==
             array.storage()->size();
}

HostLook::HostLook(const Tensor& tensor, const char* what, const CallSite& site)
    : array_(tensor.array()) {
  check_host_look(tensor, what, site);
  Storage& storage = *array_->storage();
  if (storage.absence() == Absence::kAway) {
    copy_ = Storage::allocate(storage.size(),
                              memory::current_tag(memory::Category::kData),
                              storage.domain());
    if (!storage.copy_away(
            {copy_->data(), static_cast<std::size_t>(copy_->size())})) {
      copy_ = nullptr;  // it has come home meanwhile
    }
  }
}

Strided HostLook::strided() const noexcept {
  Strided out = array_->strided();
  if (copy_) {
    out.data =
        copy_->data() + array_->layout().offset * size_of(array_->dtype());
  }
  return out;
}

}  // namespace neap::tensor
