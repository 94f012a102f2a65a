// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// CSV as RFC 4180 has it: records of fields, lines ended by LF or CR LF, fields
// in double quotes where they hold a separator, a quote (doubled) or an end of
// line. The separator may be another; a byte order mark in front and empty
// lines are skipped. Anything else (a quote within a plain field, text after a
// closing one, a carriage return alone, quotes without end) is refused with its
// line.
//
// A record is read into one buffer, allocated once and no longer than is
// allowed. A reader is used by one thread at a time.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "neap/base/api.hpp"
#include "neap/base/result.hpp"
#include "neap/files/byte_source.hpp"
#include "neap/memory/containers.hpp"

namespace neap::formats {

struct CsvOptions {
  char separator = ',';
  Bytes longest_record = kMiB;        // bytes of the text of its fields
  std::int64_t most_fields = 65'536;  // largest number of fields of a record
};

class NEAP_API CsvReader {
 public:
  /// A file, plain or gzipped. THROWS: OutOfMemory; ValueError for a separator
  /// that is a quote or ends a line, or bounds below 1. LIFETIME: `door`
  /// outlives the reader.
  [[nodiscard]] static Result<CsvReader> open(files::Door& door,
                                              const std::string& path,
                                              const CsvOptions& options = {});
  CsvReader(memory::Owned<files::ByteSource> source, const CsvOptions& options);

  /// Advances to the next record; false at the end. Failures: kCorrupt,
  /// kTooLarge, those of the source. THROWS: UseAfterRelease when moved from.
  [[nodiscard]] Result<bool> next();

  /// The fields of the record, without their quotes, until the next next().
  std::int64_t size() const noexcept;
  std::string_view operator[](std::int64_t field) const noexcept;
  /// The line where it began, from 1.
  std::int64_t line() const noexcept { return line_; }
  /// The name for messages; empty when moved from.
  std::string_view name() const noexcept {
    return source_ != nullptr ? source_->name() : std::string_view();
  }

 private:
  enum class State { kStart, kPlain, kQuoted, kClosed, kReturn, kDone };

  Result<void> read_record();
  Result<int> get();
  Result<State> step(State state, int c);
  Result<State> plain(State state, int c);
  Result<void> put(int c);
  Result<void> end_field();
  tl::unexpected<Failure> refuse(FailureKind kind, std::string_view what) const;

  memory::Owned<files::ByteSource> source_;
  CsvOptions options_;
  memory::Vector<char> input_;        // text that was read
  std::size_t at_ = 0;                // offset in input_ of what comes next
  std::size_t end_ = 0;               // beyond what was read
  bool is_first_ = true;              // nothing was read yet
  memory::Vector<char> text_;         // fields of the record, one by one
  memory::Vector<std::size_t> ends_;  // end of each field in the line
  std::int64_t line_ = 0;             // line that the record begins in
  std::int64_t next_line_ = 1;        // line that reading has reached
  bool is_quoted_ = false;            // some field of the record was
};

}  // namespace neap::formats
