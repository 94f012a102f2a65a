// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The tensors of a pretrained model: one safetensors file, or several (shards)
// that an index names, as Hugging Face's folders have them:
//
//   model.safetensors                      all of them
//   model.safetensors.index.json           {"weight_map": {"wte.weight":
//   model-00001-of-00002.safetensors "model-00001-of-00002.safetensors",
//   model-00002-of-00002.safetensors         ...}}
//
// An index is checked as a whole before anything is read by it: each file is
// one of its own folder, is there, and has just the tensors that the index
// gives it; no tensor is in two of them.
#pragma once

#include <string>

#include "neap/formats/safetensors.hpp"

namespace neap::formats {

/// Files that an index may name.
inline constexpr std::size_t kMostShards = 512;

/// Opens what `path` is: a safetensors file; an index (a name that ends in
/// ".json"); or a folder with one or the other. All headers are read, elements
/// are not. Failures: as SafetensorsFile::open; kNotFound for a folder without
/// either file and for a shard that is missing; kCorrupt for an index that is
/// not of this form, names a tensor twice or a path outside of its folder, or
/// differs from its files; kTooLarge beyond kMostShards. LIFETIME: the door
/// outlives the result. THROWS: OutOfMemory.
[[nodiscard]] NEAP_API Result<memory::Vector<SafetensorsFile>> open_shards(
    files::Door& door, const std::string& path, Verify verify = Verify::kOn);

}  // namespace neap::formats
