#include "os/device/keyboard.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "os/device/fake_firmware.h"
#include "os/device/fake_ports.h"
#include "os/schedule/test_heap.h"

namespace ingot::os {
namespace {

std::string typed(std::initializer_list<int> bytes) {
  KeyDecoder decoder;
  std::string text;
  for (const int byte : bytes) {
    const auto event = decoder.decode(static_cast<std::uint8_t>(byte));
    if (event && event->pressed && event->character != 0) text.push_back(event->character);
  }
  return text;
}

TEST(KeyDecoder, ReadsLettersDigitsAndReleases) {
  EXPECT_EQ(typed({0x23, 0xa3, 0x17, 0x97, 0x02, 0x82, 0x39, 0xb9, 0x1c}), "hi1 \n");
  KeyDecoder decoder;
  EXPECT_EQ(decoder.decode(0x1e), (KeyEvent{Key{0x1e}, true, 'a', false, false, false}));
  EXPECT_EQ(decoder.decode(0x9e), (KeyEvent{Key{0x1e}, false, 'a', false, false, false}));
}

TEST(KeyDecoder, ShiftsWhileEitherShiftIsHeld) {
  EXPECT_EQ(typed({0x2a, 0x1e, 0x36, 0xaa, 0x1e, 0xb6, 0x1e}), "AAa");
  EXPECT_EQ(typed({0x2a, 0x02, 0x28, 0x2b, 0x0c, 0xaa, 0x02}), "!\"|_1");
}

TEST(KeyDecoder, CapsLockReachesLettersOnlyAndShiftUndoesIt) {
  EXPECT_EQ(typed({0x3a, 0xba, 0x1e, 0x02, 0x2a, 0x1e, 0xaa, 0x3a, 0xba, 0x1e}), "A1aa");
}

TEST(KeyDecoder, ControlMakesControlCharacters) {
  EXPECT_EQ(typed({0x1d, 0x2e, 0x9d, 0xe0, 0x1d, 0x20, 0xe0, 0x9d, 0x22}), "\x03\x04g");
}

TEST(KeyDecoder, TellsExtendedKeysFromTheKeypad) {
  KeyDecoder decoder;
  EXPECT_FALSE(decoder.decode(0xe0).has_value());
  EXPECT_EQ(decoder.decode(0x48), (KeyEvent{Key::up, true, 0, false, false, false}));
  EXPECT_EQ(decoder.decode(0x48), (KeyEvent{Key{0x48}, true, '8', false, false, false}));
  EXPECT_EQ(typed({0xe0, 0x1c, 0xe0, 0x35, 0x37, 0x4e, 0x53}), "\n/*+.");
}

TEST(KeyDecoder, LeavesOutPretendedShiftsPauseAndWhatIsNoKey) {
  EXPECT_EQ(typed({0xe0, 0x2a, 0xe0, 0x52, 0x1e, 0xe0, 0xd2, 0xe0, 0xaa}), "a");              // Insert, then a
  EXPECT_EQ(typed({0xe1, 0x1d, 0x45, 0xe1, 0x9d, 0xc5, 0x1e, 0xfa, 0xfe, 0x00, 0xff}), "a");  // Pause, then a
}

// An 8042 and a keyboard that obey, or not.
class FakeController : public FakePorts {
 public:
  std::uint8_t test_result = 0x55;
  bool keyboard_answers = true;
  std::uint8_t configuration = 0;
  std::deque<std::uint8_t> output{0x1e};  // typed before anybody listened

  std::uint32_t read(std::uint16_t port, unsigned) override {
    if (port == 0x64) return output.empty() ? 0 : 1;
    if (port != 0x60 || output.empty()) return 0;
    const std::uint8_t value = output.front();
    output.pop_front();
    return value;
  }
  void write(std::uint16_t port, std::uint32_t value, unsigned) override {
    if (port == 0x64 && value == 0xaa) output.push_back(test_result);
    if (port == 0x64 && value == 0xab) output.push_back(0);
    if (port == 0x60 && configuring_) configuration = static_cast<std::uint8_t>(value);
    if (port == 0x60 && value == 0xf4 && keyboard_answers) output.push_back(0xfa);
    configuring_ = port == 0x64 && value == 0x60;
  }

 private:
  bool configuring_ = false;
};

TEST(Keyboard, IsInitialisedBeforeItMayInterrupt) {
  FakeController controller;
  const auto keyboard = std::make_unique<Keyboard>();
  const Result<void> done = keyboard->initialise();
  ASSERT_TRUE(done.ok()) << done.error().text();
  EXPECT_EQ(controller.configuration, 0x40);
  EXPECT_TRUE(controller.output.empty());
  ASSERT_TRUE(keyboard->enable_interrupt().ok());
  EXPECT_EQ(controller.configuration, 0x41);
}

TEST(Keyboard, ThatDoesNotAnswerIsAnErrorInTime) {
  const auto keyboard = std::make_unique<Keyboard>();
  EXPECT_FALSE(keyboard->initialise().ok());  // no ports: always full, never listening
  FakeController broken;
  broken.test_result = 0xfc;
  EXPECT_FALSE(keyboard->initialise().ok());
  broken.test_result = 0x55;
  broken.keyboard_answers = false;
  EXPECT_FALSE(keyboard->initialise().ok());
}

TEST(Keyboard, HandsKeysFromTheHandlerToWhoeverWaits) {
  TestHeap heap;
  Executor executor;
  FakeController controller;
  controller.output.clear();
  const auto keyboard = std::make_unique<Keyboard>();
  ASSERT_TRUE(Task<void>::spawn(executor, keyboard->decode(heap)).ok());
  executor.run_ready();
  controller.output = {0x2a, 0x23, 0xa3};
  arch::TrapFrame frame;
  Keyboard::on_interrupt(keyboard.get(), frame);
  EXPECT_FALSE(keyboard->events().try_receive().has_value());  // the handler did the least
  executor.run_ready();
  EXPECT_EQ(keyboard->events().try_receive()->key, Key::left_shift);
  EXPECT_EQ(keyboard->events().try_receive()->character, 'H');
  EXPECT_FALSE(keyboard->events().try_receive()->pressed);
  keyboard->stop();
  executor.run_ready();
}

TEST(KeyboardController, IsToldByTheTableOrTakenForGranted) {
  TableBuilder table("FACP", 268);
  EXPECT_TRUE(has_keyboard_controller(table.bytes()));  // revision 1
  table.number<std::uint8_t>(8, 6);
  EXPECT_FALSE(has_keyboard_controller(table.bytes()));
  table.number<std::uint16_t>(109, 2);
  EXPECT_TRUE(has_keyboard_controller(table.bytes()));
}

}  // namespace
}  // namespace ingot::os
