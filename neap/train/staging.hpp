// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Staging: elements on their way from a file into tensors that exist, so that a
// load changes everything or nothing. All of them are read first, to
//
//   a file   where a step keeps the tensor in one (compiler::StateFile): to
//            another place there, by way of a copy of one tensor at a time
//   memory   of their own (Category::kData) for all others
//   nowhere  where those do not fit: they are read and compared alone
//
// Putting them where they belong cannot fail in the first two cases. In the
// third they are read once more, straight into the tensors: where that fails,
// the load is torn, and says so. In a rehearsal the same memory is asked for,
// and nothing is read. Elements are converted and transposed on the way, where
// they must be. Of this room alone.
// LIFETIME: the files outlive it.
#pragma once

#include <optional>

#include "neap/tensor/storage.hpp"
#include "neap/train/load_source.hpp"

namespace neap::train {

class Staging {
 public:
  /// `in_place`: what is in memory is read straight into the tensors by read(),
  /// which may then fail between them.
  explicit Staging(bool in_place = false) noexcept : in_place_(in_place) {}

  /// `item` is for `into`. REQUIRES: a dtype that may be converted, and the
  /// same shape, or the other way round where it is transposed. THROWS:
  /// DeviceError, TraceError where the host may not write; OutOfMemory.
  void add(const Item& item, const Tensor& into, bool is_transposed,
           const CallSite& site);
  /// `other` is a further name of what was added last.
  void add_name(const Item& other);

  /// Failures: as SafetensorsFile::read; kMismatch where two names of one
  /// tensor do not have the same bytes. THROWS: OutOfMemory; IoError of a file
  /// that a step keeps tensors in.
  Result<void> read(const CallSite& site);
  /// REQUIRES: read() was good. All but what is nowhere is in its place.
  void commit(base::SiteId site) noexcept;
  /// After commit(): the rest, too. THROWS: TornLoad.
  void finish(base::SiteId site);

 private:
  struct Staged {
    Item item;
    Tensor into;
    bool is_transposed = false;
    Tensor from{};                            // dense
    memory::Owned<tensor::Keeper> keeper{};   // in a file
    std::optional<tensor::Overwrite> home{};  // in memory that becomes its own
    bool is_direct = false;                   // nowhere
    std::uint64_t digest = 0;                 // of what is nowhere
  };
  struct Name {
    std::size_t staged = 0;  // index
    Item item;
  };

  static memory::Tag tag_for(const Staged& staged, base::SiteId site) noexcept;
  static Tensor copy_of(const Staged& staged, base::SiteId site);
  Result<void> read_away(Staged& staged, base::SiteId site);
  void make_copies(base::SiteId site);
  Result<void> read_here(Staged& staged, base::SiteId site);
  static Result<void> look_through(Staged& staged);
  static Result<void> overwrite(const Staged& staged);
  Result<void> compare(const Name& name) const;

  bool in_place_;
  memory::Vector<Staged> staged_;
  memory::Vector<Name> names_;
};

}  // namespace neap::train
