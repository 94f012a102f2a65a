// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Ema: exponential moving averages of a model's parameters (Polyak and
// Juditsky, 1992, in the form of Tarvainen and Valpola, 2017), which often
// evaluate better than the parameters themselves:
//
//   average = average + (1 - decay) (parameter - average)
//
// updated after each step of an optimizer. They begin as copies of the
// parameters, and take as much memory, as optimizer state of the same owners.
// To evaluate, averages and parameters change places, element by element,
// without a third copy:
//
//   optim::Ema ema(net.parameters());
//   ...
//   adam.step();
//   ema.update();
//   ...
//   const optim::UseAverages averaged(ema);  // for a block of code
//   train::evaluate(net, loader);
//
// In a step that is traced the update is part of the program, and its runs are
// counted; the bits are those of eager steps. Other state of a model, such as
// running means of a batch norm, is averaged where its tensors are given too.
//
// Thread rule: one thread at a time; kernels run on the context's executor.
#pragma once

#include "neap/autograd/parameter.hpp"
#include "neap/graph/trace.hpp"
#include "neap/optim/joint_update.hpp"

namespace neap::optim {

struct NEAP_API EmaOptions {
  double decay = 0.999;
  /// The decay of update t, counted from 0, is at most (1 + t) / (10 + t), so
  /// that the first parameters count for less.
  bool warm_up = false;

  /// THROWS: ValueError unless 0 <= decay <= 1.
  NEAP_API void check() const;
};

/// LIFETIME: outlives the programs whose steps update it.
class NEAP_API Ema final : public graph::RunListener {
 public:
  /// Averages of tensors that lie dense in the host's memory; f32, f64. THROWS:
  /// ValueError for an empty list, a tensor given twice, and as
  /// EmaOptions::check; DTypeError;
  /// DeviceError off the host; ShapeError for a view with gaps; TraceError in a
  /// step that is traced; OutOfMemory.
  explicit Ema(const ParameterList& tensors, const EmaOptions& options = {},
               CallSite site = CallSite::here());

  /// Moves every average towards its tensor. Strong. THROWS: ValueError while
  /// they have changed places; IoError of a file that tensors are kept in;
  /// OutOfMemory.
  void update(CallSite site = CallSite::here());

  /// Averages and tensors change places; a second time ends that. Addresses
  /// stay, so that programs hold. Strong. THROWS: TraceError in a step that is
  /// traced; IoError; OutOfMemory.
  void swap(CallSite site = CallSite::here());
  /// A step that is traced is refused where it asks.
  bool is_swapped() const noexcept;

  /// Updates so far; those of a program count in its runs. THROWS: TraceError
  /// in a step that is traced.
  std::int64_t update_count() const;
  /// Continues as if there had been so many. THROWS: ValueError for a negative
  /// number; TraceError.
  void set_update_count(std::int64_t count);

  const EmaOptions& options() const noexcept { return options_; }
  /// The tensors that are averaged, as they were given.
  const ParameterList& tensors() const noexcept { return tensors_; }
  /// The averages, under the names of their tensors.
  const ParameterList& averages() const noexcept { return averages_; }
  /// Bytes of all averages.
  Bytes bytes() const noexcept;

 private:
  friend class UseAverages;

  double decay_at(std::int64_t update) const noexcept;
  void record(graph::Trace& trace, base::SiteId site);
  void before_run() override;
  void write_attrs(std::uint32_t index, void* attrs) const noexcept override;
  void after_run(std::uint32_t calls) noexcept override;
  void check_in_place(const char* function) const;

  EmaOptions options_;
  ParameterList tensors_;
  ParameterList averages_;
  JointUpdate joint_;
  std::int64_t updates_ = 0;
  bool is_swapped_ = false;
  std::uint64_t traced_in_ = 0;       // number of the latest trace
  std::uint32_t traced_updates_ = 0;  // calls of update() in it
};

/// The averages in the places of their tensors, for a block of code. Where they
/// cannot change back at its end (IoError), they stay, and is_swapped() is
/// true.
class NEAP_API UseAverages {
 public:
  /// THROWS: as Ema::swap; ValueError where they are in place already.
  explicit UseAverages(Ema& ema, const CallSite& site = CallSite::here())
      : ema_(ema) {
    ema.check_in_place("averaged");
    ema.swap(site);
  }
  ~UseAverages();
  UseAverages(const UseAverages&) = delete;
  UseAverages& operator=(const UseAverages&) = delete;

 private:
  Ema& ema_;
};

}  // namespace neap::optim
