// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/data/tensor_set.hpp"

#include <fmt/format.h>

#include <cstring>

#include "neap/base/outside.hpp"
#include "neap/base/raise.hpp"
#include "neap/data/fingerprint.hpp"
#include "neap/memory/scope.hpp"
#include "neap/tensor/host_access.hpp"

namespace neap::data {
namespace {

bool is_rehearsed(const Tensor& rows) {
  const tensor::Storage& storage = *rows.array()->storage();
  return !storage.has_elements() &&
         storage.absence() == tensor::Absence::kRehearsed;
}

// A handle of the set's own, which no scope takes away.
Tensor own(const Tensor& tensor, const char* name, const CallSite& site) {
  if (!tensor.defined() || !is_rehearsed(tensor)) {
    tensor::check_host_access(tensor, "a tensor set", site);
  }
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

// RETURNS: false where there is no such row, or of another size.
bool copy_row(const Tensor& rows, std::int64_t index, std::span<std::byte> to) {
  const std::int64_t count = rows.size(0);
  if (index < 0 || index >= count ||
      to.size() != elements(rows).size() / static_cast<std::size_t>(count)) {
    return false;
  }
  const std::size_t first = static_cast<std::size_t>(index) * to.size();
  if (!to.empty()) {
    std::memcpy(to.data(), elements(rows).data() + first, to.size());
  }
  return true;
}

std::uint64_t fingerprint_of(const Tensor& rows, std::uint64_t before) {
  for (const std::int64_t extent : rows.shape()) {
    before =
        fingerprint({extent, static_cast<std::int64_t>(rows.dtype())}, before);
  }
  if (is_rehearsed(rows)) {
    return before;
  }
  tensor::check_host_access(rows, "a tensor set's fingerprint", {});
  return fingerprint(elements(rows), before);
}

}  // namespace

TensorSet::TensorSet(const Tensor& inputs, const Tensor& targets, CallSite site)
    : inputs_(own(inputs, "inputs", site)),
      targets_(own(targets, "targets", site)) {
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
  base::tell_of_question("load", "for a sample of a data set", {});
  if (!inputs_.array()->storage()->has_elements() ||
      !targets_.array()->storage()->has_elements()) {
    return tl::unexpected(
        Failure{FailureKind::kNotFound,
                "tensor set: its tensors' elements were released"});
  }
  if (!copy_row(inputs_, index, input) || !copy_row(targets_, index, target)) {
    return tl::unexpected(Failure{
        FailureKind::kMismatch,
        fmt::format("tensor set: sample {} of {} and {} B was asked for, the "
                    "tensors are {} and {}",
                    index, input.size(), target.size(),
                    format_shape(inputs_.shape()),
                    format_shape(targets_.shape()))});
  }
  return {};
}

std::uint64_t TensorSet::fingerprint() const {
  return fingerprint_of(targets_, fingerprint_of(inputs_, 0));
}

}  // namespace neap::data
