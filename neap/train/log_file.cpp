// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/train/log_file.hpp"

#include <utility>

#include "neap/files/whole_file.hpp"

namespace neap::train {
namespace {

constexpr std::size_t kFull = 32 * kKiB;
constexpr std::size_t kLongestRecord = 4 * kKiB;  // longer ones make it grow

}  // namespace

LogFile::LogFile(files::File file) : file_(std::move(file)) {
  buffer_.reserve(kFull + kLongestRecord);
}

LogFile LogFile::unwritten() {
  return LogFile(files::File());
}

Result<void> LogFile::flush_if_full() {
  return buffer_.size() >= kFull ? flush() : Result<void>();
}

Result<void> LogFile::flush() {
  Result<void> written;
  if (file_.is_open()) {
    written = files::write_all(file_, buffer_);
    if (!written) {
      file_ = {};  // given back: nothing more goes there
    }
  }
  buffer_.clear();
  return written;
}

Result<void> LogFile::close() {
  auto written = flush();
  if (!file_.is_open()) {
    return written;
  }
  // Nothing is lost by a loss of power once a run has ended.
  auto synced = file_.sync();
  auto closed = file_.close();
  return written.and_then([&] { return synced; }).and_then([&] {
    return closed;
  });
}

}  // namespace neap::train
