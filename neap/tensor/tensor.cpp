// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/tensor/tensor.hpp"

#include "neap/base/raise.hpp"
#include "neap/tensor/creator.hpp"
#include "neap/tensor/element.hpp"
#include "neap/tensor/execution.hpp"
#include "neap/tensor/host_access.hpp"
#include "neap/tensor/tangent.hpp"

namespace neap {

using base::raise;
using tensor::Array;
using tensor::check_host_access;

Tensor::Tensor(base::Ref<Array> array, base::Ref<tensor::GraphLink> link,
               std::uint32_t output)
    : body_(tensor::Body::create(std::move(array), std::move(link), output)) {
  tell_of_birth();
}

void Tensor::refuse_undefined() const {
  if (body_) {
    raise<UseAfterRelease>(
        "tensor: used after it was released by the scope opened at {}, keep() "
        "or detach() there what is needed later",
        base::format_site(body_->revoked_by()));
  }
  raise<UseAfterRelease>(
      "tensor: used while undefined (default-made, moved "
      "from, or never assigned)");
}

void Tensor::set_link(base::Ref<tensor::GraphLink> link, std::uint32_t output) {
  body().set_link(std::move(link), output);
}

void Tensor::renew(base::Ref<tensor::GraphLink> link, std::uint32_t output) {
  set_link(std::move(link), output);
  body_->renew();
}

void Tensor::rebind(const Tensor& other) {
  if (tensor::thread_execution().trace != nullptr) {
    raise<TraceError>(
        "rebind: a step that is traced makes all copies of a handle mean "
        "another tensor, which no run would repeat; do it outside");
  }
  body().rebind(other.body());
}

std::int64_t Tensor::size(std::int64_t axis) const {
  return shape()[base::normalize_axis("size", axis, rank())];
}

bool Tensor::is_contiguous() const {
  return tensor::is_contiguous(asked()->layout());
}

const void* Tensor::host_elements(DType dtype, const CallSite& site) const {
  check_host_access(*this, "values", site);
  if (dtype != this->dtype()) {
    raise<DTypeError>("values: asked as {}, the tensor holds {}",
                      name_of(dtype), name_of(this->dtype()));
  }
  if (!is_contiguous()) {
    raise<ShapeError>(
        "values: the tensor {} is a view with gaps, take contiguous() first",
        format_shape(shape()));
  }
  return array()->strided().data;
}

void* Tensor::writable_elements(DType dtype, const CallSite& site) {
  const auto& link = body().link();
  if (link && !link->is_leaf()) {
    raise<GraphError>(
        "mutable_values: a graph records this tensor, write to a detached copy "
        "instead");
  }
  if (array()->has_tangents()) {
    raise<GraphError>(
        "mutable_values: forward mode carries a derivative of this tensor, "
        "write to a detached copy instead");
  }
  check_host_access(*this, "mutable_values", site, true);
  const void* data = host_elements(dtype, site);
  array()->storage()->bump_version(base::intern(site));
  return const_cast<void*>(data);
}

double Tensor::at(std::initializer_list<std::int64_t> index,
                  CallSite site) const {
  check_host_access(*this, "at", site);
  if (static_cast<int>(index.size()) != rank()) {
    raise<ShapeError>("at: {} positions given for shape {}", index.size(),
                      format_shape(shape()));
  }
  const tensor::Strided view = array()->strided();
  std::int64_t offset = 0;
  int axis = 0;
  for (std::int64_t position : index) {
    const std::int64_t extent = view.shape[axis];
    if (position < -extent || position >= extent) {
      raise<ShapeError>("at: position {} out of range for axis {} of {}",
                        position, axis, format_shape(shape()));
    }
    offset +=
        (position < 0 ? position + extent : position) * view.strides[axis];
    ++axis;
  }
  return tensor::element_as_double(view, offset);
}

double Tensor::item(CallSite site) const {
  check_host_access(*this, "item", site);
  if (element_count() != 1) {
    raise<ShapeError>("item: shape {} has {} elements, expected one",
                      format_shape(shape()), element_count());
  }
  return tensor::element_as_double(array()->strided(), 0);
}

memory::Vector<double> Tensor::to_vector(CallSite site) const {
  check_host_access(*this, "to_vector", site);
  const tensor::Strided view = array()->strided();
  memory::Vector<double> out{
      memory::Allocator<double>(memory::Category::kOther)};
  out.reserve(static_cast<std::size_t>(element_count()));
  tensor::for_each_offset(view.shape, view.strides, [&](std::int64_t offset) {
    out.push_back(tensor::element_as_double(view, offset));
  });
  return out;
}

bool Tensor::is_leaf() const {
  tell_of_question(tensor::Question::kIsLeaf);
  const auto& link = body().link();
  return !link || link->is_leaf();
}

Tensor Tensor::grad() const {
  tell_of_question(tensor::Question::kGrad);
  const auto& link = body().link();
  return link ? link->grad(output_index()) : Tensor();
}

// Both get an array of their own: a tangent is no part of what is detached.
Tensor Tensor::detach() const {
  tell_of_question();
  return Tensor(Array::make(array()->storage(), array()->layout()));
}

Tensor Tensor::alias() const {
  tell_of_question(tensor::Question::kRequiresGrad);
  tell_of_question(tensor::Question::kIsLeaf);
  base::Ref<Array> own = Array::make(array()->storage(), array()->layout());
  tensor::copy_tangents(*array(), *own);
  return Tensor(std::move(own), link(), output_index());
}

bool Tensor::is_alias_of(const Tensor& other) const {
  if (tensor::Creator* creator = tensor::thread_execution().creator) {
    creator->on_alias_asked(*this, other);
  }
  return asked()->storage() == other.asked()->storage();
}

bool Tensor::owns_alone() const {
  const tensor::Body& b = body();
  return b.is_unique() && b.array()->is_unique() &&
         b.array()->storage()->is_unique() && !b.array()->storage()->is_lent();
}

Tensor Tensor::borrow_bytes(void* data, std::int64_t count, DType dtype,
                            const Shape& shape,
                            memory::Owned<tensor::LentOwner> owner,
                            const CallSite& site) {
  if (count != shape.element_count()) {
    raise<ShapeError>("borrow: {} elements given for shape {} of {}", count,
                      format_shape(shape), shape.element_count());
  }
  const memory::Tag tag =
      memory::current_tag(memory::Category::kOther, base::intern(site));
  const tensor::Layout layout = tensor::dense_layout(dtype, shape);
  tensor::LentOwner& lender = *owner;
  auto storage =
      tensor::Storage::borrow(data, tensor::extent_bytes(layout),
                              std::move(owner), tag, memory::domain());
  Tensor out(Array::make(std::move(storage), layout));
  if (tensor::Creator* creator = tensor::thread_execution().creator) {
    creator->made(out);
  }
  lender.arm();  // from here on nothing can fail
  return out;
}

}  // namespace neap
