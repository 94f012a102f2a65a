// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Makes tokens of bytes: a first pass finds the vocabulary and the count, a
// second one writes tokens of the smallest width into a block of just the size.
#include <fmt/format.h>
#include <unistd.h>

#include <utility>

#include "neap/data/text_set.hpp"
#include "neap/data/text_source.hpp"
#include "neap/formats/source.hpp"
#include "neap/tensor/create.hpp"

namespace neap::data {
namespace {

using files::ByteSource;
using memory::Owned;
using Open = base::FunctionRef<Result<Owned<ByteSource>>()>;

constexpr std::int64_t kOneByteTokens = 256;
constexpr Bytes kMostUtf8Bytes = 4;  // of a character

// Before any of it is read: to count what no memory could hold takes hours. A
// character has at most 4 bytes, and a token at least 1.
Result<void> check_size(const ByteSource& source, Symbols symbols) {
  const files::Remaining size = source.remaining();
  const Bytes memory = ::sysconf(_SC_PHYS_PAGES) * ::sysconf(_SC_PAGESIZE);
  const Bytes least =
      symbols == Symbols::kBytes ? size.at_most : size.at_most / kMostUtf8Bytes;
  if (!size.is_exact || least <= memory) {
    return {};
  }
  return failure(FailureKind::kTooLarge,
                 fmt::format("{}: {}, whose tokens do not fit into this "
                             "machine's memory of {}; give a part of it",
                             source.name(), format_bytes(size.at_most),
                             format_bytes(memory)));
}

struct Counted {
  Vocabulary vocabulary;
  std::int64_t symbols = 0;
};

Result<Counted> count(ByteSource& source, Symbols symbols) {
  Counted counted;
  if (symbols == Symbols::kBytes) {
    return walk_symbols(source, symbols,
                        [&](char32_t) {
                          ++counted.symbols;
                          return true;
                        })
        .map([&] { return counted; });
  }
  CharacterSet seen;
  return walk_symbols(source, symbols,
                      [&](char32_t symbol) {
                        seen.add(symbol);
                        ++counted.symbols;
                        return true;
                      })
      .and_then([&] { return seen.vocabulary(source.name()); })
      .map([&](Vocabulary&& vocabulary) {
        return Counted{std::move(vocabulary), counted.symbols};
      });
}

// False where the source is not what it was when it was counted.
Result<bool> write(ByteSource& source, const Vocabulary& vocabulary,
                   Tensor& tokens, std::size_t width) {
  if (!tokens.array()->storage()->has_elements()) {
    // A rehearsal: the memory of a second walk, which ends at once.
    const auto stop = [](char32_t) { return false; };
    return walk_symbols(source, vocabulary.symbols(), stop).and_then([] {
      return Result<bool>(true);
    });
  }
  const auto into = tokens.mutable_values<std::uint8_t>();
  std::size_t at = 0;
  bool is_same = true;
  return walk_symbols(source, vocabulary.symbols(),
                      [&](char32_t symbol) {
                        const auto token = vocabulary.token_of(symbol);
                        is_same = token >= 0 && at + width <= into.size();
                        if (is_same) {
                          into[at] = static_cast<std::uint8_t>(token);
                          if (width == 2) {
                            into[at + 1] =
                                static_cast<std::uint8_t>(token >> 8);
                          }
                          at += width;
                        }
                        return is_same;
                      })
      .map([&] { return is_same && at == into.size(); });
}

Result<Text> tokenise_twice(Open open, Symbols symbols) {
  const memory::ContextGuard guard(
      [](memory::Context& c) { c.category = memory::Category::kData; });
  auto source = open();
  if (!source) {
    return tl::unexpected(std::move(source.error()));
  }
  if (auto good = check_size(**source, symbols); !good) {
    return tl::unexpected(std::move(good.error()));
  }
  auto counted = count(**source, symbols);
  if (!counted) {
    return tl::unexpected(std::move(counted.error()));
  }
  const std::int64_t width =
      counted->vocabulary.size() <= kOneByteTokens ? 1 : 2;
  source = open();
  if (!source) {
    return tl::unexpected(std::move(source.error()));
  }
  Tensor tokens = empty({counted->symbols, width}, u8);
  const auto written = write(**source, counted->vocabulary, tokens,
                             static_cast<std::size_t>(width));
  if (!written) {
    return tl::unexpected(written.error());
  }
  if (!*written) {
    return failure(FailureKind::kCorrupt,
                   fmt::format("{}: changed while it was read; try again",
                               (*source)->name()));
  }
  return Text(std::move(tokens), std::move(counted->vocabulary));
}

}  // namespace

Result<Text> tokenise_file(files::Door& door, const std::string& path,
                           Symbols symbols) {
  return tokenise_twice([&] { return formats::open_source(door, path); },
                        symbols);
}

Result<Text> tokenise(std::string_view text, Symbols symbols) {
  return tokenise_twice(
      [&]() -> Result<Owned<ByteSource>> {
        return memory::make_owned<TextSource>(memory::Category::kData, text);
      },
      symbols);
}

}  // namespace neap::data
