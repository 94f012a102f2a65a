// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Budgets, counts, tables, leaks and growth.
#include "neap/memory/context.hpp"

#include <fmt/format.h>

#include <optional>

#include "binding.hpp"
#include "failures.hpp"
#include "guards.hpp"
#include "neap/base/external.hpp"
#include "neap/files/door.hpp"
#include "neap/memory/budget.hpp"
#include "neap/memory/scope_member.hpp"
#include "neap/report/growth.hpp"
#include "neap/report/leaks.hpp"
#include "neap/report/memory_table.hpp"
#include "neap/report/page.hpp"
#include "neap/report/snapshot_domain.hpp"
#include "neap/report/snapshot_file.hpp"
#include "sites.hpp"
#include "values.hpp"

namespace neap::python {
namespace {

nb::object limit(Bytes bytes) {
  return bytes == kUnlimited ? nb::none() : nb::cast(bytes);
}

nb::dict stats_of(const memory::Domain& domain) {
  const memory::Stats s = domain.stats();
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

// Handles are tracked while any of these is open, and their Python objects can
// be found by the collector.
class TrackBlock {
 public:
  void enter() {
    tracking_.emplace();
    collected_.emplace();
  }
  void exit() {
    tracking_.reset();
    collected_.reset();
  }

 private:
  std::optional<memory::TrackHandles> tracking_;
  std::optional<KeepCollected> collected_;
};

// Names of the holders of a tensor's Python objects, by neap/_holders.py.
class PythonNames final : public report::HandleNames {
 public:
  std::vector<std::string> of(const tensor::Body& body) const override {
    const nb::object names_of =
        nb::module_::import_("neap._holders").attr("names_of");
    return nb::cast<std::vector<std::string>>(
        names_of(reinterpret_cast<std::uintptr_t>(&body)));
  }
};

const PythonNames& python_names() {
  static const PythonNames names;
  return names;
}

// A domain of the program's own. It ends when nothing refers to it and all its
// blocks are freed.
class OwnDomain {
 public:
  OwnDomain(const std::string& name, Bytes budget, int events)
      : domain_(memory::Domain::create({.name = kept_text(name),
                                        .budget = budget,
                                        .event_capacity = events})) {}
  memory::Domain& get() const noexcept { return *domain_; }

 private:
  memory::Domain::Handle domain_;
};

// Makes a domain the thread's.
class DomainBlock final : public GuardEntry {
 public:
  explicit DomainBlock(OwnDomain& domain) : domain_(domain) {}

 protected:
  void start() override { use_.emplace(domain_.get()); }
  void stop() noexcept override { use_.reset(); }

 private:
  OwnDomain& domain_;
  std::optional<memory::UseDomain> use_;
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
            return report::report_leaks(self, {.names = &python_names()});
          },
          "Lines of what is live now and was not then; empty: nothing.");
  nb::class_<report::Growth>(m, "Growth",
                             "Memory that grows from step to step.")
      .def(
          "__init__",
          [](report::Growth* self, std::int64_t warm_up) {
            new (self)
                report::Growth(memory::domain(),
                               {.warm_up = warm_up, .names = &python_names()});
          },
          nb::arg("warm_up") = 3)
      .def("step", &report::Growth::step)
      .def("has_grown", &report::Growth::has_grown)
      .def("format", &report::Growth::format);
}

void bind_domains(nb::module_& m) {
  nb::class_<OwnDomain>(m, "_Domain")
      .def(nb::init<const std::string&, Bytes, int>(), nb::arg("name"),
           nb::arg("budget"), nb::arg("events"))
      .def(
          "stats", [](const OwnDomain& self) { return stats_of(self.get()); },
          "Counts, in bytes.");
  guard_class<DomainBlock>(
      m, "UseDomain", "What is asked for inside the block is the domain's.")
      .def(nb::init<OwnDomain&>(), nb::keep_alive<1, 2>(), nb::arg("domain"));
}

// Writes what the current domain holds, and what its log of events says, as the
// memory page or as a snapshot.
void write_report(const std::string& path, bool is_page) {
  const Unlocked unlocked;
  const report::Snapshot snapshot = report::snapshot(memory::domain());
  files::Door& door = files::system_door();
  check(is_page ? report::write_page(door, path, snapshot)
                : report::write_snapshot(door, path, snapshot));
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
  m.def(
      "stats", [] { return stats_of(memory::domain()); },
      "Counts of the current domain, in bytes.");
  m.def("_fail_at", [](std::int64_t n) { memory::domain().fail_at(n); });
  m.def("_requests", [] { return memory::domain().requests(); });
  m.def("_write", &write_report);
  m.def("_body", [](const Tensor& t) {
    return reinterpret_cast<std::uintptr_t>(t.shared().get());
  });
  bind_domains(m);
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
