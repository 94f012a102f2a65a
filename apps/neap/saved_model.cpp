// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "saved_model.hpp"

#include <fmt/format.h>

#include <array>

#include "neap/base/shown.hpp"
#include "neap/files/door.hpp"
#include "neap/formats/safetensors.hpp"
#include "neap/train/checkpoint.hpp"
#include "neap/train/save.hpp"
#include "task.hpp"

namespace neap::app {
namespace {

// Settings that a checkpoint has among its facts.
constexpr std::array<const char*, 9> kModelFacts{
    "model", "hidden", "width",   "layers", "dim",
    "heads", "block",  "symbols", "dropout"};

// Settings of the data that it was trained on, which a checkpoint notes.
constexpr std::array<const char*, 4> kDataNotes{"data", "path", "validation",
                                                "target"};

Texts data_notes(const formats::SafetensorsFile& file) {
  Texts notes;
  for (const char* key : kDataNotes) {
    const std::string noted = std::string("note.") + key;
    if (const memory::String* value = train::find_fact(file, noted)) {
      notes.emplace(key, std::string(*value));
    }
  }
  return notes;
}

Result<std::optional<data::Vocabulary>> vocabulary_of(
    const formats::SafetensorsFile& file) {
  const memory::String* symbols = train::find_fact(file, "symbols");
  if (symbols == nullptr) {
    return std::nullopt;
  }
  if (*symbols == "bytes") {
    return data::Vocabulary();
  }
  const memory::String* characters = train::find_fact(file, "characters");
  if (characters == nullptr) {
    return std::nullopt;
  }
  auto made = data::Vocabulary::of_characters(*characters);
  if (!made) {
    return tl::unexpected(made.error());
  }
  return std::move(*made);
}

// A domain for models without elements, and a generator for their weights.
class Apart {
 private:
  memory::Domain::Handle domain_ =
      memory::Domain::create({.name = "sizes", .is_rehearsal = true});
  UseDomain use_domain_{*domain_};
  Generator generator_{0};
  UseGenerator use_generator_{generator_};
};

// Checks that a language model of the sizes in the file can be made.
Result<void> check_sizes(const SavedModel& saved, const std::string& path) {
  if (!is_language_model(saved.settings.model) || !saved.vocabulary) {
    return {};
  }
  const Apart apart;
  try {
    static_cast<void>(
        make_language_model(saved.settings, saved.vocabulary->size()));
  } catch (const ValueError& error) {
    return failure(FailureKind::kCorrupt,
                   fmt::format("{}: {}", base::shown_path(path), error.what()));
  }
  return {};
}

}  // namespace

formats::Verify verify_of(bool is_on) noexcept {
  return is_on ? formats::Verify::kOn : formats::Verify::kOff;
}

Result<void> check_resumed(const TrainSettings& s) {
  if (s.resume.empty()) {
    return {};
  }
  const auto file = formats::SafetensorsFile::open(
      files::system_door(), s.resume, verify_of(s.verify));
  if (!file) {
    return tl::unexpected(file.error());
  }
  const memory::String* decay = train::find_fact(*file, "ema");
  if (decay == nullptr || s.ema) {
    return {};
  }
  return failure(
      FailureKind::kMismatch,
      fmt::format("--resume {}: its run keeps averages of the weights; give "
                  "--ema {}, as there",
                  base::shown_path(s.resume), base::shown(*decay)));
}

Result<SavedModel> describe_saved(const std::string& path,
                                  formats::Verify verify) {
  auto file =
      formats::SafetensorsFile::open(files::system_door(), path, verify);
  if (!file) {
    return tl::unexpected(file.error());
  }
  Texts texts;
  for (const char* key : kModelFacts) {
    if (const memory::String* value = train::find_fact(*file, key)) {
      texts.emplace(key, std::string(*value));
    }
  }
  if (const auto model = texts.find("model");
      model != texts.end() && model->second == kPretrained) {
    return tl::unexpected(Failure{
        FailureKind::kMismatch,
        fmt::format("{}: the weights of a model that was trained --from a "
                    "folder; name it too: --from DIR --load FILE",
                    base::shown_path(path))});
  }
  SavedModel saved;
  saved.data = data_notes(*file);
  if (auto good = apply(train_settings(), texts, base::shown_path(path) + ": ",
                        saved.settings);
      !good) {
    return tl::unexpected(good.error());
  }
  // Layers have bookkeeping of their own, whose memory a claim shall not cost
  // either.
  const auto tensors = static_cast<std::int64_t>(file->entries().size());
  if (is_language_model(saved.settings.model) &&
      saved.settings.layers > tensors) {
    return tl::unexpected(Failure{
        FailureKind::kMismatch,
        fmt::format("{}: a model of {} layers in {} tensors",
                    base::shown_path(path), saved.settings.layers, tensors)});
  }
  auto vocabulary = vocabulary_of(*file);
  if (!vocabulary) {
    return tl::unexpected(
        Failure{vocabulary.error().kind,
                base::shown_path(path) + ": " + vocabulary.error().message});
  }
  saved.vocabulary = std::move(*vocabulary);
  if (auto good = check_sizes(saved, path); !good) {
    return tl::unexpected(good.error());
  }
  return saved;
}

Result<void> check_fits(base::FunctionRef<std::unique_ptr<nn::Layer>()> make,
                        const std::string& path) {
  const Apart apart;
  return load_into(*make(), path, formats::Verify::kOff);
}

Result<void> load_into(nn::Module& model, const std::string& path,
                       formats::Verify verify, bool averages) {
  auto loaded =
      train::load(model, path, {.verify = verify, .averages = averages});
  return loaded ? Result<void>() : tl::unexpected(loaded.error());
}

Result<void> load_over(nn::Module& model, const TrainSettings& s) {
  const bool is_half = s.weights == "file";  // f32 would be rounded then
  auto loaded = train::load(model, s.load,
                            {.verify = verify_of(s.verify),
                             .convert = !is_half,
                             .averages = s.averages});
  if (loaded) {
    return {};
  }
  Failure& found = loaded.error();
  if (is_half && found.kind == FailureKind::kMismatch) {
    found.message +=
        "; where it is of a run without --weights file, leave that out";
  }
  return tl::unexpected(std::move(found));
}

}  // namespace neap::app
