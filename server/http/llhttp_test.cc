// llhttp's own vectors, which others made: what it refuses when it is strict is refused, what it accepts is accepted.
// Where we differ, the test says why, by what the bytes are and not by their names.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "server/http/letters.h"
#include "server/http/request_reader.h"

namespace ingot::http {
namespace {

std::string decode_base64(std::string_view text) {
  constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char letter : text.substr(0, text.find('='))) {
    bits = bits << 6 | static_cast<std::uint32_t>(letters.find(letter));
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> count & 0xff);
  }
  return bytes;
}

// A line of the file is an object whose keys come in a known order: what stands behind a key, up to `end`.
std::string_view value_in(std::string_view line, std::string_view key, std::string_view end) {
  const std::string sought = "\"" + std::string(key) + "\": ";
  const std::size_t at = line.find(sought);
  if (at == std::string_view::npos) throw std::runtime_error("a vector without " + std::string(key));
  line.remove_prefix(at + sought.size());
  return line.substr(0, line.find(end));
}

struct Vector {
  std::string name, kind, lenient, outcome, input;
  bool ends = false;  // the connection, behind these bytes
  int messages = 0;
  std::vector<std::size_t> begins;  // of messages
};

Vector vector_of(std::string_view line) {
  Vector vector;
  const auto text = [&](std::string_view key) {
    const std::string_view value = value_in(line, key, "\", \"");
    return std::string(value.substr(1));
  };
  vector.name = text("name");
  vector.kind = text("kind");
  vector.lenient = value_in(line, "lenient", "]");
  vector.outcome = text("outcome");
  vector.input = decode_base64(text("input"));
  vector.ends = value_in(line, "finish", ",") == "true";
  vector.messages = std::atoi(std::string(value_in(line, "messages", ",")).c_str());
  constexpr std::string_view sign = " message begin\"";
  for (std::size_t at = line.find(sign); at != std::string_view::npos; at = line.find(sign, at + 1)) {
    const std::size_t number = line.rfind("off=", at) + 4;
    vector.begins.push_back(std::stoul(std::string(line.substr(number, at - number))));
  }
  return vector;
}

std::string lowered(std::string text) {
  std::ranges::transform(text, text.begin(), lower);
  return text;
}

// llhttp does not ask for a Host, which HTTP/1.1 must have: those without get one.
std::string with_hosts(const Vector& vector) {
  std::string text = vector.input;
  for (auto begin = vector.begins.rbegin(); begin != vector.begins.rend(); ++begin) {
    const std::size_t line = text.find("\r\n", *begin);
    if (line == std::string::npos || !text.substr(0, line).ends_with("HTTP/1.1")) continue;
    const std::string head = text.substr(*begin, text.find("\r\n\r\n", line) - *begin);
    if (lowered(head).find("\nhost:") == std::string::npos) text.insert(line + 2, "Host: a\r\n");
  }
  return text;
}

struct Reading {
  int complete = 0;
  int refused = 0;  // with this status
  bool is_blank = true;
};

Reading read_all_of(std::string_view text) {
  const Limits limits;
  Reading reading;
  bool may_follow = true;
  while (!text.empty()) {
    RequestReader reader(limits);
    text.remove_prefix(reader.feed(text));
    reading.is_blank = reader.is_blank();
    if (!may_follow && !reading.is_blank) {
      reading.refused = 400;  // never read: the connection closes behind the answer before it
      return reading;
    }
    if (reader.state() == RequestReader::State::refused) {
      reading.refused = reader.refusal().status;
      return reading;
    }
    if (reader.state() != RequestReader::State::complete) return reading;
    ++reading.complete;
    may_follow = reader.keeps_alive();
    reading.is_blank = true;
  }
  return reading;
}

std::string first_line(const std::string& text) { return text.substr(0, text.find("\r\n")); }

// Why we accept what llhttp refuses; empty: we must not.
std::string reason_to_accept(const Vector& vector) {
  static constexpr std::string_view methods[] = {"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"};
  const std::string method = vector.input.substr(0, vector.input.find(' '));
  if (std::ranges::find(methods, method) == std::end(methods)) return "a method that no route has is answered with 405";
  return {};
}

// Why we refuse what llhttp accepts; empty: we must not.
std::string reason_to_refuse(const Vector& vector) {
  const std::string text = lowered(vector.input);
  if (first_line(text).find(" rtsp/") != std::string::npos || first_line(text).find(" ice/") != std::string::npos) {
    return "another protocol";
  }
  if (first_line(text).find(" http/1.") == std::string::npos) return "neither HTTP/1.1 nor HTTP/1.0";
  int codings = 0, others = 0;
  for (std::size_t at = text.find("transfer-encoding:"); at != std::string::npos;
       at = text.find("transfer-encoding:", at + 1)) {
    ++codings;
    others += text.substr(at).starts_with("transfer-encoding: chunked\r") ? 0 : 1;
  }
  if (codings > 1 || others > 0) return "a transfer coding beside chunked";
  if (std::ranges::any_of(first_line(vector.input),
                          [](char letter) { return static_cast<unsigned char>(letter) >= 0x80; })) {
    return "a target that is not ASCII";
  }
  return {};
}

TEST(Llhttp, AgreesOnItsVectors) {
  const char* root = std::getenv("INGOT_OUTSIDE_DATA");
  if (root == nullptr || !std::filesystem::is_directory(root)) GTEST_SKIP() << "INGOT_OUTSIDE_DATA names no folder";
  std::ifstream file(std::filesystem::path(root) / "llhttp" / "cases.jsonl");
  if (!file) GTEST_SKIP() << "INGOT_OUTSIDE_DATA has no llhttp/cases.jsonl";
  std::map<std::string, int> counts;
  const auto list = [&](const std::string& why, const Vector& vector) {
    ++counts[why];
    std::printf("  %s: %s\n", why.c_str(), vector.name.c_str());
  };
  for (std::string line; std::getline(file, line);) {
    const Vector vector = vector_of(line);
    if (vector.kind != "request") continue;
    const std::string input = with_hosts(vector);
    Reading reading = read_all_of(input);
    if (vector.lenient != "[") {
      list(reading.refused != 0 ? "lenient, refused here" : "lenient, read here", vector);
    } else if (line.find("\"skip_body\": true") != std::string::npos) {
      list("depends on a setting of llhttp's user", vector);
    } else if (vector.outcome == "upgrade") {
      const bool is_tunnel = vector.input.starts_with("CONNECT");
      list(is_tunnel ? "a tunnel, refused here" : "an upgrade, ignored here", vector);
      EXPECT_EQ(is_tunnel, reading.refused != 0 && reading.complete == 0) << vector.name;
    } else if (vector.outcome == "reject") {
      // What is refused before its line is complete is refused here with it; what ends in the middle is never answered.
      if (reading.refused == 0 && !vector.ends) reading = read_all_of(input + "\r\n\r\n");
      const bool is_refused = reading.refused != 0 || (vector.ends && !reading.is_blank);
      const std::string reason = reason_to_accept(vector);
      if (!is_refused && !reason.empty()) {
        list(reason, vector);
      } else {
        EXPECT_TRUE(is_refused) << vector.name << "\n" << vector.input;
        ++counts["refused by both"];
      }
    } else {
      const std::string reason = reason_to_refuse(vector);
      if (reading.refused != 0 && !reason.empty()) {
        list(reason, vector);
      } else {
        EXPECT_EQ(reading.refused, 0) << vector.name << "\n" << vector.input;
        EXPECT_GE(reading.complete, vector.messages) << vector.name << "\n" << vector.input;
        ++counts["accepted by both"];
      }
    }
  }
  for (const auto& [what, count] : counts) std::printf("%3d %s\n", count, what.c_str());
  EXPECT_GT(counts["refused by both"], 0);
  EXPECT_GT(counts["accepted by both"], 0);
}

}  // namespace
}  // namespace ingot::http
