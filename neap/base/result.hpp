// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Expected failures (files, parsing, a plan that does not fit) are values.
//
//   files::Result<Idx> idx = formats::read_idx(path);
//   if (!idx) { report(idx.error().message); }
#pragma once

#include <cstdint>
#include <string>
#include <tl/expected.hpp>

namespace neap {

enum class FailureKind : std::uint8_t {
  kNotFound,     // no such file or directory
  kIo,           // the system refused a read, write, sync or rename
  kTruncated,    // the data ends before its header says so
  kCorrupt,      // wrong magic, checksum, count or value
  kTooLarge,     // a size beyond what the format or the caller allows
  kUnsupported,  // well formed, but a variant that is not read here
  kMismatch,     // two things that must agree do not
  kInterrupted,  // a stop was asked for (fault injection, Ctrl-C)
};

struct Failure {
  FailureKind kind;
  std::string message;  // one line: the file or thing, the fact, what to do
};

template <class T>
using Result = tl::expected<T, Failure>;

inline tl::unexpected<Failure> failure(FailureKind kind, std::string message) {
  return tl::unexpected<Failure>(Failure{kind, std::move(message)});
}

}  // namespace neap
