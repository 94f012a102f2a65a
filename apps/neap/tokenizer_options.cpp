// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "tokenizer_options.hpp"

#include <limits>

#include "number_option.hpp"

namespace neap::app {

void add_tokenizer_options(CLI::App& command, TokenizerSettings& settings) {
  constexpr std::int64_t kMost = 16'777'215;
  command
      .add_option("action", settings.action,
                  "train, encode or decode: learn a byte-level BPE from texts, "
                  "print the ids of a text, or the text of ids")
      ->type_name("ACTION")
      ->check(CLI::IsMember({"train", "encode", "decode"}))
      ->required();
  command
      .add_option("files", settings.files,
                  "texts, plain or gzipped; for decode, ids in digits")
      ->type_name("FILE...");
  command
      .add_option("--load", settings.load,
                  "the tokenizer.json to encode or decode by")
      ->type_name("FILE");
  command
      .add_option("--text", settings.text,
                  "the text (or the ids) itself, in the place of files")
      ->type_name("TEXT");
  add_number(
      command, settings.vocab,
      {"--vocab", std::int64_t{1}, kMost, "a whole number from 1 to 16777215",
       "train: tokens at most, bytes and special ones included"})
      ->type_name("N");
  add_number(command, settings.min_frequency,
             {"--min-frequency", std::int64_t{0},
              std::numeric_limits<std::int64_t>::max(),
              "a whole number from 0 to 2^63 - 1",
              "train: a rarer pair is not merged (default 0)"})
      ->type_name("N");
  command
      .add_option("--special", settings.special,
                  "train: a special token, which gets the next of the first "
                  "ids; may be given several times (default none)")
      ->type_name("TOKEN")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command
      .add_option("--out", settings.out,
                  "train: where the tokenizer.json goes (default standard "
                  "output)")
      ->type_name("FILE");
  command.add_flag("--lines", settings.is_by_lines,
                   "encode: each line is a text, without its end");
  command.add_flag("--plain", settings.is_plain,
                   "encode: without the special tokens around a text; decode: "
                   "with all tokens, special ones too");
}

}  // namespace neap::app
