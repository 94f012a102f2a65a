// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Engine: what moves bytes between the processes of a group, which are called
// ranks. It only moves: every sum is made by Neap, in an order of its own, so
// that results depend on no engine. MPI is one (plugins/mpi/), threads of one
// process are another, for tests (fake_engine_for_test.hpp).
//
//   engine.receive(0, 1, 7, into);     a slot names what is under way
//   engine.send(1, 1, 7, from);
//   while (!engine.is_done(0)) engine.rest();
//
// One thread uses it. After create, nothing allocates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "neap/base/api.hpp"

namespace neap::dist {

class NEAP_API Engine {
 public:
  /// Operations that may be under way at a time, in slots [0, kSlots).
  static constexpr int kSlots = 64;
  /// The most bytes of one operation.
  static constexpr std::size_t kMostBytes = std::size_t{1} << 30U;

  Engine() = default;
  virtual ~Engine() = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  virtual int rank() const noexcept = 0;
  virtual int ranks() const noexcept = 0;
  /// "Open MPI 4.1.4".
  virtual std::string_view name() const noexcept = 0;

  /// Begins an operation. Messages between two ranks with one tag arrive in the
  /// order in which they were sent, and are as long as the receiver expects.
  /// LIFETIME: the bytes are the engine's until is_done(slot). REQUIRES: the
  /// slot is free. THROWS: DistError where the engine says no.
  virtual void send(int slot, int peer, int tag,
                    std::span<const std::byte> from) = 0;
  virtual void receive(int slot, int peer, int tag,
                       std::span<std::byte> into) = 0;
  /// True for an operation that has ended, whose slot is free then, and for a
  /// free slot. THROWS: DistError where it failed.
  virtual bool is_done(int slot) = 0;

  /// Nanoseconds since some moment, for deadlines.
  virtual std::int64_t now() noexcept = 0;
  /// Called between two looks at what is not done.
  virtual void rest() noexcept = 0;
  /// Gives up what is under way. An engine may not be able to end all of it in
  /// a moment: those bytes stay as they are for as long as the process lives.
  virtual void forget() noexcept = 0;
  /// Ends all ranks of the group with this exit status. A fake one returns.
  virtual void abort(int status) noexcept = 0;
};

}  // namespace neap::dist
