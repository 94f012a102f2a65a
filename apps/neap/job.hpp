// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Job: the parts of a training run, up to its step, for a dry run.
#pragma once

#include <memory>
#include <string>

#include "neap/compile/fit.hpp"
#include "neap/formats/safetensors.hpp"
#include "neap/nn/module.hpp"
#include "neap/program/program.hpp"
#include "settings.hpp"

namespace neap::app {

class Job {
 public:
  Job() = default;
  virtual ~Job() = default;
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  virtual nn::Module& model() = 0;
  /// Only what neap train does has something to go on from.
  virtual Result<void> resume(const std::string& /*path*/,
                              formats::Verify /*verify*/) {
    return {};
  }
  virtual void prepare() = 0;
  virtual compiler::FitCurve fit_curve() = 0;
  virtual void rehearse_save() const = 0;
  /// Does a dry run of all after the last step, from new peaks of the domain
  /// on; nothing else is called after it.
  virtual void rehearse_test() {}
  virtual const compiler::Program& program() const = 0;
  virtual const compiler::Plan& plan() const = 0;
  virtual Bytes data_set_bytes() const { return 0; }
};

/// The job of `neap train` with these settings and `batch` samples, or that of
/// a language model without a text. Fails where the data set or the folder of a
/// model cannot be read. LIFETIME: the settings outlive it.
Result<std::unique_ptr<Job>> make_job(const TrainSettings& settings,
                                      std::int64_t batch);

}  // namespace neap::app
