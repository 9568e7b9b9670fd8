// A small template and what Jinja2 3.1 gives for it, with Hugging Face's settings.
#pragma once

#include <string_view>

namespace ingot::chat {

struct Row {
  std::string_view source;
  std::string_view expected;
};

// The variables of every row.
constexpr std::string_view snippet_context =
    R"j({"s": "Hello World", "e": "", "n": 5, "f": 3.75, "t": true, "no": null, "l": [3, 1, 2], "ls": ["b", )j"
    R"j("A", "c"], "el": [], "d": {"b": 1, "a": 2, "C": 3}, "u": "héllo 你好 ß", )j"
    R"j("html": "<a href=\"x\">'&</a>", "nest": {"a": [1, {"b": "x"}], "k": null, "f": 1.5}, )j"
    R"j("recs": [{"n": "x", "v": 2, "g": "A"}, {"n": "Y", "v": 1, "g": "b"}, {"n": "z", "v": 3, "g": "a"}], )j"
    R"j("multi": "line1\nline2\n\n  line4", "q": "it's \"q\"", "pairs": [["a", 1], ["b", 2]]})j";

}  // namespace ingot::chat
