// The words of a benchmark's command line, read one after the other:
//
//   for (Words words(count, arguments); words.next();) {
//     if (words.take("--threads", threads) || words.take("--cached", is_cached)) continue;
//     return words.complain("--threads or --cached");
//   }
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace ingot {

class Words {
 public:
  Words(int count, char** words) : count_(count), words_(words) {}

  // Goes on to the next word; false where there is none.
  bool next() { return ++index_ < count_; }
  const char* word() const { return words_[index_]; }

  // Whether the word is this flag, or this option with a value behind it, which is then taken.
  bool take(std::string_view name, bool& flag) { return name == word() && (flag = true); }
  bool take(std::string_view name, std::string& text) {
    if (!has_value(name)) return false;
    text = words_[++index_];
    return true;
  }
  template <std::signed_integral Integer>
  bool take(std::string_view name, Integer& number) {  // at least one: threads, rows
    if (!has_value(name)) return false;
    number = std::max(1, std::atoi(words_[++index_]));
    return true;
  }
  bool take(std::string_view name, double& number) {
    if (!has_value(name)) return false;
    number = std::atof(words_[++index_]);
    return true;
  }
  // The first word that is no option.
  bool take_plain(std::string& text) {
    if (!text.empty() || std::string_view(word()).starts_with("-")) return false;
    text = word();
    return true;
  }

  // Says what was expected; the exit code for bad usage.
  int complain(const char* expected) const {
    std::fprintf(stderr, "expected %s, found '%s'\n", expected, word());
    return 2;
  }

 private:
  bool has_value(std::string_view name) const { return name == word() && index_ + 1 < count_; }

  int count_;
  char** words_;
  int index_ = 0;
};

}  // namespace ingot
