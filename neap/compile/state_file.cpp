// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/compile/state_file.hpp"

#include <algorithm>
#include <utility>

#include "neap/base/raise.hpp"
#include "neap/memory/out_of_memory.hpp"
#include "neap/program/call.hpp"

namespace neap::compiler {

namespace {

// NOLINTNEXTLINE(*-avoid-non-const-global-variables): one for each thread
constinit thread_local int runs_here = 0;

}  // namespace

// Keeps the file, and its place on it.
class StateFile::Kept final : public tensor::Keeper {
 public:
  Kept(std::shared_ptr<StateFile> file, std::uint32_t place) noexcept
      : file_(std::move(file)), place_(place) {}
  ~Kept() override { file_->leave(place_); }
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;

  std::shared_ptr<tensor::KeeperLock> lock() const override { return file_; }
  void put_into(std::span<std::byte> into) override {
    file_->put_into(place_, into);
  }
  const std::shared_ptr<StateFile>& file() const noexcept { return file_; }
  std::uint32_t place() const noexcept { return place_; }

 private:
  std::shared_ptr<StateFile> file_;
  std::uint32_t place_;
};

StateFile::Running::Running(StateFile& file) : file_(file), lock_(file.mutex_) {
  file_.runner_ = std::this_thread::get_id();
  ++runs_here;
}

StateFile::Running::~Running() {
  --runs_here;
  file_.runner_ = std::thread::id();
}

void StateFile::lock() {
  if (is_running_here()) {
    base::raise<ValueError>(
        "compile: a run reads a state that it keeps in a file, through a "
        "handle that it was not traced with; set .spill.states to false");
  }
  if (runs_here == 0) {
    mutex_.lock();
  } else if (!mutex_.try_lock()) {
    base::raise<ValueError>(
        "compile: a run reads a state that another step keeps in a file, "
        "which is in use; set .spill.states of that step to false");
  }
}

std::shared_ptr<StateFile> StateFile::create(files::Door& door,
                                             std::string_view folder,
                                             memory::Domain& domain,
                                             Bytes part) {
  check_part(part);
  const memory::Allocator<StateFile> allocator(memory::Category::kGraph);
  return std::allocate_shared<StateFile>(allocator, door, folder, domain, part);
}

// Tensors lie where they lie, on no page of their own: the file is read and
// written through the system's cache.
StateFile::StateFile(files::Door& door, std::string_view folder,
                     memory::Domain& domain, Bytes part)
    : door_(door),
      folder_(folder),
      domain_(domain),
      part_(part),
      queue_(door, folder, domain, {.may_be_direct = false}),
      places_(memory::Allocator<Place>(memory::Category::kGraph)),
      parts_(memory::Allocator<Part>(memory::Category::kGraph)) {}

void StateFile::check_part(Bytes part) {
  if (part < memory::kAlignment || part % memory::kAlignment != 0) {
    base::raise<ValueError>(
        "compile: .spill.part is {} bytes; it must be a multiple of {}", part,
        memory::kAlignment);
  }
}

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

// A free place as large, or a new one at the end. The keeper leaves it again.
std::uint32_t StateFile::place_for(tensor::Storage& storage) {
  const Bytes room = base::round_up(storage.size(), kSpillUnit);
  const std::lock_guard lock(books_);
  std::size_t at = 0;
  while (at < places_.size() &&
         (places_[at].storage != nullptr || places_[at].room != room)) {
    ++at;
  }
  if (at == places_.size()) {
    const Bytes end =
        places_.empty() ? 0 : places_.back().offset + places_.back().room;
    const std::size_t first = parts_.size();
    const auto count = static_cast<std::size_t>((room + part_ - 1) / part_);
    places_.reserve(at + 1);
    parts_.reserve(first + count);
    queue_.reserve(domain_.is_rehearsal() ? 0 : end + room, first + count);
    parts_.resize(first + count);
    places_.push_back({.offset = end,
                       .room = room,
                       .first = static_cast<std::uint32_t>(first),
                       .count = static_cast<std::uint32_t>(count)});
  }
  places_[at].storage = &storage;
  std::ranges::fill(parts_of(static_cast<std::uint32_t>(at)),
                    Part{.is_zero = true});
  return static_cast<std::uint32_t>(at);
}

// One storage after the other, since two steps may send the same one away.
void StateFile::take(tensor::Storage& storage) {
  static std::mutex taking;
  const std::lock_guard one(taking);
  if (place_of(storage) != kNone) {
    return;
  }
  const tensor::Keeper* keeper_now = storage.keeper();
  if (keeper_now != nullptr && !keeper_now->are_zeros()) {
    storage.bring_home();  // from another file
  }
  memory::Owned<Kept> keeper = new_place(storage);
  // A run that has looked where the storage is finds it there until it ends.
  const std::lock_guard lock(mutex_);
  if (storage.has_elements()) {
    write(keeper->place(), 0,
          {storage.data(), static_cast<std::size_t>(storage.size())});
    await(keeper->place(), 0, storage.size());
  }
  storage.send_away(std::move(keeper));
}

memory::Owned<tensor::Keeper> StateFile::write_anew(
    tensor::Storage& storage, std::span<const std::byte> from) {
  {
    const std::lock_guard<StateFile> is_free(*this);  // refused in a run
  }
  memory::Owned<Kept> keeper = new_place(storage);
  if (!domain_.is_rehearsal()) {
    const std::lock_guard lock(mutex_);
    write(keeper->place(), 0, from);
    await(keeper->place(), 0, storage.size());
  }
  return keeper;
}

memory::Owned<StateFile::Kept> StateFile::new_place(tensor::Storage& storage) {
  std::uint32_t at = kNone;
  {
    const std::lock_guard lock(mutex_);
    at = place_for(storage);
  }
  try {
    return memory::make_owned<Kept>(memory::Category::kGraph,
                                    shared_from_this(), at);
  } catch (...) {
    leave(at);
    throw;
  }
}

// Not under the file's lock: it ends in any thread, while a run goes on.
void StateFile::leave(std::uint32_t place) noexcept {
  const std::lock_guard lock(books_);
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
  const std::lock_guard lock(books_);
  tensor::Storage* storage = places_[place].storage;
  return storage != nullptr && storage->try_acquire()
             ? base::Ref<tensor::Storage>::adopt(storage)
             : nullptr;
}

// Its lock is held.
void StateFile::put_into(std::uint32_t place, std::span<std::byte> into) {
  queue_.settle();
  fetch(place, 0, into);
  for_parts(place, 0, into,
            [&](std::uint32_t at, Bytes, std::span<std::byte> bytes) {
              if (!parts_[at].unwritten.empty()) {
                std::ranges::copy(parts_[at].unwritten, bytes.begin());
              } else {
                await_part(at);
              }
            });
}

template <class Byte, class Do>
void StateFile::for_parts(std::uint32_t place, Bytes offset,
                          std::span<Byte> bytes, const Do& do_it) {
  const auto most = static_cast<std::size_t>(part_);
  std::uint32_t at =
      places_[place].first + static_cast<std::uint32_t>(offset / part_);
  Bytes where = places_[place].offset + offset;
  for (; !bytes.empty(); ++at, where += part_) {
    const std::size_t size = std::min(bytes.size(), most);
    do_it(at, where, bytes.first(size));
    bytes = bytes.subspan(size);
  }
}

// Parts that could not be written are not asked for: put_into() alone sees
// such.
void StateFile::fetch(std::uint32_t place, Bytes offset,
                      std::span<std::byte> into) noexcept {
  for_parts(place, offset, into,
            [&](std::uint32_t at, Bytes where, std::span<std::byte> bytes) {
              if (parts_[at].is_zero) {
                std::ranges::fill(bytes, std::byte{0});
              } else if (parts_[at].unwritten.empty()) {
                queue_.fetch(at, where, bytes);
              }
            });
}

void StateFile::write(std::uint32_t place, Bytes offset,
                      std::span<const std::byte> from) noexcept {
  for_parts(
      place, offset, from,
      [&](std::uint32_t at, Bytes where, std::span<const std::byte> bytes) {
        parts_[at].is_zero = false;
        queue_.write(at, where, bytes);
      });
}

void StateFile::await(std::uint32_t place, Bytes offset, Bytes size) {
  const std::uint32_t first =
      places_[place].first + static_cast<std::uint32_t>(offset / part_);
  const auto count = static_cast<std::uint32_t>((size + part_ - 1) / part_);
  for (std::uint32_t at = first; at < first + count; ++at) {
    await_part(at);
  }
}

// Its memory may end with a failure, which the other parts must not reach for.
void StateFile::await_part(std::uint32_t at) {
  try {
    if (!parts_[at].is_zero) {
      queue_.await(at);
    }
  } catch (...) {
    queue_.settle();
    throw;
  }
}

// --- failures ---

void StateFile::keep_updated(std::uint32_t place, Bytes offset,
                             std::span<const std::byte> updated) noexcept {
  for_parts(place, offset, updated,
            [&](std::uint32_t at, Bytes, std::span<const std::byte> bytes) {
              try {
                queue_.await(at);
              } catch (const files::IoError&) {
                parts_[at].unwritten = bytes;
                has_unwritten_ = true;
              }
            });
}

void StateFile::look_after(std::uint32_t place) noexcept {
  std::uint32_t at = places_[place].first;
  for (Part& part : parts_of(place)) {
    try {
      if (!part.is_zero) {
        queue_.await(at);
      }
    } catch (const files::IoError&) {
      part.is_doubtful = part.unwritten.empty();
    }
    ++at;
  }
}

void StateFile::expect_readable(std::uint32_t place, Bytes offset,
                                std::span<std::byte> into) {
  for_parts(place, offset, into,
            [&](std::uint32_t at, Bytes where, std::span<std::byte> bytes) {
              if (parts_[at].is_doubtful) {
                queue_.fetch(at, where, into.first(bytes.size()));
                queue_.await(at);
                parts_[at].is_doubtful = false;
              }
            });
}

bool StateFile::is_unwritten(std::uint32_t place) {
  const std::lock_guard lock(mutex_);
  return std::ranges::any_of(
             parts_of(place),
             [](const Part& part) { return !part.unwritten.empty(); }) &&
         storage_at(place);
}

// The arena goes, and neither disk nor home takes it: it is copied.
void StateFile::keep(Part& part) noexcept {
  try {
    part.kept.assign(part.unwritten.begin(), part.unwritten.end());
    part.unwritten = part.kept;
  } catch (const OutOfMemory&) {
    part.unwritten = {};  // what the file says of it stands
  }
}

void StateFile::write_unwritten(std::uint32_t place) {
  const std::lock_guard lock(mutex_);
  std::uint32_t at = places_[place].first;
  Bytes where = places_[place].offset;
  for (Part& part : parts_of(place)) {
    if (!part.unwritten.empty()) {
      queue_.write(at, where, part.unwritten);
      queue_.await(at);
      part.unwritten = {};
      part.kept = {};
    }
    ++at;
    where += part_;
  }
}

void StateFile::write_again() {
  for (std::uint32_t i = 0; has_unwritten_ && i < places_.size(); ++i) {
    if (is_unwritten(i)) {
      write_unwritten(i);
    }
  }
  has_unwritten_ = false;
}

bool StateFile::comes_home(std::uint32_t place) noexcept {
  try {
    storage_at(place)->bring_home();
    return true;
  } catch (const Error&) {  // no memory for it, or it cannot be read
    return false;
  }
}

// RETURNS: true where a copy of some of it is left.
bool StateFile::keep_unwritten(std::uint32_t place) noexcept {
  const bool is_home = comes_home(place);
  bool is_kept = false;
  const std::lock_guard lock(mutex_);
  for (Part& part : parts_of(place)) {
    if (is_home) {
      part = {};
    } else if (part.kept.empty() && !part.unwritten.empty()) {
      keep(part);
    }
    is_kept = is_kept || !part.kept.empty();
  }
  return is_kept;
}

void StateFile::leave_arena() noexcept {
  bool is_kept = false;
  for (std::uint32_t i = 0; has_unwritten_ && i < places_.size(); ++i) {
    if (!is_unwritten(i)) {
      continue;
    }
    try {
      write_unwritten(i);
    } catch (const files::IoError&) {
      is_kept = keep_unwritten(i) || is_kept;
    }
  }
  has_unwritten_ = is_kept;
}

}  // namespace neap::compiler
