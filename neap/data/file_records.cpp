// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/data/file_records.hpp"

#include <fmt/format.h>

#include "neap/base/outside.hpp"
#include "neap/base/raise.hpp"
#include "neap/base/shown.hpp"

namespace neap::data {

Result<RecordFile> RecordFile::open(files::Door& door, const std::string& path,
                                    const RecordLayout& layout) {
  RecordLayout whole = layout;
  whole.stride = layout.stride == 0 ? layout.record : layout.stride;
  if (whole.header < 0 || whole.record < 1 || whole.stride < 1) {
    base::raise<ValueError>(
        "records: header {}, record {} and stride {} bytes, expected a record "
        "of at least 1 and the others not negative",
        layout.header, layout.record, layout.stride);
  }
  auto file = door.open_read(path);
  if (!file) {
    return tl::unexpected(std::move(file.error()));
  }
  const auto size = file->size();
  if (!size) {
    return tl::unexpected(size.error());
  }
  // Compared without adding what the user gave, which may be too large.
  const Bytes records = *size - whole.header;
  const Bytes spare = records < 0 ? -1 : records - whole.record;
  const bool is_cut =
      whole.stride == whole.record && spare >= 0 && spare % whole.stride != 0;
  if (spare < 0 || is_cut) {
    return failure(
        FailureKind::kTruncated,
        fmt::format("{}: {} bytes are no header of {} and whole records of {}; "
                    "fetch it again, or correct the sizes",
                    base::shown_path(path), *size, whole.header, whole.record));
  }
  return RecordFile(std::move(*file), whole, spare / whole.stride + 1);
}

Result<void> RecordFile::read(std::int64_t index, std::span<std::byte> into) {
  base::tell_of_question("read", "for a record of a file", {});
  Bytes at = layout_.header + index * layout_.stride;
  into = into.first(static_cast<std::size_t>(layout_.record));
  while (!into.empty()) {
    const auto count = file_.read_at(at, into);
    if (!count) {
      return tl::unexpected(count.error());
    }
    if (*count == 0) {
      return failure(FailureKind::kTruncated,
                     fmt::format("{}: record {} is not there any more; was the "
                                 "file changed?",
                                 file_.name(), index));
    }
    at += *count;
    into = into.subspan(static_cast<std::size_t>(*count));
  }
  return {};
}

}  // namespace neap::data
