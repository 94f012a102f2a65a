// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/shape/split.hpp"

#include "neap/ops/shape/axes.hpp"
#include "neap/ops/shape/slice.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {
namespace {

memory::Vector<Tensor> parts_of(const Operand& x, int axis, std::int64_t size) {
  const std::int64_t extent = x.tensor().shape()[axis];
  memory::Vector<Tensor> parts;
  // Nothing is one part of nothing.
  std::int64_t start = 0;
  do {
    const std::int64_t count = std::min(size, extent - start);
    parts.push_back(slice_of(x.tensor(), {axis, start, 1, count, extent}));
    start += count;
  } while (start < extent);
  return parts;
}

}  // namespace
}  // namespace ops

memory::Vector<Tensor> split(const TensorOperand& x, std::int64_t size,
                             std::int64_t axis) {
  const ops::AtSite here(x);
  const int rank = ops::tensor_of("split", x).rank();
  const int along = base::normalize_axis("split", axis, rank);
  if (size <= 0) {
    base::raise<ValueError>("split: parts of {}, expected at least 1", size);
  }
  return ops::parts_of(x, along, size);
}

memory::Vector<Tensor> split(const TensorOperand& x,
                             std::span<const std::int64_t> sizes,
                             std::int64_t axis) {
  const ops::AtSite here(x);
  const Shape& shape = ops::tensor_of("split", x).shape();
  const int along = base::normalize_axis("split", axis, shape.rank());
  std::int64_t total = 0;
  for (const std::int64_t size : sizes) {
    total = size < 0 || total < 0 ? -1 : base::checked_add(total, size);
  }
  if (total != shape[along]) {
    base::raise<ShapeError>(
        "split: {} sizes, expected none below 0 and {} together, for axis {} "
        "of {}",
        sizes.size(), shape[along], axis, format_shape(shape));
  }
  memory::Vector<Tensor> parts;
  parts.reserve(sizes.size());
  std::int64_t start = 0;
  for (const std::int64_t size : sizes) {
    parts.push_back(
        ops::slice_of(x.tensor(), {along, start, 1, size, shape[along]}));
    start += size;
  }
  return parts;
}

memory::Vector<Tensor> split(const TensorOperand& x,
                             std::initializer_list<std::int64_t> sizes,
                             std::int64_t axis) {
  return split(x, std::span(sizes.begin(), sizes.size()), axis);
}

memory::Vector<Tensor> chunk(const TensorOperand& x, std::int64_t count,
                             std::int64_t axis) {
  const ops::AtSite here(x);
  const Shape& shape = ops::tensor_of("chunk", x).shape();
  const int along = base::normalize_axis("chunk", axis, shape.rank());
  if (count <= 0) {
    base::raise<ValueError>("chunk: {} parts, expected at least 1", count);
  }
  if (shape[along] == 0) {
    const memory::Vector<Tensor> nothing = ops::parts_of(x, along, 1);
    return memory::Vector<Tensor>(static_cast<std::size_t>(count),
                                  nothing.front());
  }
  return ops::parts_of(x, along, (shape[along] - 1) / count + 1);
}

memory::Vector<Tensor> unbind(const TensorOperand& x, std::int64_t axis) {
  const ops::AtSite here(x);
  const Shape& shape = ops::tensor_of("unbind", x).shape();
  const int along = base::normalize_axis("unbind", axis, shape.rank());
  memory::Vector<Tensor> parts;
  parts.reserve(static_cast<std::size_t>(shape[along]));
  for (std::int64_t at = 0; at < shape[along]; ++at) {
    parts.push_back(ops::without_axes(
        ops::slice_of(x.tensor(), {along, at, 1, 1, shape[along]}),
        ops::axis_bit(along)));
  }
  return parts;
}

}  // namespace neap
