// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/report/sink.hpp"

#include <gtest/gtest.h>

#include "neap/files/fault_door.hpp"
#include "neap/files/temporary_folder.hpp"

namespace neap::report {
namespace {

Snapshot sound() {
  Snapshot s;
  s.texts.emplace_back();
  return s;
}

TEST(SinkTest, WritesTextsOfAllSizesInTheirOrder) {
  const files::TemporaryFolder folder;
  std::string expected;
  Bytes size = 0;
  const auto fill = [&](Sink& sink) {
    for (std::size_t bytes = 1; bytes < 3 * Sink::kCapacity; bytes *= 3) {
      const std::string text(bytes, static_cast<char>('a' + bytes % 26));
      sink.put(text);
      sink.put(';');
      sink.format("{}", bytes);
      expected += text + ";" + std::to_string(bytes);
    }
    size = sink.size();
  };
  ASSERT_TRUE(write_file(files::system_door(), folder.at("f"), sound(), fill)
                  .has_value());
  EXPECT_EQ(folder.get("f"), expected);
  EXPECT_EQ(size, static_cast<Bytes>(expected.size()));
}

TEST(SinkTest, CountsWithoutAFile) {
  Sink sink;
  sink.put("abc");
  sink.put_json("\n");
  EXPECT_EQ(sink.size(), 3 + 8);
  EXPECT_TRUE(sink.finish().has_value());
}

TEST(SinkTest, WritesNoMoreAfterAFailure) {
  const files::TemporaryFolder folder;
  files::FaultDoor door(files::system_door(), {.fail_at = 3});
  const auto done = write_file(door, folder.at("f"), sound(), [&](Sink& sink) {
    for (int i = 0; i < 10; ++i) {
      sink.put(std::string(Sink::kCapacity, 'x'));
    }
  });
  EXPECT_FALSE(done.has_value());
  EXPECT_LE(door.operations(), 4);  // the last one removes the file
}

}  // namespace
}  // namespace neap::report
