// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Models in files, as PyTorch's users know them: a safetensors file holds the
// parameters and buffers of a module under their paths ("encoder.fc1.weight").
//
//   if (auto saved = neap::save(net, "net.safetensors"); !saved) {
//     report(saved.error().message);
//   }
//   if (auto loaded = neap::load(net, "net.safetensors"); !loaded) {
//     report(loaded.error().message);
//   }
//
// A tied parameter is stored once, under the name that it is tied to; the
// metadata have its other names as safetensors.torch.save_model writes them
// (other name -> home). Loading takes any of the names, or several with the
// same elements.
#pragma once

#include <string>
#include <vector>

#include "neap/files/door.hpp"
#include "neap/formats/safetensors.hpp"
#include "neap/nn/module.hpp"
#include "neap/train/name_pattern.hpp"
#include "neap/train/torn_load.hpp"

namespace neap::train {

struct SaveOptions {
  /// Entries beside "format": "pt" and the tied names.
  formats::Metadata metadata{};
  files::Door* door = nullptr;  // null: the system's
};

/// Writes the file whole or not at all: after a failure the old file is
/// unchanged. Failures: those of the file system. THROWS: as
/// formats::write_safetensors.
[[nodiscard]] NEAP_API Result<void> save(const nn::Module& module,
                                         const std::string& path,
                                         const SaveOptions& options = {},
                                         CallSite site = CallSite::here());

struct LoadOptions {
  /// Names that only one of file and module has are a failure.
  bool strict = true;
  /// Whether the file's checksums are compared.
  formats::Verify verify = formats::Verify::kOn;
  files::Door* door = nullptr;  // null: the system's
  /// Elements of another dtype are converted as they are read, a piece after
  /// the other: floating ones are rounded, integers keep their value. (Types
  /// that Neap has not, such as f16, are widened anyway.)
  bool convert = false;
  /// Elements go straight into the tensors: nothing is in memory twice, but
  /// after a failure while they are read, some tensors have them and others do
  /// not. For a model that goes with the failure.
  bool in_place = false;
  /// A checkpoint with averages of parameters (optim::Ema): tensors that are
  /// averaged get their averages. Nothing in other files.
  bool averages = false;

  // --- a file with other names; in this order --------------------------------

  std::string prefix{};               // taken off the names that begin with it
  std::vector<Rename> rename{};       // the first that matches
  std::vector<std::string> ignore{};  // patterns of names that are left out

  // --- patterns of the module's names ----------------------------------------

  /// Matrices that the file has transposed, such as those of GPT-2.
  std::vector<std::string> transpose{};
  /// Tensors that stay as they are where the file has them in another shape, or
  /// has them not: the head of a model that is to do something else.
  std::vector<std::string> skip{};
};

/// Names that only one of the two has; empty after a strict load, but for what
/// was skipped.
struct LoadReport {
  memory::Vector<memory::String> missing;     // names that the file has not
  memory::Vector<memory::String> unexpected;  // names that the module has not
  memory::Vector<memory::String> skipped;     // names of LoadOptions::skip that
                                              // did not fit, or were not there
};

/// Reads every parameter and buffer that the file has, or, after a failure or
/// an exception, none: elements are read into memory of their own first, so a
/// load allocates as many bytes as it reads until it ends. Where these do not
/// fit, the file is looked through first, and read straight into the tensors:
/// where that fails the second time, a TornLoad names those that are not as in
/// the file. What a step keeps in a file stays there, and takes a copy of one
/// tensor at a time. `path` may also be a folder of Hugging Face's, or an index
/// of shards (formats/safetensors_folder.hpp). Gradients stay, and so do
/// addresses, so compiled steps continue with the new values. Of a checkpoint
/// (checkpoint.hpp) only the model is read. Failures: as SafetensorsFile,
/// kCorrupt where a tensor is not what its checksum says included; kMismatch
/// for a tensor of another dtype or shape, for two unlike tensors that are tied
/// here, and, if strict, for names that only one has: all of this is found
/// before the first element is read, and said at once. THROWS: ValueError for a
/// pattern that is none; DeviceError off the host; TraceError; OutOfMemory;
/// IoError of the file that a step keeps weights in; TornLoad.
[[nodiscard]] NEAP_API Result<LoadReport> load(
    nn::Module& module, const std::string& path,
    const LoadOptions& options = {}, CallSite site = CallSite::here());

}  // namespace neap::train

namespace neap {
using train::load;
using train::save;
}  // namespace neap
