// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Checkpoint: all state that passes from step to step, in one safetensors file:
// parameters and buffers under their paths, the optimizer's tensors as
// "optimizer.exp_avg.fc1.weight" (by the paths of the parameters in the model,
// whatever they are called in the optimizer's groups), and in the metadata the
// counts of updates and the learning rates, the generator, and the position in
// the data. A run that is resumed has the bits of one that was never
// interrupted. Averages of parameters are in it as
// "optimizer.average.fc1.weight", and the numbers of a plateau, where there are
// such.
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

#include "neap/compile/options.hpp"
#include "neap/files/door.hpp"
#include "neap/formats/safetensors.hpp"
#include "neap/nn/module.hpp"
#include "neap/optim/ema.hpp"
#include "neap/optim/optimizer.hpp"
#include "neap/optim/plateau.hpp"
#include "neap/tensor/generator.hpp"
#include "neap/train/torn_load.hpp"

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
  /// With a folder, optimizer state that load() has to make goes to a file
  /// there as it is read, if `.states` says so and it has `.least` bytes: for a
  /// step with a budget and the same folder, which uses that file on. State of
  /// a weight that is in such a file goes there anyway.
  SpillOptions spill{};
  /// Averages of tensors of the model, and what lowers the optimizer's rates:
  /// saved and restored with the rest. nullptr: there are none. LIFETIME: they
  /// outlive it.
  optim::Ema* average = nullptr;
  optim::ReduceOnPlateau* plateau = nullptr;

  /// Writes the file whole or not at all: after a failure the old file is
  /// unchanged. Failures: those of the file system. THROWS: NameError for a
  /// name of the model that begins with "optimizer."; ValueError unless the
  /// optimizer's parameters and the averaged tensors are the model's, and while
  /// averages are in the places of their tensors; as
  /// formats::write_safetensors.
  [[nodiscard]] Result<void> save(const std::string& path,
                                  files::Door& door = files::system_door(),
                                  CallSite site = CallSite::here()) const;

  /// Allocates what save() allocates once all of the optimizer's state is
  /// created, frees it and writes nothing: the peak of a run is then known
  /// before its first step. There may be no elements. THROWS: as save(), but
  /// for DeviceError and TraceError.
  void rehearse_save() const;

  /// Restores all of it, `position` included, or, after a failure or an
  /// exception, nothing (but for a TornLoad). Gradients stay, and so do
  /// addresses that programs hold. What a step keeps in a file stays there: it
  /// is written beside what was there before, by way of a copy of one tensor at
  /// a time. For all else it allocates as many bytes as that has, of which the
  /// optimizer keeps those that it had not created yet; where these do not fit,
  /// the file is looked through first, and read straight into tensors that are
  /// there. A dry run (rehearsal) does so too; it reads no elements and
  /// compares no facts. Failures: as SafetensorsFile; kUnsupported for a file
  /// that is no checkpoint, or one of another form; kMismatch, naming what
  /// differs, for another model, optimizer or facts; kCorrupt for impossible
  /// numbers. THROWS: DeviceError off the host; TraceError; OutOfMemory;
  /// IoError of the file that state is kept in; TornLoad where the file could
  /// not be read a second time, which names what is not as in the file.
  [[nodiscard]] Result<void> load(const std::string& path,
                                  files::Door& door = files::system_door(),
                                  CallSite site = CallSite::here());
};

}  // namespace neap::train
