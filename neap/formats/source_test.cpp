// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/formats/source.hpp"

#include <gtest/gtest.h>

#include "neap/files/fault_door.hpp"
#include "neap/files/temporary_folder.hpp"
#include "neap/formats/gzip_for_test.hpp"
#include "neap/memory/out_of_memory.hpp"

namespace neap::formats {
namespace {

using files::TemporaryFolder;

Result<std::string> read_start(files::Door& door, const std::string& path) {
  return open_source(door, path)
      .and_then([](memory::Owned<files::ByteSource>&& source) {
        std::string text(100, '\0');
        return files::read_full(*source,
                                std::as_writable_bytes(std::span(text)))
            .map([&](Bytes count) {
              return text.substr(0, static_cast<std::size_t>(count));
            });
      });
}

TEST(OpenSourceTest, ReadsPlainAndCompressedContentAlike) {
  const TemporaryFolder folder;
  files::Door& door = files::system_door();
  EXPECT_EQ(read_start(door, folder.put("a", "text")).value(), "text");
  EXPECT_EQ(read_start(door, folder.put("b", gzip("text"))).value(), "text");
  EXPECT_EQ(read_start(door, folder.put("c", "")).value(), "");
  EXPECT_EQ(read_start(door, folder.put("d", "\x1f")).value(), "\x1f");
}

TEST(OpenSourceTest, PassesEveryFailureOn) {
  const TemporaryFolder folder;
  const std::string path = folder.put("a", gzip("text"));
  std::int64_t n = 1;
  for (;; ++n) {
    files::FaultDoor door(files::system_door(), {.fail_at = n});
    const auto result = read_start(door, path);
    if (result.has_value()) {
      break;
    }
    EXPECT_EQ(result.error().kind, FailureKind::kIo) << n;
  }
  // Open, size, read; open, size, read, and the read that finds the end.
  EXPECT_EQ(n, 8);
}

TEST(OpenSourceTest, ClosesTheFileWhenMemoryIsRefused) {
  const TemporaryFolder folder;
  const std::string path = folder.put("a", gzip("text"));
  const auto domain = memory::Domain::create();
  const memory::UseDomain use(*domain);
  domain->fail_at(1);
  EXPECT_THROW(static_cast<void>(read_start(files::system_door(), path)),
               OutOfMemory);
  EXPECT_EQ(domain->stats().live, 0);
  EXPECT_EQ(read_start(files::system_door(), path).value(), "text");
}

}  // namespace
}  // namespace neap::formats
