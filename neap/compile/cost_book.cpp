// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/compile/cost_book.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <chrono>
#include <cstring>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "neap/base/append.hpp"
#include "neap/base/draws.hpp"
#include "neap/files/io_error.hpp"
#include "neap/files/whole_file.hpp"
#include "neap/memory/out_of_memory.hpp"
#include "neap/program/fused_call.hpp"
#include "neap/program/hash.hpp"
#include "neap/tensor/execution.hpp"

namespace neap::compiler {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::string_view kFirstLine = "neap costs 1\n";
constexpr std::size_t kLineBytes =
    37;  // "0123456789abcdef 0000000000000000042"

// --- what a cost is of ---

bool has_cost(const Call& call) {
  const bool is_kernel =
      call.kind == CallKind::kKernel || call.kind == CallKind::kFused;
  const bool is_ours =  // else it may do anything
      call.op == nullptr ||
      (call.op->count == nullptr && call.op->copy_attrs == nullptr &&
       call.op->facts.effect != graph::Effect::kStateful);
  return is_kernel && is_ours && call.space == memory::kHost;
}

// Neither draws nor what a listener gives at each run change what a call takes.
void add_attrs(Hash& hash, const Program& program, const Call& call) {
  if (call.listener != nullptr || call.attrs_size == 0) {
    return;
  }
  memory::Vector<std::byte> attrs(call.attrs_size);
  std::memcpy(attrs.data(), program.attrs_of(call), attrs.size());
  if (call.draw_at >= 0) {
    std::memset(attrs.data() + call.draw_at, 0, sizeof(base::DrawKey));
  }
  hash.add(attrs.data(), attrs.size());
}

void add_call(Hash& hash, const Program& program, const Call& call) {
  hash.add(call.name.data(), call.name.size());
  hash.add(call.reads_outputs);
  add_attrs(hash, program, call);
  for (const auto& operands : {program.in(call), program.out(call)}) {
    hash.add(operands.size());
    for (const Operand& operand : operands) {
      hash.add(*operand.layout);
    }
  }
}

std::uint64_t key_of(const Program& program, const Call& call) {
  Hash hash;
  hash.add(tensor::executor().threads());
  add_call(hash, program, call);
  for (const Call& member : program.members_of(call)) {
    add_call(hash, program, member);
  }
  return hash.get();
}

// --- measuring ---

// Zeroed memory of the door; also in a rehearsal, which has no elements.
class Room {
 public:
  explicit Room(Bytes size) : domain_(memory::domain()) {
    block_ = domain_.allocate(size,
                              memory::current_tag(memory::Category::kWorkspace),
                              memory::kAlignment);
    std::memset(block_.data, 0, static_cast<std::size_t>(size));
  }
  Room(Room&& other) noexcept : domain_(other.domain_), block_(other.block_) {
    other.block_ = {};
  }
  ~Room() { domain_.release(block_); }
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;
  Room& operator=(Room&&) = delete;

  std::byte* data() const noexcept {
    return static_cast<std::byte*>(block_.data);
  }

 private:
  memory::Domain& domain_;
  memory::Block block_;
};

// The operands of a call, each in memory of its own. Zero is a valid index.
class Operands {
 public:
  explicit Operands(std::span<const Operand> operands) {
    rooms_.reserve(operands.size());
    views_.reserve(operands.size());
    for (const Operand& operand : operands) {
      const tensor::Layout& layout = *operand.layout;
      const Bytes each = size_of(layout.dtype);
      std::int64_t first = 0;
      std::int64_t last = 0;
      for (int axis = 0; axis < layout.shape.rank(); ++axis) {
        const std::int64_t way =
            std::max<std::int64_t>(layout.shape[axis] - 1, 0) *
            layout.strides[axis];
        first += std::min<std::int64_t>(way, 0);
        last += std::max<std::int64_t>(way, 0);
      }
      rooms_.emplace_back((last - first + 1) * each);
      views_.push_back({rooms_.back().data() - first * each, layout.dtype,
                        layout.shape, layout.strides});
    }
  }
  std::span<const tensor::Strided> views() const noexcept { return views_; }

 private:
  memory::Vector<Room> rooms_;
  memory::Vector<tensor::Strided> views_;
};

// The least of some runs; short ones are repeated more often.
template <class Run>
std::int64_t least_time(const Run& run) {
  constexpr int kFewest = 3;
  constexpr int kMost = 30;
  constexpr auto kEnough = std::chrono::milliseconds(2);
  run();  // takes pages, fills caches
  auto least = Clock::duration::max();
  auto sum = Clock::duration::zero();
  for (int i = 0; i < kMost && (i < kFewest || sum < kEnough); ++i) {
    const auto start = Clock::now();
    run();
    const auto took = Clock::now() - start;
    least = std::min(least, took);
    sum += took;
  }
  return std::chrono::duration_cast<std::chrono::nanoseconds>(least).count();
}

std::int64_t rounded(std::int64_t ns) {
  constexpr unsigned kKept = 5;  // bits: a sixteenth of an octave
  const auto value = static_cast<std::uint64_t>(std::max<std::int64_t>(ns, 1));
  const auto width = static_cast<unsigned>(std::bit_width(value));
  const unsigned below = width > kKept ? width - kKept : 0U;
  return static_cast<std::int64_t>(value >> below << below);
}

std::int64_t measure(const Program& program, const Call& call) {
  const Operands in(program.in(call));
  const Operands out(program.out(call));
  kernels::Args args{
      in.views(), out.views(), program.attrs_of(call), {}, &tensor::executor()};
  std::optional<kernels::FusedCall> fused;
  const kernels::Kernel* kernel = &kernels::fused_kernel;
  if (call.kind == CallKind::kFused) {
    fused.emplace(fused_call(program, call));
    args.attrs = &*fused;
  } else {
    const DType key =
        in.views().empty() ? out.views()[0].dtype : in.views()[0].dtype;
    kernel = &kernels::find(*call.kernels, memory::kHost, key, args);
  }
  const Bytes bytes = kernels::scratch_bytes(*kernel, args);
  const Room scratch(std::max<Bytes>(bytes, 1));
  args.scratch = {scratch.data(), static_cast<std::size_t>(bytes)};
  return rounded(least_time([&] { kernel->run(args); }));
}

// --- the file ---

[[noreturn]] void refuse(const std::string& path, std::string_view why) {
  throw IoError(
      fmt::format("costs: {} {}; remove it to measure anew", path, why),
      FailureKind::kCorrupt);
}

void check(const neap::Result<void>& done) {
  if (!done) {
    throw IoError(done.error());
  }
}

template <class T>
T value_of(tl::expected<T, Failure>&& result) {
  if (!result) {
    throw IoError(result.error());
  }
  return std::move(*result);
}

template <class T>
T number(const std::string& path, std::string_view text, int base) {
  T value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size()) {
    refuse(path, "has a line that is no cost");
  }
  return value;
}

}  // namespace

base::Ref<CostBook> CostBook::make() {
  memory::Tag tag = memory::current_tag(memory::Category::kGraph);
  tag.category = memory::Category::kGraph;
  return create(memory::domain(), tag, 0, memory::domain(), tag);
}

base::Ref<CostBook> CostBook::open(const std::string& path, files::Door& door) {
  base::Ref<CostBook> book = make();
  book->path_ = path;
  book->door_ = &door;
  book->read();
  return book;
}

void CostBook::read() {
  if (value_of(door_->inspect(path_)).kind == files::PathKind::kNothing) {
    return;
  }
  files::File file = value_of(door_->open_read(path_));
  const Bytes size = value_of(file.size());
  if (size > static_cast<Bytes>(kFirstLine.size() + kMostCosts * kLineBytes)) {
    refuse(path_, "is larger than any file of costs");
  }
  memory::String text(static_cast<std::size_t>(size), '\0');
  check(files::read_exact(file, std::as_writable_bytes(std::span(text))));
  std::string_view rest(text);
  if (!rest.starts_with(kFirstLine)) {
    refuse(path_, "is no file of costs");
  }
  rest.remove_prefix(kFirstLine.size());
  if (rest.size() % kLineBytes != 0) {
    refuse(path_, "ends within a line");
  }
  costs_.reserve(rest.size() / kLineBytes);
  for (; !rest.empty(); rest.remove_prefix(kLineBytes)) {
    const Cost cost{number<std::uint64_t>(path_, rest.substr(0, 16), 16),
                    number<std::int64_t>(path_, rest.substr(17, 19), 10)};
    const bool is_next = costs_.empty() || costs_.back().key < cost.key;
    if (!is_next || cost.ns < 1 || rest[16] != ' ' ||
        rest[kLineBytes - 1] != '\n') {
      refuse(path_, "has a line that is no cost");
    }
    costs_.push_back(cost);
  }
}

std::int64_t CostBook::ns_of(const Program& program, const Call& call) {
  if (!has_cost(call)) {
    return 0;
  }
  try {
    return known_or_measured(program, call);
  } catch (const OutOfMemory&) {
    return 0;
  }
}

std::int64_t CostBook::known_or_measured(const Program& program,
                                         const Call& call) {
  const std::uint64_t key = key_of(program, call);
  const std::lock_guard lock(mutex_);
  const auto at = std::ranges::lower_bound(costs_, key, {}, &Cost::key);
  if (at != costs_.end() && at->key == key) {
    return at->ns;
  }
  if (costs_.size() >= kMostCosts) {
    return 0;
  }
  const Cost cost{key, measure(program, call)};
  costs_.insert(at, cost);
  ++measured_;
  is_changed_ = true;
  return cost.ns;
}

void CostBook::save() {
  const std::lock_guard lock(mutex_);
  if (door_ == nullptr || !is_changed_) {
    return;
  }
  memory::String text(kFirstLine);
  text.reserve(kFirstLine.size() + costs_.size() * kLineBytes);
  for (const Cost& cost : costs_) {
    base::append(text, "{:016x} {:019d}\n", cost.key, cost.ns);
  }
  check(files::write_atomically(*door_, path_, [&](files::File& file) {
    return files::write_all(file, std::as_bytes(std::span(text)));
  }));
  is_changed_ = false;
}

std::size_t CostBook::size() const {
  const std::lock_guard lock(mutex_);
  return costs_.size();
}

std::size_t CostBook::measured() const {
  const std::lock_guard lock(mutex_);
  return measured_;
}

}  // namespace neap::compiler
