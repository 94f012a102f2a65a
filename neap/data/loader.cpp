// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/data/loader.hpp"

#include <algorithm>

#include "neap/base/raise.hpp"
#include "neap/memory/scope.hpp"
#include "neap/tensor/create.hpp"

namespace neap::data {
namespace {

Shape with_batch(const Shape& sample, std::int64_t batch) {
  Shape shape = sample;
  shape.insert(0, batch);
  return shape;
}

Tensor first_rows(const Tensor& whole, std::int64_t count) {
  const auto& array = whole.array();
  return Tensor(tensor::Array::make(
      array->storage(), tensor::sliced(array->layout(), 0, 0, count, 1)));
}

// Row `row` of a dense tensor with a leading batch axis, as bytes.
std::span<std::byte> row_bytes(const Tensor& batch, std::int64_t row) noexcept {
  const tensor::Strided view = batch.array()->strided();
  const std::int64_t bytes = view.strides[0] * size_of(view.dtype);
  return {view.data + row * bytes, static_cast<std::size_t>(bytes)};
}

}  // namespace

Loader::Loader(AnyDataset dataset, const LoaderOptions& options, CallSite site)
    : dataset_(dataset),
      options_(options),
      site_(base::intern(site)),
      sampler_(dataset.size(), options.shuffle, options.seed) {
  if (options.batch <= 0) {
    base::raise<ValueError>(
        "loader: a batch of {} samples, expected at least 1", options.batch);
  }
  const memory::ContextGuard guard(
      [](memory::Context& c) { c.category = memory::Category::kInputs; });
  const memory::OutsideScopes outside;
  const SampleSpec& spec = dataset_.spec();
  // No batch has more samples than there are.
  const std::int64_t rows =
      std::max<std::int64_t>(1, std::min(options.batch, dataset_.size()));
  for (Batch& slot : ring_) {
    slot.input = empty(with_batch(spec.input, rows), spec.input_dtype, site);
    slot.target = empty(with_batch(spec.target, rows), spec.target_dtype, site);
  }
  const std::int64_t rest = dataset_.size() % options.batch;
  if (rest != 0 && !options.drop_last) {
    for (std::size_t slot = 0; slot < ring_.size(); ++slot) {
      partial_[slot] = {first_rows(ring_[slot].input, rest),
                        first_rows(ring_[slot].target, rest)};
    }
  }
  position_ = dataset_.size();  // nothing to give before start()
}

std::int64_t Loader::batches_per_epoch() const noexcept {
  const std::int64_t whole = dataset_.size() / options_.batch;
  const bool has_rest = dataset_.size() % options_.batch != 0;
  return whole + (has_rest && !options_.drop_last ? 1 : 0);
}

void Loader::start(std::int64_t epoch, std::int64_t first_batch) noexcept {
  sampler_.start(epoch);
  // Compared before they are multiplied: the product may be too large.
  const bool is_inside = first_batch <= dataset_.size() / options_.batch;
  position_ = is_inside
                  ? std::max<std::int64_t>(first_batch, 0) * options_.batch
                  : dataset_.size();
}

const Batch* Loader::next() {
  if (memory::context().trace != nullptr) {
    base::raise<TraceError>(
        "loader: a step that is traced asks for a batch, and would see that "
        "one in every run; give the step its batch as arguments");
  }
  const std::int64_t count =
      std::min(options_.batch, dataset_.size() - position_);
  const bool is_whole = count == options_.batch;
  if (count <= 0 || (!is_whole && options_.drop_last)) {
    return nullptr;
  }
  slot_ = (slot_ + 1) % ring_.size();
  fill(ring_[slot_], count);
  position_ += count;
  return is_whole ? &ring_[slot_] : &partial_[slot_];
}

void Loader::fill(const Batch& slot, std::int64_t count) noexcept {
  if (!slot.input.array()->storage()->has_elements()) {
    return;  // a rehearsal
  }
  slot.input.array()->storage()->bump_version(site_);
  slot.target.array()->storage()->bump_version(site_);
  for (std::int64_t row = 0; row < count; ++row) {
    dataset_.load(sampler_[position_ + row], row_bytes(slot.input, row),
                  row_bytes(slot.target, row));
  }
}

}  // namespace neap::data
