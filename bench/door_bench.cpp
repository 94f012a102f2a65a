// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The allocation door beside glibc's malloc and mimalloc: pairs of one size,
// many live blocks freed in reverse, and the requests of a training step.
// Blocks of 64 KiB and more have every page written, as whoever asks for them
// does: that is where the time of an allocator that gives pages back goes.
#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <optional>

#include "neap/neap.hpp"
#include "support/measure.hpp"
#include "support/report.hpp"

namespace neap::bench {
namespace {

constexpr Bytes kPage = 4 * kKiB;
constexpr Bytes kTouched = 64 * kKiB;  // from here on every page is written

void touch(void* data, Bytes size) {
  if (size < kTouched) {
    return;
  }
  auto* bytes = static_cast<volatile char*>(data);
  for (Bytes at = 0; at < size; at += kPage) {
    bytes[at] = 1;
  }
}

// --- the allocators ---------------------------------------------------------

class Door {
 public:
  using Held = memory::Block;
  Held take(Bytes size) {
    const Held block = domain_->allocate(size, tag_);
    touch(block.data, size);
    return block;
  }
  void give(const Held& block) { domain_->release(block); }

 private:
  Domain::Handle domain_ =
      Domain::create({.host = memory::HostAllocator::kPooled});
  memory::Tag tag_{.category = memory::Category::kActivations,
                   .owner = domain_->owner("fc1"),
                   .site = {}};
};

class Functions {
 public:
  using Held = void*;
  Functions(void* (*allocate)(std::size_t), void (*release)(void*))
      : take_(allocate), give_(release) {}
  Held take(Bytes size) {
    void* block = take_(static_cast<std::size_t>(size));
    keep(block);
    touch(block, size);
    return block;
  }
  void give(Held block) { give_(block); }

 private:
  void* (*take_)(std::size_t);
  void (*give_)(void*);
};

Functions glibc() {
  return {std::malloc, std::free};
}

// Loaded apart, so that it serves us and not the program's own malloc.
std::optional<Functions> mimalloc() {
  void* library = ::dlopen("libmimalloc.so.2", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return std::nullopt;
  }
  return Functions(
      reinterpret_cast<void* (*)(std::size_t)>(::dlsym(library, "mi_malloc")),
      reinterpret_cast<void (*)(void*)>(::dlsym(library, "mi_free")));
}

// A block that stays, as there always is one in real use.
template <class Allocator>
class Neighbour {
 public:
  Neighbour(Allocator& allocator, Bytes size)
      : allocator_(allocator), block_(allocator.take(size)) {}
  ~Neighbour() { allocator_.give(block_); }
  Neighbour(const Neighbour&) = delete;
  Neighbour& operator=(const Neighbour&) = delete;

 private:
  Allocator& allocator_;
  typename Allocator::Held block_;
};

// --- the loads --------------------------------------------------------------

struct Pair {
  Bytes size;
  template <class Allocator>
  void run(Allocator& allocator) const {
    allocator.give(allocator.take(size));
  }
};

struct Reversed {
  Bytes size;
  int count;
  template <class Allocator>
  void run(Allocator& allocator) const {
    std::vector<typename Allocator::Held> held;
    held.reserve(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) {
      held.push_back(allocator.take(size));
    }
    for (int i = count; i-- > 0;) {
      allocator.give(held[static_cast<std::size_t>(i)]);
    }
  }
};

// A request (size > 0) or the release of an earlier one, by its number.
struct Event {
  Bytes size;
  std::size_t request;
};

struct Trace {
  Bytes size = 64;  // of the neighbour
  std::vector<Event> events{};
  std::size_t requests = 0;
  template <class Allocator>
  void run(Allocator& allocator) const {
    std::vector<typename Allocator::Held> held(requests);
    for (const Event& event : events) {
      if (event.size > 0) {
        held[event.request] = allocator.take(event.size);
      } else {
        allocator.give(held[event.request]);
      }
    }
  }
};

// Requests and releases of one step of training, from the domain's own log.
Trace training_step() {
  const Domain::Handle domain = Domain::create({.event_capacity = 1 << 14});
  const UseDomain use(*domain);
  models::Mlp model(std::array<std::int64_t, 4>{784, 512, 256, 10});
  optim::Adam optimizer(model.parameters());
  const Tensor x = zeros({128, 784});
  const Tensor labels = zeros({128}, i64);
  const auto step = [&] {
    optimizer.zero_grad();
    backward(cross_entropy(model(x), labels));
    optimizer.step();
  };
  step();
  optimizer.zero_grad();
  std::vector<memory::Event> log(1 << 14);
  const auto before = static_cast<std::size_t>(domain->events(log));
  step();
  optimizer.zero_grad();
  log.resize(static_cast<std::size_t>(domain->events(log)));

  Trace trace;
  std::map<const void*, std::size_t> live;
  for (std::size_t i = before; i < log.size(); ++i) {
    const memory::Event& event = log[i];
    if (event.kind == memory::EventKind::kAllocate && event.bytes > 0) {
      live[event.address] = trace.requests;
      trace.events.push_back({event.bytes, trace.requests++});
    } else if (event.kind == memory::EventKind::kRelease &&
               live.contains(event.address)) {
      trace.events.push_back({0, live[event.address]});
      live.erase(event.address);
    }
  }
  for (const auto& [address, request] : live) {
    trace.events.push_back({0, request});
  }
  return trace;
}

// --- the table --------------------------------------------------------------

class Comparison {
 public:
  explicit Comparison(const Arguments& arguments)
      : arguments_(arguments),
        mimalloc_(arguments.with_peers ? mimalloc() : std::nullopt) {
    if (arguments.quick) {
      schedule_ = {.rounds = 1, .turn_seconds = 1e-4};
    }
  }

  /// Adds a row for each peer; `pairs` are allocations in one run of the load.
  template <class Load>
  void add(const std::string& name, const Load& load, double pairs) {
    if (!arguments_.selects(name)) {
      return;
    }
    Door door;
    Functions malloc = glibc();
    const Neighbour beside_ours(door, load.size);
    const Neighbour beside_theirs(malloc, load.size);
    std::vector<Contender> contenders{
        timed("door", [&] { load.run(door); }),
        timed("glibc malloc", [&] { load.run(malloc); })};
    std::optional<Neighbour<Functions>> beside_mimalloc;
    if (mimalloc_) {
      beside_mimalloc.emplace(*mimalloc_, load.size);
      contenders.push_back(timed("mimalloc", [&] { load.run(*mimalloc_); }));
    }
    const std::vector<Timing> timings = measure(contenders, schedule_);
    const double scale = 1e9 / pairs;
    for (std::size_t i = 1; i < timings.size(); ++i) {
      rows_[timings[i].name].push_back({.name = name,
                                        .unit = "ns",
                                        .ours = timings[0].median * scale,
                                        .peer = timings[i].median * scale,
                                        .peer_name = timings[i].name,
                                        .reps = timings[0].reps});
    }
  }

  void print(Report& report) const {
    if (arguments_.with_peers && !mimalloc_) {
      report.note("libmimalloc.so.2 is not installed: no rows beside it");
    }
    for (const auto& [name, rows] : rows_) {
      report.table("The door beside " + name +
                       ": ns for an allocation and "
                       "its release",
                   rows, true);
    }
  }

 private:
  const Arguments& arguments_;
  std::optional<Functions> mimalloc_;
  Schedule schedule_{.rounds = 9, .turn_seconds = 0.02};
  std::map<std::string, std::vector<Row>> rows_;
};

std::string size_text(Bytes size) {
  return size >= kMiB   ? fmt::format("{} MiB", size / kMiB)
         : size >= kKiB ? fmt::format("{} KiB", size / kKiB)
                        : fmt::format("{} B", size);
}

void run(const Arguments& arguments) {
  Report report("door", arguments);
  Comparison comparison(arguments);
  for (const Bytes size : {Bytes{64}, kKiB, 4 * kKiB, 64 * kKiB, 256 * kKiB,
                           kMiB, 4 * kMiB, 16 * kMiB, 64 * kMiB}) {
    comparison.add("pair of " + size_text(size), Pair{size}, 1);
  }
  for (const Bytes size : {Bytes{64}, 4 * kKiB, 64 * kKiB, kMiB}) {
    comparison.add("100 of " + size_text(size) + ", freed in reverse",
                   Reversed{size, 100}, 100);
  }
  const Trace step = training_step();
  comparison.add("requests of a training step", step,
                 static_cast<double>(step.requests));
  comparison.print(report);
}

}  // namespace
}  // namespace neap::bench

int main(int argc, char** argv) {
  neap::bench::run(neap::bench::read_arguments(
      argc, argv, "The allocation door beside malloc and mimalloc."));
}
