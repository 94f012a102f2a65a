// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "support/worker.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <sstream>

namespace neap::bench {
namespace {

using Pipe = std::array<int, 2>;  // read here, write here

Pipe make_pipe() {
  Pipe ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw WorkerError("no pipe to a peer's process");
  }
  return ends;
}

// Ours, with some variables replaced.
std::vector<std::string> merged(const Environment& changes) {
  std::vector<std::string> result;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::string name = text.substr(0, text.find('='));
    bool is_replaced = false;
    for (const auto& change : changes) {
      is_replaced = is_replaced || change.first == name;
    }
    if (!is_replaced) {
      result.push_back(text);
    }
  }
  for (const auto& [name, value] : changes) {
    result.push_back(name + "=" + value);
  }
  return result;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) {
    result.push_back(text.data());
  }
  result.push_back(nullptr);
  return result;
}

}  // namespace

Worker::Worker(const std::vector<std::string>& command,
               const Environment& environment)
    : name_(command.back()) {
  // A peer that ends early must not end us by our writing to it.
  ::signal(SIGPIPE, SIG_IGN);
  const Pipe input = make_pipe();
  const Pipe output = make_pipe();
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, input[0], STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, output[1], STDOUT_FILENO);
  std::vector<std::string> words = command;
  std::vector<std::string> settings = merged(environment);
  const int failed =
      ::posix_spawnp(&process_, words[0].c_str(), &actions, nullptr,
                     pointers(words).data(), pointers(settings).data());
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(input[0]);
  ::close(output[1]);
  to_ = ::fdopen(input[1], "w");
  from_ = ::fdopen(output[0], "r");
  try {
    if (failed != 0) {
      process_ = -1;
      throw WorkerError("cannot start " + words[0]);
    }
    greeting_ = read_line();
  } catch (...) {
    close();
    throw;
  }
}

Worker::~Worker() {
  close();
}

void Worker::close() {
  std::fclose(to_);
  std::fclose(from_);
  if (process_ > 0) {
    ::waitpid(process_, nullptr, 0);
  }
}

std::string Worker::read_line() {
  std::string line;
  for (int c = std::fgetc(from_); c != '\n'; c = std::fgetc(from_)) {
    if (c == EOF) {
      throw WorkerError(name_ + ": the peer's process has ended");
    }
    line.push_back(static_cast<char>(c));
  }
  if (line.starts_with("error")) {
    throw WorkerError(line.substr(line.find(' ') + 1));
  }
  return line;
}

std::string Worker::ask(const std::string& command) {
  fmt::print(to_, "{}\n", command);
  std::fflush(to_);
  return read_line();
}

std::vector<double> Worker::ask_numbers(const std::string& command) {
  std::istringstream answer(ask(command));
  std::vector<double> numbers;
  for (double number = 0; answer >> number;) {
    numbers.push_back(number);
  }
  return numbers;
}

Contender contender_of(std::string name, Worker& worker, std::string command) {
  return {std::move(name), [&worker, command = std::move(command)](int count) {
            return worker.ask_numbers(fmt::format("{} {}", command, count));
          }};
}

}  // namespace neap::bench
