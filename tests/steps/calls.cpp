// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "calls.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "neap/base/raise.hpp"
#include "neap/ops/ops.hpp"
#include "neap/tensor/create.hpp"
#include "twins.hpp"

namespace neap::steps {
namespace {

constexpr std::int64_t kMaxBatch = 5;

Tensor argument_of(const World& world, const Argument& argument,
                   bool may_feed_back) {
  const std::int64_t rows = argument.rows;
  const Shape whole{rows, kWidth};
  const auto make = [&](const Shape& shape) {
    return made_up(argument.seed + 1000, shape);
  };
  switch (argument.layout) {
    case Layout::kOffset:
      return slice(make({rows + 2, kWidth}), 0, 2);
    case Layout::kGapped:
      return slice(make({rows, kWidth + 3}), 1, 1, 1 + kWidth);
    case Layout::kEvery:
      return slice(make({2 * rows, kWidth}), 0, 0, kEnd, 2);
    case Layout::kTransposed:
      return transpose(make({kWidth, rows}));
    case Layout::kExpanded:
      return expand(make({1, kWidth}), whole);
    case Layout::kState:
      return rows == kRows ? world.states[0] : make(whole);
    case Layout::kView:
      return rows == kRows ? world.views[0] : make(whole);
    case Layout::kResult:
      return may_feed_back && world.results[0].shape() == whole
                 ? world.results[0]
                 : make(whole);
    default:
      return make(whole);
  }
}

std::vector<Tensor> arguments_of(const World& world, const Call& call,
                                 bool may_feed_back) {
  const Argument& second = call.arguments[1];
  const std::int64_t rows = second.rows;
  if (second.layout == Layout::kOverlap) {
    const Tensor base = made_up(second.seed + 1000, {rows + 1, kWidth});
    return {slice(base, 0, 0, rows), slice(base, 0, 1)};
  }
  const Tensor x = argument_of(world, call.arguments[0], may_feed_back);
  return {x, second.layout == Layout::kSame
                 ? x
                 : argument_of(world, second, may_feed_back)};
}

template <class List>
bool is_on(const List& list, const Tensor& tensor) {
  return std::any_of(list.begin(), list.end(), [&](const Tensor& other) {
    return other.defined() && other.is_alias_of(tensor);
  });
}

int count_on(const std::vector<Tensor>& list, const Tensor& tensor) {
  return static_cast<int>(
      std::count_if(list.begin(), list.end(), [&](const Tensor& other) {
        return other.defined() && other.is_alias_of(tensor);
      }));
}

// Tensors of the world other than results; gradients but for that of `except`.
bool is_on_world(const World& world, const Tensor& tensor,
                 const Tensor* except = nullptr) {
  std::vector<Tensor> gradients;
  for (const Tensor& leaf : world.leaves) {
    if (&leaf != except) {
      gradients.push_back(leaf.grad());
    }
  }
  return is_on(world.leaves, tensor) || is_on(world.states, tensor) ||
         is_on(world.views, tensor) || is_on(world.handles, tensor) ||
         is_on(world.kept, tensor) || is_on(gradients, tensor) ||
         (world.retained.defined() && world.retained.is_alias_of(tensor));
}

bool assigns_handles(const StepProgram& program) {
  return std::any_of(program.step.begin(), program.step.end(),
                     [](const Action& action) {
                       return action.rule->theme == Theme::kRebinding ||
                              action.rule->theme == Theme::kHooks;
                     });
}

}  // namespace

bool reads_numbers(const StepProgram& program) {
  return std::any_of(
      program.step.begin(), program.step.end(), [](const Action& action) {
        const bool reads_kept = std::any_of(
            action.operands.begin(), action.operands.end(),
            [](const auto& operand) { return operand.where == 'k'; });
        return reads_kept || action.rule->theme == Theme::kNumbers ||
               action.rule->name == "forget" || action.rule->name == "unhook" ||
               action.rule->name == "layer" || action.rule->name == "item" ||
               action.rule->name == "carry_item";
      });
}

bool has_option(const StepProgram& program, std::string_view name) {
  return std::find(program.options.begin(), program.options.end(), name) !=
         program.options.end();
}

CompileOptions options_of(const StepProgram& program) {
  CompileOptions options;
  options.verify = reads_numbers(program) ? 1 : 0;
  for (const std::string& name : program.options) {
    if (name == "keep_all") {
      options.keep_all = true;
    } else if (name == "keep_0") {
      options.keep = {0};
    } else if (name == "plain") {
      options.passes = compiler::Passes::none();
    } else if (name == "poison") {
      options.debug.poison = true;
    } else if (name == "guards") {
      options.debug.guards = true;
    } else if (name == "no_reuse") {
      options.debug.no_reuse = true;
    } else if (name == "max_batch") {
      // The largest batch is traced first: the step's host code runs once more.
      options.max_batch = reads_numbers(program) ? 0 : kMaxBatch;
    } else if (name == "paged") {
      options.paged = true;
    } else if (name == "programs_2") {
      options.programs = 2;
    } else if (name == "verify") {
      options.verify = 1;
    } else if (name == "prepared") {
      continue;  // not the compiler's
    } else {
      base::raise<ValueError>("steps: no option is named '{}'", name);
    }
  }
  return options;
}

bool is_free(const World& world, const Tensor& tensor) {
  return tensor.defined() && !tensor.requires_grad() &&
         !is_on_world(world, tensor) && count_on(world.results, tensor) <= 1;
}

bool is_free_result(const World& world) {
  return !world.results.empty() && world.has_free_results &&
         is_free(world, world.results[0]);
}

bool may_take_place(const World& world, const Action& action,
                    const StepProgram& program) {
  const Operand& target = action.operands[0];
  // A result that a handle means, too, is one tensor to the plain step.
  if (action.rule->name == "scope_calls" && target.index == 2 &&
      assigns_handles(program)) {
    return false;
  }
  const auto index = static_cast<std::size_t>(target.index);
  if (target.where == 'o') {
    const auto& results = world.results;
    if (action.rule->theme == Theme::kModes) {  // a result has no graph
      return index < results.size() &&
             results[results.size() - 1 - index].is_leaf();
    }
    return world.has_free_results && index < results.size() &&
           is_free(world, results[results.size() - 1 - index]);
  }
  if (target.where == 'g' && action.rule->theme == Theme::kWrites) {
    const Tensor& leaf = world.leaves[index % world.leaves.size()];
    const Tensor grad = leaf.grad();
    return grad.defined() && !is_on_world(world, grad, &leaf) &&
           !is_on(world.results, grad);
  }
  return true;
}

Call call_between() {
  Call call;
  call.arguments[1].seed = 2;
  return call;
}

void act(World& world, const Action& action, const StepProgram& program) {
  world.current = &action;
  const std::string_view name = action.rule->name;
  if (name == "plain_call" || name == "second_call") {
    Run(world, call_between(), false).call_plainly(program);
    return;
  }
  const UseGenerator use(world.generator());
  const World::Inside inside(world);
  Scene(world).run({&action, 1});
}

std::vector<Seen> see(std::string_view name, std::span<const Tensor> tensors) {
  std::vector<Seen> out;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    out.push_back({fmt::format("{}{}", name, i), bits_of(tensors[i])});
  }
  return out;
}

Run::Run(World& world, const Call& call, bool may_feed_back)
    : world_(world),
      arguments_(arguments_of(world, call, may_feed_back)),
      number_(call.number) {}

// Keeps what handles mean: where a step lets one handle mean what another
// meant, the plain one's stays in the scope that it was in.
void Run::keep(Scope& scope, const World& world) {
  const auto keep_all = [&](const auto& list) {
    for (const Tensor& tensor : list) {
      if (tensor.defined()) {
        scope.keep(tensor);
      }
    }
  };
  keep_all(world.handles);
  keep_all(world.pool);
  if (world.around_calls == World::Around::kKept) {
    keep_all(world.results);
  }
}

void Run::call_plainly(const StepProgram& program) {
  const StepFunction step(world_, program);
  call(world_, [&](const Tensor& x, const Tensor& y, double number) {
    return step(x, y, scalar(number));
  });
  world_.has_free_results = std::none_of(
      world_.results.begin(), world_.results.end(),
      [&](const Tensor& result) { return result.defined() && shares(result); });
}

std::vector<Seen> Run::seen() const {
  std::vector<Seen> out = see("argument ", arguments_);
  for (Seen& seen : see("result ", world_.results)) {
    out.push_back(std::move(seen));
  }
  for (Seen& seen : world_.sharing(arguments_)) {
    out.push_back(std::move(seen));
  }
  return out;
}

bool Run::shares(const Tensor& tensor) const {
  return is_on(arguments_, tensor);
}

bool is_refusal(const Error& error) {
  const std::string type = type_of(error);
  const std::string_view words = error.what();
  if (type == "TraceError" || type == "PlanError") {
    return true;
  }
  // Arguments and states that no program takes; results of a call before.
  return (type == "ValueError" &&
          (words.starts_with("compile: argument") ||
           words.starts_with("compile: a handle that the step assigns to"))) ||
         (type == "UseAfterRelease" &&
          words.find("a result of the compiled step") != words.npos);
}

bool is_of_verify(const Error& error) {
  return std::string_view(error.what()).find("it was traced") !=
         std::string_view::npos;
}

Caught caught(const Error& error) {
  return {type_of(error), error.what()};
}

std::string type_of(const Error& error) {
  const std::string_view name = typeid(error).name();  // mangled
  for (const char* known :
       {"TraceError", "ValueError", "PlanError", "ShapeError", "DTypeError",
        "GraphError", "DeviceError", "UseAfterRelease", "TornStep",
        "OutOfMemory", "InternalError", "NameError"}) {
    if (name.find(known) != std::string_view::npos) {
      return known;
    }
  }
  return std::string(name);
}

std::string refusal_of(const Error& error) {
  constexpr std::size_t kMost = 90;
  std::string words;
  for (std::string_view rest = error.what(); !rest.empty();) {
    const std::size_t end = std::min(rest.find(' '), rest.size() - 1) + 1;
    const std::string_view word = rest.substr(0, end);
    const bool is_place = word.find_first_of("0123456789") != word.npos;
    words += is_place ? std::string_view("# ") : word;
    rest.remove_prefix(end);
  }
  return fmt::format("{}: {}", type_of(error), words.substr(0, kMost));
}

}  // namespace neap::steps
