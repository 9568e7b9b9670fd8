#include "model/chat/marked_text.h"

#include <algorithm>

namespace ingot::chat {

Marks Marks::whole(std::size_t size) {
  Marks marks;
  marks.add({0, size});
  return marks;
}

void Marks::add(Stretch stretch) {
  if (stretch.begin == stretch.end) return;
  if (!stretches_.empty() && stretches_.back().end == stretch.begin) {
    stretches_.back().end = stretch.end;
  } else {
    stretches_.push_back(stretch);
  }
}

Marks Marks::within(Stretch part) const {
  Marks inside;
  auto stretch = std::partition_point(stretches_.begin(), stretches_.end(),
                                      [&](const Stretch& before) { return before.end <= part.begin; });
  for (; stretch != stretches_.end() && stretch->begin < part.end; ++stretch) {
    inside.add({std::max(stretch->begin, part.begin) - part.begin, std::min(stretch->end, part.end) - part.begin});
  }
  return inside;
}

MarkedText MarkedText::made(std::string bytes, bool of_marked) {
  const std::size_t size = bytes.size();
  return {std::move(bytes), of_marked ? Marks::whole(size) : Marks()};
}

void MarkedText::append_part(const MarkedText& text, std::string_view part) {
  if (part.empty()) return;
  const auto begin = static_cast<std::size_t>(part.data() - text.bytes.data());
  const Marks inside = text.marks.within({begin, begin + part.size()});
  for (const auto& [from, to] : inside.stretches()) {
    marks.add({bytes.size() + from, bytes.size() + to});
  }
  bytes += part;
}

MarkedText MarkedText::part(std::string_view inside) const {
  MarkedText result;
  result.append_part(*this, inside);
  return result;
}

}  // namespace ingot::chat
