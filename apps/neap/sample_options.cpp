// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "sample_options.hpp"

#include <limits>

#include "byte_size.hpp"
#include "number_option.hpp"

namespace neap::app {
namespace {

void add_numbers(CLI::App& command, SampleSettings& settings) {
  constexpr std::int64_t kMost = std::int64_t{1} << 31;
  add_number(command, settings.length,
             {"--max-tokens,--length", std::int64_t{1}, kMost,
              "a whole number from 1 to 2^31",
              "tokens to write, at most (default 500)"})
      ->type_name("N");
  add_number(
      command, settings.block,
      {"--block", std::int64_t{1}, kMost, "a whole number from 1 to 2^31",
       "with --from: tokens before the next one that it sees, at most "
       "(default 1024)"})
      ->type_name("N");
  add_number(command, settings.temperature,
             {"--temperature", 0.0, 100.0, "a number from 0 to 100",
              "below 1: likelier tokens more often; 0: the likeliest alone "
              "(default 0.8)"})
      ->type_name("X");
  add_number(
      command, settings.top_k,
      {"--top-k", std::int64_t{0}, kMost, "a whole number from 0 to 2^31",
       "choose among so many; 0: among all (default 0)"})
      ->type_name("N");
  add_number(command, settings.top_p,
             {"--top-p", 1e-9, 1.0, "a number above 0, up to 1",
              "choose among the fewest that have so much of the shares "
              "(default 1)"})
      ->type_name("X");
  add_number(
      command, settings.seed,
      {"--seed", std::uint64_t{0}, std::numeric_limits<std::uint64_t>::max(),
       "a whole number from 0 to 2^64 - 1", "of the choices (default 1)"})
      ->type_name("N");
  add_number(command, settings.threads,
             {"--threads", std::int64_t{0}, std::int64_t{256},
              "a whole number from 0 to 256",
              "threads that compute; 0: every processor (default 0)"})
      ->type_name("N");
}

// The model of a folder, and what is added to it.
void add_pretrained_options(CLI::App& command, SampleSettings& settings) {
  command
      .add_option("--from", settings.from,
                  "a folder of Hugging Face's with a language model and its "
                  "tokenizer.json (default none)")
      ->type_name("DIR");
  command
      .add_option("--adapter", settings.adapter,
                  "an adapter for it, in a folder of the peft package "
                  "(default none)")
      ->type_name("DIR");
  command
      .add_option("--weights", settings.weights,
                  "of --from: f32, or file: matrices that are in BF16 there "
                  "stay so, to the same text in about half of their memory "
                  "(default f32)")
      ->type_name("WIDTH")
      ->check(CLI::IsMember({"f32", "file"}));
}

}  // namespace

void add_sample_options(CLI::App& command, SampleSettings& settings) {
  command
      .add_option(
          "--load", settings.load,
          "a checkpoint that neap train saved; with --from, its weights "
          "(default none)")
      ->type_name("FILE");
  add_pretrained_options(command, settings);
  command
      .add_option("--prompt", settings.prompt,
                  "the text to continue (default nothing)")
      ->type_name("TEXT");
  add_numbers(command, settings);
  command
      .add_option("--stop", settings.stops,
                  "end before this text; may be given several times (default "
                  "none)")
      ->type_name("TEXT")
      ->allow_extra_args(false)
      ->check([](const std::string& text) {
        return text.empty() ? std::string("a stop has at least one character")
                            : std::string();
      });
  command.add_flag("--past-end", settings.goes_past_end,
                   "with --from: go on behind a token that ends a text");
  command
      .add_option_function<std::string>(
          "--budget",
          [&settings](const std::string& text) {
            if (const auto expected = read_budget(text, settings.budget);
                !expected.empty()) {
              throw CLI::ValidationError("--budget",
                                         "'" + text + "' is not " + expected);
            }
          },
          "hold no more bytes than this, whatever it is for (default none)")
      ->type_name("BYTES");
  command.add_flag("--report", settings.is_reported,
                   "say beforehand what it needs and then how fast it was, on "
                   "standard error");
  command
      .add_option("--verify", settings.verify,
                  "compare the checksums of the file: on or off (default on)")
      ->type_name("on|off")
      ->check(CLI::IsMember({"on", "off"}));
}

}  // namespace neap::app
