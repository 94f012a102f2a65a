// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Twins: one program run over two worlds, by the plain step and by the compiled
// one. After every call all that can be seen must be the same bits; or the
// compiled step refuses the call with a typed error, and its world is as
// before.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "neap/base/error.hpp"
#include "step_program.hpp"

namespace neap::steps {

struct Verdict {
  /// "": both agree. Else what was seen, one word or more: "differs",
  /// "refused, but changed", "traced too often", ...
  std::string fault;
  std::vector<std::string> names;  // what differs, by name
  std::string message;             // of the error, where there was one
  int call = 0;                    // in which call, from 1
  int calls = 0;                   // of the compiled step
  int refused = 0;
  int executions = 0;  // of the step's code by the compiled step
  std::map<std::string, int> refusals;  // by kind
  std::map<std::string, int> thrown;    // calls in which both threw, by type

  bool is_good() const { return fault.empty(); }
};

Verdict judge(const StepProgram& program);

/// The action (as without_action counts) at which the plain step throws where
/// it is not to; 0 where it does not throw in a call that is to.
std::optional<std::size_t> first_throw(const StepProgram& program);

/// Fault, names without numbers: the same for the same kind of difference.
std::string kind_of(const Verdict& verdict);
std::string to_text(const Verdict& verdict);

/// "TraceError", "ValueError", ...
std::string type_of(const Error& error);

}  // namespace neap::steps
