// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "neap/base/append.hpp"
#include "neap/base/bytes.hpp"
#include "neap/compile/fitting.hpp"
#include "neap/compile/prediction.hpp"
#include "neap/program/json_text.hpp"
#include "neap/program/text_columns.hpp"

#include <ostream>

namespace neap::compiler {
namespace {

using memory::Category;

class Report {
 public:
  Report(const Prediction& prediction, const PredictionOptions& options)
      : p_(prediction),
        options_(options),
        measured_(options.measured != nullptr ? *options.measured
                                              : Measured{}) {}

  memory::String text() {
    add_sums();
    add_remarks();
    add_peak();
    add_layers();
    return std::move(out_);
  }

 private:
  template <class... Args>
  void add(fmt::format_string<Args...> text, Args&&... args) {
    base::append(out_, text, std::forward<Args>(args)...);
  }

  void add_sums() {
    TextColumns table({{"bytes"},
                       {"predicted", true},
                       {"measured", true},
                       {"difference", true}});
    const auto row = [&](std::string_view name, Bytes bytes,
                         Bytes measured = -1) {
      const bool has = measured >= 0;
      table.add({name, format_grouped(bytes),
                 has ? format_grouped(measured) : std::string(),
                 has ? format_grouped(measured - bytes) : std::string()});
    };
    for (int c = 0; c < memory::kCategoryCount; ++c) {
      const Bytes bytes =
          p_.persistent_by_category[static_cast<std::size_t>(c)];
      if (bytes != 0) {
        row(fmt::format("  {}", name_of(static_cast<Category>(c))), bytes);
      }
    }
    row("persistent", p_.persistent, measured_.persistent);
    row("  live at its peak", p_.live_at_peak);
    row("  of it workspace", p_.workspace);
    row("arena", p_.arena, measured_.arena);
    row("program and plan", p_.program);
    row("peak", p_.peak(), measured_.peak);
    row("arguments, the caller's", p_.arguments);
    row("the process, beside", p_.external, measured_.external);
    table.append_to(out_);
  }

  void add_remarks() {
    if (measured_.held_peak >= 0) {
      add("held at most: {} B\n", format_grouped(measured_.held_peak));
    }
    add("the arena is highest at call {} of {}, {}{}{}, {}\n", p_.peak_call,
        p_.ops, std::string_view(p_.peak_op),
        p_.peak_layer.empty() ? "" : " in ", std::string_view(p_.peak_layer),
        base::format_site(p_.peak_site));
    add("no arena is smaller than {} B for this order of calls: a gap of {} "
        "B{}; planned in {:.3f} s\n",
        format_grouped(p_.lower_bound), format_grouped(p_.gap()),
        p_.is_proven ? ", the least there is" : "", p_.seconds);
    if (p_.sharding.rows > 0) {
      add("{}\n", parts_of(p_.sharding));
    }
    if (p_.state.all != 0) {
      add("{}\n", parts_of(p_.state));
    }
    if (p_.fitting.is_met()) {
      add("made to fit {} B: {}, extra time {:.1f} %, and not below {:.1f} % "
          "in this order of calls\n",
          format_grouped(p_.fitting.limit), ways_of(p_.fitting),
          p_.fitting.percent(p_.fitting.extra),
          p_.fitting.percent(p_.fitting.bound));
    } else if (p_.fitting.pieces != 0 || p_.fitting.micro_batches != 0 ||
               p_.fitting.time_pieces != 0) {
      add("{}\n", ways_of(p_.fitting));
    }
    if (p_.fitting.is_away()) {
      add("in a file between runs: {}, {} B\n", what_is_away(p_.fitting),
          format_grouped(p_.fitting.away_bytes));
    }
    if (p_.fitting.file != 0) {
      add("spill file of {} B: {} B written and {} B fetched in a run, {:.1f} "
          "% of the time waits for it\n",
          format_grouped(p_.fitting.file), format_grouped(p_.fitting.written),
          format_grouped(p_.fitting.fetched),
          p_.fitting.percent(p_.fitting.stalls));
    }
  }

  void add_rest(std::size_t all, std::size_t shown) {
    if (shown < all) {
      add("... and {} more\n",
          format_grouped(static_cast<std::int64_t>(all - shown)));
    }
  }

  void add_peak() {
    TextColumns table({{"at the peak", true},
                       {"value"},
                       {"made by"},
                       {"category"},
                       {"layer"},
                       {"call site"}});
    const std::size_t shown = std::min(p_.at_peak.size(), options_.max_lines);
    for (std::size_t i = 0; i < shown; ++i) {
      const PeakLine& line = p_.at_peak[i];
      table.add({format_grouped(line.bytes),
                 line.value == kNoValue ? std::string("scratch")
                                        : fmt::format("%{}", line.value.value),
                 line.op, name_of(line.category), line.layer,
                 base::format_site(line.site)});
    }
    if (shown != 0) {
      table.append_to(out_);
    }
    add_rest(p_.at_peak.size(), shown);
  }

  void add_layers() {
    TextColumns table({{"persistent", true}, {"at the peak", true}, {"layer"}});
    const std::size_t shown = std::min(p_.by_layer.size(), options_.max_lines);
    for (std::size_t i = 0; i < shown; ++i) {
      const LayerBytes& layer = p_.by_layer[i];
      table.add({format_grouped(layer.persistent),
                 format_grouped(layer.at_peak),
                 layer.layer.empty() ? std::string_view("(none)")
                                     : std::string_view(layer.layer)});
    }
    if (shown != 0) {
      table.append_to(out_);
    }
    add_rest(p_.by_layer.size(), shown);
  }

  const Prediction& p_;
  const PredictionOptions& options_;
  Measured measured_;
  memory::String out_;
};

class Json {
 public:
  explicit Json(const Prediction& prediction) : p_(prediction) {}

  memory::String text(const Measured* measured) {
    json_.begin_object();
    add_sums();
    add_peak_step();
    add_groups();
    add_live();
    json_.key("ops").number(p_.ops);
    json_.key("plan_seconds").number(p_.seconds);
    add_fitting();
    if (measured != nullptr) {
      add_measured(*measured);
    }
    return json_.end_object().take();
  }

 private:
  void number(std::string_view name, Bytes bytes) {
    json_.key(name).number(bytes);
  }

  void add_sums() {
    number("peak_bytes", p_.peak());
    number("persistent_bytes", p_.persistent);
    number("constants_bytes", p_.constants);
    number("arena_bytes", p_.arena);
    number("live_at_peak_bytes", p_.live_at_peak);
    number("workspace_bytes", p_.workspace);
    number("largest_scratch_bytes", p_.largest_scratch);
    number("lower_bound_bytes", p_.lower_bound);
    number("gap_bytes", p_.gap());
    json_.key("proven").boolean(p_.is_proven);
    number("arguments_bytes", p_.arguments);
    number("program_bytes", p_.program);
    number("external_bytes", p_.external);
  }

  void add_fitting() {
    json_.key("fitting");
    if (!p_.fitting.is_met()) {
      json_.null();
      return;
    }
    json_.begin_object();
    number("limit_bytes", p_.fitting.limit);
    number("price_ns", p_.fitting.price);
    number("extra_ns", p_.fitting.extra);
    number("bound_ns", p_.fitting.bound);
    number("calls_again", p_.fitting.again);
    number("pieces", p_.fitting.pieces);
    number("micro_batches", p_.fitting.micro_batches);
    number("time_pieces", p_.fitting.time_pieces);
    number("values_spilled", p_.fitting.spilled);
    number("states_away", p_.fitting.away);
    number("states_away_bytes",
           p_.fitting.away_bytes - p_.fitting.weight_bytes);
    number("weights_away", p_.fitting.weights);
    number("weights_away_bytes", p_.fitting.weight_bytes);
    number("stall_ns", p_.fitting.stalls);
    number("written_bytes", p_.fitting.written);
    number("fetched_bytes", p_.fitting.fetched);
    number("spill_file_bytes", p_.fitting.file);
    json_.end_object();
  }

  void add_peak_step() {
    json_.key("peak_step").begin_object();
    number("call", p_.peak_call);
    json_.key("op").text(p_.peak_op);
    json_.key("layer").text(p_.peak_layer);
    json_.key("site").text(base::format_site(p_.peak_site));
    json_.end_object();
  }

  void add_groups() {
    json_.key("by_category").begin_object();
    for (int c = 0; c < memory::kCategoryCount; ++c) {
      const auto category = static_cast<Category>(c);
      number(name_of(category), p_.peak_of(category));
    }
    json_.end_object();
    json_.key("by_layer").begin_object();
    for (const LayerBytes& layer : p_.by_layer) {
      number(layer.layer, layer.persistent + layer.at_peak);
    }
    json_.end_object();
  }

  void add_live() {
    json_.key("live").begin_array();
    for (const PeakLine& line : p_.at_peak) {
      json_.begin_object();
      number("bytes", line.bytes);
      json_.key("value");
      if (line.value == kNoValue) {
        json_.null();
      } else {
        json_.number(std::int64_t{line.value.value});
      }
      json_.key("op").text(line.op);
      json_.key("category").text(name_of(line.category));
      json_.key("layer").text(line.layer);
      json_.key("site").text(base::format_site(line.site));
      json_.end_object();
    }
    json_.end_array();
  }

  void add_measured(const Measured& measured) {
    json_.key("measured").begin_object();
    const auto seen = [&](std::string_view name, Bytes bytes) {
      if (bytes >= 0) {
        number(name, bytes);
      }
    };
    seen("peak_bytes", measured.peak);
    seen("held_peak_bytes", measured.held_peak);
    seen("persistent_bytes", measured.persistent);
    seen("arena_bytes", measured.arena);
    seen("external_bytes", measured.external);
    if (measured.seconds >= 0) {
      json_.key("plan_seconds").number(measured.seconds);
    }
    json_.end_object();
  }

  const Prediction& p_;
  JsonText json_;
};

}  // namespace

memory::String format(const Prediction& prediction,
                      const PredictionOptions& options) {
  return Report(prediction, options).text();
}

memory::String to_json(const Prediction& prediction,
                       const PredictionOptions& options) {
  return Json(prediction).text(options.measured);
}

std::ostream& operator<<(std::ostream& out, const Prediction& prediction) {
  return out << format(prediction);
}

}  // namespace neap::compiler
