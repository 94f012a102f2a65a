// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The forms that all calls of POSIX take here: interrupted ones are repeated,
// and refused ones become a Failure that names the path, the fact and what to
// do. For the sources of the system's door alone.
#pragma once

#include <cerrno>
#include <string>
#include <string_view>

#include "neap/base/result.hpp"
#include "neap/base/size_signal.hpp"

namespace neap::files {

/// "cannot <what> <path>: <the system's word for error>; <advice>".
tl::unexpected<Failure> refused(std::string_view what, std::string_view path,
                                int error);

/// Refuses a path with a zero byte: the system would take it for the part
/// before that byte.
Result<void> expect_whole(std::string_view what, const std::string& path);

template <class Call>
auto repeat_if_interrupted(const Call& call) {
  auto result = call();
  while (result < 0 && errno == EINTR) {
    result = call();
  }
  return result;
}

/// The same of calls that may lengthen a file: beyond the limit of its size
/// they are refused (EFBIG), and no signal ends the process.
template <class Call>
auto repeat_within_limit(const Call& call) {
  const base::NoSizeSignal guard;
  return repeat_if_interrupted(call);
}

}  // namespace neap::files
