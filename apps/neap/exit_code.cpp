// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "exit_code.hpp"

#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <new>
#include <string>

#include "neap/base/shown.hpp"

namespace neap::app {
namespace {

iovec piece_of(std::string_view text) noexcept {
  // writev only reads what the pointer names.
  return {const_cast<char*>(text.data()), text.size()};  // NOLINT
}

}  // namespace

void write_failure(std::string_view message) noexcept {
  std::array<iovec, 3> pieces = {piece_of("neap: "), piece_of(message),
                                 piece_of("\n")};
  for (std::size_t at = 0; at < pieces.size();) {
    const ssize_t written =
        ::writev(STDERR_FILENO, &pieces[at], static_cast<int>(3 - at));
    if (written < 0 && errno != EINTR) {
      break;
    }
    auto left =
        written < 0 ? std::size_t{0} : static_cast<std::size_t>(written);
    for (; at < pieces.size() && left >= pieces[at].iov_len; ++at) {
      left -= pieces[at].iov_len;
    }
    if (at < pieces.size()) {
      pieces[at].iov_base = static_cast<char*>(pieces[at].iov_base) + left;
      pieces[at].iov_len -= left;
    }
  }
}

ExitCode fail(ExitCode code, std::string_view message) noexcept {
  try {
    write_failure(base::shown_message(message));
    return code;
  } catch (const std::bad_alloc&) {
    write_failure(kNoMemory);
    return ExitCode::kMemory;
  }
}

}  // namespace neap::app
