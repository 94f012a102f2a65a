// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Task: what a run trains on what. The settings' names of a model and of data
// become a model that fits the data, both parts of it as the model wants them,
// and a loss.
#pragma once

#include <memory>
#include <string>

#include "neap/base/result.hpp"
#include "neap/data/dataset.hpp"
#include "neap/data/vocabulary.hpp"
#include "neap/nn/layer.hpp"
#include "neap/train/trainer.hpp"
#include "settings.hpp"

namespace neap::app {

/// LIFETIME: its data sets are references to what it has.
class Task {
 public:
  Task() = default;
  virtual ~Task() = default;
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;

  virtual data::AnyDataset train() const = 0;
  virtual data::AnyDataset test() const = 0;
  /// Its weights are drawn from the current generator.
  virtual std::unique_ptr<nn::Layer> make_model() const = 0;
  virtual train::Loss loss() const { return {}; }  // cross_entropy
  virtual Bytes data_bytes() const = 0;
  /// "60 000 + 10 000 images of [28, 28], 52.4 MiB (54 950 000 B)".
  virtual std::string describe_data() const = 0;
  /// The names of the classes, in lines, for a checkpoint; or nothing.
  virtual std::string class_names() const { return {}; }
  /// Whole lines about how data and model were brought together; or nothing.
  virtual std::string remarks() const { return {}; }
  /// The vocabulary of a text; nullptr for other data.
  virtual const data::Vocabulary* vocabulary() const { return nullptr; }
  /// Whether the share of samples that are right means something.
  virtual bool has_accuracy() const { return true; }
};

/// Reads the data. REQUIRES: check_task(settings). Failures: those of the
/// data's files.
Result<std::unique_ptr<Task>> make_task(const TrainSettings& settings);

/// Samples that the test pass takes at once: no more than a step of `batch`
/// has, which is all that the training part has where that is less. A pass over
/// more would need what the steps do not.
std::int64_t test_batch(std::int64_t batch, const Task& task);

/// Checks that there is a part to test on, where the settings ask for that
/// between steps. Failure kMismatch.
Result<void> check_tests(const TrainSettings& settings, const Task& task);

/// A language model of the settings' sizes. REQUIRES: the settings name one.
std::unique_ptr<nn::Layer> make_language_model(const TrainSettings& settings,
                                               std::int64_t vocabulary);
/// The mean cross-entropy at all places of (n, t, vocabulary) and (n, t).
train::Loss language_loss();

}  // namespace neap::app
