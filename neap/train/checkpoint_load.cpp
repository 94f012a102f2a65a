// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <cmath>
#include <limits>

#include "neap/base/raise.hpp"
#include "neap/base/shown.hpp"
#include "neap/compile/channel.hpp"
#include "neap/compile/state_file.hpp"
#include "neap/train/checkpoint.hpp"
#include "neap/train/checkpoint_keys.hpp"
#include "neap/train/measures.hpp"
#include "neap/train/optimizer_names.hpp"

namespace neap::train {
namespace {

using formats::MetadataItem;
using formats::SafetensorsEntry;
using formats::SafetensorsFile;
using optim::OptimizerState;

// No run has as many steps; sums of two counts fit.
constexpr std::int64_t kMost = std::int64_t{1} << 62;

// Reads figures of the metadata, and notes the first that is none.
class Figures {
 public:
  explicit Figures(const SafetensorsFile& file) noexcept : file_(file) {}

  std::int64_t count(std::string_view key) {
    const auto value = parsed<std::int64_t>(key);
    if (value < 0 || value > kMost) {
      refuse(key);
    }
    return value;
  }
  std::uint64_t word(std::string_view key) {
    return parsed<std::uint64_t>(key);
  }
  double number(std::string_view key) {
    const auto value = parsed<double>(key);
    if (std::isnan(value)) {
      refuse(key);
    }
    return value;
  }
  double rate(std::string_view key) {
    const auto value = parsed<double>(key);
    if (!std::isfinite(value) || value < 0.0) {
      refuse(key);
    }
    return value;
  }
  Result<void> result() const {
    return bad_.empty()
               ? Result<void>()
               : failure(FailureKind::kCorrupt,
                         fmt::format("{}: its metadata have no good \"{}\"; "
                                     "use another checkpoint",
                                     file_.name(), base::shown(bad_)));
  }

 private:
  template <class T>
  T parsed(std::string_view key) {
    T value{};
    const memory::String* text = file_.find_text(key);
    if (text == nullptr) {
      refuse(key);
      return value;
    }
    const char* const end = text->data() + text->size();
    const auto [stop, error] = std::from_chars(text->data(), end, value);
    if (text->empty() || stop != end || error != std::errc()) {
      refuse(key);
    }
    return value;
  }
  void refuse(std::string_view key) {
    if (bad_.empty()) {
      bad_ = key;
    }
  }

  const SafetensorsFile& file_;
  std::string bad_;
};

Result<void> check_version(const SafetensorsFile& file) {
  const memory::String* found = file.find_text(kCheckpointKey);
  if (found == nullptr) {
    return failure(FailureKind::kUnsupported,
                   fmt::format("{}: no checkpoint to resume from; it may hold "
                               "a model to load",
                               file.name()));
  }
  if (*found != kCheckpointVersion) {
    return failure(
        FailureKind::kUnsupported,
        fmt::format("{}: a checkpoint of form {}, form {} is read", file.name(),
                    base::shown(*found, 20), kCheckpointVersion));
  }
  return {};
}

// Compares a fact about the run in the file with the same fact here.
void compare(std::string_view what, const memory::String* there,
             std::string_view here, Differences& differences) {
  if (there == nullptr) {
    differences.add("{} is not said there, {} here", base::shown(what),
                    base::shown(here));
  } else if (*there != here) {
    differences.add("{} is {} there, {} here", base::shown(what),
                    base::shown(*there), base::shown(here));
  }
}

// Files of before this was noted have it not.
void compare_data(const memory::String* there, std::string_view here,
                  Differences& differences) {
  if (there != nullptr && *there != here) {
    differences.add(
        "the data hold something else (their XXH3 is {} there, {} here)",
        base::shown(*there), here);
  }
}

void compare_facts(const Checkpoint& checkpoint, const SafetensorsFile& file,
                   Differences& differences) {
  for (const MetadataItem& fact : checkpoint.facts) {
    const memory::String key =
        text_of("{}{}", kFactPrefix, std::string_view(fact.key));
    if (fact.key.starts_with(kNotePrefix)) {
      continue;
    }
    if (fact.key == kDataFact) {
      compare_data(file.find_text(key), fact.value, differences);
    } else {
      compare(fact.key, file.find_text(key), fact.value, differences);
    }
  }
  for (const MetadataItem& item : file.metadata()) {
    if (item.key.starts_with(kFactPrefix)) {
      const auto key = std::string_view(item.key).substr(kFactPrefix.size());
      if (!key.starts_with(kNotePrefix) &&
          formats::find_key(checkpoint.facts, key) == nullptr) {
        differences.add("{} is {} there, not said here", base::shown(key),
                        base::shown(item.value));
      }
    }
  }
  for (int group = 0; group < checkpoint.optimizer.group_count(); ++group) {
    const memory::String key = text_of("{}{}", kGroupPrefix, group);
    compare("the optimizer", file.find_text(key),
            checkpoint.optimizer.describe(group), differences);
  }
}

// Reads an optimizer's state: what it has is staged, what it has not is made,
// and goes to a file where a step may keep it in one.
class StateReader {
 public:
  StateReader(const Checkpoint& checkpoint, SafetensorsFile& file,
              Staging& staging, const CallSite& site)
      : checkpoint_(checkpoint),
        names_(names_in(checkpoint, file)),
        averaged_(averaged_names(checkpoint)),
        file_(file),
        staging_(staging),
        site_(site),
        state_(checkpoint.optimizer.state_in_place()),
        is_there_(names_.size(), false) {}

  void read_figures(Figures& figures) {
    state_.step_count = figures.count(kOptimizerStepsKey);
    for (std::size_t group = 0; group < state_.rates.size(); ++group) {
      state_.rates[group] = figures.rate(text_of("{}{}", kRatePrefix, group));
    }
    for (std::size_t i = 0; i < names_.size(); ++i) {
      state_.slots[i].steps = figures.count(
          text_of("{}{}", kUpdatesPrefix, std::string_view(names_[i])));
    }
  }

  void match(Differences& differences) {
    std::size_t found = 0;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      OptimizerState::Slot& slot = state_.slots[i];
      std::size_t used = 0;
      for (std::size_t k = 0; k < slot.tensor_count; ++k) {
        const SafetensorsEntry* entry = entry_of(i, k);
        if (entry != nullptr &&
            is_alike(*entry, parameter(i).dtype(),
                     checkpoint_.optimizer.state_shape(i, k), differences)) {
          ++used;
        }
      }
      found += used;
      is_there_[i] = used != 0 && used == slot.tensor_count;
      if (used == 0) {
        slot.tensors = {};
      } else if (!is_there_[i]) {
        differences.add("the optimizer's state of \"{}\" is in parts",
                        std::string_view(names_[i]));
      }
    }
    found += match_averages(differences);
    std::size_t there = count_of(kOptimizerPrefix);
    if (checkpoint_.average == nullptr) {
      const std::size_t averages = count_of(state_name(kAverage, ""));
      if (averages > 0) {
        differences.add(
            "it has the averages of {} tensors, and none are kept here",
            averages);
      }
      there -= averages;
    }
    if (there > found) {
      differences.add("{} tensors of the optimizer are not known here",
                      there - found);
    }
  }

  // Stages what the optimizer has, and makes what it has not.
  Result<void> read() {
    for (std::size_t i = 0; i < names_.size(); ++i) {
      OptimizerState::Slot& slot = state_.slots[i];
      for (std::size_t k = 0; is_there_[i] && k < slot.tensor_count; ++k) {
        if (!checkpoint_.optimizer.has_state_of(i)) {  // its rank reads it
          slot.tensors[k] = checkpoint_.optimizer.new_state(i, k, site_);
        } else if (slot.tensors[k].defined()) {
          staging_.add({.file = &file_, .entry = entry_of(i, k)},
                       slot.tensors[k], false, site_);
        } else if (auto made = make(i, k); !made) {
          return made;
        }
      }
    }
    stage_averages();
    return {};
  }

  OptimizerState take() { return std::move(state_); }

 private:
  std::size_t count_of(std::string_view prefix) const {
    return static_cast<std::size_t>(std::ranges::count_if(
        file_.entries(),
        [&](const auto& entry) { return entry.name.starts_with(prefix); }));
  }

  const SafetensorsEntry* average_entry(std::size_t i) const {
    return file_.find(state_name(kAverage, averaged_[i]));
  }

  // RETURNS: how many averages are in the file as they are here.
  std::size_t match_averages(Differences& differences) const {
    std::size_t found = 0;
    for (std::size_t i = 0; i < averaged_.size(); ++i) {
      const Parameter& average = checkpoint_.average->averages()[i];
      const SafetensorsEntry* entry = average_entry(i);
      if (entry == nullptr) {
        differences.add("the average of \"{}\" is not there",
                        std::string_view(average.name));
      } else if (is_alike(*entry, average.tensor, differences)) {
        ++found;
      }
    }
    return found;
  }

  void stage_averages() {
    for (std::size_t i = 0; i < averaged_.size(); ++i) {
      staging_.add({.file = &file_, .entry = average_entry(i)},
                   checkpoint_.average->averages()[i].tensor, false, site_);
    }
  }

  static ParameterNames averaged_names(const Checkpoint& checkpoint) {
    return checkpoint.average == nullptr
               ? ParameterNames()
               : names_in_model(tensors_of(checkpoint.model),
                                checkpoint.average->tensors());
  }

  const SafetensorsEntry* entry_of(std::size_t i, std::size_t k) const {
    return file_.find(state_name(state_.names[k], names_[i]));
  }
  const Tensor& parameter(std::size_t i) const {
    return checkpoint_.optimizer.parameters()[i].tensor;
  }

  Result<void> make(std::size_t i, std::size_t k) {
    Tensor made = checkpoint_.optimizer.new_state(i, k, site_);
    if (!is_rehearsed(made)) {
      if (auto read = file_.read(*entry_of(i, k), made, site_); !read) {
        return read;
      }
    }
    tensor::Storage& storage = *made.array()->storage();
    if (const auto away = file_for(storage, parameter(i)); away != nullptr) {
      away->take(storage);
    }
    state_.slots[i].tensors[k] = std::move(made);
    return {};
  }

  // The file that state of the parameter goes to; nullptr: memory.
  std::shared_ptr<compiler::StateFile> file_for(const tensor::Storage& storage,
                                                const Tensor& parameter) {
    const SpillOptions& spill = checkpoint_.spill;
    auto found = compiler::StateFile::of(*parameter.array()->storage());
    if (found != nullptr || spill.folder.empty() || !spill.states ||
        storage.size() < spill.least || storage.space() != memory::kHost) {
      return found;
    }
    if (away_ == nullptr) {
      away_ = file_of_others(storage.domain());
    }
    if (away_ == nullptr) {
      away_ = compiler::StateFile::create(
          compiler::door_of(spill), spill.folder, storage.domain(), spill.part);
    }
    return away_;
  }

  // In the folder, and with a weight on it already.
  std::shared_ptr<compiler::StateFile> file_of_others(
      const memory::Domain& domain) const {
    const SpillOptions& spill = checkpoint_.spill;
    for (const Parameter& one : checkpoint_.optimizer.parameters()) {
      auto found = compiler::StateFile::of(*one.tensor.array()->storage());
      if (found != nullptr && found->is_in(compiler::door_of(spill),
                                           spill.folder, domain, spill.part)) {
        return found;
      }
    }
    return nullptr;
  }

  // Files of before there were checksums have the optimizer's own names.
  static ParameterNames names_in(const Checkpoint& checkpoint,
                                 const SafetensorsFile& file) {
    ParameterNames names =
        names_in_model(tensors_of(checkpoint.model), checkpoint.optimizer);
    const bool may_be_old =
        checkpoint.verify == formats::Verify::kOn && !file.has_checksums();
    for (std::size_t i = 0; i < names.size(); ++i) {
      const memory::String& own = checkpoint.optimizer.parameters()[i].name;
      const auto has = [&](std::string_view name) {
        return file.find_text(text_of("{}{}", kUpdatesPrefix, name)) != nullptr;
      };
      if (names[i].empty() || (may_be_old && !has(names[i]) && has(own))) {
        names[i] = own;
      }
    }
    return names;
  }

  const Checkpoint& checkpoint_;
  ParameterNames names_;  // of the optimizer's parameters in the file
  ParameterNames averaged_;
  SafetensorsFile& file_;
  Staging& staging_;
  CallSite site_;
  OptimizerState state_;
  memory::Vector<bool> is_there_;              // in the file, the whole slot
  std::shared_ptr<compiler::StateFile> away_;  // of state that is made
};

void check_in_place(const optim::Ema& average) {
  if (average.is_swapped()) {
    base::raise<ValueError>(
        "checkpoint: the averages are in the places of the model's tensors; "
        "swap() them back first");
  }
}

}  // namespace

Result<void> Checkpoint::load(const std::string& path, files::Door& door,
                              CallSite site) {
  auto file = SafetensorsFile::open(door, path, verify);
  if (!file) {
    return tl::make_unexpected(std::move(file.error()));
  }
  if (auto good = check_version(*file); !good) {
    return good;
  }
  Differences differences;
  if (!memory::domain().is_rehearsal()) {  // it may be of another run
    compare_facts(*this, *file, differences);
  }
  Staging staging;
  const LoadOptions as_it_is;
  const LoadSource source(std::span(&*file, 1), as_it_is, differences);
  add_names(stage_module(model, source, as_it_is, staging, differences, site),
            differences);
  StateReader state(*this, *file, staging, site);
  state.match(differences);
  if (!differences.empty()) {
    return tl::unexpected<Failure>(
        differences.failure(file->name(), "a checkpoint of another run"));
  }
  Figures figures(*file);
  const Position found{.step = figures.count(kStepKey),
                       .epoch = figures.count(kEpochKey),
                       .batch = figures.count(kBatchKey)};
  const base::DrawKey random{figures.word(kSeedKey), figures.word(kDrawKey)};
  state.read_figures(figures);
  std::int64_t averaged = 0;
  if (average != nullptr) {
    check_in_place(*average);
    averaged = figures.count(kAverageUpdatesKey);
  }
  optim::PlateauState measures;
  if (plateau != nullptr) {
    measures = {.best = figures.number(kBestKey),
                .bad = figures.count(kBadKey),
                .cooling = figures.count(kCoolingKey)};
  }
  const base::SiteId where = base::intern(site);
  return figures.result()
      .and_then([&] { return state.read(); })
      .and_then([&] { return staging.read(site); })
      .map([&] {
        optimizer.set_state(state.take(), site);  // the last that may throw
        staging.commit(where);
        if (average != nullptr) {
          average->set_update_count(averaged);
        }
        if (plateau != nullptr) {
          plateau->set_state(measures);
        }
        generator.set_key(random);
        position = found;
        staging.finish(where);
      });
}

const memory::String* find_fact(const formats::SafetensorsFile& file,
                                std::string_view key) {
  return file.find_text(text_of("{}{}", kFactPrefix, key));
}

}  // namespace neap::train
