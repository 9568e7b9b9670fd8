// ScreenConsole: the log on a screen of characters, whatever draws them. What it shows it remembers, because reading
// video memory back is slow; so it draws only what changes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "os/trace/log.h"

namespace ingot::os {

class Canvas {
 public:
  virtual std::uint32_t columns() const = 0;
  virtual std::uint32_t rows() const = 0;
  virtual void clear() = 0;
  // Only printable ASCII arrives here.
  virtual void draw(std::uint32_t column, std::uint32_t row, char character) = 0;

 protected:
  ~Canvas() = default;
};

class ScreenConsole final : public LogSink {
 public:
  // No line of the log is longer; larger screens leave the rest empty.
  static constexpr std::uint32_t most_columns = 128, most_rows = 136;

  // Clears the screen.
  explicit ScreenConsole(Canvas& canvas);

  std::uint32_t columns() const { return columns_; }
  std::uint32_t rows() const { return rows_; }

  // A line too long for the screen goes on in the next.
  void write_line(std::string_view line) override;

 private:
  void put(std::uint32_t column, std::uint32_t row, char character);
  void write_row(std::string_view text);
  void scroll();

  Canvas& canvas_;
  std::uint32_t columns_, rows_;
  std::uint32_t next_row_ = 0;
  std::array<std::array<char, most_columns>, most_rows> shown_;
};

}  // namespace ingot::os
