// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/program/json.hpp"

#include <array>

#include "neap/program/json_text.hpp"
#include "neap/program/print.hpp"

namespace neap::compiler {
namespace {

constexpr std::array<std::string_view, 3> kOrigins = {"argument", "external",
                                                      "call"};
constexpr std::array<std::string_view, 8> kKinds = {
    "kernel", "transfer", "check", "fused",
    "spill",  "fetch",    "await", "exchange"};

class Writer {
 public:
  explicit Writer(const Program& program) : program_(program) {}

  memory::String text() {
    json_.begin_object();
    list("arguments", program_.arguments, [&](const tensor::Spec& spec) {
      json_.begin_object();
      add_spec(spec);
      json_.end_object();
    });
    list("values", program_.values, [&](const Value& v) { add_value(v); });
    list("externals", by_external(),
         [&](const Value* value) { add_external(*value); });
    list("calls", program_.calls, [&](const Call& call) { add_call(call); });
    list("results", program_.results, [&](const Result& result) {
      json_.begin_object().key("operand");
      add_operand(result.operand);
      json_.key("is_kept").boolean(result.is_kept).end_object();
    });
    list("gradients", program_.grads, [&](const LeafGrad& grad) {
      json_.begin_object().key("operand");
      if (grad.is_set && grad.last.value != kNoValue) {
        add_operand(grad.last);
      } else {
        json_.null();
      }
      json_.end_object();
    });
    number("draws", static_cast<std::int64_t>(program_.draws));
    number("bytes", program_.bytes());
    return json_.end_object().take();
  }

 private:
  template <class List, class Add>
  void list(std::string_view name, const List& items, const Add& add) {
    json_.key(name).begin_array();
    for (const auto& item : items) {
      add(item);
    }
    json_.end_array();
  }
  void text(std::string_view name, std::string_view value) {
    json_.key(name).text(value);
  }
  void number(std::string_view name, std::int64_t value) {
    json_.key(name).number(value);
  }
  void numbers(std::string_view name, const Shape& shape) {
    list(name, shape, [&](std::int64_t extent) { json_.number(extent); });
  }

  void add_spec(const tensor::Spec& spec) {
    text("dtype", name_of(spec.dtype));
    numbers("shape", spec.shape);
    number("space", spec.space.value);
  }

  void add_value(const Value& value) {
    json_.begin_object();
    add_spec(value.spec);
    number("bytes", value.spec->size);
    text("category", memory::name_of(value.spec->category));
    text("owner", owner_path(program_, value.spec->owner));
    text("site", base::format_site(value.site));
    text("origin", kOrigins[static_cast<std::size_t>(value.origin)]);
    number("index", value.index);
    json_.key("over");
    if (value.over == kNoValue) {
      json_.null();
    } else {
      json_.number(std::int64_t{value.over.value});
    }
    json_.end_object();
  }

  // Each has one value, and some an earlier place than others.
  memory::Vector<const Value*> by_external() const {
    memory::Vector<const Value*> values(program_.externals.size(), nullptr);
    for (const Value& value : program_.values) {
      if (value.origin == Origin::kExternal) {
        values[value.index] = &value;
      }
    }
    return values;
  }

  void add_external(const Value& value) {
    const External& external = program_.externals[value.index];
    const Counted what = counted(program_, value);
    json_.begin_object();
    text("category", memory::name_of(what.category));
    text("owner", what.owner);
    number("bytes", what.bytes);
    json_.key("is_written").boolean(external.is_written);
    json_.key("is_constant").boolean(external.is_constant);
    json_.end_object();
  }

  void add_operand(const Operand& operand) {
    json_.begin_object();
    number("value", operand.value.value);
    text("dtype", name_of(operand.layout->dtype));
    numbers("shape", operand.layout->shape);
    numbers("strides", operand.layout->strides);
    number("offset", operand.layout->offset);
    json_.end_object();
  }

  void add_call(const Call& call) {
    json_.begin_object();
    text("name", call.name);
    text("kind", kKinds[static_cast<std::size_t>(call.kind)]);
    list("inputs", program_.in(call),
         [&](const Operand& operand) { add_operand(operand); });
    list("outputs", program_.out(call),
         [&](const Operand& operand) { add_operand(operand); });
    text("site", base::format_site(call.site));
    text("owner", owner_path(program_, call.owner));
    number("space", call.space.value);
    number("stream", call.stream);
    number("segment", call.segment);
    number("scratch", call.scratch);
    if (is_move(call)) {
      number(moves_state(call) ? "state" : "slot", call.slot % kFirstAway);
    }
    if (call.members.count != 0) {
      list("members", program_.members_of(call),
           [&](const Call& member) { json_.text(member.name); });
    }
    json_.end_object();
  }

  const Program& program_;
  JsonText json_;
};

}  // namespace

memory::String to_json(const Program& program) {
  return Writer(program).text();
}

}  // namespace neap::compiler
