// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "twins.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "calls.hpp"
#include "neap/compile/compile.hpp"
#include "neap/ops/ops.hpp"
#include "neap/tensor/create.hpp"

namespace neap::steps {
namespace {

constexpr int kQuietCalls = 6;
constexpr int kSettled = 2;  // of them, which must not trace

// A step that may trace in every call: what it depends on changes in each.
bool changes_by_itself(const StepProgram& program) {
  const auto is_changing = [](const Action& action) {
    const Theme theme = action.rule->theme;
    return theme == Theme::kNumbers || theme == Theme::kKeeping ||
           theme == Theme::kReadings || theme == Theme::kHooks ||
           (theme == Theme::kModules && action.rule->between > 0) ||
           action.rule->name == "rebind_view";  // its strides may grow
  };
  return std::any_of(program.step.begin(), program.step.end(), is_changing) ||
         has_option(program, "programs_2") || has_option(program, "verify") ||
         reads_numbers(program);
}

// The same step may be another program when it is traced anew: what it reads of
// the host has changed.
bool may_differ(const StepProgram& program) {
  return reads_numbers(program);
}

class Twins {
 public:
  explicit Twins(const StepProgram& program)
      : program_(program),
        eager_(program.seed),
        compiled_(program.seed),
        step_(compile(StepFunction(compiled_, program), options_of(program))),
        second_(
            compile(StepFunction(compiled_, program), options_of(program))) {}

  Verdict run() {
    if (has_option(program_, "prepared") && !prepare()) {
      return finish();
    }
    for (const Call& call : program_.calls) {
      ++verdict_.call;
      if (!change(call.before) || !make_call(call, step_)) {
        return finish();
      }
    }
    if (!program_.calls.empty() && !program_.calls.back().throws) {
      call_quietly();
    }
    return finish();
  }

 private:
  using Compiled = compiler::Compiled<StepFunction>;

  bool fail(std::string fault, std::vector<std::string> names = {},
            std::string message = {}) {
    verdict_.fault = std::move(fault);
    verdict_.names = std::move(names);
    verdict_.message = std::move(message);
    return false;
  }

  Verdict finish() {
    verdict_.executions = compiled_.executions;
    return std::move(verdict_);
  }

  // Traces ahead of the first call, which must change nothing.
  bool prepare() {
    const auto before = compiled_.seen();
    const World::HostState host = compiled_.host_state();
    const tensor::Spec batch{f32, {kRows, kWidth}};
    const Caught error = caught_of([&] {
      step_.prepare({batch, batch, tensor::Spec{f64, {}}});
    });
    compiled_.restore(host);
    auto names = differences(before, compiled_.seen());
    return names.empty() || fail("prepared, and changed", names, error.message);
  }

  // Between calls; false after a fault.
  bool change(std::span<const Action> actions) {
    for (const Action& action : actions) {
      if (action.rule->name == "reset") {
        reset();
      }
      if (action.rule->name == "second_call") {
        if (!make_call(call_between(), second_)) {
          return false;
        }
        continue;
      }
      if (!may_take_place(eager_, action, program_)) {
        continue;
      }
      const Caught plain = caught_of([&] { act(eager_, action, program_); });
      const Caught other = caught_of([&] { act(compiled_, action, program_); });
      if (plain.type != other.type) {
        return fail("fails between calls", {}, plain.message + other.message);
      }
    }
    return true;
  }

  // Ends results that lie in the step's own memory.
  void reset() {
    step_.reset();
    if (!has_option(program_, "keep_all")) {
      eager_.results.clear();
      compiled_.results.clear();
    }
  }

  bool make_call(const Call& call, Compiled& step) {
    const bool may_feed_back = is_free_result(eager_);
    Run plain(eager_, call, may_feed_back);
    Run other(compiled_, call, may_feed_back);
    const auto world_before = compiled_.seen();
    const auto arguments_before = other.seen();
    const World::HostState host = compiled_.host_state();
    ++verdict_.calls;
    try {
      other.call(compiled_, [&](const auto&... in) { return step(in...); });
    } catch (const Error& error) {
      if (call.throws) {
        verdict_.calls -= 1;  // it is no refusal
      }
      if (!take_refusal(error, host, other, world_before, arguments_before,
                        call.throws)) {
        return false;
      }
      return is_refusal(error) ? !call.throws : throws_too(error, plain);
    }
    // After calls that were refused, one that was to throw may be good.
    const Caught error = caught_of([&] { plain.call_plainly(program_); });
    if (error) {
      return fail("runs where the plain step throws", {}, error.message);
    }
    return compare(plain, other);
  }

  bool take_refusal(const Error& error, const World::HostState& host,
                    const Run& run, const std::vector<Seen>& world_before,
                    const std::vector<Seen>& arguments_before, bool throws) {
    if (!throws) {
      ++verdict_.refused;
      ++verdict_.refusals[refusal_of(error)];
    }
    if (is_of_verify(error) && !may_differ(program_)) {
      return fail("verify finds what is not there", {}, error.what());
    }
    compiled_.restore(host);
    drop_what_ended();
    auto names = differences(world_before, compiled_.seen());
    for (std::string& name : differences(arguments_before, run.seen())) {
      names.push_back(std::move(name));
    }
    // A container of the user's that grew while the step was traced is not the
    // library's to shrink, and results hold until the next call, whichever way
    // that ends; one may be an argument.
    std::erase_if(names, [](const std::string& name) {
      return name.find("kept") != std::string::npos ||
             name.rfind("result", 0) == 0 || name.rfind("argument", 0) == 0;
    });
    if (!names.empty()) {
      return fail("refused, but changed", std::move(names), error.what());
    }
    return true;
  }

  // After calls that were refused, the plain step may throw as well: the same
  // error. It then leaves what no comparison can go on with. RETURNS: false.
  bool throws_too(const Error& error, Run& plain) {
    const Caught own = caught(error);
    const Caught theirs = caught_of([&] { plain.call_plainly(program_); });
    if (!theirs) {
      return fail("refused by " + own.type, {}, own.message);
    }
    ++verdict_.thrown[own.type];
    return own.type == theirs.type
               ? false
               : fail(own.type + " for " + theirs.type, {},
                      own.message + "\n  for " + theirs.message);
  }

  // A call ends the results of the one before it, and its trace may take from
  // the user's containers.
  void drop_what_ended() {
    eager_.kept.resize(std::min(eager_.kept.size(), compiled_.kept.size()));
    const auto seen = see("result ", compiled_.results);
    if (std::any_of(seen.begin(), seen.end(), [](const Seen& result) {
          return result.bits.rfind("unreadable", 0) == 0;
        })) {
      eager_.results.clear();
      compiled_.results.clear();
    }
  }

  bool compare(Run& plain, Run& other) {
    auto names = differences(plain.seen(), other.seen());
    for (std::string& name : differences(eager_.seen(), compiled_.seen())) {
      names.push_back(std::move(name));
    }
    for (std::string& name : differences(see("held result ", held_plain_),
                                         see("held result ", held_other_))) {
      names.push_back(std::move(name));
    }
    if (!names.empty()) {
      return fail("differs", std::move(names));
    }
    hold(plain);
    return true;
  }

  // Results in blocks of their own are as they were as long as they are held.
  void hold(const Run& plain) {
    const std::size_t count = has_option(program_, "keep_all")
                                  ? eager_.results.size()
                              : has_option(program_, "keep_0") ? std::size_t{1}
                                                               : std::size_t{0};
    for (std::size_t i = 0; i < std::min(count, eager_.results.size()); ++i) {
      const Tensor& result = eager_.results[i];
      if (is_free(eager_, result) && !plain.shares(result)) {
        held_plain_.push_back(result);
        held_other_.push_back(compiled_.results[i]);
      }
    }
  }

  // The latest call again, several times, with nothing changed between.
  void call_quietly() {
    int executions = 0;
    const int refused = verdict_.refused;
    for (int i = 0; i < kQuietCalls; ++i) {
      if (i == kQuietCalls - kSettled) {
        executions = compiled_.executions;
      }
      Call call = program_.calls.back();
      call.before.clear();
      ++verdict_.call;
      if (!make_call(call, step_)) {
        return;
      }
    }
    if (compiled_.executions != executions && verdict_.refused == refused &&
        !changes_by_itself(program_)) {
      fail("traced too often");
    }
  }

  const StepProgram& program_;
  World eager_;
  World compiled_;
  Compiled step_;
  Compiled second_;  // of the same code, over the same world
  std::vector<Tensor> held_plain_;
  std::vector<Tensor> held_other_;
  Verdict verdict_;
};

std::optional<std::size_t> index_of(const StepProgram& program,
                                    const Action* action) {
  std::size_t index = 0;
  const auto look = [&](const std::vector<Action>& actions) {
    for (const Action& each : actions) {
      if (&each == action) {
        return true;
      }
      ++index;
    }
    return false;
  };
  if (look(program.step)) {
    return index;
  }
  for (const Call& call : program.calls) {
    if (look(call.before)) {
      return index;
    }
  }
  return std::nullopt;
}

// All calls of the plain step. `is_at_end`: in a call that is to throw.
void run_plainly(const StepProgram& program, World& world, bool& is_at_end) {
  for (const Call& call : program.calls) {
    for (const Action& action : call.before) {
      if (may_take_place(world, action, program)) {
        act(world, action, program);
      }
    }
    is_at_end = call.throws;
    const bool is_last = &call == &program.calls.back();
    for (int k = is_last && !is_at_end ? -kQuietCalls : 0; k <= 0; ++k) {
      Run(world, call, is_free_result(world)).call_plainly(program);
    }
  }
}

}  // namespace

Verdict judge(const StepProgram& program) {
  const Bytes live = memory::default_domain().stats().live;
  Verdict verdict = Twins(program).run();
  if (verdict.is_good() && memory::default_domain().stats().live != live) {
    verdict.fault = "leaks";
  }
  return verdict;
}

std::optional<std::size_t> first_throw(const StepProgram& program) {
  World world(program.seed);
  bool is_at_end = false;
  try {
    run_plainly(program, world, is_at_end);
  } catch (const Error&) {
    return is_at_end
               ? std::nullopt
               : std::optional(index_of(program, world.current).value_or(0));
  }
  return is_at_end ? std::optional<std::size_t>(0) : std::nullopt;
}

std::string kind_of(const Verdict& verdict) {
  std::set<std::string> names;
  for (std::string name : verdict.names) {
    std::erase_if(name, [](char c) { return c >= '0' && c <= '9'; });
    names.insert(std::move(name));
  }
  return names.empty()
             ? verdict.fault
             : fmt::format("{}: {}", verdict.fault, fmt::join(names, ", "));
}

std::string to_text(const Verdict& verdict) {
  if (verdict.is_good()) {
    return fmt::format("good: {} calls, {} refused, {} executions",
                       verdict.calls, verdict.refused, verdict.executions);
  }
  return fmt::format("call {}: {}: {}{}{}", verdict.call, verdict.fault,
                     fmt::join(verdict.names, ", "),
                     verdict.message.empty() ? "" : "; ", verdict.message);
}

}  // namespace neap::steps
