// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// MetricsLog: the measurements of a run, step by step, in files for programs:
// JSON lines, and event files for TensorBoard.
//
//   auto log = train::MetricsLog::open(door, {.jsonl = "run.jsonl",
//                                             .tensorboard = "runs/first"});
//   options.on_step = [&](const train::StepReport& report) {
//     return log->step(report) ? Next::kContinue : Next::kStop;
//   };
//
// A line of a step, and one of an evaluation (null: not finite, not measured):
//   {"step":1,"epoch":1,"loss":2.3,"accuracy":0.1,"learning_rate":0.001,
//    "gradient_norm":null,"seconds":0.01,"samples_per_second":12800.0,
//    "live_bytes":65536,"held_bytes":131072}
//   {"step":469,"test_loss":0.4,"test_accuracy":0.86}
//
// Files are appended to: a run that is resumed continues its file, and writes
// the steps between its checkpoint and its end again; the later line counts. A
// line that a killed run left unfinished stays, on a line of its own. Each log
// has an event file of its own, as TensorBoard wants it.
//
// A failure (a full disk) is returned once, by the call that meets it; the file
// gets no more, the other one continues, and so may the training: the caller
// decides. Steps allocate nothing. One thread at a time. Every use of a log
// that was moved from, but to assign to it, THROWS UseAfterRelease.
#pragma once

#include <optional>
#include <string>

#include "neap/files/door.hpp"
#include "neap/train/fit.hpp"

namespace neap::train {

struct MetricsOptions {
  std::string jsonl{};  // name of a file; empty: none
  /// Name of a folder, created if need be; empty: none.
  std::string tensorboard{};
  double flush_seconds = 5.0;  // largest age of what is not yet written
  std::int64_t every = 1;      // steps; the others are left out
};

class NEAP_API MetricsLog {
 public:
  /// Opens the files. live_bytes and held_bytes are of the current domain.
  /// THROWS: OutOfMemory; ValueError unless every > 0.
  [[nodiscard]] static Result<MetricsLog> open(files::Door& door,
                                               const MetricsOptions& options);
  /// A log with the memory that open() would allocate, and no files: calls
  /// write nothing. THROWS: as open.
  [[nodiscard]] static MetricsLog rehearse(const MetricsOptions& options);
  /// Writes what is left; close() tells whether that went well.
  ~MetricsLog();
  MetricsLog(MetricsLog&&) noexcept;
  MetricsLog& operator=(MetricsLog&&) noexcept;

  [[nodiscard]] Result<void> step(const StepReport& report);
  /// Logs a part of the data, after so many steps: "test" gives test_loss and
  /// test_accuracy, in TensorBoard test/loss and test/accuracy.
  [[nodiscard]] Result<void> evaluation(std::int64_t step,
                                        std::string_view part,
                                        const Evaluation& evaluation);
  /// Anything else, under the same name in both.
  [[nodiscard]] Result<void> scalar(std::int64_t step, std::string_view name,
                                    double value);

  /// Writes what is buffered.
  [[nodiscard]] Result<void> flush();
  /// Writes what is buffered and closes the files; later calls write nothing.
  [[nodiscard]] Result<void> close();
  /// The first failure, if there was one.
  const std::optional<Failure>& failure() const;

 private:
  class State;
  explicit MetricsLog(memory::Owned<State> state);
  State& state() const;
  memory::Owned<State> state_;
};

}  // namespace neap::train
