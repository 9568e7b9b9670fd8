// From where on a grammar holds a text that begins as a free one.
#pragma once

#include <string>

namespace ingot::grammar {

struct Trigger {
  std::string text = {};  // the beginning of the grammar's text; empty: it holds from the first token
  // Around thoughts, in which the trigger is nothing but a word. One begins where only white space came before, or
  // another one. No end: there are none.
  std::string thought_begin = {}, thought_end = {};
  bool begins_in_thought = false;

  bool operator==(const Trigger&) const = default;
};

}  // namespace ingot::grammar
