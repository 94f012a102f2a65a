// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/formats/elements.hpp"

#include <cstring>

namespace neap::formats {
namespace {

// Walks the elements of a view in row-major order, as offsets in elements.
class Odometer {
 public:
  Odometer(const tensor::Strided& view, std::int64_t first) noexcept
      : shape_(view.shape), strides_(view.strides), at_(view.shape) {
    for (int axis = shape_.rank() - 1; axis >= 0; --axis) {
      at_[axis] = first % shape_[axis];
      first /= shape_[axis];
      offset_ += at_[axis] * strides_[axis];
    }
  }

  std::int64_t offset() const noexcept { return offset_; }
  void advance() noexcept {
    for (int axis = shape_.rank() - 1; axis >= 0; --axis) {
      offset_ += strides_[axis];
      if (++at_[axis] < shape_[axis]) {
        return;
      }
      offset_ -= strides_[axis] * shape_[axis];
      at_[axis] = 0;
    }
  }

 private:
  Shape shape_;
  Shape strides_;
  Shape at_;
  std::int64_t offset_ = 0;
};

// copy(offset of the element in bytes, offset of its dense place)
template <class Copy>
void for_each(const tensor::Strided& view, std::int64_t first,
              std::size_t dense_bytes, const Copy& copy) noexcept {
  if (dense_bytes == 0) {
    return;
  }
  const int size = size_of(view.dtype);
  Odometer odometer(view, first);
  for (std::size_t at = 0; at < dense_bytes;
       at += static_cast<std::size_t>(size)) {
    copy(odometer.offset() * size, at, static_cast<std::size_t>(size));
    odometer.advance();
  }
}

}  // namespace

void gather(const tensor::Strided& from, std::int64_t first,
            std::span<std::byte> into) noexcept {
  for_each(from, first, into.size(),
           [&](std::int64_t offset, std::size_t at, std::size_t size) {
             std::memcpy(&into[at], from.data + offset, size);
           });
}

void scatter(std::span<const std::byte> from, const tensor::Strided& into,
             std::int64_t first) noexcept {
  for_each(into, first, from.size(),
           [&](std::int64_t offset, std::size_t at, std::size_t size) {
             std::memcpy(into.data + offset, &from[at], size);
           });
}

}  // namespace neap::formats
