// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/report/snapshot_step.hpp"

#include <algorithm>
#include <optional>
#include <tuple>

#include "neap/base/raise.hpp"
#include "neap/compile/costs.hpp"
#include "neap/compile/prediction.hpp"
#include "neap/program/dataflow.hpp"
#include "neap/program/print.hpp"
#include "neap/report/held_sums.hpp"
#include "neap/report/ledger_rows.hpp"
#include "neap/report/text_pool.hpp"

namespace neap::report {
namespace {

using compiler::Buffer;
using compiler::BufferId;
using compiler::Call;
using compiler::CallKind;
using compiler::Operand;
using compiler::Value;
using compiler::ValueId;
using memory::Category;

// Phases by what calls compute: the context of backward() says so itself, and
// an update is what comes of gradients outside of it or writes into parameters.
class Phases {
 public:
  explicit Phases(const compiler::Program& program)
      : program_(program), of_gradients_(program.values.size(), 0) {}

  // REQUIRES: calls in their order.
  Snapshot::Phase next(const Call& call) {
    using Phase = Snapshot::Phase;
    const bool is_backward = call.category == Category::kGradients;
    const bool is_update =
        !is_backward && (reads_gradients(call) || writes_parameters(call));
    for (const Operand& operand : program_.out(call)) {
      of_gradients_[operand.value.value] = is_backward || is_update ? 1 : 0;
    }
    return is_backward ? Phase::kBackward
                       : (is_update ? Phase::kUpdate : Phase::kForward);
  }

 private:
  bool reads_gradients(const Call& call) const {
    const auto operands = program_.in(call);
    return std::any_of(operands.begin(), operands.end(),
                       [&](const Operand& operand) {
                         return of_gradients_[operand.value.value] != 0;
                       });
  }
  bool writes_parameters(const Call& call) const {
    const auto operands = program_.out(call);
    return std::any_of(
        operands.begin(), operands.end(), [&](const Operand& operand) {
          const Value& value = program_[operand.value];
          return value.over != compiler::kNoValue &&
                 (value.spec->category == Category::kParameters ||
                  value.spec->category == Category::kOptimizerState);
        });
  }

  const compiler::Program& program_;
  memory::Vector<std::uint8_t> of_gradients_;  // by value
};

class Maker {
 public:
  Maker(const compiler::Program& program, const compiler::Plan& plan,
        const memory::Domain* domain, Bytes there)
      : program_(program), plan_(plan), domain_(domain), there_(there) {}

  Snapshot run() {
    add_calls();
    add_blocks();
    add_reads();
    add_sums();
    out_.texts = texts_.take();
    return std::move(out_);
  }

 private:
  TextId text(std::string_view text) { return texts_.id(text); }
  TextId owner(memory::OwnerId id) {
    return text(compiler::owner_path(program_, id));
  }
  TextId line(base::SiteId id) {
    return id.value == 0 ? 0 : text(base::format_site(id));
  }

  void add_calls() {
    Phases phases(program_);
    const auto costs = compiler::costs_of(program_);
    out_.calls.reserve(program_.calls.size());
    for (const Call& call : program_.calls) {
      const compiler::CallCost& cost = costs[out_.calls.size()];
      out_.calls.push_back({.op = text(call.name),
                            .layer = owner(call.owner),
                            .line = line(call.site),
                            .phase = phases.next(call),
                            .is_again = compiler::is_again(call),
                            .flops = cost.flops,
                            .moved = cost.moved});
    }
  }

  // --- blocks --------------------------------------------------------------

  // A value and where it is: all that is needed to put blocks in their order.
  struct Stretch {
    BufferId buffer;
    std::uint32_t first;
    std::uint32_t last;
    ValueId value;            // kNoValue: scratch
    std::uint32_t over;       // of stretches_; kNone: none
    std::uint32_t block = 0;  // its lowest one
  };

  bool is_in_arena(const Buffer& buffer) const {
    return buffer.where == compiler::Where::kArena && buffer.size != 0 &&
           buffer.first <= buffer.last && buffer.first < program_.calls.size();
  }

  // The call that makes a value; none where nothing does, as for the parts of a
  // fused call, which have memory in a plan without reuse alone.
  std::optional<std::uint32_t> call_of(ValueId id) const {
    const Value& value = program_[id];
    if (value.origin != compiler::Origin::kCall ||
        value.index >= program_.calls.size()) {
      return std::nullopt;
    }
    return value.index;
  }

  void add_blocks() {
    add_stretches();
    for (Stretch& stretch : stretches_) {
      const auto first = static_cast<std::uint32_t>(out_.blocks.size());
      for_pieces(
          stretch.buffer, block_of(stretch),
          [&](const Snapshot::Block& piece) { out_.blocks.push_back(piece); });
      // Others know it by its lowest piece.
      const auto lowest = std::min_element(
          out_.blocks.begin() + first, out_.blocks.end(),
          [](const auto& a, const auto& b) { return a.offset < b.offset; });
      stretch.block = static_cast<std::uint32_t>(lowest - out_.blocks.begin());
    }
    const auto place = order_blocks(out_.blocks);
    for (Stretch& stretch : stretches_) {
      stretch.block = place[stretch.block];
    }
  }

  // A stretch for each value and each scratch. Those in one buffer follow one
  // another: each ends where the next begins.
  void add_stretches() {
    const compiler::Lifetimes& lives = plan_.lifetimes;
    memory::Vector<ValueId> values;
    for (std::uint32_t v = 0; v < program_.values.size(); ++v) {
      const BufferId buffer = lives.buffer_of[v];
      if (buffer != compiler::kNoBuffer && is_in_arena(lives.at(buffer))) {
        values.push_back({v});
      }
    }
    const auto begins = [&](ValueId id) { return call_of(id).value_or(0); };
    std::sort(values.begin(), values.end(), [&](ValueId a, ValueId b) {
      return std::tuple(lives.buffer_of[a.value].value, begins(a), a.value) <
             std::tuple(lives.buffer_of[b.value].value, begins(b), b.value);
    });
    stretch_of_.assign(program_.values.size(), Snapshot::kNone);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const BufferId id = lives.buffer_of[values[i].value];
      const bool is_first =
          i == 0 || lives.buffer_of[values[i - 1].value] != id;
      const bool is_last =
          i + 1 == values.size() || lives.buffer_of[values[i + 1].value] != id;
      add_stretch(
          id, values[i], is_first ? lives.at(id).first : begins(values[i]),
          is_last ? lives.at(id).last : begins(values[i + 1]) - 1, !is_first);
    }
    // A step that is ready to run has dropped Lifetimes::scratch_of.
    for (std::uint32_t i = 0; i < lives.buffers.size(); ++i) {
      const Buffer& buffer = lives.buffers[i];
      if (buffer.value == compiler::kNoValue && is_in_arena(buffer)) {
        add_stretch({i}, compiler::kNoValue, buffer.first, buffer.last, false);
      }
    }
  }

  void add_stretch(BufferId buffer, ValueId value, std::uint32_t first,
                   std::uint32_t last, bool follows) {
    if (value != compiler::kNoValue) {
      stretch_of_[value.value] = static_cast<std::uint32_t>(stretches_.size());
    }
    const std::uint32_t over =
        follows ? static_cast<std::uint32_t>(stretches_.size() - 1)
                : Snapshot::kNone;
    const auto end = static_cast<std::uint32_t>(program_.calls.size()) - 1;
    stretches_.push_back({buffer, first, std::min(last, end), value, over});
  }

  Snapshot::Block block_of(const Stretch& stretch) {
    const Buffer& buffer = plan_.lifetimes.at(stretch.buffer);
    Snapshot::Block block{.first = stretch.first,
                          .last = stretch.last,
                          .space = buffer.space.value,
                          .offset = plan_.offsets[stretch.buffer.value],
                          .bytes = compiler::planned_bytes(buffer, plan_.debug),
                          .used = buffer.size,
                          .over = stretch.over == Snapshot::kNone
                                      ? Snapshot::kNone
                                      : stretches_[stretch.over].block};
    if (stretch.value == compiler::kNoValue) {
      const Call& call = program_.calls[stretch.first];
      block.kind = Snapshot::Kind::kWorkspace;
      block.category = text(memory::name_of(Category::kWorkspace));
      block.layer = owner(call.owner);
      block.line = line(call.site);
      return block;
    }
    const Value& value = program_[stretch.value];
    block.used = value.spec->size;
    block.category = text(memory::name_of(value.spec->category));
    block.dtype = text(name_of(value.spec->dtype));
    block.shape = text(format_shape(value.spec->shape));
    block.layer = owner(value.spec->owner);
    block.line = line(value.site);
    block.value = stretch.value.value;
    if (const auto maker = call_of(stretch.value)) {
      const Call& call = program_.calls[*maker];
      if (call.kind == CallKind::kFetch) {
        block.kind = Snapshot::Kind::kFetched;
      } else if (compiler::is_again(call)) {
        block.kind = Snapshot::Kind::kRecomputed;
      }
    }
    return block;
  }

  // A block in views of an arena's pages is a block for each view.
  template <class Add>
  void for_pieces(BufferId buffer, const Snapshot::Block& whole,
                  const Add& add) const {
    if (!plan_.is_in_views(buffer)) {
      add(whole);
      return;
    }
    const Bytes begin = whole.offset - plan_.space().bytes;
    const Bytes end = begin + whole.bytes;
    for (const memory::PagedArena::View& view : plan_.pages.views) {
      const Bytes from = std::max(begin, view.at);
      const Bytes to = std::min(end, view.at + view.size);
      if (from < to) {
        Snapshot::Block piece = whole;
        piece.offset = view.from + (from - view.at);
        piece.bytes = to - from;
        piece.used =
            std::clamp(whole.used - (from - begin), Bytes{0}, piece.bytes);
        add(piece);
      }
    }
  }

  void add_reads() {
    for (std::uint32_t i = 0; i < program_.calls.size(); ++i) {
      const Call call = program_.calls[i];
      for (const Operand& operand : program_.in(call)) {
        const std::uint32_t at = stretch_of_[operand.value.value];
        if (at != Snapshot::kNone) {
          out_.reads.push_back({stretches_[at].block, i});
        }
      }
    }
    const auto key = [](const Snapshot::Read& read) {
      return std::tuple(read.block, read.call);
    };
    std::sort(out_.reads.begin(), out_.reads.end(),
              [&](const auto& a, const auto& b) { return key(a) < key(b); });
    out_.reads.erase(std::unique(out_.reads.begin(), out_.reads.end(),
                                 [&](const auto& a, const auto& b) {
                                   return key(a) == key(b);
                                 }),
                     out_.reads.end());
  }

  // --- sums ----------------------------------------------------------------

  void add_sums() {
    Snapshot::Sums& sums = out_.sums;
    sums.arena = plan_.arena_bytes();
    sums.is_proven = true;
    for (const compiler::SpacePlan& space : plan_.spaces) {
      sums.lower_bound += space.lower_bound;
      sums.is_proven = sums.is_proven && space.is_proven;
    }
    sums.program = program_.bytes() + plan_.bytes();
    for (const tensor::Spec& spec : program_.arguments) {
      sums.arguments += spec.shape.element_count() * size_of(spec.dtype);
    }
    find_peak(out_);
    if (plan_.lent != 0 && plan_.space().bytes != 0) {
      sums.lent = plan_.space().bytes;
    }
    if (domain_ != nullptr) {
      if (domain_ != &program_.values.get_allocator().domain()) {
        base::raise<ValueError>(
            "snapshot: the step is in another domain than the one that is "
            "looked at");
      }
      add_held(out_, *domain_,
               there_ < 0 ? there_ : std::max<Bytes>(there_ - plan_.lent, 0),
               texts_);
      return;
    }
    StayRows rows(texts_);
    compiler::list_persistent(program_, plan_,
                              [&](const compiler::Persistent& what) {
                                rows.add(what.owner, what.category, what.bytes);
                              });
    rows.put_into(out_);
    sums.reserved = sums.arena + sums.stays + sums.program;
    sums.predicted = sums.reserved;
  }

  const compiler::Program& program_;
  const compiler::Plan& plan_;
  const memory::Domain* domain_;
  const Bytes there_;  // of the step's arenas; -1: not known
  TextPool texts_;
  memory::Vector<Stretch> stretches_;
  memory::Vector<std::uint32_t> stretch_of_;  // by value; kNone: none
  Snapshot out_;
};

}  // namespace

Snapshot snapshot(const compiler::Program& program, const compiler::Plan& plan,
                  const memory::Domain* domain, Bytes there) {
  const memory::UseDomain use(report_domain());  // looking changes nothing
  return Maker(program, plan, domain, there).run();
}

}  // namespace neap::report
