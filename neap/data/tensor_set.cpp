// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/data/tensor_set.hpp"

#include <cstring>

#include "neap/base/raise.hpp"
#include "neap/data/fingerprint.hpp"
#include "neap/memory/scope.hpp"
#include "neap/tensor/host_access.hpp"

namespace neap::data {
namespace {

// A handle of the set's own, which no scope takes away.
Tensor own(const Tensor& tensor, const char* name) {
  tensor::check_host_access(tensor, "a tensor set", CallSite::here());
  if (tensor.rank() == 0 || !tensor.is_contiguous()) {
    base::raise<ShapeError>(
        "tensor set: {} {}, expected (n, ...) and dense; contiguous() makes it "
        "so",
        name, format_shape(tensor.shape()));
  }
  const memory::OutsideScopes outside;
  return tensor.detach();
}

Shape sample_of(const Tensor& rows) {
  Shape shape = rows.shape();
  shape.erase(0);
  return shape;
}

std::span<const std::byte> elements(const Tensor& rows) {
  return {
      rows.array()->strided().data,
      static_cast<std::size_t>(rows.element_count() * size_of(rows.dtype()))};
}

void copy_row(const Tensor& rows, std::int64_t index, std::span<std::byte> to) {
  const std::size_t first = static_cast<std::size_t>(index) * to.size();
  const auto from = elements(rows).subspan(first, to.size());
  if (!from.empty()) {
    std::memcpy(to.data(), from.data(), from.size());
  }
}

std::uint64_t fingerprint_of(const Tensor& rows, std::uint64_t before) {
  for (const std::int64_t extent : rows.shape()) {
    before =
        fingerprint({extent, static_cast<std::int64_t>(rows.dtype())}, before);
  }
  return rows.array()->storage()->has_elements()
             ? fingerprint(elements(rows), before)
             : before;
}

}  // namespace

TensorSet::TensorSet(const Tensor& inputs, const Tensor& targets)
    : inputs_(own(inputs, "inputs")), targets_(own(targets, "targets")) {
  if (inputs.size(0) != targets.size(0)) {
    base::raise<ShapeError>(
        "tensor set: inputs {} and targets {}, expected as many rows",
        format_shape(inputs.shape()), format_shape(targets.shape()));
  }
}

const Tensor& TensorSet::inputs() const {
  inputs_.array();  // throws for a set that was moved from
  return inputs_;
}

const Tensor& TensorSet::targets() const {
  targets_.array();
  return targets_;
}

std::int64_t TensorSet::size() const {
  return inputs_.size(0);
}

SampleSpec TensorSet::spec() const {
  return {sample_of(inputs_), inputs_.dtype(), sample_of(targets_),
          targets_.dtype()};
}

Result<void> TensorSet::load(std::int64_t index, std::span<std::byte> input,
                             std::span<std::byte> target) const {
  if (!inputs_.array()->storage()->has_elements() ||
      !targets_.array()->storage()->has_elements()) {
    return tl::unexpected(
        Failure{FailureKind::kNotFound,
                "tensor set: its tensors' elements were released"});
  }
  copy_row(inputs_, index, input);
  copy_row(targets_, index, target);
  return {};
}

std::uint64_t TensorSet::fingerprint() const {
  return fingerprint_of(targets_, fingerprint_of(inputs_, 0));
}

}  // namespace neap::data
