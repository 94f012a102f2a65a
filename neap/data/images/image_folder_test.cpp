// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/data/images/image_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "neap/data/images/golden_for_test.hpp"
#include "neap/files/fault_door.hpp"
#include "neap/files/temporary_folder.hpp"

namespace neap::data {
namespace {

namespace fs = std::filesystem;
using files::system_door;
using testing::ElementsAre;
using testing::HasSubstr;

class ImageFolderTest : public testing::Test {
 protected:
  void put(const std::string& name, const std::string& file = "one.png") {
    fs::create_directories(fs::path(folder_.at(name)).parent_path());
    folder_.put(name, golden(file));
  }
  ImageFolder open() {
    return ImageFolder::open(door_, folder_.path()).value();
  }
  Failure failure() {
    const auto found = ImageFolder::open(door_, folder_.path());
    EXPECT_FALSE(found.has_value());
    return found ? Failure{} : found.error();
  }
  // The samples below the folder, with their labels behind.
  std::vector<std::string> samples(const ImageFolder& set) {
    std::vector<std::string> all;
    for (std::int64_t i = 0; i < set.size(); ++i) {
      all.push_back(set.path(i).substr(folder_.path().size() + 1) + ":" +
                    std::to_string(set.label(i)));
    }
    return all;
  }

  files::Door& door_ = system_door();
  files::TemporaryFolder folder_;
};

TEST_F(ImageFolderTest, SortsClassesAndFilesByTheirBytes) {
  for (const char* name : {"b/2.png", "b/10.PNG", "B/x.jpeg", "a/y.jpg"}) {
    put(name);
  }
  const ImageFolder set = open();
  EXPECT_EQ(set.classes(), 3);
  EXPECT_EQ(set.class_name(0), "B");
  EXPECT_EQ(set.class_name(2), "b");
  EXPECT_THAT(samples(set), ElementsAre("B/x.jpeg:0", "a/y.jpg:1", "b/10.PNG:2",
                                        "b/2.png:2"));
}

// Whole paths of folders are compared, and '-' is less than '/'.
TEST_F(ImageFolderTest, GoesThroughFoldersBelowAClass) {
  for (const char* name :
       {"c/z.png", "c/a/b/1.png", "c/a/2.png", "c/a-b/3.png", "c/a/c.png"}) {
    put(name);
  }
  EXPECT_THAT(samples(open()),
              ElementsAre("c/z.png:0", "c/a/2.png:0", "c/a/c.png:0",
                          "c/a-b/3.png:0", "c/a/b/1.png:0"));
}

TEST_F(ImageFolderTest, PassesOverWhatIsNoImage) {
  put("c/1.png");
  folder_.put("c/notes.txt", "text");
  folder_.put("c/png", "text");
  folder_.put("c/.hidden.png", "text");
  folder_.put("readme.md", "text");
  folder_.put("outside.png", "text");
  fs::create_directories(folder_.at(".git/objects"));
  EXPECT_THAT(samples(open()), ElementsAre("c/1.png:0"));
}

TEST_F(ImageFolderTest, ReadsAnImageWhenItIsAskedFor) {
  put("c/1.png", "rgb8.png");
  put("d/2.jpg", "sampled.jpg");
  const ImageFolder set = open();
  const auto first = set.read(0);
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ(bytes_of(*first), golden("rgb8.rgb"));
  const auto second = set.read(1);
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ(second->width, 27);
  folder_.put("d/2.jpg", "text");
  EXPECT_THAT(set.read(1).error().message, HasSubstr("d/2.jpg"));
  fs::remove(folder_.at("d/2.jpg"));
  EXPECT_EQ(set.read(1).error().kind, FailureKind::kNotFound);
}

TEST_F(ImageFolderTest, HoldsTheNamesAlone) {
  for (int i = 1000; i < 1500; ++i) {
    put("class/" + std::to_string(i) + ".png");
  }
  const auto domain = Domain::create();
  const UseDomain use(*domain);
  const ImageFolder set = open();
  EXPECT_EQ(set.size(), 500);
  EXPECT_LE(set.bytes(), 500 * (8 + 4) + 5 + 4 + 8);
  EXPECT_LE(domain->stats().live, set.bytes() + 100);  // the folder's own name
}

TEST_F(ImageFolderTest, RefusesAFolderWithoutClasses) {
  EXPECT_EQ(failure().kind, FailureKind::kCorrupt);
  folder_.put("1.png", "");
  EXPECT_THAT(failure().message, HasSubstr("no folder for a class"));
}

TEST_F(ImageFolderTest, RefusesAClassWithoutImages) {
  put("c/1.png");
  fs::create_directories(folder_.at("d/below"));
  EXPECT_EQ(failure().kind, FailureKind::kCorrupt);
  EXPECT_THAT(failure().message, HasSubstr("/d: has no image"));
}

TEST_F(ImageFolderTest, RefusesImagesInOtherFormats) {
  put("c/1.png");
  folder_.put("c/2.WebP", "");
  EXPECT_EQ(failure().kind, FailureKind::kUnsupported);
  EXPECT_THAT(failure().message, HasSubstr("c/2.WebP"));
}

TEST_F(ImageFolderTest, NamesAFolderThatIsMissing) {
  const auto found = ImageFolder::open(door_, folder_.at("nowhere"));
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().kind, FailureKind::kNotFound);
  EXPECT_THAT(found.error().message, HasSubstr("nowhere"));
}

TEST_F(ImageFolderTest, RefusesALinkThatLeadsBack) {
  put("c/1.png");
  fs::create_directory_symlink(folder_.at("c"), folder_.at("c/again"));
  EXPECT_EQ(failure().kind, FailureKind::kUnsupported);
  EXPECT_THAT(failure().message, HasSubstr("by another path"));
}

// Twice as many folders at each depth, without end.
TEST_F(ImageFolderTest, RefusesTwoLinksToOneFolder) {
  put("c/1.png");
  put("elsewhere/2.png");
  for (const char* name : {"c/a", "c/b"}) {
    fs::create_directory_symlink(folder_.at("elsewhere"), folder_.at(name));
  }
  EXPECT_EQ(failure().kind, FailureKind::kUnsupported);
  EXPECT_THAT(failure().message, HasSubstr("c/b: is a folder of its class"));
}

TEST_F(ImageFolderTest, TellsClassesOfOtherNamesApart) {
  const auto of = [&](const char* a, const char* b) {
    const std::string one = std::string(a) + "/1.png";
    const std::string two = std::string(b) + "/1.png";
    put(one);
    put(two);
    const std::uint64_t found = open().fingerprint();
    fs::remove_all(folder_.at(a));
    fs::remove_all(folder_.at(b));
    return found;
  };
  EXPECT_NE(of("ab", "c"), of("a", "bc"));
}

TEST_F(ImageFolderTest, HasAFingerprintOfNamesLimitsAndPixels) {
  put("c/1.png");
  put("c/2.png");
  const auto of = [&](const ImageLimits& limits = {}) {
    return ImageFolder::open(door_, folder_.path(), limits)
        .value()
        .fingerprint();
  };
  const std::uint64_t first = of();
  EXPECT_EQ(of(), first);
  EXPECT_NE(of({.channels = 1}), first);
  EXPECT_NE(of({.turns_upright = false}), first);
  put("c/2.png", "rgb8.png");
  EXPECT_NE(of(), first);
  put("c/2.png");
  fs::rename(folder_.at("c/2.png"), folder_.at("c/3.png"));
  EXPECT_NE(of(), first);
  fs::rename(folder_.at("c/3.png"), folder_.at("c/2.png"));
  EXPECT_EQ(of(), first);
  fs::rename(folder_.at("c"), folder_.at("d"));
  EXPECT_NE(of(), first);
}

TEST_F(ImageFolderTest, SurvivesEveryFailureOfTheDoor) {
  for (const char* name : {"a/1.png", "b/below/2.png"}) {
    put(name);
  }
  std::int64_t n = 1;
  for (; n < 1000; ++n) {
    const auto domain = Domain::create();
    const UseDomain use(*domain);
    files::FaultDoor door(door_, {.fail_at = n});
    if (ImageFolder::open(door, folder_.path())) {
      break;
    }
    EXPECT_EQ(domain->stats().live, 0) << "after operation " << n;
  }
  EXPECT_GT(n, 8);
  EXPECT_LT(n, 1000);
}

TEST_F(ImageFolderTest, RefusesLimitsThatMakeNoSense) {
  put("c/1.png");
  EXPECT_THROW((void)ImageFolder::open(door_, folder_.path(), {.channels = 4}),
               ValueError);
}

}  // namespace
}  // namespace neap::data
