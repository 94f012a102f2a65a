// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The files that show where the bytes of a planned step are: --page, --snapshot
// and --trace.
#pragma once

#include <array>

#include "neap/memory/domain.hpp"
#include "neap/report/snapshot.hpp"
#include "output_files.hpp"

namespace neap::compiler {
class Program;
struct Plan;
}  // namespace neap::compiler

namespace neap::app {

std::array<NamedFile, 3> view_files(const TrainSettings& settings);
bool has_views(const TrainSettings& settings);

/// Bytes that a process within a budget sets aside for what it shows, as
/// external memory.
inline constexpr Bytes kViewBytes = 8 * kMiB;

/// The bytes that these settings set aside; 0: none.
Bytes view_reserve(const TrainSettings& settings);

/// Sets them aside where the settings ask for a file or a profile within a
/// budget: from the beginning of a command, so that plans count on it.
class ViewReserve {
 public:
  explicit ViewReserve(const TrainSettings& settings);
  ~ViewReserve();
  ViewReserve(const ViewReserve&) = delete;
  ViewReserve& operator=(const ViewReserve&) = delete;

 private:
  Bytes bytes_;
};

/// Whether what is shown of a program takes no more than that, by a bound.
bool is_within_view(const compiler::Program& program);

/// A snapshot with the run's name, budget and predicted peak, in memory of the
/// reports. `domain`: what the run is in. THROWS: OutOfMemory.
report::Snapshot view_of(const TrainSettings& settings,
                         const compiler::Program& program,
                         const compiler::Plan& plan,
                         const memory::Domain& domain);

/// Writes those that the settings name. A failure names the file.
Result<void> write_views(files::Door& door, const TrainSettings& settings,
                         const report::Snapshot& snapshot);

}  // namespace neap::app
