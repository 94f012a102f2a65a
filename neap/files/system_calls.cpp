// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/files/system_calls.hpp"

#include <fmt/format.h>

#include <system_error>

#include "neap/base/shown.hpp"

namespace neap::files {
namespace {

std::string_view advice(int error) noexcept {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return "; check the path";
    case EACCES:
    case EPERM:
      return "; check the permissions";
    case EROFS:
      return "; choose another folder";
    case ENOSPC:
    case EDQUOT:
      return "; free some space";
    case EFBIG:
      return "; raise the limit of a file's size (ulimit -f)";
    case EISDIR:
      return "; give a file";
    case EMFILE:
    case ENFILE:
      return "; close files or raise the limit (ulimit -n)";
    default:
      return "";
  }
}

}  // namespace

tl::unexpected<Failure> refused(std::string_view what, std::string_view path,
                                int error) {
  const bool is_missing = error == ENOENT || error == ENOTDIR;
  return failure(
      is_missing ? FailureKind::kNotFound : FailureKind::kIo,
      fmt::format("cannot {} {}: {}{}", what, base::shown_path(path),
                  std::generic_category().message(error), advice(error)));
}

Result<void> expect_whole(std::string_view what, const std::string& path) {
  if (path.find('\0') == std::string::npos) {
    return {};
  }
  return failure(FailureKind::kUnsupported,
                 fmt::format("cannot {} {}: a path with a zero byte; give one "
                             "without",
                             what, base::shown_path(path)));
}

}  // namespace neap::files
