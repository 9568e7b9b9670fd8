#include "os/device/screen_console.h"

#include <algorithm>

namespace ingot::os {

ScreenConsole::ScreenConsole(Canvas& canvas)
    : canvas_(canvas), columns_(std::min(canvas.columns(), most_columns)), rows_(std::min(canvas.rows(), most_rows)) {
  for (auto& row : shown_) row.fill(' ');
  canvas_.clear();
}

void ScreenConsole::put(std::uint32_t column, std::uint32_t row, char character) {
  if (character < ' ' || character > '~') character = '?';
  if (shown_[row][column] == character) return;
  shown_[row][column] = character;
  canvas_.draw(column, row, character);
}

// By a quarter of the screen at once: drawing it anew for every line would take most of the time.
void ScreenConsole::scroll() {
  const std::uint32_t by = std::max(rows_ / 4, 1u);
  for (std::uint32_t row = 0; row < rows_; ++row) {
    for (std::uint32_t column = 0; column < columns_; ++column) {
      put(column, row, row + by < rows_ ? shown_[row + by][column] : ' ');
    }
  }
  next_row_ = rows_ - by;
}

void ScreenConsole::write_row(std::string_view text) {
  if (next_row_ == rows_) scroll();
  for (std::uint32_t column = 0; column < text.size(); ++column) put(column, next_row_, text[column]);
  ++next_row_;
}

void ScreenConsole::write_line(std::string_view line) {
  if (columns_ == 0 || rows_ == 0) return;
  do {
    write_row(line.substr(0, columns_));
    line.remove_prefix(std::min<std::size_t>(columns_, line.size()));
  } while (!line.empty());
}

}  // namespace ingot::os
