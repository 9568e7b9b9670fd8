#include "model/chat/functions/filters.h"

namespace ingot::chat {

FilterFunction find_filter(std::string_view name) {
  for (const auto& filters :
       {text_filters(), number_filters(), sequence_filters(), selection_filters(), markup_filters()}) {
    for (const Filter& filter : filters) {
      if (filter.name == name) return filter.function;
    }
  }
  return nullptr;
}

}  // namespace ingot::chat
