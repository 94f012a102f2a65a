// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// MemoryMap: what a model has in memory at one instant, by name, in seven
// lists:
//
//   parameters       fc1.weight
//   buffers          norm.mean
//   layer outputs    fc1.output   of the last forward, under a Watch
//   layer inputs     fc1.input    likewise
//   layer caches     fc1.cache.linear.input0   the residuals on the tape
//   gradients        fc1.weight.grad, fc1.output.grad
//   optimizer state  fc1.weight.exp_avg   where it was added
//
// Entries are views: their tensors alias the model's, nothing is copied, and
// look-up takes one hash. A second call of a layer in a forward is
// "fc1.output#2"; the model's own entries have no path ("output"). A tied
// parameter is one entry with several names.
//
// Bytes belong to one entry each. An entry whose bytes lie in an earlier one's
// says in whose: the input of a layer in the output below, a residual in the
// parameter that it is. Totals count every byte once (views that overlap in
// part are each counted whole).
//
// LIFETIME: a map keeps what it lists, but for the caches: a backward frees
// them under any number of maps, and data() is then undefined. So take a map,
// read it, and drop it.
//
// Thread rule: reading from any thread; created while no other thread changes
// the model or runs a backward over its tape. Every use of a map that was moved
// from, but to assign to it, THROWS UseAfterRelease.
#pragma once

#include <array>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "neap/nn/module.hpp"
#include "neap/nn/tape_view.hpp"

namespace neap::nn {

enum class MapList : std::uint8_t {
  kParameters,
  kBuffers,
  kOutputs,
  kInputs,
  kCaches,
  kGradients,
  kOptimizerState,
};
inline constexpr int kMapLists = 7;
NEAP_API std::string_view name_of(MapList list) noexcept;

/// A thing that a model has in memory.
struct NEAP_API MapEntry {
  memory::String name{};
  memory::Vector<memory::String> aliases{};  // further names, where tied
  MapList list = MapList::kParameters;
  /// Category that the ledger counts the bytes under.
  memory::Category category{};
  Shape shape{};
  DType dtype = f32;
  Bytes bytes = 0;  // bytes from the first element to the end of the last
  memory::String held_by{};  // the entry whose bytes these are; "": its own

  /// The elements. Undefined for a cache that is no longer kept.
  /// THROWS: OutOfMemory, for a cache's handle.
  Tensor data() const;
  /// The gradient that backward has accumulated; undefined where nothing was.
  Tensor grad() const { return handle.defined() ? handle.grad() : Tensor(); }
  bool is_shared() const noexcept { return !held_by.empty(); }

  Tensor handle{};             // undefined for a cache, which is the
  NodeRef node{};              // node's residual
  std::uint16_t position = 0;  // position in that list
};

/// The bytes that the tape keeps for a layer.
struct LayerCache {
  memory::String layer{};
  std::int64_t depth = 0;  // residuals
  Bytes bytes = 0;         // bytes of all of them
  Bytes own_bytes = 0;     // bytes of those that share no other entry's
};

struct MapOptions {
  /// Results above the model, such as losses, of any number of forwards: what
  /// the tape keeps below them is listed too, with or without a watch.
  std::span<const Tensor> results{};
};

class NEAP_API MemoryMap {
 public:
  /// THROWS: NameError when two things have one name (a parameter "output"
  /// beside a layer's output); OutOfMemory.
  explicit MemoryMap(const Module& model, const MapOptions& options = {});

  /// Lists the state of an optimizer (of anything with visit_state). Strong.
  /// THROWS: NameError, OutOfMemory.
  template <class Optimizer>
  void add_state_of(const Optimizer& optimizer) {
    const std::size_t before = entries_.size();
    try {
      optimizer.visit_state([this](std::string_view name, const Tensor& state) {
        add_state(name, state);
      });
    } catch (...) {
      drop_from(before);
      throw;
    }
  }
  /// Strong. THROWS: NameError for a name that is taken, OutOfMemory.
  void add_state(std::string_view name, const Tensor& state);

  // --- lists; LIFETIME: until state is added --------------------------------

  std::span<const MapEntry> entries() const { return here().entries_; }
  std::span<const MapEntry> entries(MapList list) const;
  std::span<const MapEntry> parameters() const {
    return entries(MapList::kParameters);
  }
  std::span<const MapEntry> buffers() const {
    return entries(MapList::kBuffers);
  }
  /// Outputs in the order in which the layers finished.
  std::span<const MapEntry> outputs() const {
    return entries(MapList::kOutputs);
  }
  /// Inputs in the order in which the layers began.
  std::span<const MapEntry> inputs() const { return entries(MapList::kInputs); }
  /// Caches in the order in which the ops were recorded.
  std::span<const MapEntry> caches() const { return entries(MapList::kCaches); }
  std::span<const MapEntry> gradients() const {
    return entries(MapList::kGradients);
  }
  std::span<const MapEntry> optimizer_state() const {
    return entries(MapList::kOptimizerState);
  }
  /// A line for each layer that keeps something, in the order of caches().
  memory::Vector<LayerCache> layer_caches() const;

  // --- by name, O(1) --------------------------------------------------------

  /// THROWS: NameError that lists the nearest names.
  const MapEntry& at(std::string_view name) const;
  const MapEntry& operator[](std::string_view name) const { return at(name); }
  /// nullptr where there is none.
  const MapEntry* find(std::string_view name) const;

  // --- bytes and text -------------------------------------------------------

  /// Bytes of a list that no earlier entry has.
  Bytes bytes(MapList list) const;
  /// The bytes of all lists: every byte once.
  Bytes bytes() const;
  /// A line for every entry, lists with their totals; exact bytes.
  std::string format() const;

 private:
  class Builder;
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept {
      return std::hash<std::string_view>()(text);
    }
  };
  /// The address of bytes, for finding the entry that has them already.
  struct Place {
    const tensor::Storage* storage = nullptr;
    Bytes begin = 0;
    Bytes end = 0;
    friend bool operator==(const Place&, const Place&) = default;
  };
  struct PlaceHash {
    std::size_t operator()(const Place& place) const noexcept;
  };
  template <class Key, class HashOf, class Equal>
  using Table =
      std::unordered_map<Key, std::size_t, HashOf, Equal,
                         memory::Allocator<std::pair<const Key, std::size_t>>>;

  /// True until it is moved from.
  class Presence {
   public:
    Presence() = default;
    Presence(const Presence&) = default;
    Presence& operator=(const Presence&) = default;
    Presence(Presence&& other) noexcept
        : is_there_(std::exchange(other.is_there_, false)) {}
    Presence& operator=(Presence&& other) noexcept {
      is_there_ = std::exchange(other.is_there_, false);
      return *this;
    }
    ~Presence() = default;
    explicit operator bool() const noexcept { return is_there_; }

   private:
    bool is_there_ = true;
  };

  /// This map. THROWS: UseAfterRelease when moved from.
  const MemoryMap& here() const;
  void add(MapEntry entry, const tensor::Array& array);
  void drop_from(std::size_t count) noexcept;
  void reindex_lists() noexcept;

  memory::Vector<MapEntry> entries_;  // list by list
  Table<memory::String, Hash, std::equal_to<>> names_;
  Table<Place, PlaceHash, std::equal_to<>> places_;  // places of own bytes
  std::array<std::size_t, kMapLists + 1> starts_{};  // start of each list
  Presence presence_;
};

NEAP_API std::ostream& operator<<(std::ostream& out, const MemoryMap& map);

}  // namespace neap::nn
