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

#include "neap/files/door.hpp"
#include "neap/formats/safetensors.hpp"
#include "neap/nn/module.hpp"

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
};

/// Names that only one of the two has; empty after a strict load.
struct LoadReport {
  memory::Vector<memory::String> missing;     // names that the file has not
  memory::Vector<memory::String> unexpected;  // names that the module has not
};

/// Reads every parameter and buffer that the file has, or, after a failure or
/// an exception, none: elements are read into memory of their own first, so a
/// load allocates as many bytes as it reads until it ends. Gradients stay, and
/// so do addresses, so compiled steps continue with the new values. Of a
/// checkpoint (checkpoint.hpp) only the model is read. Failures: as
/// SafetensorsFile, kCorrupt where a tensor is not what its checksum says
/// included; kMismatch for a tensor of another dtype or shape, for two unlike
/// tensors that are tied here, and, if strict, for names that only one has.
/// THROWS: DeviceError off the host; TraceError; OutOfMemory.
[[nodiscard]] NEAP_API Result<LoadReport> load(
    nn::Module& module, const std::string& path,
    const LoadOptions& options = {}, CallSite site = CallSite::here());

}  // namespace neap::train

namespace neap {
using train::load;
using train::save;
}  // namespace neap
