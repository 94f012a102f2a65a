// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/data/loader.hpp"

#include <algorithm>
#include <bit>

#include "neap/base/outside.hpp"
#include "neap/base/raise.hpp"
#include "neap/data/read_ahead.hpp"
#include "neap/data/read_error.hpp"
#include "neap/memory/scope.hpp"
#include "neap/tensor/create.hpp"
#include "neap/tensor/execution.hpp"

namespace neap::data {
namespace {

constexpr const char* kAboutPosition = "which batch of a loader comes next";

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
  const std::int64_t bytes =
      batch.element_count() / batch.size(0) * size_of(view.dtype);
  return {view.data + row * bytes, static_cast<std::size_t>(bytes)};
}

}  // namespace

Loader::Loader(const AnyDataset& dataset, const LoaderOptions& options,
               CallSite site)
    : dataset_(dataset),
      options_(options),
      site_(base::intern(site)),
      sampler_(dataset.size(), options.shuffle, options.seed) {
  check();
  make_ring(site);
  if (options.prefetch > 0) {
    const auto fill = [](void* loader, std::int64_t number) {
      static_cast<const Loader*>(loader)->fill(number);
    };
    reader_ =
        memory::make_owned<ReadAhead>(memory::Category::kData, fill, this);
  }
}

Loader::~Loader() = default;

void Loader::check() const {
  if (options_.batch <= 0) {
    base::raise<ValueError>(
        "loader: a batch of {} samples, expected at least 1", options_.batch);
  }
  if (options_.prefetch < 0 || options_.prefetch > kMaxPrefetch) {
    base::raise<ValueError>("loader: prefetch of {} batches, expected 0 to {}",
                            options_.prefetch, kMaxPrefetch);
  }
  check_shards();
  if (!is_mixing()) {
    return;
  }
  constexpr double kLeastAlpha = 1e-3;
  constexpr double kMostAlpha = 1e3;
  const MixupOptions& mixup = options_.mixup;
  if (!(mixup.alpha >= kLeastAlpha && mixup.alpha <= kMostAlpha) ||
      mixup.classes < 1) {
    base::raise<ValueError>(
        "loader: mixup with alpha {} and {} classes, expected alpha in [{}, "
        "{}] and at least one class",
        mixup.alpha, mixup.classes, kLeastAlpha, kMostAlpha);
  }
  const SampleSpec& spec = dataset_.spec();
  if (spec.input_dtype != f32 || spec.target_dtype != i64 ||
      spec.target.rank() != 0) {
    base::raise<DTypeError>(
        "loader: mixup of samples of {} with targets of {} and rank {}, "
        "expected f32 and labels of i64",
        name_of(spec.input_dtype), name_of(spec.target_dtype),
        spec.target.rank());
  }
}

void Loader::check_shards() const {
  const auto [count, rank, ranks] = options_.shards;
  if (count < 1 || ranks < 1 || count % ranks != 0 || rank < 0 ||
      rank >= ranks) {
    base::raise<ValueError>(
        "loader: {} shards for rank {} of {}, expected as many for each rank, "
        "counted from 0",
        count, rank, ranks);
  }
  if (ranks > 1 && is_mixing()) {
    base::raise<ValueError>(
        "loader: mixup mixes rows that {} ranks have in different shards; "
        "leave one of the two out",
        ranks);
  }
  const std::int64_t batch = std::min(options_.batch, dataset_.size());
  const std::int64_t rest =
      options_.drop_last ? 0 : dataset_.size() % options_.batch;
  if (ranks > 1 && (batch < count || (rest != 0 && rest < count))) {
    base::raise<ValueError>(
        "loader: a batch of {} samples for {} shards, and each needs one; "
        "{}",
        batch < count ? batch : rest, count,
        batch < count ? "take a larger batch" : "set .drop_last");
  }
}

void Loader::make_ring(CallSite site) {
  const memory::ContextGuard guard(
      [](memory::Context& c) { c.category = memory::Category::kInputs; });
  const memory::OutsideScopes outside;
  const SampleSpec& spec = dataset_.spec();
  // No batch has more samples than there are.
  const std::int64_t rows = std::max<std::int64_t>(
      1, own_rows_of(std::min(options_.batch, dataset_.size())));
  const std::int64_t rest = own_rows_of(dataset_.size() % options_.batch);
  Shape target = with_batch(spec.target, rows);
  DType target_dtype = spec.target_dtype;
  if (is_mixing()) {
    target = {rows, options_.mixup.classes};
    target_dtype = f32;
    labels_.resize(static_cast<std::size_t>(rows));
    spare_.resize(static_cast<std::size_t>(spec.input.element_count()));
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(slots()); ++i) {
    Batch& slot = ring_[i];
    slot.input = empty(with_batch(spec.input, rows), spec.input_dtype, site);
    slot.target = empty(target, target_dtype, site);
    if (rest != 0 && !options_.drop_last) {
      partial_[i] = {first_rows(slot.input, rest),
                     first_rows(slot.target, rest)};
    }
  }
}

std::int64_t Loader::batches_per_epoch() const noexcept {
  const std::int64_t whole = dataset_.size() / options_.batch;
  const bool has_rest = dataset_.size() % options_.batch != 0;
  return whole + (has_rest && !options_.drop_last ? 1 : 0);
}

std::int64_t Loader::epoch(const CallSite& site) const noexcept {
  base::tell_of_question("epoch", kAboutPosition, site);
  return epoch_;
}

std::int64_t Loader::next_batch(const CallSite& site) const noexcept {
  base::tell_of_question("next_batch", kAboutPosition, site);
  return next_ - first_;
}

void Loader::start(std::int64_t epoch, std::int64_t first_batch,
                   const CallSite& site) noexcept {
  if (tensor::thread_execution().trace != nullptr) {
    base::tell_of_question("start", "for the batches of an epoch", site);
    return;
  }
  ++starts_;
  const bool has_reader = reader_ && reader_->is_here();
  if (has_reader) {
    reader_->rewind(next_);
  }
  sampler_.start(epoch);
  epoch_ = epoch;
  const std::int64_t batches = batches_per_epoch();
  first_ = next_ - std::clamp<std::int64_t>(first_batch, 0, batches);
  end_ = first_ + batches;
  if (has_reader) {
    reader_->allow(std::min(end_, next_ + options_.prefetch));
  }
}

Loader::Epoch::Iterator::Iterator(Loader& loader)
    : loader_(&loader), start_(loader.starts_), number_(loader.next_) {
  ++*this;
}

Loader::Epoch::Iterator& Loader::Epoch::Iterator::operator++() {
  if (loader_->starts_ != start_ || loader_->next_ != number_) {
    base::raise<ValueError>(
        "loader: a loop over the batches of an epoch continues after others "
        "were asked for (by start(), next(), or a second loop or evaluate() "
        "inside it); give each its own loader");
  }
  batch_ = loader_->next();
  number_ = loader_->next_;
  return *this;
}

const Batch* Loader::next() {
  if (tensor::thread_execution().trace != nullptr) {
    base::raise<TraceError>(
        "loader: a step that is traced asks for a batch, and would see that "
        "one in every run; give the step its batch as arguments");
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
    base::raise<ValueError>(
        "loader: its reader thread stayed with the parent process; make a "
        "loader after the fork");
  }
  const std::size_t slot = slot_of(next_);
  const bool is_whole = count_of(next_) == options_.batch;
  ++next_;
  return is_whole ? &ring_[slot] : &partial_[slot];
}

std::size_t Loader::slot_of(std::int64_t number) const noexcept {
  return static_cast<std::size_t>(number % slots());
}

std::int64_t Loader::count_of(std::int64_t number) const noexcept {
  return std::min(options_.batch,
                  dataset_.size() - (number - first_) * options_.batch);
}

// Batch `number` may now be written over what its slot held: graphs that need
// that learn of it here, in the thread that uses them.
void Loader::hand_over(std::int64_t number) noexcept {
  const Batch& slot = ring_[slot_of(number)];
  if (number >= handed_over_ && slot.input.array()->storage()->has_elements()) {
    slot.input.array()->storage()->bump_version(site_);
    slot.target.array()->storage()->bump_version(site_);
  }
  handed_over_ = std::max(handed_over_, number + 1);
}

void Loader::fill(std::int64_t number) const {
  if (!dataset_.is_as_it_was()) {
    base::raise<ValueError>(
        "loader: its data set had {} samples when the loader was made, and has "
        "others now; make another loader",
        dataset_.size());
  }
  if (!ring_[slot_of(number)].input.array()->storage()->has_elements()) {
    return;  // a rehearsal
  }
  load_rows(number);
  if (is_mixing()) {
    mix(number);
  }
}

void Loader::load_rows(std::int64_t number) const {
  const Batch& slot = ring_[slot_of(number)];
  const std::int64_t position =
      (number - first_) * options_.batch +
      rows_of(count_of(number)).first_of_rank(options_.shards.rank);
  const std::int64_t count = own_rows_of(count_of(number));
  for (std::int64_t row = 0; row < count; ++row) {
    const auto target = is_mixing()
                            ? std::as_writable_bytes(std::span(labels_).subspan(
                                  static_cast<std::size_t>(row), 1))
                            : row_bytes(slot.target, row);
    const auto loaded = dataset_.load({epoch_, sampler_[position + row]},
                                      row_bytes(slot.input, row), target);
    if (!loaded) {
      throw ReadError(loaded.error());
    }
  }
}

void Loader::mix(std::int64_t number) const {
  const auto count = static_cast<std::size_t>(count_of(number));
  const std::int64_t classes = options_.mixup.classes;
  const auto labels = std::span<const std::int64_t>(labels_).first(count);
  for (const std::int64_t label : labels) {
    if (label < 0 || label >= classes) {
      base::raise<ValueError>(
          "loader: label {} is out of range for mixup's {} classes", label,
          classes);
    }
  }
  const double share =
      mixup_share(options_.mixup.alpha, options_.seed, epoch_, number - first_);
  const Batch& slot = ring_[slot_of(number)];
  mix_rows({slot.input.array()->strided().as<float>(), count * spare_.size()},
           spare_, share);
  mix_labels(labels, classes, share,
             {slot.target.array()->strided().as<float>(),
              count * static_cast<std::size_t>(classes)});
}

std::optional<std::uint64_t> Loader::fingerprint() const {
  const auto held = dataset_.fingerprint();
  if (!held || !is_mixing()) {
    return held;
  }
  return data::fingerprint({std::bit_cast<std::int64_t>(options_.mixup.alpha),
                            options_.mixup.classes},
                           *held);
}

}  // namespace neap::data
