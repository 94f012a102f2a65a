// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/data/csv_set.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "neap/data/loader.hpp"
#include "neap/files/fault_door.hpp"
#include "neap/files/temporary_folder.hpp"
#include "neap/tensor/create.hpp"

namespace neap::data {
namespace {

using files::system_door;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

Result<CsvSet> read(const std::string& content,
                    const CsvSetOptions& options = {}) {
  const files::TemporaryFolder folder;
  return read_csv(system_door(), folder.put("a.csv", content), options);
}

Failure refusal(const std::string& content, const CsvSetOptions& options = {}) {
  const auto domain = Domain::create();
  const UseDomain use(*domain);
  const auto set = read(content, options);
  EXPECT_FALSE(set.has_value()) << content;
  EXPECT_EQ(domain->stats().live, 0);
  return set.has_value() ? Failure{} : set.error();
}

TEST(CsvSetTest, ReadsFeaturesAndLabels) {
  const auto set = read(
      "width,height,kind\n"
      "1.5, -2e3 ,0\r\n"
      "\"+3\",.25,2.0\n");
  ASSERT_TRUE(set.has_value()) << set.error().message;
  EXPECT_EQ(set->size(), 2);
  EXPECT_EQ(set->classes(), 3);
  EXPECT_EQ(set->features().shape(), (Shape{2, 2}));
  EXPECT_THAT(set->features().to_vector(), ElementsAre(1.5, -2000, 3, 0.25));
  EXPECT_THAT(set->targets().to_vector(), ElementsAre(0, 2));
  EXPECT_THAT(set->names(), ElementsAre("width", "height"));
}

TEST(CsvSetTest, TakesAnyColumnForItsTarget) {
  const std::string text = "a;b;c\n1;2;3\n";
  const CsvSetOptions by_name{.separator = ';', .target = "b"};
  EXPECT_EQ(read(text, by_name)->targets().item(), 2.0);
  EXPECT_THAT(read(text, by_name)->names(), ElementsAre("a", "c"));
  const CsvSetOptions by_number{.separator = ';', .target_column = 0};
  EXPECT_EQ(read(text, by_number)->targets().item(), 1.0);
  const CsvSetOptions from_the_end{
      .separator = ';', .header = false, .target_column = -2};
  EXPECT_EQ(read("1;2;3", from_the_end)->targets().item(), 2.0);
  EXPECT_TRUE(read("1;2;3", from_the_end)->names().empty());
}

TEST(CsvSetTest, PutsValuesInAColumnOfTheirOwn) {
  const auto set =
      read("x,y\n1,-0.5\n2,7\n", {.kind = CsvTarget::kValue}).value();
  EXPECT_EQ(set.classes(), 0);
  Loader loader(set, {.batch = 2});
  loader.start(0);
  const Batch* batch = loader.next();
  EXPECT_EQ(batch->target.shape(), (Shape{2, 1}));
  EXPECT_THAT(batch->target.to_vector(), ElementsAre(-0.5, 7));
  EXPECT_THAT(batch->input.to_vector(), ElementsAre(1, 2));
}

TEST(CsvSetTest, ReturnsLabelsOfRankZero) {
  const auto set = read("1,5\n2,7\n", {.header = false}).value();
  Loader loader(set, {.batch = 2});
  loader.start(0);
  const Tensor target = loader.next()->target;
  EXPECT_EQ(target.shape(), Shape{2});
  EXPECT_EQ(target.dtype(), i64);
  EXPECT_THAT(target.to_vector(), ElementsAre(5, 7));
}

TEST(CsvSetTest, StandardisesColumnByColumn) {
  CsvSet set = read("1,5,0\n3,5,1\n", {.header = false}).value();
  const auto statistics = set.statistics();
  EXPECT_EQ(statistics[0].mean, 2.0);
  EXPECT_EQ(statistics[0].deviation, 1.0);
  EXPECT_EQ(statistics[1].deviation, 1.0);
  set.standardise(statistics);
  EXPECT_THAT(set.features().to_vector(), ElementsAre(-1, 0, 1, 0));
  EXPECT_THROW(set.standardise(std::vector<ColumnStatistics>(3)), ShapeError);
}

TEST(CsvSetTest, NamesLineAndColumnOfWhatIsNoNumber) {
  for (const std::string field :
       {"", " ", "x", "1x", "0x10", "nan", "inf", "-inf", "1e39", "1e999",
        "1,5", "--1", "+-1", "1 2"}) {
    const std::string quoted = "\"" + field + "\"";
    const Failure failure = refusal("width,kind\n1,0\n" + quoted + ",0\n");
    EXPECT_EQ(failure.kind, FailureKind::kCorrupt) << field;
    EXPECT_THAT(failure.message, AllOf(HasSubstr("a.csv: line 3: "),
                                       HasSubstr("column 0 (width)")));
  }
}

TEST(CsvSetTest, RefusesLabelsThatAreNone) {
  for (const std::string label : {"-1", "0.5", "2147483648", "setosa"}) {
    EXPECT_THAT(refusal("1," + label, {.header = false}).message,
                HasSubstr("is not a label"));
  }
  EXPECT_TRUE(read("1,2147483647", {.header = false}).has_value());
}

TEST(CsvSetTest, SaysWhatToWriteInsteadOfWordsOfOtherFormats) {
  const auto told = [](const std::string& row) {
    return refusal(row, {.header = false}).message;
  };
  for (const std::string word : {"true", "False", " YES ", "no"}) {
    const auto says = HasSubstr("write 1 for true and yes, 0 for false and no");
    EXPECT_THAT(told("1," + word), says) << word;
    EXPECT_THAT(told(word + ",1"), says) << word;
  }
  for (const std::string word : {"null", "None", "", "NaN", "n/a"}) {
    EXPECT_THAT(told("1," + word), HasSubstr("give the row a label, or"))
        << word;
    EXPECT_THAT(told(word + ",1"), HasSubstr("give the row a number there"))
        << word;
  }
  EXPECT_THAT(told("1,setosa"), HasSubstr("number the classes from 0"));
  EXPECT_THAT(told("1,truely"), HasSubstr("number the classes from 0"));
}

TEST(CsvSetTest, RefusesTablesThatAreNone) {
  EXPECT_EQ(refusal("").kind, FailureKind::kCorrupt);
  EXPECT_EQ(refusal("a,b\n").kind, FailureKind::kCorrupt);
  EXPECT_THAT(refusal("a,b\n1,2\n1,2,3\n").message,
              HasSubstr("line 3: 3 fields, the first record has 2"));
  EXPECT_THAT(refusal("a,b\n1,2\n1\n").message, HasSubstr("1 fields"));
}

TEST(CsvSetTest, RefusesATargetThatIsNotThere) {
  EXPECT_EQ(refusal("a,b\n1,2\n", {.target = "c"}).kind,
            FailureKind::kMismatch);
  EXPECT_EQ(refusal("a,b,b\n1,2,3\n", {.target = "b"}).kind,
            FailureKind::kMismatch);
  EXPECT_EQ(refusal("a,b\n1,2\n", {.target_column = 2}).kind,
            FailureKind::kMismatch);
  EXPECT_EQ(refusal("a,b\n1,2\n", {.target_column = -3}).kind,
            FailureKind::kMismatch);
  EXPECT_EQ(refusal("a\n1\n").kind, FailureKind::kMismatch);
  EXPECT_EQ(refusal("1,2\n", {.header = false, .target = "1"}).kind,
            FailureKind::kMismatch);
}

TEST(CsvSetTest, PassesOnAFailureOfEachOperation) {
  const files::TemporaryFolder folder;
  const std::string path = folder.put("a.csv", "a,b\n1,2\n3,4\n");
  const auto domain = Domain::create();
  const UseDomain use(*domain);
  std::int64_t n = 1;
  for (;; ++n) {
    files::FaultDoor door(system_door(), {.fail_at = n, .longest_read = 5});
    const auto set = read_csv(door, path);
    if (set.has_value()) {
      EXPECT_THAT(set->features().to_vector(), ElementsAre(1, 3));
      break;
    }
    ASSERT_EQ(set.error().kind, FailureKind::kIo);
    EXPECT_EQ(domain->stats().live, 0);
  }
  EXPECT_GT(n, 10);
}

TEST(CsvSetTest, HoldsTheNumbersAndNothingElse) {
  std::string text;
  for (int i = 0; i < 30'000; ++i) {
    text += "1,2,3\n";
  }
  const auto domain = Domain::create();
  const UseDomain use(*domain);
  const auto set = read(text, {.header = false}).value();
  EXPECT_EQ(set.bytes(), 30'000 * 12);
  EXPECT_LE(domain->stats().live, set.bytes() + kKiB);
  EXPECT_LE(domain->stats().live_peak, set.bytes() + 128 * kKiB);
}

TEST(CsvSetTest, RefusesTensorsThatDoNotFit) {
  EXPECT_THROW(CsvSet(zeros({2, 3}), zeros({3})), ShapeError);
  EXPECT_THROW(CsvSet(zeros({2, 3}, f64), zeros({2})), DTypeError);
  EXPECT_THROW(CsvSet(zeros({2, 3}), zeros({2}, u8)), DTypeError);
}

}  // namespace
}  // namespace neap::data
