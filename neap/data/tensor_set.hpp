// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// TensorSet: a data set of samples that are in memory already. Sample i is row
// i of the two tensors, whose elements it shares: nothing is copied but into
// batches.
//
//   const data::TensorSet points(x, y);  // x (n, ...), y (n, ...)
//   data::Loader loader(points, {.batch = 64, .shuffle = true});
#pragma once

#include "neap/data/dataset.hpp"

namespace neap::data {

/// Inputs (n, sample shape...) and targets (n, target shape...) of any dtype,
/// dense and in host memory. The set is of no scope and on no graph. Later
/// writes into the tensors show in later batches; they are not allowed while a
/// reader thread loads. LIFETIME: of memory that was borrowed, as long as the
/// set.
class NEAP_API TensorSet {
 public:
  /// THROWS: ShapeError unless both have as many rows and are dense;
  /// DeviceError unless they are in host memory; UseAfterRelease; TraceError
  /// for tensors of a step that is traced; OutOfMemory.
  TensorSet(const Tensor& inputs, const Tensor& targets,
            CallSite site = CallSite::here());
  TensorSet(TensorSet&&) = default;
  TensorSet(const TensorSet&) = default;
  // A loader knows how many samples there were, and of which shape.
  TensorSet& operator=(TensorSet&&) = delete;
  TensorSet& operator=(const TensorSet&) = delete;
  ~TensorSet() = default;

  /// THROWS: UseAfterRelease for a set that was moved from.
  const Tensor& inputs() const;
  const Tensor& targets() const;

  // Dataset.
  std::int64_t size() const;
  SampleSpec spec() const;
  Result<void> load(std::int64_t index, std::span<std::byte> input,
                    std::span<std::byte> target) const;
  /// The fingerprint of all elements and shapes. THROWS: UseAfterRelease where
  /// elements were released.
  std::uint64_t fingerprint() const;

 private:
  Tensor inputs_;
  Tensor targets_;
};

}  // namespace neap::data
