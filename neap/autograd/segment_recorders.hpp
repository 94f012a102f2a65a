// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The two recorders of a rematerialised segment. For sources of this room.
//
// In the forward, the Watcher runs every op without recording it, marks what
// depends on something that requires grad, and notes which such tensors the
// function uses that are not its own. In the backward, the Replayer lets the
// ops be recorded and puts a stand-in in the place of each of those tensors, so
// that the graph it makes ends there. Both make a fingerprint of what they see:
// when the two differ, the function did not do the same again.
#pragma once

#include <functional>
#include <unordered_map>

#include "neap/autograd/segment.hpp"
#include "neap/graph/record_result.hpp"
#include "neap/graph/replay.hpp"
#include "neap/graph/trace.hpp"

namespace neap::autograd {

/// A place on the graph, by address.
struct Place {
  const tensor::GraphLink* link = nullptr;
  std::uint32_t output = 0;
  friend bool operator==(const Place&, const Place&) = default;

  /// THROWS: UseAfterRelease when undefined.
  static Place of(const Tensor& tensor) {
    return {tensor.link().get(), tensor.output_index()};
  }
};

struct PlaceHash {
  std::size_t operator()(const Place& place) const noexcept {
    return std::hash<const void*>()(place.link) * 31 + place.output;
  }
};

template <class T>
using PlaceMap =
    std::unordered_map<Place, T, PlaceHash, std::equal_to<>,
                       memory::Allocator<std::pair<const Place, T>>>;

/// The ops that were run, in which order, on which tensors, of which shapes and
/// versions, with which draws. Tensors that the function makes itself are new
/// in each run; all others are known by the number of their storage.
class Fingerprint {
 public:
  /// `forward`: what the run that this one is compared with has made, of which
  /// results may have been kept.
  explicit Fingerprint(const tensor::MadeBetween& forward = {}) noexcept
      : forward_(forward), began_(tensor::Storage::latest_number()) {}

  /// Before the call, which may take operands over ...
  void begin(const graph::OpCall& call);
  /// ... and after it.
  void end(std::span<const Tensor> outputs) noexcept;
  /// Number of calls begun so far.
  std::uint32_t calls() const noexcept { return calls_; }
  /// The storages that this thread has made since this began.
  tensor::MadeBetween made() const noexcept {
    return {began_, tensor::Storage::latest_number()};
  }
  friend bool operator==(const Fingerprint& a, const Fingerprint& b) noexcept {
    return a.state_ == b.state_ && a.calls_ == b.calls_;
  }

 private:
  void mix(std::uint64_t word) noexcept;
  void mix_identity(const tensor::Array& array) noexcept;

  tensor::MadeBetween forward_;
  std::uint64_t began_;
  std::uint64_t state_ = 0;
  std::uint32_t calls_ = 0;
};

class Replayer;

class Watcher final : public graph::Recorder, public graph::Replay {
 public:
  /// `marker` is the place of what the function makes. `outer`: of the segment
  /// that is being run again around this one, or nullptr.
  Watcher(base::Ref<tensor::GraphLink> marker, Replayer* outer, Keep keep)
      : marker_(std::move(marker)), outer_(outer), keep_(keep) {}

  /// An operand of the segment: an input, or found in a call.
  void add_operand(const Tensor& tensor, Place place);
  void record(const graph::OpCall& call, std::span<Tensor> outputs) override;
  bool runs_again() const noexcept override { return outer_ != nullptr; }
  bool is_marked(const Tensor& tensor) const {
    return tensor.link() == marker_;
  }

  // Results of the recording.
  memory::Vector<Tensor> operands;  // inputs, then captured tensors
  memory::Vector<Place> places;     // as the function knows them
  // Results of compute-bound calls, without their place on the graph.
  memory::Vector<base::Ref<tensor::Array>> kept;
  memory::Vector<std::uint32_t> kept_calls;  // the number of each such call
  Fingerprint fingerprint;

 private:
  bool note(const graph::OpCall& call);
  void keep_results(std::span<const Tensor> outputs);

  base::Ref<tensor::GraphLink> marker_;
  Replayer* outer_;
  Keep keep_;
  PlaceMap<bool> known_;
};

class Replayer final : public graph::Recorder, public graph::Replay {
 public:
  /// Calls go on to `next`. `kept` are the results that are not made again, of
  /// the calls with the numbers `kept_calls`; `forward` as Fingerprint says.
  Replayer(graph::Recorder& next, const tensor::MadeBetween& forward,
           std::span<const std::uint32_t> kept_calls,
           std::span<const base::Ref<tensor::Array>> kept)
      : fingerprint(forward),
        next_(next),
        since_(graph::latest_sequence()),
        kept_calls_(kept_calls),
        kept_(kept) {}

  /// Puts `stand_in` in the place of what the function knows at `place`.
  void replace(Place place, const Tensor& stand_in);
  /// The stand-in of a tensor, or itself. THROWS: GraphError for a tensor that
  /// requires grad and that the forward did not use.
  const Tensor& translated(const Tensor& tensor) const;
  void record(const graph::OpCall& call, std::span<Tensor> outputs) override;
  bool runs_again() const noexcept override { return true; }
  /// True when nothing but the eager recorder, or a trace's, follows.
  bool is_at_base() const noexcept { return &next_ == &graph::base_recorder(); }

  Fingerprint fingerprint;

 private:
  void give_kept(const graph::OpCall& call, std::span<Tensor> outputs);

  graph::Recorder& next_;
  std::uint64_t since_;
  std::span<const std::uint32_t> kept_calls_;
  std::span<const base::Ref<tensor::Array>> kept_;
  PlaceMap<Tensor> stand_ins_;
};

}  // namespace neap::autograd
