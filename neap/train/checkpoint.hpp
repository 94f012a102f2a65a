// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Checkpoint: all state that passes from step to step, in one safetensors file:
// parameters and buffers under their paths, the optimizer's tensors as
// "optimizer.exp_avg.fc1.weight" (by the paths of the parameters in the model,
// whatever they are called in the optimizer's groups), and in the metadata the
// counts of updates and the learning rates, the generator, and the position in
// the data. A run that is resumed has the bits of one that was never
// interrupted.
//
// A Trainer saves and resumes itself (trainer.hpp); this is for loops of one's
// own:
//
//   train::Checkpoint checkpoint{.model = net, .optimizer = adam,
//                                .generator = tensor::generator()};
//   if (auto loaded = checkpoint.load("run.safetensors"); !loaded) {
//     report(loaded.error().message);
//   }
//   loader.start(checkpoint.position.epoch, checkpoint.position.batch);
//   ...
//   checkpoint.position = {step, loader.epoch(), loader.next_batch()};
//   if (auto saved = checkpoint.save("run.safetensors"); !saved) {
//     report(saved.error().message);
//   }
#pragma once

#include <string>

#include "neap/files/door.hpp"
#include "neap/formats/safetensors.hpp"
#include "neap/nn/module.hpp"
#include "neap/optim/optimizer.hpp"
#include "neap/tensor/generator.hpp"

namespace neap::train {

/// The position at which a run continues.
struct Position {
  std::int64_t step = 0;   // steps done
  std::int64_t epoch = 0;  // epoch of the next batch, from 0
  std::int64_t batch = 0;  // the next one's number in its epoch, from 0
  friend bool operator==(const Position&, const Position&) = default;
};

/// Facts that a run must share with the file that it resumes from, as texts by
/// key: ("batch", "128"). A fact whose key begins with "note." is kept for
/// readers of the file and never compared: ("note.path", "kjv.txt").
using Facts = formats::Metadata;

/// A fact in the file of a checkpoint, or nullptr. THROWS:
/// OutOfMemory.
NEAP_API const memory::String* find_fact(const formats::SafetensorsFile& file,
                                         std::string_view key);

/// LIFETIME: model, optimizer and generator outlive it.
struct NEAP_API Checkpoint {
  nn::Module& model;
  optim::Optimizer& optimizer;
  Generator& generator;
  Position position{};
  Facts facts{};
  /// Whether load() compares checksums.
  formats::Verify verify = formats::Verify::kOn;

  /// Writes the file whole or not at all: after a failure the old file is
  /// unchanged. Failures: those of the file system. THROWS: NameError for a
  /// name of the model that begins with "optimizer."; ValueError unless the
  /// optimizer's parameters are the model's; as formats::write_safetensors.
  [[nodiscard]] Result<void> save(const std::string& path,
                                  files::Door& door = files::system_door(),
                                  CallSite site = CallSite::here()) const;

  /// Allocates what save() allocates once all of the optimizer's state is
  /// created, frees it and writes nothing: the peak of a run is then known
  /// before its first step. There may be no elements. THROWS: as save(), but
  /// for DeviceError and TraceError.
  void rehearse_save() const;

  /// Restores all of it, `position` included, or, after a failure or an
  /// exception, nothing. Gradients stay, and so do addresses that programs
  /// hold. While it reads it allocates as many bytes as model and optimizer
  /// state have, of which the optimizer keeps those that it had not created
  /// yet. A dry run (rehearsal) does so too; it reads no elements and compares
  /// no facts. Failures: as SafetensorsFile; kUnsupported for a file that is no
  /// checkpoint, or one of another form; kMismatch, naming what differs, for
  /// another model, optimizer or facts; kCorrupt for impossible numbers.
  /// THROWS: DeviceError off the host; TraceError; OutOfMemory.
  [[nodiscard]] Result<void> load(const std::string& path,
                                  files::Door& door = files::system_door(),
                                  CallSite site = CallSite::here());
};

}  // namespace neap::train
