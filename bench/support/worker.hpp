// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Worker: a peer in a process of its own, so that it has the libraries and the
// environment it is best with, and yet takes turns with us in one run. It reads
// a command a line on its stdin and answers each with a line on its stdout:
// "run 20" with the seconds of each of 20 steps, say. Its first line, written
// by itself, says who it is, or "error" and why it cannot serve.
#pragma once

#include <sys/types.h>

#include <cstdio>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "support/measure.hpp"

namespace neap::bench {

/// The worker is not there, or says that it cannot.
struct WorkerError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

using Environment = std::vector<std::pair<std::string, std::string>>;

class Worker {
 public:
  /// Starts it, with `environment` on top of ours, and waits for its first
  /// line. THROWS: WorkerError.
  Worker(const std::vector<std::string>& command,
         const Environment& environment);
  /// Closes its stdin and waits for its end.
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Its first line.
  const std::string& greeting() const noexcept { return greeting_; }
  /// THROWS: WorkerError when it ends, or answers "error ...".
  std::string ask(const std::string& command);
  /// The same, for an answer that is numbers.
  std::vector<double> ask_numbers(const std::string& command);

 private:
  std::string read_line();
  void close();

  pid_t process_ = -1;
  std::FILE* to_ = nullptr;
  std::FILE* from_ = nullptr;
  std::string name_;
  std::string greeting_;
};

/// A contender whose turns are the worker's: "<command> <count>".
Contender contender_of(std::string name, Worker& worker, std::string command);

}  // namespace neap::bench
