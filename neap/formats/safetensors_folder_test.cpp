// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Folders of shards, and indexes that lie.
#include "neap/formats/safetensors_folder.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "neap/files/temporary_folder.hpp"
#include "neap/tensor/create.hpp"
#include "neap/tensor/door_test.hpp"

namespace neap::formats {
namespace {

using files::system_door;
using ::testing::HasSubstr;

class SafetensorsFolderTest : public DoorTest {
 protected:
  void put_shard(const char* file, const char* tensor) const {
    const Tensor x = full({2}, 3.0);
    ASSERT_TRUE(write_safetensors(system_door(), folder_.at(file),
                                  std::array{NamedTensor{tensor, x}})
                    .has_value());
  }
  void put_index(const std::string& map) const {
    folder_.put(
        "model.safetensors.index.json",
        R"({"metadata": {"total_size": 16}, "weight_map": )" + map + "}");
  }
  void refuse(const std::string& map, FailureKind kind,
              const std::string& says) const {
    put_index(map);
    const auto opened = open_shards(system_door(), folder_.path());
    ASSERT_FALSE(opened.has_value()) << map;
    EXPECT_EQ(opened.error().kind, kind) << opened.error().message;
    EXPECT_THAT(opened.error().message, HasSubstr(says));
    EXPECT_EQ(opened.error().message.find('\n'), std::string::npos);
  }

  files::TemporaryFolder folder_;
};

TEST_F(SafetensorsFolderTest, ShardsAreOpenedByTheirIndex) {
  put_shard("a.safetensors", "x");
  put_shard("b.safetensors", "y");
  put_index(R"({"x": "a.safetensors", "y": "b.safetensors"})");
  for (const std::string& path :
       {folder_.path(), folder_.at("model.safetensors.index.json")}) {
    const auto files = open_shards(system_door(), path).value();
    ASSERT_EQ(files.size(), 2U);
    EXPECT_NE(files[0].find("x"), nullptr);
    EXPECT_NE(files[1].find("y"), nullptr);
  }
}

TEST_F(SafetensorsFolderTest, AWholeFileIsOneOfItself) {
  put_shard("model.safetensors", "x");
  for (const std::string& path :
       {folder_.path(), folder_.at("model.safetensors")}) {
    EXPECT_EQ(open_shards(system_door(), path).value().size(), 1U);
  }
}

TEST_F(SafetensorsFolderTest, AFolderWithoutWeightsIsRefused) {
  const auto opened = open_shards(system_door(), folder_.path());
  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error().kind, FailureKind::kNotFound);
  EXPECT_THAT(opened.error().message, HasSubstr("has neither"));
}

TEST_F(SafetensorsFolderTest, PathsThatLeaveTheFolderAreRefused) {
  put_shard("a.safetensors", "x");
  for (const char* path :
       {"../a.safetensors", "/etc/a.safetensors", "b/a.safetensors",
        "..\\\\a.safetensors", "C:a.safetensors", ".a.safetensors", "", "a.bin",
        "a\\u0000.safetensors"}) {
    refuse(fmt::format(R"({{"x": "{}"}})", path), FailureKind::kCorrupt,
           "of the same folder");
  }
}

TEST_F(SafetensorsFolderTest, IndexesUnlikeTheirFilesAreRefused) {
  put_shard("a.safetensors", "x");
  put_shard("b.safetensors", "x");
  refuse(R"({"x": "c.safetensors"})", FailureKind::kNotFound, "c.safetensors");
  refuse(R"({"x": "a.safetensors", "y": "a.safetensors"})",
         FailureKind::kCorrupt, R"("y" is not in a.safetensors)");
  refuse("{}", FailureKind::kCorrupt, "names no file");
  refuse(R"({"x": "a.safetensors", "x": "b.safetensors"})",
         FailureKind::kCorrupt, R"(names "x" twice)");
  put_shard("b.safetensors", "y");
  put_shard("d.safetensors", "x");
  refuse(R"({"x": "a.safetensors", "y": "d.safetensors"})",
         FailureKind::kCorrupt, R"("y" is not in d.safetensors)");
}

TEST_F(SafetensorsFolderTest, ATensorInTwoFilesIsRefused) {
  const Tensor x = full({2}, 3.0);
  put_shard("a.safetensors", "x");
  ASSERT_TRUE(
      write_safetensors(system_door(), folder_.at("b.safetensors"),
                        std::array{NamedTensor{"x", x}, NamedTensor{"y", x}})
          .has_value());
  refuse(R"({"x": "a.safetensors", "y": "b.safetensors"})",
         FailureKind::kCorrupt, R"(does not give "x" to b.safetensors)");
}

TEST_F(SafetensorsFolderTest, IndexesThatAreNoneAreRefused) {
  for (const char* map : {"[]", "1", R"({"x": 1})", R"({"x": )", "{} {}",
                          R"({"x": {"y": "a.safetensors"}})"}) {
    refuse(map, FailureKind::kCorrupt, "of this index");
  }
  folder_.put("model.safetensors.index.json", "{}");
  EXPECT_THAT(open_shards(system_door(), folder_.path()).error().message,
              HasSubstr("no index of shards"));
}

TEST_F(SafetensorsFolderTest, TooManyFilesAreRefused) {
  std::string map = "{";
  for (std::size_t i = 0; i <= kMostShards; ++i) {
    map +=
        fmt::format(R"({}"t{}": "{}.safetensors")", i == 0 ? "" : ", ", i, i);
  }
  refuse(map + "}", FailureKind::kTooLarge, "more than 512 files");
}

}  // namespace
}  // namespace neap::formats
