// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/compile/state_file.hpp"

#include <algorithm>
#include <utility>

#include "neap/base/raise.hpp"
#include "neap/memory/out_of_memory.hpp"
#include "neap/program/call.hpp"

namespace neap::compiler {

// Keeps the file, and its place on it.
class StateFile::Kept final : public tensor::Keeper {
 public:
  Kept(std::shared_ptr<StateFile> file, std::uint32_t place) noexcept
      : file_(std::move(file)), place_(place) {}
  ~Kept() override { file_->leave(place_); }
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;

  void put_into(std::span<std::byte> into) override {
    file_->put_into(place_, into);
  }
  const std::shared_ptr<StateFile>& file() const noexcept { return file_; }
  std::uint32_t place() const noexcept { return place_; }

 private:
  std::shared_ptr<StateFile> file_;
  std::uint32_t place_;
};

// A run of this thread has it already.
std::unique_lock<std::mutex> StateFile::held() const {
  return is_running_here() ? std::unique_lock<std::mutex>()
                           : std::unique_lock(mutex_);
}

std::shared_ptr<StateFile> StateFile::create(files::Door& door,
                                             std::string_view folder,
                                             memory::Domain& domain) {
  const memory::Allocator<StateFile> allocator(memory::Category::kGraph);
  return std::allocate_shared<StateFile>(allocator, door, folder, domain);
}

// A copy in memory of what could not be written.
class StateFile::Rescued final : public tensor::Keeper {
 public:
  explicit Rescued(std::span<const std::byte> bytes)
      : bytes_(bytes.begin(), bytes.end()) {}
  void put_into(std::span<std::byte> into) override {
    std::ranges::copy(bytes_, into.begin());
  }

 private:
  memory::Vector<std::byte> bytes_;
};

// Tensors lie where they lie, on no page of their own: the file is read and
// written through the system's cache.
StateFile::StateFile(files::Door& door, std::string_view folder,
                     memory::Domain& domain)
    : door_(door),
      folder_(folder),
      domain_(domain),
      queue_(door, folder, domain, {.may_be_direct = false}),
      places_(memory::Allocator<Place>(memory::Category::kGraph)) {}

std::uint32_t StateFile::place_of(
    const tensor::Storage& storage) const noexcept {
  const auto* kept = dynamic_cast<const Kept*>(storage.keeper());
  return kept != nullptr && kept->file().get() == this ? kept->place() : kNone;
}

std::shared_ptr<StateFile> StateFile::of(
    const tensor::Storage& storage) noexcept {
  const auto* kept = dynamic_cast<const Kept*>(storage.keeper());
  return kept != nullptr ? kept->file() : nullptr;
}

// A free place as large, or a new one at the end.
std::uint32_t StateFile::place_for(Bytes size) {
  const Bytes room = base::round_up(size, kSpillUnit);
  for (std::uint32_t i = 0; i < places_.size(); ++i) {
    if (places_[i].storage == nullptr && places_[i].room == room) {
      return i;
    }
  }
  const Bytes end =
      places_.empty() ? 0 : places_.back().offset + places_.back().room;
  places_.reserve(places_.size() + 1);
  queue_.reserve(domain_.is_rehearsal() ? 0 : end + room, places_.size() + 1);
  places_.push_back({.offset = end, .room = room});
  return static_cast<std::uint32_t>(places_.size() - 1);
}

void StateFile::take(tensor::Storage& storage) {
  if (place_of(storage) != kNone) {
    return;
  }
  const tensor::Keeper* keeper_now = storage.keeper();
  if (keeper_now != nullptr && !keeper_now->are_zeros()) {
    storage.bring_home();  // from another file
  }
  std::uint32_t at = kNone;
  {
    const std::unique_lock lock = held();
    at = place_for(storage.size());
    places_[at].storage = &storage;  // the keeper leaves it again
    places_[at].is_zero = true;
  }
  memory::Owned<Kept> keeper;
  try {
    keeper = memory::make_owned<Kept>(memory::Category::kGraph,
                                      shared_from_this(), at);
  } catch (...) {
    leave(at);
    throw;
  }
  if (storage.has_elements()) {
    const std::unique_lock lock = held();
    write(at, {storage.data(), static_cast<std::size_t>(storage.size())});
    await(at);
  }
  storage.send_away(std::move(keeper));
}

void StateFile::leave(std::uint32_t place) noexcept {
  const std::unique_lock lock = held();
  places_[place].storage = nullptr;
}

void StateFile::give_back() {
  for (std::uint32_t i = 0; i < places_.size(); ++i) {
    if (const base::Ref<tensor::Storage> storage = storage_at(i)) {
      storage->bring_home();
    }
  }
}

// Null where the place is free, or its storage is ending.
base::Ref<tensor::Storage> StateFile::storage_at(std::uint32_t place) {
  const std::unique_lock lock = held();
  tensor::Storage* storage = places_[place].storage;
  return storage != nullptr && storage->try_acquire()
             ? base::Ref<tensor::Storage>::adopt(storage)
             : nullptr;
}

void StateFile::put_into(std::uint32_t place, std::span<std::byte> into) {
  if (is_running_here()) {
    base::raise<ValueError>(
        "compile: a run looks at a state that it keeps in a file itself, by a "
        "handle that it was not traced with; set .spill.states to false");
  }
  const std::unique_lock lock = held();
  queue_.settle();
  fetch(place, into);
  await(place);
}

void StateFile::fetch(std::uint32_t place, std::span<std::byte> into) noexcept {
  if (places_[place].is_zero) {
    std::ranges::fill(into, std::byte{0});
  } else {
    queue_.fetch(place, places_[place].offset, into);
  }
}

void StateFile::write(std::uint32_t place,
                      std::span<const std::byte> from) noexcept {
  places_[place].is_zero = false;
  queue_.write(place, places_[place].offset, from);
}

void StateFile::rescue(tensor::Storage& storage,
                       std::span<const std::byte> from) noexcept {
  const std::uint32_t place = place_of(storage);
  try {
    if (place != kNone) {
      await(place);
    }
  } catch (const files::IoError&) {
    try {
      storage.send_away(
          memory::make_owned<Rescued>(memory::Category::kOptimizerState, from));
    } catch (const OutOfMemory&) {
      return;  // the file says why it is not there
    }
  }
}

void StateFile::await(std::uint32_t place) {
  if (!places_[place].is_zero) {
    queue_.await(place);
  }
}

}  // namespace neap::compiler
