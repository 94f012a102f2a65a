// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// StepProgram: a step and its calls as data. One interpreter runs it eagerly
// and compiled (scene.hpp), a text shows it and is read back, and a failing
// one shrinks by leaving actions out.
//
//   options keep_all
//   step
//     carry h0 a0            h0 = h0 * 0.5 + argument 0
//     return h0 0
//   call dense:3:1 offset:3:2 0.5
//   between
//     lr 2
//   call dense:3:3 dense:3:4 0.5
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace neap::steps {

struct Rule;

/// A tensor of the world or of the run of a step, by letter and index:
///   r register   a argument    l leaf          s state tensor
///   v view       h handle      g gradient of a leaf
///   k kept outside, from the end     o result of the latest call
/// '#' is a plain number.
struct Operand {
  char where = '#';
  int index = 0;
};

inline constexpr std::size_t kMostOperands = 3;

struct Action {
  const Rule* rule = nullptr;
  std::array<Operand, kMostOperands> operands{};
};

/// How an argument lies in memory.
enum class Layout : std::uint8_t {
  kDense,
  kOffset,  // dense, the rows behind the first ones of a larger tensor
  kGapped,  // columns of a wider tensor
  kEvery,   // every second row
  kTransposed,
  kExpanded,  // one row, with stride 0
  kSame,      // the other argument itself
  kOverlap,   // shares rows with the other argument
  kState,     // a tensor that the step captures
  kView,      // a gapped view of one
  kResult,    // the latest call's first result, where its shape fits
};
inline constexpr std::array kLayoutNames{
    "dense", "offset",  "gapped", "every", "transposed", "expanded",
    "same",  "overlap", "state",  "view",  "result"};

struct Argument {
  Layout layout = Layout::kDense;
  int rows = 3;
  int seed = 1;  // of its values
};

struct Call {
  std::vector<Action> before;  // what changes between the calls
  std::array<Argument, 2> arguments{};
  double number = 0.5;
  bool throws = false;  // in the plain step too; the last one, then
};

struct StepProgram {
  std::uint64_t seed = 0;  // 0: made by hand
  std::vector<std::string> options;
  std::vector<Action> step;
  std::vector<Call> calls;
};

std::string to_text(const StepProgram& program);
/// THROWS: ValueError that names the line.
StepProgram from_text(std::string_view text);

/// All actions of the program: the step's first, then those between calls.
std::size_t count_actions(const StepProgram& program);
StepProgram without_action(const StepProgram& program, std::size_t action);

}  // namespace neap::steps
