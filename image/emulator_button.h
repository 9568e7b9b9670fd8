// The power button of an emulated machine: a private line to the emulator, over which it is pressed.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace ingot::image {

class EmulatorButton {
 public:
  static Result<EmulatorButton> create();
  EmulatorButton(EmulatorButton&& other) noexcept;
  EmulatorButton& operator=(EmulatorButton&&) = delete;
  ~EmulatorButton();

  // The end that the emulator inherits.
  int emulators_end() const { return ends_[1]; }
  // A guest without such a button, or one that does not listen, goes on.
  void press() const;

 private:
  EmulatorButton() = default;
  int ends_[2] = {-1, -1};
};

// The words by which an emulator listens on that descriptor.
std::vector<std::string> button_words(int descriptor);

}  // namespace ingot::image
