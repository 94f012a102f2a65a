// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The tables of a snapshot as rows: which column is which member, and what a
// number in it may be. The file's writer and reader go through the same rows.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "neap/report/snapshot.hpp"

namespace neap::report {

/// Every number of a file: what a browser's numbers hold exactly.
inline constexpr std::int64_t kLargestNumber = (std::int64_t{1} << 53) - 1;

/// The numbers of a column.
enum class Holds : std::uint8_t {
  kNumber,
  kNumberOrNone,
  kText,   // a position in texts
  kCall,   // in calls
  kBlock,  // in blocks
  kBlockOrNone,
  kPhase,
  kKind,
  kStepKind,
  kSpace,
  kFlag,   // 0 or 1
  kTruth,  // true or false
};

template <class Row>
struct Column {
  std::string_view name;
  Holds holds;
  std::int64_t (*get)(const Row& row) noexcept;
  void (*set)(Row& row, std::int64_t number) noexcept;
  bool may_miss = false;  // where all of it is -1
};

template <class Member>
struct MemberOf;
template <class Owner, class Held>
struct MemberOf<Held Owner::*> {
  using Row = Owner;
  using Field = Held;
};

/// None is -1 in a file, also where the member is without a sign.
template <auto member>
constexpr auto column(std::string_view name, Holds holds,
                      bool may_miss = false) {
  using Row = typename MemberOf<decltype(member)>::Row;
  using Field = typename MemberOf<decltype(member)>::Field;
  return Column<Row>{name, holds,
                     [](const Row& row) noexcept -> std::int64_t {
                       if constexpr (std::is_same_v<Field, std::uint32_t>) {
                         return row.*member == Snapshot::kNone
                                    ? -1
                                    : std::int64_t{row.*member};
                       } else {
                         return static_cast<std::int64_t>(row.*member);
                       }
                     },
                     [](Row& row, std::int64_t number) noexcept {
                       row.*member = static_cast<Field>(number);
                     },
                     may_miss};
}

template <class Row>
struct Columns;

template <>
struct Columns<Snapshot::Sums> {
  using Sums = Snapshot::Sums;
  static constexpr std::array kAll{
      column<&Sums::reserved>("reserved", Holds::kNumber),
      column<&Sums::predicted>("predicted", Holds::kNumberOrNone),
      column<&Sums::arena>("arena", Holds::kNumber),
      column<&Sums::stays>("stays", Holds::kNumber),
      column<&Sums::program>("program", Holds::kNumber),
      column<&Sums::idle>("idle", Holds::kNumber),
      column<&Sums::overhead>("overhead", Holds::kNumber),
      column<&Sums::arguments>("arguments", Holds::kNumber),
      column<&Sums::external>("external", Holds::kNumber),
      column<&Sums::budget>("budget", Holds::kNumberOrNone),
      column<&Sums::lower_bound>("lower_bound", Holds::kNumber),
      column<&Sums::is_proven>("proven", Holds::kTruth),
      column<&Sums::peak_call>("peak_call", Holds::kNumber),
      column<&Sums::live_at_peak>("live_at_peak", Holds::kNumber),
      column<&Sums::used_at_peak>("used_at_peak", Holds::kNumber),
      column<&Sums::flops_a_second>("flops_a_second", Holds::kNumberOrNone,
                                    true),
      column<&Sums::bytes_a_second>("bytes_a_second", Holds::kNumberOrNone,
                                    true),
      column<&Sums::lent>("lent", Holds::kNumberOrNone, true),
      column<&Sums::compared>("compared", Holds::kNumberOrNone, true),
      column<&Sums::step_kind>("step_kind", Holds::kStepKind, true),
      column<&Sums::held_at_most>("held_at_most", Holds::kNumberOrNone, true)};
};

template <>
struct Columns<Snapshot::Call> {
  using Call = Snapshot::Call;
  static constexpr std::array kAll{
      column<&Call::op>("op", Holds::kText),
      column<&Call::layer>("layer", Holds::kText),
      column<&Call::line>("line", Holds::kText),
      column<&Call::phase>("phase", Holds::kPhase),
      column<&Call::is_again>("again", Holds::kFlag),
      column<&Call::ns>("ns", Holds::kNumberOrNone, true),
      column<&Call::flops>("flops", Holds::kNumberOrNone, true),
      column<&Call::moved>("moved", Holds::kNumberOrNone, true),
      column<&Call::share>("share", Holds::kNumberOrNone, true)};
};

template <>
struct Columns<Snapshot::Block> {
  using Block = Snapshot::Block;
  static constexpr std::array kAll{
      column<&Block::first>("first", Holds::kCall),
      column<&Block::last>("last", Holds::kCall),
      column<&Block::space>("space", Holds::kSpace),
      column<&Block::kind>("kind", Holds::kKind),
      column<&Block::offset>("offset", Holds::kNumber),
      column<&Block::bytes>("bytes", Holds::kNumber),
      column<&Block::used>("used", Holds::kNumber),
      column<&Block::category>("category", Holds::kText),
      column<&Block::dtype>("dtype", Holds::kText),
      column<&Block::shape>("shape", Holds::kText),
      column<&Block::layer>("layer", Holds::kText),
      column<&Block::line>("line", Holds::kText),
      column<&Block::value>("value", Holds::kNumberOrNone),
      column<&Block::over>("over", Holds::kBlockOrNone)};
};

template <>
struct Columns<Snapshot::Read> {
  using Read = Snapshot::Read;
  static constexpr std::array kAll{column<&Read::block>("block", Holds::kBlock),
                                   column<&Read::call>("call", Holds::kCall)};
};

template <>
struct Columns<Snapshot::Stay> {
  using Stay = Snapshot::Stay;
  static constexpr std::array kAll{
      column<&Stay::owner>("owner", Holds::kText),
      column<&Stay::category>("category", Holds::kText),
      column<&Stay::bytes>("bytes", Holds::kNumber)};
};

template <>
struct Columns<Snapshot::Step> {
  using Step = Snapshot::Step;
  static constexpr std::array kAll{
      column<&Step::live>("live", Holds::kNumber),
      column<&Step::held>("held", Holds::kNumber),
      column<&Step::ns>("ns", Holds::kNumberOrNone),
      column<&Step::peak>("peak", Holds::kNumberOrNone, true)};
};

}  // namespace neap::report
