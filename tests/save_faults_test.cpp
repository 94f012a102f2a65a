// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Whatever goes wrong at the file door while a training saves itself, at the
// place of the file is one that a run can go on from: the old or the new one.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "neap/base/sanitizer.hpp"
#include "neap/files/fault_door.hpp"
#include "neap/files/temporary_folder.hpp"
#include "trained_model.hpp"

namespace neap::tests {
namespace {

using files::Faults;

class ResumeAfterFaultsTest : public ::testing::TestWithParam<ModelAndMode> {
 protected:
  ResumeAfterFaultsTest() : domain_(Domain::create()) {}

  TrainedModelOptions options() const {
    return {.kind = std::get<0>(GetParam()),
            .is_compiled = std::get<1>(GetParam())};
  }
  std::string path() const { return folder_.at(kName); }

  static constexpr const char* kName = "run.safetensors";

  // Saves through a door that fails. RETURNS: whether it says that it did.
  bool save(TrainedModel& run, const Faults& faults) const {
    files::FaultDoor door(files::system_door(), faults);
    return run.trainer().save(path(), {}, door).has_value();
  }
  std::int64_t operations_of_a_save(TrainedModel& run) const {
    files::FaultDoor door(files::system_door());
    EXPECT_TRUE(run.trainer().save(path(), {}, door).has_value());
    return door.operations();
  }

  // Each of 1 .. last, or about `most` of them with both ends.
  static std::vector<std::int64_t> points(std::int64_t last,
                                          std::int64_t most) {
    std::vector<std::int64_t> out;
    const std::int64_t stride = std::max<std::int64_t>(1, last / most);
    for (std::int64_t n = 1; n <= last;) {
      out.push_back(n);
      n = n < 12 || n > last - 8 ? n + 1 : std::min(n + stride, last - 7);
    }
    return out;
  }
  static constexpr std::int64_t kMost = base::kAddressSanitizer ? 20 : 120;

  // All faults that a door can make in a save; a short write alone is none.
  std::vector<Faults> all_faults(std::int64_t operations) const {
    std::vector<Faults> out;
    for (const std::int64_t n : points(operations, kMost)) {
      out.push_back({.fail_at = n});
      out.push_back({.stop_at = n});
    }
    const auto bytes = static_cast<Bytes>(std::filesystem::file_size(path()));
    for (const std::int64_t n : points(bytes, kMost / 8)) {
      out.push_back({.space = n - 1});
      out.push_back({.longest_write = n % 5000 + 300, .space = n - 1});
    }
    return out;
  }
  // A process that is killed leaves its temporary file, others leave none.
  void expect_nothing_beside_it(const Faults& faults) {
    for (const auto& entry :
         std::filesystem::directory_iterator(folder_.path())) {
      if (entry.path() != path()) {
        EXPECT_NE(faults.stop_at, 0) << entry.path();
        std::filesystem::remove(entry.path());
      }
    }
  }

  files::TemporaryFolder folder_;
  Domain::Handle domain_;
};

// A save writes the same, eager or compiled: it runs once for each model.
using SaveFaultsTest = ResumeAfterFaultsTest;

TEST_P(SaveFaultsTest, LeaveTheOldFileOrTheNew) {
  TrainedModel run(*domain_, options());
  run.steps(3);
  operations_of_a_save(run);
  const std::string old_file = folder_.get(kName);
  run.steps(2);
  const std::int64_t operations = operations_of_a_save(run);
  const std::string new_file = folder_.get(kName);
  ASSERT_NE(new_file, old_file);
  int olds = 0;
  int news = 0;
  for (const Faults& faults : all_faults(operations)) {
    folder_.put(kName, old_file);
    const bool is_saved = save(run, faults);
    expect_nothing_beside_it(faults);
    const std::string found = folder_.get(kName);
    ASSERT_TRUE(found == new_file || (!is_saved && found == old_file));
    (found == old_file ? olds : news) += 1;
  }
  EXPECT_GT(olds, 60);
  EXPECT_EQ(news, 2);  // where the last operation alone fails
}

// Both of them, wherever the run that goes on stands itself.
TEST_P(ResumeAfterFaultsTest, LeaveWhatARunGoesOnFrom) {
  const auto whole = [&] {
    TrainedModel run(*domain_, options());
    run.steps(3);
    operations_of_a_save(run);
    run.steps(6);
    return run.hash();
  }();
  const std::string old_file = folder_.get(kName);
  TrainedModel back(*domain_, options());
  for (const std::int64_t n : {1, 7, 9}) {
    folder_.put(kName, old_file);
    EXPECT_FALSE(save(back, {.fail_at = n}));
    ASSERT_TRUE(back.trainer().resume(path()).has_value());
    back.steps(6);
    EXPECT_EQ(back.hash(), whole);
  }
}

INSTANTIATE_TEST_SUITE_P(All, SaveFaultsTest,
                         ::testing::Combine(::testing::ValuesIn(kEveryModel),
                                            ::testing::Values(false)),
                         model_and_mode);
INSTANTIATE_TEST_SUITE_P(All, ResumeAfterFaultsTest, all_models(),
                         model_and_mode);

}  // namespace
}  // namespace neap::tests
