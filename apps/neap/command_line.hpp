// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The command line: which command with which settings. The parser stands behind
// it, in one source.
#pragma once

#include <functional>
#include <string>

#include "doctor_command.hpp"
#include "exit_code.hpp"
#include "launch_command.hpp"
#include "network_command.hpp"
#include "pack_command.hpp"
#include "report_command.hpp"
#include "sample_command.hpp"
#include "settings.hpp"
#include "tokenizer_command.hpp"

namespace neap::app {

struct Arguments {
  Texts texts;         // of the settings given on the command line
  std::string config;  // path of a TOML file
};

/// The parsed command line. It stays where it is: `run` refers to it.
struct CommandLine {
  Arguments train;
  Arguments plan;
  Arguments fit;
  LaunchSettings launch;
  NetworkSettings network;
  PackSettings pack;
  ReportSettings report;
  DoctorSettings doctor;
  Arguments eval;
  SampleSettings sample;
  TokenizerSettings tokenizer;
  std::function<ExitCode()> run;  // the command that was given
  std::string text;               // or what is printed instead: --help
  std::string refusal;            // or why the arguments are bad
  std::string manual;             // the form asked for, of neap manual
};

/// Functions that run the commands, once their arguments are known.
struct Commands {
  std::function<ExitCode(const Arguments&)> train;
  std::function<ExitCode(const Arguments&)> plan;
  std::function<ExitCode(const Arguments&)> fit;
  std::function<ExitCode(const LaunchSettings&)> launch;
};

/// The parser's memory goes before this returns.
void parse(int argc, char** argv, const Commands& commands, CommandLine& line);

}  // namespace neap::app
