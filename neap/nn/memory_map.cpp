// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/nn/memory_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <ostream>

#include "neap/base/append.hpp"
#include "neap/base/raise.hpp"
#include "neap/nn/nearest.hpp"

namespace neap::nn {

using base::raise;

std::string_view name_of(MapList list) noexcept {
  constexpr std::array<std::string_view, kMapLists> kNames{
      "parameters",   "buffers",   "layer outputs",  "layer inputs",
      "layer caches", "gradients", "optimizer state"};
  return kNames[static_cast<std::size_t>(list)];
}

Tensor MapEntry::data() const {
  if (!node) {
    return handle;
  }
  const graph::Residual* kept = node_of(node).find(position);
  return kept != nullptr ? Tensor(kept->array) : Tensor();
}

std::size_t MemoryMap::PlaceHash::operator()(
    const Place& place) const noexcept {
  constexpr std::size_t kOdd = 0x9E3779B97F4A7C15;
  std::size_t hash = std::hash<const void*>()(place.storage);
  hash = hash * kOdd + static_cast<std::size_t>(place.begin);
  return hash * kOdd + static_cast<std::size_t>(place.end);
}

void MemoryMap::add(MapEntry entry, const tensor::Array& array) {
  const std::size_t position = entries_.size();
  const tensor::Storage& storage = *array.storage();
  const tensor::Layout& layout = array.layout();
  Place place{&storage, layout.offset * size_of(layout.dtype),
              tensor::extent_bytes(layout)};
  place.begin = std::min(place.begin, place.end);  // an empty one
  entry.category = storage.tag().category;
  entry.shape = layout.shape;
  entry.dtype = layout.dtype;
  entry.bytes = place.end - place.begin;
  try {
    const auto name = [&](const memory::String& text) {
      if (!names_.try_emplace(text, position).second) {
        raise<NameError>("memory map: two things are called \"{}\"",
                         std::string_view(text));
      }
    };
    name(entry.name);
    std::ranges::for_each(entry.aliases, name);
    if (entry.bytes != 0) {
      auto holder = places_.find({&storage, 0, storage.size()});
      if (holder == places_.end()) {
        holder = places_.try_emplace(place, position).first;
      }
      if (holder->second != position) {
        entry.held_by = entries_[holder->second].name;
      }
    }
    entries_.push_back(std::move(entry));
  } catch (...) {
    drop_from(position);
    throw;
  }
  const auto list = static_cast<std::size_t>(entries_.back().list);
  std::fill(starts_.begin() + static_cast<std::ptrdiff_t>(list) + 1,
            starts_.end(), entries_.size());
}

void MemoryMap::drop_from(std::size_t count) noexcept {
  const auto is_dropped = [count](const auto& item) {
    return item.second >= count;
  };
  std::erase_if(names_, is_dropped);
  std::erase_if(places_, is_dropped);
  entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(count),
                 entries_.end());
  for (std::size_t& start : starts_) {
    start = std::min(start, count);
  }
}

const MemoryMap& MemoryMap::here() const {
  if (!presence_) {
    raise<UseAfterRelease>("memory map: used after it was moved from");
  }
  return *this;
}

void MemoryMap::add_state(std::string_view name, const Tensor& state) {
  static_cast<void>(here());
  add({.name = memory::String(name),
       .list = MapList::kOptimizerState,
       .handle = state},
      *state.array());
}

std::span<const MapEntry> MemoryMap::entries(MapList list) const {
  const auto i = static_cast<std::size_t>(list);
  return std::span(here().entries_)
      .subspan(starts_[i], starts_[i + 1] - starts_[i]);
}

const MapEntry* MemoryMap::find(std::string_view name) const {
  const auto at = here().names_.find(name);
  return at != names_.end() ? &entries_[at->second] : nullptr;
}

const MapEntry& MemoryMap::at(std::string_view name) const {
  if (const MapEntry* entry = find(name)) {
    return *entry;
  }
  memory::Vector<memory::String> names;
  for (const MapEntry& entry : entries_) {
    names.push_back(entry.name);
    std::ranges::copy(entry.aliases, std::back_inserter(names));
  }
  if (names.empty()) {
    raise<NameError>("memory map: no entry \"{}\", the map is empty", name);
  }
  raise<NameError>("memory map: no entry \"{}\"; the nearest: {}", name,
                   std::string_view(nearest_names(name, names)));
}

// A cache's name ends with "cache", the op and the position.
memory::Vector<LayerCache> MemoryMap::layer_caches() const {
  memory::Vector<LayerCache> layers;
  Table<memory::String, Hash, std::equal_to<>> places;
  for (const MapEntry& entry : caches()) {
    std::size_t end = entry.name.size();
    for (int parts = 0; parts < 3 && end != memory::String::npos; ++parts) {
      end = end == 0 ? memory::String::npos : entry.name.rfind('.', end - 1);
    }
    const std::string_view layer =
        end == memory::String::npos
            ? std::string_view()
            : std::string_view(entry.name).substr(0, end);
    const auto [place, is_new] =
        places.try_emplace(memory::String(layer), layers.size());
    if (is_new) {
      layers.push_back({.layer = memory::String(layer)});
    }
    LayerCache& cache = layers[place->second];
    cache.depth += 1;
    cache.bytes += entry.bytes;
    cache.own_bytes += entry.is_shared() ? 0 : entry.bytes;
  }
  return layers;
}

Bytes MemoryMap::bytes(MapList list) const {
  Bytes sum = 0;
  for (const MapEntry& entry : entries(list)) {
    sum += entry.is_shared() ? 0 : entry.bytes;
  }
  return sum;
}

Bytes MemoryMap::bytes() const {
  Bytes sum = 0;
  for (int i = 0; i < kMapLists; ++i) {
    sum += bytes(static_cast<MapList>(i));
  }
  return sum;
}

namespace {

// The text after the bytes of an entry: their holder and the aliases.
std::string remark_of(const MapEntry& entry) {
  std::string remark;
  if (entry.is_shared()) {
    remark = fmt::format("  in {}", std::string_view(entry.held_by));
  }
  for (const memory::String& alias : entry.aliases) {
    remark += fmt::format("  also {}", std::string_view(alias));
  }
  return remark;
}

}  // namespace

std::string MemoryMap::format() const {
  std::size_t name_width = name_of(MapList::kOptimizerState).size();
  std::size_t shape_width = 0;
  std::size_t bytes_width = format_grouped(bytes()).size();
  for (const MapEntry& entry : entries_) {
    name_width = std::max(name_width, entry.name.size() + 2);
    shape_width = std::max(shape_width, format_shape(entry.shape).size());
    bytes_width = std::max(bytes_width, format_grouped(entry.bytes).size());
  }
  std::string out;
  const auto line = [&](std::string_view name, std::string_view dtype,
                        std::string_view shape, Bytes bytes,
                        std::string_view remark) {
    base::append(out, "{:<{}}  {:<4}  {:<{}}  {:>{}} B{}\n", name, name_width,
                 dtype, shape, shape_width, format_grouped(bytes), bytes_width,
                 remark);
  };
  for (int i = 0; i < kMapLists; ++i) {
    const auto list = static_cast<MapList>(i);
    if (entries(list).empty()) {
      continue;
    }
    line(name_of(list), "", "", bytes(list), "");
    for (const MapEntry& entry : entries(list)) {
      line(fmt::format("  {}", std::string_view(entry.name)),
           name_of(entry.dtype), format_shape(entry.shape), entry.bytes,
           remark_of(entry));
    }
  }
  line("all", "", "", bytes(), "");
  return out;
}

std::ostream& operator<<(std::ostream& out, const MemoryMap& map) {
  return out << map.format();
}

}  // namespace neap::nn
