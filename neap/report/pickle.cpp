// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/report/pickle.hpp"

#include "neap/report/pickler.hpp"
#include "neap/report/snapshot_walk.hpp"

namespace neap::report {
namespace {

constexpr std::int64_t kFirstAddress = std::int64_t{1} << 32;

// Part of the segment of what stays.
struct Rest {
  std::string_view name;
  std::string_view category;
  Bytes bytes = 0;
  bool is_active = true;
};

memory::Vector<Rest> rests_of(const Snapshot& s) {
  memory::Vector<Rest> out;
  Bytes unlisted = s.sums.stays;
  for (const Snapshot::Stay& stay : s.stays) {
    out.push_back({s.text(stay.owner), s.text(stay.category), stay.bytes});
    unlisted -= stay.bytes;
  }
  out.push_back({name_of(Part::kUnlisted), "other", unlisted});
  out.push_back({name_of(Part::kProgram), "program", s.sums.program});
  out.push_back({name_of(Part::kIdle), {}, s.sums.idle, false});
  out.push_back({name_of(Part::kOverhead), {}, s.sums.overhead, false});
  std::erase_if(out, [](const Rest& rest) { return rest.bytes <= 0; });
  return out;
}

// The file, from its first byte to its last.
class MemoryViz {
 public:
  MemoryViz(Sink& sink, const Snapshot& s)
      : s_(s),
        out_(sink),
        starts_(call_starts(s)),
        rests_(rests_of(s)),
        arena_(s) {}

  void write() {
    out_.dict([&] {
      out_.text("segments");
      out_.begin_list();
      put_arena();
      put_rests();
      out_.text("device_traces");
      out_.begin_list();
      out_.append([&] { put_events(); });
      out_.text("allocator_settings");
      out_.dict([] {});
    });
    out_.stop();
  }

 private:
  std::int64_t rests_address() const noexcept {
    return kFirstAddress + arena_.end;
  }

  template <class PutBlocks>
  void put_segment(std::int64_t address, Bytes total, Bytes active,
                   const PutBlocks& put_blocks) {
    if (total <= 0) {
      return;
    }
    out_.append([&] {
      out_.dict([&] {
        out_.pair("device", 0);
        out_.pair("address", address);
        out_.pair("total_size", total);
        out_.pair("allocated_size", total);
        out_.pair("active_size", active);
        out_.pair("requested_size", active);
        out_.pair("stream", 0);
        out_.pair("segment_type", "large");
        out_.text("segment_pool_id");
        out_.begin_list();
        out_.append([&] {
          out_.number(0);
          out_.number(0);
        });
        out_.text("is_expandable");
        out_.boolean(false);
        out_.text("frames");
        out_.begin_list();
        out_.text("blocks");
        out_.begin_list();
        put_blocks();
      });
    });
  }

  void put_block(std::string_view name, Bytes bytes, bool is_active) {
    out_.append([&] {
      out_.dict([&] {
        out_.pair("size", bytes);
        out_.pair("requested_size", bytes);
        out_.pair("state", is_active ? "active_allocated" : "inactive");
        out_.text("frames");
        put_frames(name, {});
      });
    });
  }

  void put_frames(std::string_view name, std::string_view line) {
    const SourceLine place = parse_line(line);
    out_.begin_list();
    out_.append([&] {
      out_.dict([&] {
        out_.pair("name", name);
        out_.pair("filename", place.file);
        out_.pair("line", place.number);
      });
    });
  }

  void put_arena() {
    put_segment(kFirstAddress, arena_.end, 0,
                [&] { put_block("arena", arena_.end, false); });
  }

  void put_rests() {
    Bytes total = 0;
    Bytes active = 0;
    for (const Rest& rest : rests_) {
      total += rest.bytes;
      active += rest.is_active ? rest.bytes : 0;
    }
    put_segment(rests_address(), total, active, [&] {
      for (const Rest& rest : rests_) {
        put_block(rest.name, rest.bytes, rest.is_active);
      }
    });
  }

  // put_details() writes what only some events have.
  template <class PutDetails>
  void put_event(std::string_view action, std::int64_t address, Bytes bytes,
                 std::int64_t ns, const PutDetails& put_details) {
    out_.append([&] {
      out_.dict([&] {
        out_.pair("action", action);
        out_.pair("addr", address);
        out_.pair("size", bytes);
        out_.pair("stream", 0);
        out_.pair("time_us", ns / 1000);
        out_.text("frames");
        put_details();
      });
    });
  }

  void put_events() {
    out_.begin_list();
    // The viewer looks for this category wherever there is any.
    put_event("snapshot", 0, 0, 0, [&] {
      out_.begin_list();
      out_.pair("category", "unknown");
    });
    std::int64_t address = rests_address();
    for (const Rest& rest : rests_) {
      if (rest.is_active) {
        put_event("alloc", address, rest.bytes, 0, [&] {
          put_frames(rest.name, {});
          out_.pair("category", rest.category);
        });
      }
      address += rest.bytes;
    }
    memory::Vector<std::uint32_t> frames(s_.blocks.size(), 0);
    BlockWalk walk(s_);
    for (std::uint32_t call = 0; call <= s_.calls.size(); ++call) {
      walk.advance(
          call,
          [&](std::uint32_t block) {
            put_end(s_.blocks[block], starts_[call], frames[block]);
          },
          [&](std::uint32_t block) {
            frames[block] = put_begin(s_.blocks[block], starts_[call]);
          });
    }
  }

  // RETURNS: the number of the block's frames.
  std::uint32_t put_begin(const Snapshot::Block& block, std::int64_t ns) {
    std::uint32_t frames = 0;
    if (block.bytes > 0) {
      put_event("alloc", kFirstAddress + arena_.place_of(block), block.bytes,
                ns, [&] {
                  put_frames(title_of(block), s_.text(block.line));
                  frames = out_.memoize();
                  out_.pair("category", s_.text(block.category));
                });
    }
    return frames;
  }

  void put_end(const Snapshot::Block& block, std::int64_t ns,
               std::uint32_t frames) {
    if (block.bytes <= 0) {
      return;
    }
    for (const std::string_view action : {"free_requested", "free_completed"}) {
      put_event(action, kFirstAddress + arena_.place_of(block), block.bytes, ns,
                [&] { out_.recall(frames); });
    }
  }

  // "matmul in h.3: f32 [8, 128]"
  std::string_view title_of(const Snapshot::Block& block) {
    title_.clear();
    title_ += s_.text(s_.calls[block.first].op);
    if (block.layer != 0) {
      title_ += " in ";
      title_ += s_.text(block.layer);
    }
    if (block.shape != 0) {
      title_ += ": ";
      title_ += s_.text(block.dtype);
      title_ += ' ';
      title_ += s_.text(block.shape);
    }
    return title_;
  }

  const Snapshot& s_;
  Pickler out_;
  const memory::Vector<std::int64_t> starts_;
  const memory::Vector<Rest> rests_;
  const ArenaMap arena_;
  memory::String title_;
};

}  // namespace

Result<void> write_pickle(files::Door& door, const std::string& path,
                          const Snapshot& snapshot) {
  return write_file(door, path, snapshot,
                    [&](Sink& sink) { MemoryViz(sink, snapshot).write(); });
}

}  // namespace neap::report
