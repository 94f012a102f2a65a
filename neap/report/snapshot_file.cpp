// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/report/snapshot_file.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "neap/base/shown.hpp"
#include "neap/files/byte_source.hpp"
#include "neap/files/whole_file.hpp"
#include "neap/formats/gzip.hpp"
#include "neap/report/ledger_rows.hpp"
#include "neap/report/snapshot_json.hpp"

namespace neap::report {
namespace {

constexpr Bytes kMostText = 256 * kMiB;

Failure named(const std::string& path, Failure&& fact) {
  return {fact.kind, fmt::format("{}: {}; write it again with --snapshot",
                                 base::shown_path(path), fact.message)};
}

// All that is inside.
Result<memory::String> text_of(files::ByteSource& source,
                               const std::string& path) {
  constexpr std::size_t kPart = 64 * 1024;
  memory::String text;
  for (;;) {
    const std::size_t before = text.size();
    // Twice as much each time, so that little is moved.
    text.resize(before + std::max(kPart, before));
    const auto count = files::read_full(
        source, std::as_writable_bytes(std::span(text)).subspan(before));
    if (!count) {
      return tl::make_unexpected(count.error());
    }
    const bool is_whole =
        static_cast<std::size_t>(*count) < text.size() - before;
    text.resize(before + static_cast<std::size_t>(*count));
    if (static_cast<Bytes>(text.size()) > kMostText) {
      return tl::make_unexpected(
          named(path, {FailureKind::kTooLarge, "it is larger than 256 MiB"}));
    }
    if (is_whole) {
      return text;
    }
  }
}

}  // namespace

Result<void> write_snapshot(files::Door& door, const std::string& path,
                            const Snapshot& snapshot) {
  if (auto good = check_before(path, snapshot); !good) {
    return good;
  }
  const memory::UseDomain use(report_domain());
  Sink count;
  put_snapshot(count, snapshot);
  if (count.size() > kMostText) {
    return failure(FailureKind::kTooLarge,
                   fmt::format("{}: not written: it would be larger than 256 "
                               "MiB before it is compressed",
                               base::shown_path(path)));
  }
  return files::write_atomically(door, path,
                                 [&](files::File& file) -> Result<void> {
                                   files::FileSink to(file);
                                   const auto gzip = formats::gzip_into(to);
                                   Sink out(*gzip);
                                   put_snapshot(out, snapshot);
                                   auto done = out.finish();
                                   return done ? gzip->finish() : done;
                                 });
}

Result<Snapshot> read_snapshot(files::Door& door, const std::string& path) {
  auto file = door.open_read(path);
  if (!file) {
    return tl::make_unexpected(std::move(file.error()));
  }
  const auto size = file->size();
  if (!size) {
    return tl::make_unexpected(size.error());
  }
  if (*size == 0) {
    return tl::make_unexpected(
        named(path, {FailureKind::kTruncated, "it is empty"}));
  }
  const auto source = formats::open_gzip(std::move(*file), *size);
  auto text = text_of(*source, path);
  if (!text) {
    return tl::make_unexpected(std::move(text.error()));
  }
  auto parsed = parse_snapshot(*text);
  if (!parsed) {
    return tl::make_unexpected(named(path, std::move(parsed.error())));
  }
  return parsed;
}

}  // namespace neap::report
