// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Budgets, counts, tables, leaks and growth.
#include "neap/memory/context.hpp"

#include <fmt/format.h>

#include <optional>

#include "binding.hpp"
#include "neap/base/external.hpp"
#include "neap/memory/budget.hpp"
#include "neap/memory/scope_member.hpp"
#include "neap/report/growth.hpp"
#include "neap/report/leaks.hpp"
#include "neap/report/memory_table.hpp"
#include "sites.hpp"
#include "values.hpp"

namespace neap::python {
namespace {

nb::object limit(Bytes bytes) {
  return bytes == kUnlimited ? nb::none() : nb::cast(bytes);
}

nb::dict stats() {
  const memory::Stats s = memory::domain().stats();
  nb::dict all;
  all["live"] = s.live;
  all["held"] = s.held;
  all["idle"] = s.idle;
  all["books"] = s.books;
  all["external"] = s.external;
  all["lent"] = s.lent;
  all["peak"] = s.peak;
  all["live_peak"] = s.live_peak;
  all["budget"] = limit(s.budget);
  all["live_blocks"] = s.live_blocks;
  all["allocations"] = s.allocations;
  all["releases"] = s.releases;
  all["system_calls"] = s.system_calls;
  return all;
}

Bytes recount() {
  return base::recount_external(memory::default_domain().stats().held);
}

// Budgets of a domain are a set, so these blocks may end in any order.
class BudgetBlock {
 public:
  explicit BudgetBlock(Bytes bytes) : bytes_(bytes) {}
  void enter() {
    if (budget_) {
      throw nb::value_error("this budget is open already");
    }
    recount();
    budget_.emplace(bytes_);
  }
  void exit() { budget_.reset(); }
  Bytes bytes() const noexcept { return bytes_; }

 private:
  Bytes bytes_;
  std::optional<Budget> budget_;
};

// Handles are tracked while any of these is open.
class TrackBlock {
 public:
  void enter() { tracking_.emplace(); }
  void exit() { tracking_.reset(); }

 private:
  std::optional<memory::TrackHandles> tracking_;
};

template <class T>
nb::class_<T> block_class(nb::module_& m, const char* name, const char* doc) {
  return nb::class_<T>(m, name, doc)
      .def("__enter__",
           [](nb::object self) {
             nb::cast<T&>(self).enter();
             return self;
           })
      .def(
          "__exit__",
          [](T& self, nb::handle, nb::handle, nb::handle) { self.exit(); },
          nb::arg("type").none(), nb::arg("value").none(),
          nb::arg("traceback").none());
}

std::string table(bool at_peak, std::size_t rows, std::size_t width) {
  return report::format_table(
      report::breakdown(memory::domain(), at_peak ? report::Instant::kLivePeak
                                                  : report::Instant::kNow),
      {.rows = rows, .width = width});
}

nb::dict by_category() {
  nb::dict all;
  const report::Breakdown now =
      report::breakdown(memory::domain(), report::Instant::kNow);
  for (const report::Line& line : now.by_category) {
    all[nb::str(line.name.c_str(), line.name.size())] = line.bytes;
  }
  return all;
}

void bind_reports(nb::module_& m) {
  nb::class_<report::Baseline>(m, "Baseline",
                               "What is live now, for leaks() later.")
      .def(nb::init<>())
      .def(
          "leaks",
          [](const report::Baseline& self) {
            return report::report_leaks(self);
          },
          "Lines of what is live now and was not then; empty: nothing.");
  nb::class_<report::Growth>(m, "Growth",
                             "Memory that grows from step to step.")
      .def(
          "__init__",
          [](report::Growth* self, std::int64_t warm_up) {
            new (self) report::Growth(memory::domain(), {.warm_up = warm_up});
          },
          nb::arg("warm_up") = 3)
      .def("step", &report::Growth::step)
      .def("has_grown", &report::Growth::has_grown)
      .def("format", &report::Growth::format);
}

}  // namespace

void bind_memory(nb::module_& m) {
  block_class<BudgetBlock>(m, "_Budget",
                           "Bounds what the library holds, with the process.")
      .def(nb::init<Bytes>(), nb::arg("bytes"))
      .def_prop_ro("bytes", &BudgetBlock::bytes);
  block_class<TrackBlock>(m, "TrackHandles",
                          "Handles made inside have chains in leak reports.")
      .def(nb::init<>());
  m.def("stats", &stats, "Counts of the current domain, in bytes.");
  m.def("_table", &table);
  m.def("by_category", &by_category, "Live bytes of each category.");
  m.def(
      "line", [] { return report::format_line(memory::domain().stats()); },
      "Live, held and peak, on one line.");
  m.def(
      "trim", [] { return memory::trim(here()); },
      "Returns idle pages to the system.");
  m.def("reset_peak", [] { memory::domain().reset_peak(); });
  m.def("recount", &recount,
        "Takes in what the process has loaded since Neap first looked; the "
        "bytes that count as external now.");
  m.def("format_bytes",
        [](Bytes bytes) { return std::string(format_bytes(bytes)); });
  bind_reports(m);
}

}  // namespace neap::python
