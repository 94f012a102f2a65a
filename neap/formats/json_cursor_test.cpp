// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/formats/json_cursor.hpp"

#include <gtest/gtest.h>

#include "neap/base/json_string.hpp"

namespace neap::formats {
namespace {

// The string that the text is; "fault: ..." where it is none.
std::string string_of(std::string_view text) {
  JsonCursor json(text);
  memory::String out;
  if (json.string(out) && json.finish()) {
    return std::string(std::string_view(out));
  }
  return "fault: " + std::string(json.fault());
}

std::int64_t number_of(std::string_view text) {
  JsonCursor json(text);
  std::int64_t out = -1;
  return json.number(out) && json.finish() ? out : -1;
}

TEST(JsonCursorTest, ReadsTokenAfterToken) {
  JsonCursor json(" {\"a\" : [1,\n2 ]}\t");
  memory::String key;
  std::int64_t one = 0;
  std::int64_t two = 0;
  EXPECT_TRUE(json.expect('{') && json.string(key) && json.expect(':') &&
              json.expect('[') && json.number(one) && json.accept(',') &&
              json.number(two) && !json.accept(',') && json.expect(']') &&
              json.expect('}') && json.finish());
  EXPECT_EQ(key, "a");
  EXPECT_EQ(one + two, 3);
}

TEST(JsonCursorTest, TheFirstFaultEndsTheReading) {
  JsonCursor json("[1 2]");
  std::int64_t value = 0;
  EXPECT_TRUE(json.expect('[') && json.number(value));
  EXPECT_FALSE(json.expect(','));
  EXPECT_EQ(json.fault(), "expected ','");
  EXPECT_EQ(json.position(), 3U);
  EXPECT_FALSE(json.number(value));
  EXPECT_FALSE(json.accept('2'));
  EXPECT_FALSE(json.finish());
  EXPECT_EQ(value, 1);
  EXPECT_EQ(json.fault(), "expected ','");
}

TEST(JsonCursorTest, ResolvesEscapes) {
  EXPECT_EQ(string_of(R"("a\"\\\/\b\f\n\r\tz")"), "a\"\\/\b\f\n\r\tz");
  EXPECT_EQ(string_of(R"("\u0041\u00e9\u20AC\ud83d\ude00")"),
            "A\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80");
  EXPECT_EQ(string_of(R"("\u0000")"), std::string(1, '\0'));
  EXPECT_EQ(string_of(R"("\u007f\u0080\u07ff\u0800\ud7ff\ue000\uffff")"),
            "\x7F\xC2\x80\xDF\xBF\xE0\xA0\x80\xED\x9F\xBF\xEE\x80\x80"
            "\xEF\xBF\xBF");
  EXPECT_EQ(string_of(R"("\ud800\udc00\udbff\udfff")"),
            "\xF0\x90\x80\x80\xF4\x8F\xBF\xBF");
}

TEST(JsonCursorTest, RefusesStringsThatAreNone) {
  for (const char* text :
       {"", "a", "\"", "\"a", "\"\\", "\"\\x41\"", "\"\\u12\"", "\"\\u12g4\"",
        "\"\\u-123\"", "\"\\ud800\"", "\"\\udc00\"", "\"\\ud800\\u0041\"",
        "\"\\ud800\\ud800\"", "\"\n\"", "\"\x01\""}) {
    EXPECT_EQ(string_of(text).substr(0, 7), "fault: ") << text;
    memory::String out;
    EXPECT_FALSE(JsonCursor(text).string(out)) << text;
  }
  EXPECT_EQ(string_of(std::string_view("\"a\"", 2)),
            "fault: a string without an end");
}

TEST(JsonCursorTest, TakesUtf8InItsShortestFormAlone) {
  for (const std::string text :
       {"\xC2\x80", "\xE0\xA0\x80", "\xED\x9F\xBF", "\xEE\x80\x80",
        "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_TRUE(is_utf8(text));
    EXPECT_EQ(string_of("\"" + text + "\""), text);
  }
  for (const std::string text :
       {"\x80", "\xC0\x80", "\xC1\xBF", "\xC2", "\xE0\x9F\xBF", "\xED\xA0\x80",
        "\xED\xBF\xBF", "\xE2\x82", "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80",
        "\xF5\x80\x80\x80", "\xF0\x90\x80", "\xFF", "\xE2\x82\x41"}) {
    EXPECT_FALSE(is_utf8(text));
    EXPECT_EQ(string_of("\"" + text + "\""), "fault: not UTF-8");
  }
}

TEST(JsonCursorTest, NeverLooksForTheRestOfACharacterBehindTheText) {
  EXPECT_FALSE(is_utf8(std::string_view("a\xC3\xA9", 2)));
  EXPECT_EQ(string_of(std::string_view("\"a\xC3\xA9\"", 3)),
            "fault: not UTF-8");
}

TEST(JsonCursorTest, TakesWholeNumbersThatFit) {
  EXPECT_EQ(number_of("0"), 0);
  EXPECT_EQ(number_of(" 120 "), 120);
  EXPECT_EQ(number_of("9223372036854775807"), 9223372036854775807);
  for (const char* text :
       {"", "-1", "+1", "-0", "01", "00", "1.0", "1.", "1e3", "1E3", "0x10",
        "9223372036854775808", "99999999999999999999999", "NaN", "1a", "\"1\"",
        "true", "null"}) {
    EXPECT_EQ(number_of(text), -1) << text;
  }
}

TEST(JsonCursorTest, ReadsWhatIsWrittenAsJson) {
  const std::string text("q\" b\\ n\n z\0 \x1F \x7F \xC3\xA9", 18);
  memory::String out;
  base::append_json_string(out, text);
  EXPECT_EQ(string_of(out), text);
  EXPECT_EQ(std::string_view(out),
            "\"q\\\" b\\\\ n\\u000a z\\u0000 \\u001f \x7F \xC3\xA9\"");
  EXPECT_EQ(out.find('\n'), memory::String::npos);
}

std::int64_t integer_of(std::string_view text) {
  JsonCursor json(text);
  std::int64_t out = 0;
  return json.integer(out) && json.finish() ? out : 77;
}

TEST(JsonCursorTest, IntegersMayBeNegative) {
  EXPECT_EQ(integer_of("-1"), -1);
  EXPECT_EQ(integer_of("  -0 "), 0);
  EXPECT_EQ(integer_of("12"), 12);
  EXPECT_EQ(integer_of("-9223372036854775807"), -9223372036854775807);
  for (const char* text :
       {"-", "--1", "- 1", "-01", "-1.5", "+1", "-9223372036854775808", ""}) {
    EXPECT_EQ(integer_of(text), 77) << text;
  }
}

TEST(JsonCursorTest, Booleans) {
  JsonCursor json(" true,false ,True");
  bool out = false;
  EXPECT_TRUE(json.boolean(out));
  EXPECT_TRUE(out);
  EXPECT_TRUE(json.accept(',') && json.boolean(out));
  EXPECT_FALSE(out);
  EXPECT_TRUE(json.accept(','));
  EXPECT_FALSE(json.boolean(out));
  EXPECT_EQ(json.fault(), "expected true or false");
}

bool skips(std::string_view text) {
  JsonCursor json(text);
  return json.skip() && json.finish();
}

TEST(JsonCursorTest, SkipsAnyValue) {
  for (const char* text :
       {"1", "-1.5e+30", "\"]\\\"}\"", "null", "true", "[]", "{}",
        "[1, [2, {\"a\": [\"}\"]}], {}]", "{\"a\": {\"b\": null}}"}) {
    EXPECT_TRUE(skips(text)) << text;
  }
  for (const char* text :
       {"", "[", "{", "[1", "[}", "{]", "x", "\"", "[nul]", "]", ",", "1 2"}) {
    EXPECT_FALSE(skips(text)) << text;
  }
  EXPECT_TRUE(skips(std::string(64, '[') + std::string(64, ']')));
  EXPECT_FALSE(skips(std::string(65, '[') + std::string(65, ']')));
  JsonCursor json("[[1, 2], 3]");
  EXPECT_TRUE(json.expect('[') && json.skip() && json.expect(','));
}

}  // namespace
}  // namespace neap::formats
