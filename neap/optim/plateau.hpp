// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// ReduceOnPlateau: lowers an optimizer's rates when a measure has not improved
// for some time, by the rules of torch.optim.lr_scheduler.ReduceLROnPlateau. It
// is told the measure after each evaluation, and unlike a Schedule it has
// state, which a checkpoint keeps (train::Checkpoint::plateau).
//
//   optim::ReduceOnPlateau plateau(adam, {.factor = 0.5, .patience = 3});
//   ...
//   plateau.step(train::evaluate(net, loader).loss);
#pragma once

#include <cstdint>
#include <limits>

#include "neap/optim/optimizer.hpp"

namespace neap::optim {

struct NEAP_API PlateauOptions {
  double factor = 0.1;         // of the rate, in [0, 1)
  std::int64_t patience = 10;  // measures without improvement that are waited
  /// A measure is better than the best by more than this: a share of the best
  /// or, where not `relative`, a difference.
  double threshold = 1e-4;
  bool relative = true;
  bool maximize = false;      // true: larger is better, as of accuracies
  std::int64_t cooldown = 0;  // measures after a reduction that do not count
  double min_lr = 0.0;
  double eps = 1e-8;  // smaller changes of a rate are not made

  /// THROWS: ValueError for a factor outside [0, 1), and settings that are
  /// negative or not finite.
  NEAP_API void check() const;
};

/// All that changes from one measure to the next, beside the rates.
struct PlateauState {
  /// Infinite, of the worst sign, before the first measure.
  double best = std::numeric_limits<double>::infinity();
  std::int64_t bad = 0;      // measures since one was better
  std::int64_t cooling = 0;  // measures that do not count yet
  friend bool operator==(const PlateauState&, const PlateauState&) = default;
};

/// LIFETIME: the optimizer outlives it. Groups with a schedule get their rates
/// from that.
class NEAP_API ReduceOnPlateau {
 public:
  /// THROWS: as PlateauOptions::check.
  explicit ReduceOnPlateau(Optimizer& optimizer,
                           const PlateauOptions& options = {});

  /// Takes a measure, and lowers the rates of all groups where it is time. NaN
  /// is no improvement. RETURNS: whether it was time. THROWS: TraceError in a
  /// step that is traced.
  bool step(double measure);

  const PlateauOptions& options() const noexcept { return options_; }
  /// A step that is traced is refused where it asks.
  const PlateauState& state() const noexcept;
  /// Continues from a state. The rates are the optimizer's state. THROWS:
  /// ValueError for negative counts or a best of NaN.
  void set_state(const PlateauState& state);

 private:
  bool is_better(double measure) const noexcept;

  Optimizer& optimizer_;
  PlateauOptions options_;
  PlateauState state_;
};

}  // namespace neap::optim
