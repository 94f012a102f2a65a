// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Expected failures (files, parsing, a plan that does not fit) are values.
//
//   Result<Idx> idx = formats::read_idx(path);
//   if (!idx) { report(idx.error().message); }
//
//   save(model, path).value();  // throws tl::bad_expected_access<Failure>
#pragma once

#include <cstdint>
#include <string>
#include <tl/expected.hpp>
#include <type_traits>
#include <utility>

namespace neap {

enum class FailureKind : std::uint8_t {
  kNotFound,     // no such file or directory
  kIo,           // the system refused a read, write, sync or rename
  kTruncated,    // the data ends before its header says so
  kCorrupt,      // wrong magic, checksum, count or value
  kTooLarge,     // a size beyond what the format or the caller allows
  kUnsupported,  // well formed, but a variant that is not read here
  kMismatch,     // two things that must agree do not
  kInterrupted,  // someone asked for a stop (fault injection, Ctrl-C)
};

struct Failure {
  FailureKind kind;
  /// A single line: the file or thing, the fact, what to do.
  std::string message;
};

namespace base {

/// Result<void>: tl::expected<void, Failure> with the value() that the others
/// have, so that a failure can be turned into an exception in all of them.
class VoidResult : public tl::expected<void, Failure> {
 public:
  using Base = tl::expected<void, Failure>;
  using Base::Base;
  VoidResult() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): they mean the same
  VoidResult(Base other) : Base(std::move(other)) {}

  /// Nothing on success.
  /// THROWS: tl::bad_expected_access<Failure>, as of every Result.
  void value() const& {
    if (!has_value()) {
      tl::detail::throw_exception(tl::bad_expected_access<Failure>(error()));
    }
  }
  void value() && {
    if (!has_value()) {
      tl::detail::throw_exception(
          tl::bad_expected_access<Failure>(std::move(*this).error()));
    }
  }
};

}  // namespace base

/// A T, or a Failure that says why there is none.
template <class T>
using Result = std::conditional_t<std::is_void_v<T>, base::VoidResult,
                                  tl::expected<T, Failure>>;

inline tl::unexpected<Failure> failure(FailureKind kind, std::string message) {
  return tl::unexpected<Failure>(Failure{kind, std::move(message)});
}

}  // namespace neap

#ifndef NEAP_DOXYGEN  // asked of what a function gives to and_then of a Result
template <>
struct tl::detail::is_expected_impl<neap::base::VoidResult> : std::true_type {};
#endif
