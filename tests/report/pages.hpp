// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Snapshots of compiled training for tests: every model, in the ways in which a
// plan may be made.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "../compile/training.hpp"
#include "neap/report/ledger_rows.hpp"
#include "neap/report/snapshot_domain.hpp"
#include "neap/report/snapshot_step.hpp"

namespace neap::tests {

enum class PlanKind { kWhole, kPages, kLimited, kGuarded, kNoReuse };
inline constexpr std::array kPlanKinds{PlanKind::kWhole, PlanKind::kPages,
                                       PlanKind::kLimited, PlanKind::kGuarded,
                                       PlanKind::kNoReuse};

inline std::string name_of(PlanKind kind) {
  constexpr std::array kNames{"whole", "pages", "limited", "guarded",
                              "no_reuse"};
  return kNames[static_cast<std::size_t>(kind)];
}

inline CompileOptions options_of(PlanKind kind) {
  CompileOptions how;
  if (kind == PlanKind::kPages) {
    return on_scattered_pages();
  }
  how.debug.guards = kind == PlanKind::kGuarded;
  how.debug.no_reuse = kind == PlanKind::kNoReuse;
  return how;
}

/// A limit of the arena that makes calls run again and that is found quickly;
/// kUnlimited: there is none.
inline Bytes arena_limit_of(Training& training) {
  auto whole = training.compile();
  whole.prepare(training.specs());
  for (const Bytes part : {4, 16, 64}) {
    CompileOptions how;
    how.arena_limit = whole.arena_bytes() - whole.arena_bytes() / part;
    try {
      training.compile(how).prepare(training.specs());
      return how.arena_limit;
    } catch (const PlanError&) {
      continue;
    }
  }
  return kUnlimited;
}

/// A step's snapshot, and the prediction beside it.
struct Pictured {
  report::Snapshot snapshot;
  compiler::Prediction prediction;
  compiler::SpacePlan host;
};

/// Takes it of a step that is planned, and never ran.
inline Pictured pictured(Kind model, PlanKind kind) {
  Training training({.kind = model});
  const std::int64_t batch =
      kind == PlanKind::kPages ? large_batch(model) / 4 : 0;
  CompileOptions how = options_of(kind);
  if (kind == PlanKind::kLimited) {
    how.arena_limit = arena_limit_of(training);
  }
  auto step = training.compile(how);
  step.prepare(training.specs(batch));
  // They outlive the training's domain.
  const memory::UseDomain use(report::report_domain());
  Pictured out{report::snapshot(step), step.prediction(), step.plan().space()};
  out.snapshot.title =
      std::string(tests::name_of(model)) + ", " + name_of(kind);
  return out;
}

/// The snapshot of a step that runs eagerly, from its domain's log, and the
/// domain's highest live bytes.
struct PicturedEagerly {
  report::Snapshot snapshot;
  Bytes live_peak = 0;
};

inline PicturedEagerly pictured_eagerly(Kind model) {
  Training training({.kind = model, .event_capacity = 1 << 20});
  for (std::uint64_t i = 0; i < 2; ++i) {
    const auto [x, y] = training.batch(i);
    training.plain(x, y);
  }
  const memory::UseDomain use(report::report_domain());
  PicturedEagerly out{report::snapshot(training.domain()),
                      training.domain().stats().live_peak};
  out.snapshot.title = std::string(tests::name_of(model)) + ", eager";
  return out;
}

}  // namespace neap::tests
