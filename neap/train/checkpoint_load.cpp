// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <cmath>
#include <limits>

#include "neap/base/shown.hpp"
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

// Reads an optimizer's state: its tensors are made, those that no update has
// used yet are left out, and each knows its entry.
class StateReader {
 public:
  StateReader(const Checkpoint& checkpoint, SafetensorsFile& file,
              const CallSite& site)
      : names_(names_in(checkpoint, file)),
        file_(file),
        site_(site),
        state_(checkpoint.optimizer.zero_state(site)) {}

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
        const SafetensorsEntry* entry =
            file_.find(state_name(state_.names[k], names_[i]));
        if (entry != nullptr &&
            is_alike(*entry, slot.tensors[k], differences)) {
          ++used;
        }
      }
      found += used;
      if (used == 0) {
        slot.tensors = {};
      } else if (used < slot.tensor_count) {
        differences.add("the optimizer's state of \"{}\" is in parts",
                        std::string_view(names_[i]));
      }
    }
    std::size_t there = 0;
    for (const SafetensorsEntry& entry : file_.entries()) {
      there += entry.name.starts_with(kOptimizerPrefix) ? 1 : 0;
    }
    if (there > found) {
      differences.add("{} tensors of the optimizer are not known here",
                      there - found);
    }
  }

  Result<void> read() {
    for (std::size_t i = 0; i < names_.size(); ++i) {
      const OptimizerState::Slot& slot = state_.slots[i];
      for (std::size_t k = 0; slot.is_used() && k < slot.tensor_count; ++k) {
        if (is_rehearsed(slot.tensors[k])) {
          return {};
        }
        const SafetensorsEntry& entry =
            *file_.find(state_name(state_.names[k], names_[i]));
        if (auto read = file_.read(entry, slot.tensors[k], site_); !read) {
          return read;
        }
      }
    }
    return {};
  }

  OptimizerState take() { return std::move(state_); }

 private:
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

  ParameterNames names_;  // of the optimizer's parameters in the file
  SafetensorsFile& file_;
  CallSite site_;
  OptimizerState state_;
};

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
  Staging staging(*file);
  add_names(stage_module(model, *file, staging, differences, site),
            differences);
  StateReader state(*this, *file, site);
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
  return figures.result()
      .and_then([&] { return staging.read(site); })
      .and_then([&] { return state.read(); })
      .map([&] {
        optimizer.set_state(state.take(), site);  // the last that may throw
        staging.commit(base::intern(site));
        generator.set_state(random);
        position = found;
      });
}

const memory::String* find_fact(const formats::SafetensorsFile& file,
                                std::string_view key) {
  return file.find_text(text_of("{}{}", kFactPrefix, key));
}

}  // namespace neap::train
