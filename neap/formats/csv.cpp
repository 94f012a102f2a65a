// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/formats/csv.hpp"

#include <fmt/format.h>

#include <utility>

#include "neap/base/raise.hpp"
#include "neap/formats/source.hpp"

namespace neap::formats {
namespace {

constexpr int kEnd = -1;  // of the source
constexpr std::size_t kInputBytes = 64 * kKiB;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

template <class T>
memory::Vector<T> list() {
  return memory::Vector<T>(memory::Allocator<T>(memory::Category::kData));
}

}  // namespace

Result<CsvReader> CsvReader::open(files::Door& door, const std::string& path,
                                  const CsvOptions& options) {
  return open_source(door, path)
      .map([&](memory::Owned<files::ByteSource>&& source) {
        return CsvReader(std::move(source), options);
      });
}

CsvReader::CsvReader(memory::Owned<files::ByteSource> source,
                     const CsvOptions& options)
    : source_(std::move(source)),
      options_(options),
      input_(list<char>()),
      text_(list<char>()),
      ends_(list<std::size_t>()) {
  const char separator = options.separator;
  if (separator == '"' || separator == '\n' || separator == '\r' ||
      options.longest_record < 1 || options.most_fields < 1) {
    base::raise<ValueError>(
        "csv: separator {:?}, records of {} bytes and {} fields, expected "
        "another separator and at least 1",
        separator, options.longest_record, options.most_fields);
  }
  input_.resize(kInputBytes);
}

std::int64_t CsvReader::size() const noexcept {
  return static_cast<std::int64_t>(ends_.size());
}

std::string_view CsvReader::operator[](std::int64_t field) const noexcept {
  const auto i = static_cast<std::size_t>(field);
  const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
  return {text_.data() + begin, ends_[i] - begin};
}

tl::unexpected<Failure> CsvReader::refuse(FailureKind kind,
                                          std::string_view what) const {
  return failure(kind,
                 fmt::format("{}: line {}: {}", name(), next_line_, what));
}

// The next byte, or kEnd.
Result<int> CsvReader::get() {
  if (at_ == end_) {
    const auto read =
        files::read_full(*source_, std::as_writable_bytes(std::span(input_)));
    if (!read) {
      return tl::unexpected(read.error());
    }
    at_ = 0;
    end_ = static_cast<std::size_t>(*read);
    if (std::exchange(is_first_, false) &&
        std::string_view(input_.data(), end_).starts_with(kByteOrderMark)) {
      at_ = kByteOrderMark.size();
    }
    if (at_ == end_) {
      return kEnd;
    }
  }
  return static_cast<unsigned char>(input_[at_++]);
}

Result<bool> CsvReader::next() {
  if (source_ == nullptr) {
    base::raise<UseAfterRelease>("csv: reader used after it was moved from");
  }
  while (true) {
    if (auto read = read_record(); !read) {
      return tl::unexpected(std::move(read.error()));
    }
    if (size() == 0) {
      return false;
    }
    const bool is_empty_line = size() == 1 && text_.empty() && !is_quoted_;
    if (!is_empty_line) {
      return true;
    }
  }
}

// No field at all: the end.
Result<void> CsvReader::read_record() {
  text_.clear();
  ends_.clear();
  is_quoted_ = false;
  line_ = next_line_;
  bool is_begun = false;
  for (State state = State::kStart; state != State::kDone;) {
    const auto c = get();
    if (!c) {
      return tl::unexpected(c.error());
    }
    if (*c == kEnd && !is_begun) {
      return {};
    }
    is_begun = true;
    auto reached = step(state, *c);
    if (!reached) {
      return tl::unexpected(std::move(reached.error()));
    }
    state = *reached;
    next_line_ += *c == '\n' ? 1 : 0;
  }
  return {};
}

Result<CsvReader::State> CsvReader::step(State state, int c) {
  switch (state) {
    case State::kQuoted:
      if (c == kEnd) {
        return failure(FailureKind::kCorrupt,
                       fmt::format("{}: line {}: a quoted field of this record "
                                   "has no end",
                                   name(), line_));
      }
      if (c == '"') {
        return State::kClosed;
      }
      return put(c).map([] { return State::kQuoted; });
    case State::kClosed:
      if (c == '"') {
        return put(c).map([] { return State::kQuoted; });
      }
      return plain(state, c);
    case State::kReturn:
      if (c != '\n') {
        return refuse(FailureKind::kCorrupt,
                      "a carriage return without a line feed");
      }
      return State::kDone;
    default:
      return plain(state, c);
  }
}

// Outside quotes.
Result<CsvReader::State> CsvReader::plain(State state, int c) {
  if (c == static_cast<unsigned char>(options_.separator)) {
    return end_field().map([] { return State::kStart; });
  }
  switch (c) {
    case kEnd:
    case '\n':
      return end_field().map([] { return State::kDone; });
    case '\r':
      return end_field().map([] { return State::kReturn; });
    case '"':
      if (state != State::kStart) {
        return refuse(FailureKind::kCorrupt,
                      "a quote within a field; put the whole field in quotes "
                      "and double this one");
      }
      is_quoted_ = true;
      return State::kQuoted;
    default:
      if (state == State::kClosed) {
        return refuse(FailureKind::kCorrupt,
                      "text after a closing quote; is the separator another?");
      }
      return put(c).map([] { return State::kPlain; });
  }
}

Result<void> CsvReader::put(int c) {
  if (static_cast<Bytes>(text_.size()) == options_.longest_record) {
    return refuse(FailureKind::kTooLarge,
                  fmt::format("the record is longer than {} bytes",
                              options_.longest_record));
  }
  text_.push_back(static_cast<char>(c));
  return {};
}

Result<void> CsvReader::end_field() {
  if (size() == options_.most_fields) {
    return refuse(FailureKind::kTooLarge,
                  fmt::format("the record has more than {} fields",
                              options_.most_fields));
  }
  ends_.push_back(text_.size());
  return {};
}

}  // namespace neap::formats
