// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/data/fields/field_loader.hpp"

#include <algorithm>
#include <cstring>

#include "neap/base/outside.hpp"
#include "neap/base/raise.hpp"
#include "neap/data/fields/length_plan.hpp"
#include "neap/data/fingerprint.hpp"
#include "neap/data/read_ahead.hpp"
#include "neap/data/read_error.hpp"
#include "neap/memory/scope.hpp"
#include "neap/tensor/create.hpp"
#include "neap/tensor/execution.hpp"

namespace neap::data {
namespace {

using base::raise;

constexpr const char* kAboutPosition = "which batch of a loader comes next";

template <class T>
memory::Vector<T> vector_of() {
  return memory::Vector<T>(memory::Allocator<T>(memory::Category::kData));
}

memory::Vector<FieldSpec> specs_of(const AnyFieldSet& set) {
  const auto fields = set.fields();
  if (fields.empty() || fields.size() > kMostFields) {
    raise<ValueError>("field loader: a set with {} fields, expected 1 to {}",
                      fields.size(), kMostFields);
  }
  auto specs = vector_of<FieldSpec>();
  specs.assign(fields.begin(), fields.end());
  return specs;
}

void check_multiple(const FieldLoaderOptions& options) {
  if (options.multiple < 1 || options.multiple > kMostMultiple) {
    raise<ValueError>("field loader: .multiple is {}, expected 1 to {}",
                      options.multiple, kMostMultiple);
  }
  for (const std::int64_t length : options.lengths) {
    if (length % options.multiple != 0) {
      raise<ValueError>(
          "field loader: a length of {} in .lengths, expected multiples of {} "
          "(.multiple)",
          length, options.multiple);
    }
  }
}

BucketSampler sampler_for(const AnyFieldSet& set,
                          const FieldLoaderOptions& options) {
  auto lengths = vector_of<std::int64_t>();
  lengths.reserve(static_cast<std::size_t>(set.size()));
  for (std::int64_t i = 0; i < set.size(); ++i) {
    lengths.push_back(set.length(i));
  }
  check_multiple(options);
  auto buckets = vector_of<std::int64_t>();
  if (options.lengths.empty()) {
    buckets = plan_lengths(lengths, options.buckets, options.multiple);
  } else {
    buckets.assign(options.lengths.begin(), options.lengths.end());
  }
  return {lengths,
          buckets,
          {.batch = options.batch,
           .items = options.items,
           .shuffle = options.shuffle,
           .seed = options.seed,
           .drop_last = options.drop_last}};
}

Tensor view_of(const Tensor& whole, const Shape& shape) {
  const auto& array = whole.array();
  return Tensor(tensor::Array::make(
      array->storage(), tensor::dense_layout(array->dtype(), shape)));
}

Shape with_axes(Shape shape, std::int64_t size,
                std::optional<std::int64_t> length) {
  if (length) {
    shape.insert(0, *length);
  }
  shape.insert(0, size);
  return shape;
}

// Row `row` of rows of `bytes`.
std::span<std::byte> row_of(const Tensor& whole, std::int64_t row,
                            std::int64_t bytes) {
  return {whole.array()->strided().data + row * bytes,
          static_cast<std::size_t>(bytes)};
}

void fill_with(std::span<std::byte> row, const Tensor& element) {
  const tensor::Strided view = element.array()->strided();
  const auto size = static_cast<std::size_t>(size_of(view.dtype));
  for (std::size_t at = 0; at < row.size(); at += size) {
    std::memcpy(&row[at], view.data, size);
  }
}

}  // namespace

FieldLoader::FieldLoader(const AnyFieldSet& set,
                         const FieldLoaderOptions& options, CallSite site)
    : set_(set),
      options_(options),
      site_(base::intern(site)),
      specs_(specs_of(set)),
      sampler_(sampler_for(set, options)) {
  options_.lengths = {};  // the caller's, and in the sampler by now
  if (options.prefetch < 0 || options.prefetch > kMaxPrefetch) {
    raise<ValueError>("field loader: prefetch of {} batches, expected 0 to {}",
                      options.prefetch, kMaxPrefetch);
  }
  make_ring(site);
  if (options.prefetch > 0) {
    const auto fill = [](void* loader, std::int64_t number) {
      static_cast<const FieldLoader*>(loader)->fill(number);
    };
    reader_ =
        memory::make_owned<ReadAhead>(memory::Category::kData, fill, this);
  }
}

FieldLoader::~FieldLoader() = default;

void FieldLoader::make_ring(CallSite site) {
  const memory::ContextGuard guard(
      [](memory::Context& c) { c.category = memory::Category::kInputs; });
  const memory::OutsideScopes outside;
  for (std::size_t field = 0; field < specs_.size(); ++field) {
    const FieldSpec& spec = specs_[field];
    padding_[field] = full({1}, spec.padding, spec.dtype, site);
    if (!is_floating(spec.dtype) &&
        padding_[field].item() != spec.padding) {
      raise<ValueError>("field loader: a padding of {} is no {}", spec.padding,
                        name_of(spec.dtype));
    }
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(slots()); ++i) {
    Slot& slot = ring_[i];
    for (std::size_t field = 0; field < specs_.size(); ++field) {
      const FieldSpec& spec = specs_[field];
      Shape shape = spec.shape;
      shape.insert(0, spec.is_variable ? sampler_.most_items()
                                       : sampler_.most_samples());
      slot.fields[field] = empty(shape, spec.dtype, site);
      if (spec.is_variable) {
        slot.masks[field] = empty({sampler_.most_items()}, boolean, site);
      }
    }
  }
}

std::optional<std::uint64_t> FieldLoader::fingerprint() const {
  const auto held = set_.fingerprint();
  if (!held) {
    return held;
  }
  return data::fingerprint(
      std::as_bytes(sampler_.buckets()),
      data::fingerprint(
          {options_.batch, options_.items, options_.multiple,
           static_cast<std::int64_t>(options_.pad_to), options_.shuffle ? 1 : 0,
           static_cast<std::int64_t>(options_.seed),
           options_.drop_last ? 1 : 0},
          *held));
}

std::int64_t FieldLoader::epoch(const CallSite& site) const noexcept {
  base::tell_of_question("epoch", kAboutPosition, site);
  return epoch_;
}

std::int64_t FieldLoader::next_batch(const CallSite& site) const noexcept {
  base::tell_of_question("next_batch", kAboutPosition, site);
  return next_ - first_;
}

void FieldLoader::start(std::int64_t epoch, std::int64_t first_batch,
                        const CallSite& site) noexcept {
  if (tensor::thread_execution().trace != nullptr) {
    base::tell_of_question("start", "for the batches of an epoch", site);
    return;
  }
  const bool has_reader = reader_ && reader_->is_here();
  if (has_reader) {
    reader_->rewind(next_);
  }
  sampler_.start(epoch);
  epoch_ = epoch;
  first_ = next_ - std::clamp<std::int64_t>(first_batch, 0, sampler_.batches());
  end_ = first_ + sampler_.batches();
  if (has_reader) {
    reader_->allow(std::min(end_, next_ + options_.prefetch));
  }
}

const FieldBatch* FieldLoader::next() {
  if (tensor::thread_execution().trace != nullptr) {
    raise<TraceError>(
        "field loader: a step that is traced asks for a batch, and would see "
        "that one in every run; give the step its batch as arguments");
  }
  if (next_ >= end_) {
    return nullptr;
  }
  hand_over(next_ + options_.prefetch);
  if (!reader_) {
    fill(next_);
  } else if (reader_->is_here()) {
    reader_->allow(std::min(end_, next_ + options_.prefetch + 1));
    reader_->await(next_);
  } else {
    raise<ValueError>(
        "field loader: its reader thread stayed with the parent process; make "
        "a loader after the fork");
  }
  Slot& slot = slot_of(next_);
  show(slot, sampler_[next_ - first_]);
  ++next_;
  return &slot.shown;
}

FieldLoader::Slot& FieldLoader::slot_of(std::int64_t number) const noexcept {
  return ring_[static_cast<std::size_t>(number % slots())];
}

bool FieldLoader::has_elements(const Slot& slot) const {
  return slot.fields[0].array()->storage()->has_elements();
}

// Graphs that need what batch `number` is written over learn of it here, in the
// thread that uses them.
void FieldLoader::hand_over(std::int64_t number) noexcept {
  const Slot& slot = slot_of(number);
  if (number >= handed_over_ && has_elements(slot)) {
    for (std::size_t field = 0; field < specs_.size(); ++field) {
      slot.fields[field].array()->storage()->bump_version(site_);
      if (specs_[field].is_variable) {
        slot.masks[field].array()->storage()->bump_version(site_);
      }
    }
  }
  handed_over_ = std::max(handed_over_, number + 1);
}

std::int64_t FieldLoader::length_of(const BucketBatch& batch) const {
  std::int64_t longest = 1;
  for (const std::uint32_t sample : batch.samples) {
    longest = std::max(longest, set_.length(sample));
  }
  if (longest > batch.length) {
    raise<ValueError>(
        "field loader: a sample of its set has length {} now, more than the {} "
        "of its bucket; make another loader",
        longest, batch.length);
  }
  if (options_.pad_to == PadTo::kBucket) {
    return batch.length;
  }
  const std::int64_t multiple = options_.multiple;
  return std::min(batch.length, (longest + multiple - 1) / multiple * multiple);
}

void FieldLoader::fill(std::int64_t number) const {
  if (!set_.is_as_it_was()) {
    raise<ValueError>(
        "field loader: its set had {} samples when the loader was made, and "
        "has others now; make another loader",
        set_.size());
  }
  const BucketBatch batch = sampler_[number - first_];
  Slot& slot = slot_of(number);
  slot.length = length_of(batch);
  if (!has_elements(slot)) {
    return;  // a rehearsal
  }
  std::int64_t row = 0;
  for (const std::uint32_t sample : batch.samples) {
    load(slot, row++, sample);
  }
}

void FieldLoader::load(const Slot& slot, std::int64_t row,
                       std::int64_t index) const {
  std::array<FieldRow, kMostFields> rows;
  for (std::size_t field = 0; field < specs_.size(); ++field) {
    const FieldSpec& spec = specs_[field];
    const std::int64_t bytes = spec.shape.element_count() *
                               size_of(spec.dtype) *
                               (spec.is_variable ? slot.length : 1);
    rows[field].bytes = row_of(slot.fields[field], row, bytes);
    rows[field].length = spec.is_variable ? set_.length(index) : 0;
    fill_with(rows[field].bytes, padding_[field]);
  }
  const auto loaded =
      set_.load({epoch_, index}, std::span(rows).first(specs_.size()));
  if (!loaded) {
    throw ReadError(loaded.error());
  }
  for (std::size_t field = 0; field < specs_.size(); ++field) {
    if (!specs_[field].is_variable) {
      continue;
    }
    const std::int64_t own = rows[field].length;
    if (own < 0 || own > slot.length) {
      raise<ValueError>(
          "field loader: sample {} says that {} items of field {} are its own, "
          "in a row of {}",
          index, own, field, slot.length);
    }
    const auto mask = row_of(slot.masks[field], row, slot.length);
    const auto begin = mask.begin();
    std::fill(begin, begin + own, std::byte{1});
    std::fill(begin + own, mask.end(), std::byte{0});
  }
}

void FieldLoader::show(Slot& slot, const BucketBatch& batch) const {
  const memory::OutsideScopes outside;
  FieldBatch shown;
  shown.size = static_cast<std::int64_t>(batch.samples.size());
  shown.length = slot.length;
  for (std::size_t field = 0; field < specs_.size(); ++field) {
    const FieldSpec& spec = specs_[field];
    const auto length =
        spec.is_variable ? std::optional(slot.length) : std::nullopt;
    shown.fields[field] =
        view_of(slot.fields[field], with_axes(spec.shape, shown.size, length));
    if (spec.is_variable) {
      shown.masks[field] =
          view_of(slot.masks[field], {shown.size, slot.length});
    }
  }
  slot.shown = std::move(shown);
}

}  // namespace neap::data
