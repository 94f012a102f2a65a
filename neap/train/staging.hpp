// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Staging: elements on their way from a file into tensors that exist. All of
// them are read into memory of their own first; putting them where they belong
// cannot fail, so that a load changes everything or nothing. It takes as many
// bytes as the tensors have (Category::kData), until it goes; in a rehearsal
// that is all that happens. Of this room alone.
// LIFETIME: the file outlives it.
#pragma once

#include "neap/formats/safetensors.hpp"

namespace neap::train {

class Staging {
 public:
  explicit Staging(formats::SafetensorsFile& file) noexcept : file_(file) {}

  /// `entry` is for `into`. REQUIRES: of the same dtype and shape. THROWS:
  /// DeviceError, TraceError where the host may not write; OutOfMemory.
  void add(const formats::SafetensorsEntry& entry, const Tensor& into,
           const CallSite& site);
  /// `other` is a further name of what was added last.
  void add_name(const formats::SafetensorsEntry& other);

  /// Failures: as SafetensorsFile::read; kMismatch where two names of one
  /// tensor do not have the same bytes. THROWS: OutOfMemory.
  Result<void> read(const CallSite& site);
  /// REQUIRES: read() was good.
  void commit(base::SiteId site) noexcept;

 private:
  struct Staged {
    const formats::SafetensorsEntry* entry = nullptr;
    Tensor into;
    Tensor from;  // dense
  };
  struct Name {
    std::size_t staged = 0;  // index
    const formats::SafetensorsEntry* entry = nullptr;
  };

  Result<void> compare(const Name& name);

  formats::SafetensorsFile& file_;
  memory::Vector<Staged> staged_;
  memory::Vector<Name> names_;
};

}  // namespace neap::train
