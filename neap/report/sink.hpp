// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Sink: text or bytes on their way into a file, through a buffer of a fixed
// size. The first failure is kept, and what comes after it is dropped, so that
// a writer asks once, at its end. Without a target it only counts.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "neap/base/append.hpp"
#include "neap/base/assert.hpp"
#include "neap/files/byte_sink.hpp"
#include "neap/memory/containers.hpp"
#include "neap/report/ledger_rows.hpp"
#include "neap/report/snapshot_check.hpp"

namespace neap::report {

/// LIFETIME: the target outlives the sink.
class Sink {
 public:
  static constexpr std::size_t kCapacity = 64 * 1024;  // bytes

  /// Counts, and writes nothing.
  Sink() = default;
  /// THROWS: OutOfMemory, of the current domain.
  explicit Sink(files::ByteSink& to) : to_(&to) { buffer_.reserve(kCapacity); }

  void put(std::string_view text);
  void put(char c) { put(std::string_view(&c, 1)); }
  /// A text of ours with numbers, of at most 512 characters; foreign texts have
  /// calls of their own.
  template <class... Args>
  void format(fmt::format_string<Args...> format, Args&&... args) {
    std::array<char, 512> some;
    const std::size_t size =
        base::format_into(some, format, std::forward<Args>(args)...);
    NEAP_ASSERT(size <= some.size(), "a formatted text is short");
    put(std::string_view(some.data(), size));
  }
  /// A JSON string in quotes, UTF-8 whatever `text` is. Texts go through a
  /// piece at a time, as long as they may be.
  void put_json(std::string_view text);
  /// Characters of an XML text or attribute.
  void put_xml(std::string_view text);

  /// The bytes put so far.
  Bytes size() const noexcept { return size_; }
  /// Writes what the buffer has. RETURNS: the first failure, if there was one.
  [[nodiscard]] Result<void> finish();

 private:
  void flush();

  files::ByteSink* to_ = nullptr;
  memory::String buffer_;
  memory::String scratch_;  // one escaped text
  Bytes size_ = 0;
  Result<void> status_;
};

/// Writes a file of a snapshot with write(sink), whole or not at all; nothing
/// where the snapshot makes no sense. Memory taken meanwhile is of the reports'
/// domain.
template <class Write>
[[nodiscard]] Result<void> write_file(files::Door& door,
                                      const std::string& path,
                                      const Snapshot& snapshot,
                                      const Write& write) {
  if (auto good = check_before(path, snapshot); !good) {
    return good;
  }
  const memory::UseDomain use(report_domain());
  return files::write_atomically(door, path, [&](files::File& file) {
    files::FileSink to(file);
    Sink sink(to);
    write(sink);
    return sink.finish();
  });
}

}  // namespace neap::report
