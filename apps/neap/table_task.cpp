// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "table_task.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "neap/base/shown.hpp"
#include "neap/data/csv_set.hpp"
#include "neap/files/door.hpp"
#include "neap/models/mlp.hpp"
#include "neap/ops/shape/views.hpp"
#include "run_parts.hpp"

namespace neap::app {
namespace {

constexpr std::int64_t kMostClasses = 65'536;  // of fewer rows

// The first rows to train on and the last ones for the test, each feature with
// mean 0 and deviation 1 over the first.
class TableTask final : public Task {
 public:
  TableTask(const TrainSettings& settings, const data::CsvSet& table,
            std::int64_t tests)
      : settings_(settings),
        bytes_(table.bytes()),
        train_(part_of(table, 0, table.size() - tests)),
        test_(part_of(table, table.size() - tests, tests)) {
    const auto statistics = train_.statistics();
    train_.standardise(statistics);
    test_.standardise(statistics);
  }

  data::AnyDataset train() const override { return train_; }
  data::AnyDataset test() const override { return test_; }
  std::unique_ptr<nn::Layer> make_model() const override {
    return std::make_unique<models::Mlp>(
        mlp_widths(settings_, train_.features().size(1), train_.classes()),
        models::MlpOptions{.dropout = settings_.dropout}, CallSite::here());
  }
  Bytes data_bytes() const override { return bytes_; }
  std::string describe_data() const override {
    return fmt::format("{} + {} rows of {} numbers, {} classes, {}",
                       format_grouped(train_.size()),
                       format_grouped(test_.size()),
                       format_grouped(train_.features().size(1)),
                       format_grouped(train_.classes()), format_bytes(bytes_));
  }

 private:
  static data::CsvSet part_of(const data::CsvSet& table, std::int64_t first,
                              std::int64_t count) {
    return data::CsvSet(narrow(table.features(), 0, first, count),
                        narrow(table.targets(), 0, first, count), {},
                        table.classes());
  }

  const TrainSettings& settings_;
  Bytes bytes_;
  data::CsvSet train_;
  data::CsvSet test_;
};

}  // namespace

Result<std::unique_ptr<Task>> make_table_task(const TrainSettings& settings) {
  const auto table = data::read_csv(files::system_door(), settings.path,
                                    {.target = settings.target});
  if (!table) {
    return tl::unexpected(table.error());
  }
  // The model has an output for each class, so that one damaged label would ask
  // for more memory than there is.
  if (table->classes() > std::max(kMostClasses, table->size())) {
    return failure(
        FailureKind::kCorrupt,
        fmt::format("{}: {} is not a label of {} rows; labels are 0, 1, ..., "
                    "without large gaps",
                    base::shown_path(settings.path), table->classes() - 1,
                    table->size()));
  }
  const auto tests = static_cast<std::int64_t>(
      static_cast<double>(table->size()) * settings.validation);
  if (tests < 1) {
    return failure(
        FailureKind::kMismatch,
        fmt::format("{}: a share of {} of {} rows leaves none for the test; "
                    "give more rows or a larger --validation",
                    base::shown_path(settings.path), settings.validation,
                    table->size()));
  }
  return std::make_unique<TableTask>(settings, *table, tests);
}

}  // namespace neap::app
