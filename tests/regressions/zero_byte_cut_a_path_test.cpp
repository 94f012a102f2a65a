// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A path with a zero byte named another file: the one before that byte.
#include <gtest/gtest.h>

#include <string>

#include "neap/base/result.hpp"
#include "neap/files/door.hpp"
#include "neap/files/temporary_folder.hpp"

namespace neap::files {
namespace {

template <class Value>
void expect_refused(const Value& result) {
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().kind, FailureKind::kUnsupported);
  EXPECT_NE(result.error().message.find("a path with a zero byte"),
            std::string::npos)
      << result.error().message;
  EXPECT_EQ(result.error().message.find('\0'), std::string::npos);
}

TEST(ZeroByteTest, NoCallOfTheDoorTakesAPathWithOne) {
  const TemporaryFolder folder;
  const std::string file = folder.put("file", "text");
  const std::string cut = file + std::string("\0more", 5);
  const std::string inside = folder.path() + std::string("\0more", 5);
  Door& door = system_door();
  expect_refused(door.open_read(cut));
  expect_refused(door.open_write(cut));
  expect_refused(door.open_append(cut));
  expect_refused(door.rename(cut, file));
  expect_refused(door.rename(file, cut));
  expect_refused(door.remove(cut));
  expect_refused(door.make_directory(inside));
  expect_refused(door.sync_directory(inside));
  expect_refused(door.exists(cut));
  expect_refused(door.inspect(cut));
  expect_refused(door.list(inside));
  EXPECT_EQ(folder.get("file"), "text");
  EXPECT_EQ(door.list(folder.path())->size(), 1U);
}

TEST(ZeroByteTest, EveryNameOfAFileHasTheSameNumbers) {
  const TemporaryFolder folder;
  const std::string file = folder.put("file", "text");
  std::filesystem::create_hard_link(file, folder.at("other"));
  std::filesystem::create_symlink("file", folder.at("link"));
  const auto facts = system_door().inspect(file).value();
  EXPECT_NE(facts.number, 0U);
  for (const char* name : {"other", "link", "../file"}) {
    const std::string path =
        name[0] == '.' ? folder.path() + "/./file" : folder.at(name);
    const auto found = system_door().inspect(path).value();
    EXPECT_EQ(found.device, facts.device) << name;
    EXPECT_EQ(found.number, facts.number) << name;
  }
  EXPECT_NE(system_door().inspect(folder.path())->number, facts.number);
  EXPECT_EQ(system_door().inspect(folder.at("none"))->number, 0U);
}

}  // namespace
}  // namespace neap::files
