// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/report/page.hpp"

#include <algorithm>
#include <array>

#include "neap/formats/gzip.hpp"
#include "neap/report/page_assets.hpp"
#include "neap/report/page_tables.hpp"
#include "neap/report/snapshot_json.hpp"

namespace neap::report {
namespace {

// More than this is compressed in the page: a browser inflates some 20 MB a
// second, and reads plain text faster.
constexpr Bytes kMostPlain = 256 * kKiB;

// JSON within a script element: "<" could end it. In JSON it stands in strings
// alone, where it may be escaped.
class EscapingSink final : public files::ByteSink {
 public:
  explicit EscapingSink(Sink& out) : out_(out) {}
  Result<void> write(std::span<const std::byte> from) override {
    std::string_view text(reinterpret_cast<const char*>(from.data()),
                          from.size());
    for (;;) {
      const std::size_t at = text.find('<');
      out_.put(text.substr(0, at));
      if (at == std::string_view::npos) {
        return {};
      }
      out_.put("\\u003c");
      text.remove_prefix(at + 1);
    }
  }

 private:
  Sink& out_;
};

// RFC 4648, section 4.
class Base64Sink final : public files::ByteSink {
 public:
  explicit Base64Sink(Sink& out) : out_(out) {}
  Result<void> write(std::span<const std::byte> from) override {
    for (const std::byte byte : from) {
      group_[filled_++] = std::to_integer<unsigned>(byte);
      if (filled_ == group_.size()) {
        put_group();
      }
    }
    return {};
  }
  void finish() {
    if (filled_ != 0) {
      put_group();
    }
  }

 private:
  void put_group() {
    constexpr std::string_view kDigits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned bits = group_[0] << 16U | group_[1] << 8U | group_[2];
    for (unsigned digit = 0; digit < 4; ++digit) {
      out_.put(digit <= filled_ ? kDigits[bits >> (18U - 6U * digit) & 63U]
                                : '=');
    }
    group_ = {};
    filled_ = 0;
  }

  Sink& out_;
  std::array<unsigned, 3> group_{};
  std::size_t filled_ = 0;
};

Bytes json_bytes(const Snapshot& snapshot) {
  Sink count;
  put_snapshot(count, snapshot);
  return count.size();
}

void put_plain(Sink& out, std::string_view id, const Snapshot& snapshot) {
  out.format("<script type=\"application/json\" id=\"{}\">", id);
  EscapingSink escaped(out);
  Sink json(escaped);
  put_snapshot(json, snapshot);
  static_cast<void>(json.finish());  // `out` keeps failures
  out.put("</script>\n");
}

void put_packed(Sink& out, std::string_view id, const Snapshot& snapshot) {
  out.format(
      "<script type=\"text/plain\" id=\"{}\" data-encoding=\"gzip-base64\">",
      id);
  Base64Sink digits(out);
  const auto gzip = formats::gzip_into(digits);
  Sink json(*gzip);
  put_snapshot(json, snapshot);
  static_cast<void>(json.finish());
  static_cast<void>(gzip->finish());
  digits.finish();
  out.put("</script>\n");
}

void put_data(Sink& out, std::string_view id, const Snapshot& snapshot) {
  const bool is_packed = json_bytes(snapshot) > kMostPlain;
  (is_packed ? put_packed : put_plain)(out, id, snapshot);
}

// The marks of the frame, each there once.
constexpr std::string_view kStyle = "/*STYLE*/";
constexpr std::string_view kScript = "/*SCRIPT*/";
constexpr std::string_view kHead = "<!--HEAD-->";
constexpr std::string_view kTables = "<!--TABLES-->";
constexpr std::string_view kData = "<!--DATA-->";

void put_part(Sink& out, std::string_view mark, const Snapshot& a,
              const Snapshot* b) {
  if (mark == kStyle) {
    out.put(kPageStyle);
  } else if (mark == kScript) {
    out.put(kPageScript);
  } else if (mark == kHead) {
    put_head(out, a, b);
  } else if (mark == kTables) {
    put_tables(out, a, b);
  } else {
    put_data(out, "snapshot", a);
    if (b != nullptr) {
      put_data(out, "other", *b);
    }
  }
}

void put_page(Sink& out, const Snapshot& a, const Snapshot* b) {
  constexpr std::array kMarks{kStyle, kScript, kHead, kTables, kData};
  std::string_view rest = kPageFrame;
  while (!rest.empty()) {
    std::size_t at = rest.size();
    std::string_view next;
    for (const std::string_view mark : kMarks) {
      if (const std::size_t found = rest.find(mark); found < at) {
        at = found;
        next = mark;
      }
    }
    out.put(rest.substr(0, at));
    rest.remove_prefix(at + next.size());
    if (!next.empty()) {
      put_part(out, next, a, b);
    }
  }
}

}  // namespace

Result<void> write_page(files::Door& door, const std::string& path,
                        const Snapshot& a, const Snapshot* b) {
  if (b != nullptr) {
    if (auto good = check_before(path, *b); !good) {
      return good;
    }
  }
  return write_file(door, path, a, [&](Sink& out) { put_page(out, a, b); });
}

}  // namespace neap::report
