// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The tensors of a module and those of a file, side by side. Of this room
// alone.
#pragma once

#include "neap/train/differences.hpp"
#include "neap/train/save.hpp"
#include "neap/train/staging.hpp"

namespace neap::train {

/// Names of a checkpoint's optimizer begin so, and no others do.
inline constexpr std::string_view kOptimizerPrefix = "optimizer.";
/// The version of a checkpoint's form; no other file has it.
inline constexpr std::string_view kCheckpointKey = "neap.checkpoint";

inline bool is_checkpoint(const formats::SafetensorsFile& file) noexcept {
  return file.find_text(kCheckpointKey) != nullptr;
}

/// Parameters and buffers, each once. THROWS: OutOfMemory.
ParameterList tensors_of(const nn::Module& module);

/// Appends the tensors under their names, and to `metadata` what the format
/// asks for. LIFETIME: `tensors` outlives `named`.
void name_tensors(const ParameterList& tensors,
                  memory::Vector<formats::NamedTensor>& named,
                  formats::Metadata& metadata);

/// Stages all of the module that the source has; `differences` gets what does
/// not fit. THROWS: as Staging::add.
LoadReport stage_module(const nn::Module& module, const LoadSource& source,
                        const LoadOptions& options, Staging& staging,
                        Differences& differences, const CallSite& site);

/// Adds the names of a report.
void add_names(const LoadReport& report, Differences& differences);

/// Adds "f32 [2] there, f32 [3] here" unless dtype and shape are the same.
/// RETURNS: whether they are.
bool is_alike(const formats::SafetensorsEntry& entry, const Tensor& tensor,
              Differences& differences);
bool is_alike(const formats::SafetensorsEntry& entry, DType dtype,
              const Shape& shape, Differences& differences);

}  // namespace neap::train
