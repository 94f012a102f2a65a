// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Data under a budget: the file's buffers, the ring, what a reader thread fills
// ahead and its stack are all inside, to the byte.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <tuple>
#include <vector>

#include "neap/base/external.hpp"
#include "neap/data/file_records.hpp"
#include "neap/data/loader.hpp"
#include "neap/data/text_set.hpp"
#include "neap/files/temporary_folder.hpp"
#include "neap/memory/budget.hpp"
#include "neap/threads/background.hpp"

namespace neap::tests {
namespace {

constexpr std::int64_t kBatch = 16;
constexpr std::int64_t kNumbers = 3000;  // of a record
constexpr std::int64_t kBlock = 400;     // tokens

using Values = std::vector<double>;

// The first number of each sample of three epochs.
Values read_epochs(const data::AnyDataset& set, int prefetch) {
  data::Loader loader(
      set, {.batch = kBatch, .shuffle = true, .seed = 3, .prefetch = prefetch});
  Values out;
  for (const std::int64_t epoch : {0, 1, 2}) {
    loader.start(epoch);
    while (const data::Batch* batch = loader.next()) {
      for (std::int64_t i = 0; i < batch->size(); ++i) {
        out.push_back(batch->input.at({i, 0}));
      }
    }
  }
  return out;
}

// Records that are read from the file as they are asked for.
Values read_records(const files::TemporaryFolder& folder, int prefetch) {
  const auto decode = [](std::span<const std::byte> record,
                         std::span<std::byte> input,
                         std::span<std::byte> target) noexcept {
    const auto number = static_cast<float>(record[0]);
    std::memcpy(input.data(), &number, sizeof(number));
    std::memset(target.data(), 0, target.size());
  };
  auto file = data::RecordFile::open(files::system_door(), folder.at("records"),
                                     {.record = kNumbers});
  const data::FileRecords records(std::move(file.value()),
                                  {{kNumbers}, f32, {}, i64}, decode);
  return read_epochs(records, prefetch);
}

Values read_text(const files::TemporaryFolder& folder, int prefetch) {
  const auto parts = data::read_text(files::system_door(), folder.at("text"),
                                     {.block = kBlock, .validation = 0.1});
  return read_epochs(parts.value().train, prefetch);
}

struct Source {
  const char* name;
  Values (*read)(const files::TemporaryFolder& folder, int prefetch);
};

class DataBudgetTest
    : public ::testing::TestWithParam<std::tuple<Source, int>> {
 protected:
  // Peak bytes of a read, and the values that were read.
  struct Seen {
    Bytes held = 0;
    Bytes all = 0;  // with what is external then
    Values values;
  };

  DataBudgetTest() {
    std::string bytes;
    for (int i = 0; i < 30; ++i) {
      bytes.append(kNumbers, static_cast<char>(i));
    }
    folder_.put("records", bytes);
    folder_.put("text", bytes);
  }
  // Idle pages are given back, so that what is held is what is needed.
  Seen read(int prefetch, Bytes budget = kUnlimited) const {
    const auto domain = Domain::create({.idle_limit = 0});
    const Bytes external = base::external_bytes();
    const UseDomain use(*domain);
    const Budget guard(budget, *domain);
    Seen seen;
    try {
      seen.values = std::get<0>(GetParam()).read(folder_, prefetch);
    } catch (const OutOfMemory& error) {
      EXPECT_EQ(error.details().reason, OutOfMemory::Reason::kBudget);
    }
    EXPECT_EQ(domain->stats().live, 0);
    EXPECT_EQ(base::external_bytes(), external);
    seen.held = domain->stats().peak;
    seen.all = seen.held + external + stack_bytes(prefetch);
    return seen;
  }
  static Bytes stack_bytes(int prefetch) {
    return prefetch > 0 ? threads::Background::external_bytes() : 0;
  }
  static int prefetch() { return std::get<1>(GetParam()); }

 private:
  files::TemporaryFolder folder_;
};

TEST_P(DataBudgetTest, OfTheMeasuredPeakIsEnough) {
  const Seen whole = read(prefetch());
  EXPECT_GT(whole.values.size(), 60);
  const Seen found = read(prefetch(), whole.all);
  EXPECT_EQ(found.values, whole.values);
  EXPECT_EQ(found.held, whole.held);
}

TEST_P(DataBudgetTest, OfAnyLessIsRefusedAndEverythingFreed) {
  const Seen whole = read(prefetch());
  const Bytes least = base::external_bytes();
  for (Bytes budget = whole.all - 1; budget > least; budget -= 4099) {
    const Seen found = read(prefetch(), budget);
    ASSERT_TRUE(found.values.empty()) << budget;
    ASSERT_LE(found.held + base::external_bytes(), budget);
  }
}

TEST_P(DataBudgetTest, BoundsWhatIsReadAhead) {
  const Bytes sample = (std::get<0>(GetParam()).read == &read_records)
                           ? kNumbers * Bytes{4}
                           : kBlock * Bytes{16};
  EXPECT_GE(read(prefetch()).held,
            read(0).held + prefetch() * kBatch * sample - 4 * kKiB);
}

INSTANTIATE_TEST_SUITE_P(
    All, DataBudgetTest,
    ::testing::Combine(::testing::Values(Source{"Records", &read_records},
                                         Source{"Text", &read_text}),
                       ::testing::Values(0, 1, 4)),
    [](const auto& way) {
      return std::get<0>(way.param).name +
             std::to_string(std::get<1>(way.param));
    });

}  // namespace
}  // namespace neap::tests
