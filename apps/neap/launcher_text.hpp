// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The standard error of a job under mpirun: it goes on to the user's, and the
// lines that say why the job ended are noted.
#pragma once

#include <string>
#include <string_view>

namespace neap::app {

class LauncherText {
 public:
  /// Takes the next bytes, of lines that may be cut anywhere.
  void take(std::string_view bytes);

  /// "rank 1 was ended by signal 9 (Killed)", of the first cause that is known;
  /// "" where nothing was said.
  const std::string& cause() const noexcept { return cause_; }
  /// The ranks differ, in options or programs: the next start would end alike.
  bool is_mismatch() const noexcept { return is_mismatch_; }
  /// A host of the job is gone.
  bool is_host_lost() const noexcept { return is_host_lost_; }

 private:
  void take_line(std::string_view line);
  void note(int strength, std::string cause);

  static constexpr std::size_t kLongestLine =
      4096;  // the rest is not looked at

  std::string line_;  // that has begun
  std::string cause_;
  int strength_ = 0;  // of the cause
  int rank_ = -1;     // of the "Process name" that an exit code follows
  bool is_mismatch_ = false;
  bool is_host_lost_ = false;
};

}  // namespace neap::app
