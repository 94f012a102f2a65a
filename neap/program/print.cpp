// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/program/print.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <utility>

#include "neap/base/append.hpp"
#include "neap/base/bytes.hpp"
#include "neap/ops/precision.hpp"
#include "neap/program/dataflow.hpp"
#include "neap/program/text_columns.hpp"

namespace neap::compiler {
namespace {

constexpr std::size_t kMaxInputs = 8;  // written out for one call

class Printer {
 public:
  Printer(const Program& program, const PrintOptions& options)
      : program_(program), options_(options), flow_(program) {}

  memory::String text() {
    add_summary();
    add_given();
    add_calls();
    add_left();
    return std::move(out_);
  }

 private:
  template <class... Args>
  void add(fmt::format_string<Args...> text, Args&&... args) {
    base::append(out_, text, std::forward<Args>(args)...);
  }

  static std::string number(std::int64_t value) {
    return format_grouped(value);
  }

  static std::string format_spec(DType dtype, const Shape& shape) {
    return fmt::format("{} {}", name_of(dtype), format_shape(shape));
  }

  void add_summary() {
    add("program: {}, {}, {}; {}, {} outside; {} B of its own\n",
        counts(program_.calls.size(), "call"), counts(program_.draws, "draw"),
        counts(program_.values.size(), "value"),
        counts(program_.arguments.size(), "argument"),
        counts(program_.externals.size(), "tensor"), number(program_.bytes()));
    if (program_.sharding.rows > 0) {
      add("{}\n", parts_of(program_.sharding));
    }
    if (program_.fitting.micro_batches != 0) {
      add("{} micro-batches\n", program_.fitting.micro_batches);
    }
    if (program_.fitting.time_pieces != 0) {
      add("recurrent layers in {} pieces of time\n",
          program_.fitting.time_pieces);
    }
    if (program_.fitting.pieces != 0) {
      add("cross_entropy in {} pieces\n", program_.fitting.pieces);
    }
  }

  void add_given() {
    TextColumns table({{"value"},
                       {"what"},
                       {"elements"},
                       {"bytes", true},
                       {""},
                       {"owner"},
                       {"space", true}});
    for (std::uint32_t v = 0; v < program_.values.size(); ++v) {
      const Value& value = program_.values[v];
      if (value.origin != Origin::kCall) {
        table.add({fmt::format("%{}", v), what_of(value),
                   format_spec(value.spec->dtype, value.spec->shape),
                   number(value.spec->size), notes_of(value), owner_of(value),
                   in_space(value.spec->space)});
      }
    }
    if (table.rows() != 0) {
      table.append_to(out_);
    }
  }

  static std::string counts(std::size_t count, std::string_view of) {
    return fmt::format("{} {}{}", number(static_cast<std::int64_t>(count)), of,
                       count == 1 ? "" : "s");
  }

  static std::string in_space(memory::SpaceId space) {
    return space == memory::kHost ? "" : fmt::format("{}", space.value);
  }

  std::string what_of(const Value& value) const {
    if (value.origin == Origin::kArgument) {
      return fmt::format("argument {}", value.index);
    }
    const External& external = program_.externals[value.index];
    if (external.is_constant) {
      return "constant";
    }
    const memory::Category category = counted(program_, value).category;
    if (category == memory::Category::kOther) {  // which says nothing here
      return external.is_leaf ? "leaf" : "captured";
    }
    return std::string(memory::name_of(category));
  }
  std::string notes_of(const Value& value) const {
    return value.origin == Origin::kExternal &&
                   program_.externals[value.index].is_written
               ? "written"
               : "";
  }
  std::string owner_of(const Value& value) const {
    return value.origin == Origin::kExternal
               ? std::string(counted(program_, value).owner)
               : std::string();
  }

  void add_calls() {
    TextColumns table({{"#", true},
                       {"call"},
                       {"value"},
                       {"bytes", true},
                       {"lives"},
                       {"over"},
                       {"offset", true},
                       {"scratch", true},
                       {"segment", true},
                       {"space", true},
                       {"stream", true},
                       {"layer"},
                       {"call site"}});
    const auto shown = std::min(
        static_cast<std::int64_t>(program_.calls.size()), options_.max_calls);
    for (std::uint32_t i = 0; i < shown; ++i) {
      add_call(table, i, program_.calls[i]);
    }
    table.append_to(out_);
    const auto rest = static_cast<std::int64_t>(program_.calls.size()) - shown;
    if (rest > 0) {
      add("... and {}\n", counts(static_cast<std::size_t>(rest), "more call"));
    }
  }

  // A line a call; further outputs get lines of their own.
  void add_call(TextColumns& table, std::uint32_t i, const Call& call) {
    const std::span<const Operand> out = program_.out(call);
    const auto value_cell = [&](std::size_t k) {
      const Value& value = program_[out[k].value];
      return format_spec(value.spec->dtype, value.spec->shape) +
             (is_whole(out[k].layout, value.spec->size)
                  ? ""
                  : " at " + format_view(out[k]));
    };
    const auto nonzero = [](std::int64_t value) {
      return value != 0 ? number(value) : std::string();
    };
    table.add({number(i), call_text(call), out.empty() ? "" : value_cell(0),
               out.empty() ? "" : number(program_[out[0].value].spec->size),
               out.empty() ? "" : lifetime(i, out[0].value),
               out.empty() ? "" : over(out[0].value),
               out.empty() ? "" : offset(out[0].value), nonzero(call.scratch),
               nonzero(call.segment), in_space(call.space),
               nonzero(call.stream), owner_path(program_, call.owner),
               base::format_site(call.site)});
    for (std::size_t k = 1; k < out.size(); ++k) {
      table.add({"", fmt::format("%{}", out[k].value.value), value_cell(k),
                 number(program_[out[k].value].spec->size),
                 lifetime(i, out[k].value), over(out[k].value),
                 offset(out[k].value), "", "", "", "", "", ""});
    }
  }

  std::string call_text(const Call& call) const {
    std::string text;
    const std::span<const Operand> out = program_.out(call);
    if (!out.empty()) {
      text = fmt::format("%{} = ", out[0].value.value);
    }
    if (call.kind == CallKind::kCheck) {
      text += "check ";
    }
    text += call.name;
    if (is_move(call)) {
      base::append(text, " {} {}", moves_state(call) ? "state" : "slot",
                   call.slot % kFirstAway);
    }
    if (call.op != nullptr && call.attrs_size != 0 &&
        ops::precision_of(*call.op, program_.attrs_of(call)) ==
            Precision::kBf16) {
      text += " in bf16";
    }
    std::string_view between = ": ";
    for (const Call& member : program_.members_of(call)) {
      base::append(text, "{}{}", std::exchange(between, ", "), member.name);
    }
    text += '(';
    between = "";
    const std::span<const Operand> in = program_.in(call);
    const std::size_t shown = in.size() > kMaxInputs ? kMaxInputs : in.size();
    for (const Operand& operand : in.first(shown)) {
      base::append(text, "{}%{}{}", between, operand.value.value,
                   format_view(operand));
      between = ", ";
    }
    if (shown != in.size()) {
      base::append(text, ", and {} more", in.size() - shown);
    }
    return text + ')';
  }

  static std::string format_view(const Operand& operand) {
    const bool is_dense = tensor::is_contiguous(operand.layout);
    std::string text = format_shape(operand.layout->shape);
    if (operand.layout->offset != 0) {
      base::append(text, "+{}", operand.layout->offset);
    }
    return text + (is_dense ? "" : "'");
  }

  std::string lifetime(std::uint32_t made, ValueId id) const {
    std::uint32_t last = made;
    if (const auto readers = flow_.readers(id); !readers.empty()) {
      last = std::max(last, readers.back());
    }
    const bool is_left = flow_.outlives(id) || (flow_.exists_before(id) &&
                                                flow_.heir(id) == kNoValue);
    return is_left ? fmt::format("{}-end", made)
                   : fmt::format("{}-{}", made, last);
  }

  std::string over(ValueId id) const {
    const ValueId old = program_[id].over;
    return old != kNoValue ? fmt::format("%{}", old.value) : std::string();
  }

  // The offset that a plan gives it in its space's arena.
  std::string offset(ValueId id) const {
    const bool is_placed =
        !options_.offsets.empty() && options_.offsets[id.value] >= 0;
    return is_placed ? number(options_.offsets[id.value]) : std::string();
  }

  void add_left() {
    for (const Result& result : program_.results) {
      add("result %{}{} {}{}\n", result.operand.value.value,
          format_view(result.operand), name_of(result.operand.layout->dtype),
          result.is_kept ? ", kept" : "");
    }
    int gone = 0;
    for (const LeafGrad& grad : program_.grads) {
      if (!grad.is_set) {
        continue;
      }
      if (grad.last.value == kNoValue) {
        ++gone;
      } else {
        const std::string_view owner =
            owner_path(program_, program_[grad.last.value].spec->owner);
        add("gradient %{}{}{}{}\n", grad.last.value.value,
            format_view(grad.last), owner.empty() ? "" : " of ", owner);
      }
    }
    if (gone != 0) {
      add("no gradient is left to {} {}\n", gone,
          gone == 1 ? "leaf" : "leaves");
    }
  }

  const Program& program_;
  const PrintOptions& options_;
  Dataflow flow_;
  memory::String out_;
};

}  // namespace

std::string_view owner_path(const Program& program, memory::OwnerId owner) {
  return program.values.get_allocator().domain().path_of(owner);
}

Counted counted(const Program& program, const Value& value) {
  const Tensor& tensor = program.externals[value.index].tensor;
  if (!tensor.defined()) {
    return {value.spec->category, owner_path(program, value.spec->owner),
            value.spec->size};
  }
  const tensor::Storage& storage = *tensor.array()->storage();
  return {storage.tag().category, storage.domain().path_of(storage.tag().owner),
          storage.size()};
}

memory::String print(const Program& program, const PrintOptions& options) {
  return Printer(program, options).text();
}

std::ostream& operator<<(std::ostream& out, const Program& program) {
  return out << print(program);
}

}  // namespace neap::compiler
