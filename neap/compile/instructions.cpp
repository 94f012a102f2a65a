// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/compile/instructions.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "neap/compile/spill_queue.hpp"
#include "neap/compile/state_file.hpp"
#include "neap/program/pool_bytes.hpp"
#include "neap/program/ranks.hpp"
#include "neap/threads/executor.hpp"

namespace neap::compiler {
namespace {

bool is_there_before(const Program& program, std::span<const Operand> values) {
  for (const Operand& operand : values) {
    if (program[operand.value].origin == Origin::kCall) {
      return false;
    }
  }
  return true;
}

// FNV-1a over words.
void add_to(std::uint64_t& hash, std::uint64_t word) noexcept {
  hash = (hash ^ word) * 0x100000001b3U;
  hash ^= hash >> 29U;
}

void add_to(std::uint64_t& hash, const Shape& shape) noexcept {
  for (const std::int64_t extent : shape) {
    add_to(hash, static_cast<std::uint64_t>(extent));
  }
}

// Kernels see no offset: it is part of the address.
bool look_alike(const tensor::Layout& a, const tensor::Layout& b) noexcept {
  return a.dtype == b.dtype && a.shape == b.shape && a.strides == b.strides;
}

}  // namespace

class Instructions::Builder {
 public:
  Builder(Instructions& out, const Plan& plan, memory::Vector<Binding> bindings)
      : out_(out),
        program_(out.program_),
        plan_(plan),
        bindings_(std::move(bindings)) {
    const std::size_t bases = out.own(std::size_t{plan.lifetimes.own_blocks});
    out.bases_.assign(bases, nullptr);
    out.first_moved_.assign(bases + 1, 0);
  }

  void run() {
    find_forms();
    make_forms();
    std::size_t places = 0;
    for (const Call& call : program_.calls) {
      places += call.inputs.count + call.outputs.count +
                (call.scratch != 0 ? 1U : 0U);
    }
    out_.places_.reserve(places);
    base_of_.reserve(places);
    out_.all_.reserve(program_.calls.size());
    calls_.reserve(program_.calls.size());
    for (const bool is_front : {true, false}) {
      for (std::uint32_t i = 0; i < program_.calls.size(); ++i) {
        const Call& call = program_.calls[i];
        if (is_front == (call.kind == CallKind::kCheck &&
                         is_there_before(program_, program_.in(call)))) {
          add(i);
        }
      }
      if (is_front) {
        out_.front_ = out_.all_.size();
      }
    }
    if (out_.front_ != 0) {
      out_.calls_ = std::move(calls_);
    }
    sort_moved();
  }

 private:
  // --- forms -----------------------------------------------------------------

  std::uint64_t hash_of(std::uint32_t i) const {
    const Call& call = program_.calls[i];
    std::uint64_t hash = 0xcbf29ce484222325U;
    add_to(hash, reinterpret_cast<std::uintptr_t>(bindings_[i].kernel));
    add_to(hash, reinterpret_cast<std::uintptr_t>(bindings_[i].fused.get()));
    add_to(hash, static_cast<std::uint64_t>(call.scratch));
    for (const auto operands : {program_.in(call), program_.out(call)}) {
      add_to(hash, operands.size());
      for (const Operand& operand : operands) {
        add_to(hash, operand.layout->shape);
        add_to(hash, operand.layout->strides);
      }
    }
    return hash;
  }

  bool are_alike(std::uint32_t i, std::uint32_t k) const {
    const Call& a = program_.calls[i];
    const Call& b = program_.calls[k];
    const auto alike = [&](std::span<const Operand> x,
                           std::span<const Operand> y) {
      return std::equal(x.begin(), x.end(), y.begin(), y.end(),
                        [](const Operand& one, const Operand& other) {
                          return look_alike(one.layout, other.layout);
                        });
    };
    return a.kind == b.kind && a.space == b.space && a.scratch == b.scratch &&
           (a.attrs_size == 0) == (b.attrs_size == 0) &&
           bindings_[i].kernel == bindings_[k].kernel &&
           bindings_[i].runtime == bindings_[k].runtime &&
           bindings_[i].fused == bindings_[k].fused &&
           alike(program_.in(a), program_.in(b)) &&
           alike(program_.out(a), program_.out(b));
  }

  // Numbers the forms in the order in which calls bring them.
  void find_forms() {
    using Known = std::unordered_multimap<
        std::uint64_t, std::uint32_t, std::hash<std::uint64_t>, std::equal_to<>,
        memory::Allocator<std::pair<const std::uint64_t, std::uint32_t>>>;
    Known known;
    const auto count = static_cast<std::uint32_t>(program_.calls.size());
    form_of_.reserve(count);
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::uint64_t hash = hash_of(i);
      const auto [begin, end] = known.equal_range(hash);
      const auto same = std::find_if(begin, end, [&](const auto& entry) {
        return are_alike(i, first_of_[entry.second]);
      });
      if (same != end) {
        form_of_.push_back(same->second);
        continue;
      }
      form_of_.push_back(static_cast<std::uint32_t>(first_of_.size()));
      known.emplace(hash, form_of_.back());
      first_of_.push_back(i);
    }
  }

  void make_forms() {
    std::size_t views = 0;
    for (const std::uint32_t i : first_of_) {
      const Call& call = program_.calls[i];
      views += call.inputs.count + call.outputs.count;
    }
    out_.views_.reserve(views);  // they are pointed to
    out_.forms_.reserve(first_of_.size());
    for (const std::uint32_t i : first_of_) {
      add_form(program_.calls[i], bindings_[i]);
    }
  }

  void add_form(const Call& call, const Binding& binding) {
    Form& form = out_.forms_.emplace_back();
    form.binding = binding;
    if (binding.kernel != nullptr && call.space == memory::kHost) {
      form.run = binding.kernel->run;
    }
    form.count = call.inputs.count + call.outputs.count;
    form.views = out_.views_.data() + out_.views_.size();
    for (const auto operands : {program_.in(call), program_.out(call)}) {
      for (const Operand& operand : operands) {
        out_.views_.push_back(view_of(operand, nullptr));
      }
    }
    form.args.in = {form.views, call.inputs.count};
    form.args.out = {form.views + call.inputs.count, call.outputs.count};
    form.args.scratch = {static_cast<std::byte*>(nullptr),
                         static_cast<std::size_t>(call.scratch)};
    form.args.attrs = binding.fused.get();
    form.has_attrs = call.attrs_size != 0;
    form.is_plain = call.scratch == 0 && !form.has_attrs;
    form.args.executor = &threads::serial_executor();
  }

  // --- instructions ----------------------------------------------------------

  void add(std::uint32_t i) {
    const Call& call = program_.calls[i];
    out_.all_.push_back(
        {.form = form_of_[i],
         .first = static_cast<std::uint32_t>(out_.places_.size())});
    calls_.push_back(i);
    for (const auto operands : {program_.in(call), program_.out(call)}) {
      for (const Operand& operand : operands) {
        const tensor::Layout& layout = operand.layout;
        if (program_[operand.value].spec->size == 0) {
          out_.places_.push_back(0);  // an empty view's address is null
          base_of_.push_back(kNowhere);
        } else {
          place(plan_.lifetimes.buffer_of[operand.value.value],
                layout.offset * size_of(layout.dtype));
        }
      }
    }
    if (call.scratch != 0) {
      place(plan_.lifetimes.scratch_of[i], 0);
    }
  }

  void place(BufferId id, Bytes offset) {
    const Buffer& buffer = plan_.lifetimes.buffers[id.value];
    std::size_t base = out_.arena(buffer.space);
    switch (buffer.where) {
      case Where::kArena:
        offset += plan_.address_of(id);
        if (plan_.is_in_views(id)) {
          base = out_.views();
          offset -= plan_.space().bytes;
        }
        break;
      case Where::kArgument:
        base = out_.argument(buffer.index);
        break;
      case Where::kExternal:
        base = out_.external(buffer.index);
        break;
      case Where::kOwn:
        base = out_.own(buffer.index);
        break;
    }
    out_.places_.push_back(static_cast<Place>(offset));
    base_of_.push_back(static_cast<std::uint32_t>(base));
    if (base != out_.arena(memory::kHost)) {
      ++out_.first_moved_[base + 1];
    }
  }

  // By base, the order within one kept.
  void sort_moved() {
    auto& first = out_.first_moved_;
    for (std::size_t b = 1; b < first.size(); ++b) {
      first[b] += first[b - 1];
    }
    memory::Vector<std::uint32_t> next(first);
    out_.moved_.resize(first.back());
    out_.is_in_arena_.assign(base_of_.size() / 64 + 1, 0);
    for (std::uint32_t p = 0; p < base_of_.size(); ++p) {
      if (base_of_[p] == out_.arena(memory::kHost)) {
        out_.is_in_arena_[p / 64] |= std::uint64_t{1} << p % 64;
      } else if (base_of_[p] != kNowhere) {
        out_.moved_[next[base_of_[p]]++] = p;
      }
    }
  }

  static constexpr std::uint32_t kNowhere = ~0U;

  Instructions& out_;
  const Program& program_;
  const Plan& plan_;
  memory::Vector<Binding> bindings_;
  memory::Vector<std::uint32_t> form_of_;   // of each call
  memory::Vector<std::uint32_t> first_of_;  // a call of each form
  memory::Vector<std::uint32_t> base_of_;   // of each place
  memory::Vector<std::uint32_t> calls_;     // of each instruction
};

Instructions::Instructions(Program& program, const Plan& plan,
                           memory::Vector<Binding> bindings)
    : program_(program),
      plan_(plan),
      arguments_(program.arguments.size()),
      externals_(program.externals.size()) {
  Builder(*this, plan, std::move(bindings)).run();
}

void Instructions::move_base(std::size_t i, std::byte* address) noexcept {
  const Place way = reinterpret_cast<Place>(address) -
                    reinterpret_cast<Place>(std::exchange(bases_[i], address));
  if (i == arena(memory::kHost)) {
    for (std::size_t p = 0; p < places_.size(); ++p) {
      places_[p] += (is_in_arena_[p / 64] >> p % 64 & 1U) != 0 ? way : 0;
    }
  }
  for (std::uint32_t m = first_moved_[i]; m < first_moved_[i + 1]; ++m) {
    places_[moved_[m]] += way;
  }
}

void Instructions::set_executor(threads::Executor& executor) noexcept {
  for (Form& form : forms_) {
    form.args.executor = &executor;
  }
}

void Instructions::check_front() {
  const Tables all = tables();
  for (std::size_t i = 0; i < front_; ++i) {
    run_one(all, i);
  }
}

void Instructions::run(std::size_t& at) {
  const Tables all = tables();
  const std::size_t count = size();
  for (at = 0; at < count; ++at) {
    run_one(all, front_ + at);
  }
}

void Instructions::run_special(const Form& form, std::size_t i) const {
  const Call& call = program_.calls[call_at(i)];
  const Binding& binding = form.binding;
  if (call.kind == CallKind::kCheck) {
    call.look(call.name.data(), form.args.in,
              {form.args.attrs, call.attrs_size});
  } else if (is_move(call)) {
    move(form, call);
  } else if (call.kind == CallKind::kExchange) {
    exchange(form, call);
  } else if (call.kind == CallKind::kTransfer) {
    const tensor::Strided& from = form.args.in[0];
    const tensor::Strided& to = form.args.out[0];
    const ValueId target = program_.out(call)[0].value;
    if (program_[target].spec->space == memory::kHost) {
      binding.runtime->copy_to_host(from, to);
    } else {
      binding.runtime->copy_from_host(from, to);
    }
  } else {
    binding.runtime->launch(*binding.kernel, form.args);
  }
}

void Instructions::exchange(const Form& form, const Call& call) const {
  const auto& attrs = *static_cast<const ExchangeAttrs*>(form.args.attrs);
  const ValueSpec& spec = program_[program_.out(call)[0].value].spec;
  const std::string_view layer = memory::domain().path_of(call.owner);
  const std::string_view what = layer.empty() ? call.name : layer;
  const std::span<std::byte> all{form.args.out[0].data,
                                 static_cast<std::size_t>(spec.size)};
  if (attrs.is_sum) {
    program_.ranks->sum(all, spec.dtype, form.args.scratch, what);
    return;
  }
  if (attrs.from != ExchangeAttrs::kNobody) {
    program_.ranks->hand_on(all, attrs.from, what);
    return;
  }
  const std::size_t block = all.size() / static_cast<std::size_t>(attrs.outer);
  for (std::size_t at = 0; at < all.size(); at += block) {
    program_.ranks->share(all.subspan(at, block), attrs.rows, attrs.row, what);
  }
}

// A value's buffer has whole pages of the file, but for guard bands.
void Instructions::move(const Form& form, const Call& call) const {
  if (moves_state(call)) {
    move_state(form, call);
    return;
  }
  const SpillSlot& slot = program_.slots[call.slot];
  const ValueId id = program_.moved(call).value;
  const auto size = static_cast<std::size_t>(
      plan_.debug.guards ? program_[id].spec->size : slot.size);
  switch (call.kind) {
    case CallKind::kSpill:
      spill_->write(call.slot, slot.offset, {form.args.in[0].data, size});
      break;
    case CallKind::kFetch:
      spill_->fetch(call.slot, slot.offset, {form.args.out[0].data, size});
      break;
    default:
      spill_->await(call.slot);
  }
}

void Instructions::move_state(const Form& form, const Call& call) const {
  const AwayState& state = program_.away[call.slot - kFirstAway];
  const std::uint32_t place = places_of_states_[call.slot - kFirstAway];
  const auto size = static_cast<std::size_t>(state.size);
  if (place == StateFile::kNone) {  // it is at home, and only read
    if (call.kind == CallKind::kFetch) {
      const Tensor& home = program_.externals[state.external].tensor;
      home.array()->storage()->copy_elements(state.offset,
                                             {form.args.out[0].data, size});
    }
    return;
  }
  switch (call.kind) {
    case CallKind::kSpill:
      states_->write(place, state.offset, {form.args.in[0].data, size});
      break;
    case CallKind::kFetch:
      states_->fetch(place, state.offset, {form.args.out[0].data, size});
      break;
    default:
      states_->await(place, state.offset, state.size);
  }
}

Bytes Instructions::bytes() const noexcept {
  Bytes sum = pool_bytes(all_, calls_, is_in_arena_, places_, forms_, views_,
                         bases_, moved_, first_moved_);
  for (const Form& form : forms_) {
    sum += form.binding.fused != nullptr
               ? static_cast<Bytes>(sizeof(kernels::FusedCall))
               : 0;
  }
  return sum;
}

}  // namespace neap::compiler
