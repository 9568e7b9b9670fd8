#include <gtest/gtest.h>

#include <string>

#include "os/device/debug_ports.h"
#include "os/device/fake_ports.h"
#include "os/device/interval_timer.h"

namespace ingot::os {
namespace {

std::string text_written_to(const FakePorts& ports, std::uint16_t port) {
  std::string text;
  for (const auto& [to, value, width] : ports.writes) {
    if (to == port) text.push_back(static_cast<char>(value));
  }
  return text;
}

TEST(DebugPort, IsThereWhenItNamesItself) {
  EXPECT_FALSE(DebugPort::present());  // no ports at all
  FakePorts ports;
  EXPECT_FALSE(DebugPort::present());
  ports.answers[0xe9] = {0xe9};
  EXPECT_TRUE(DebugPort::present());
}

TEST(DebugPort, WritesALine) {
  FakePorts ports;
  DebugPort port;
  port.write_line("frames");
  EXPECT_EQ(text_written_to(ports, 0xe9), "frames\n");
}

TEST(SerialPort, WaitsForRoomAndEndsLinesAsTerminalsWant) {
  FakePorts ports;
  ports.answers[0x3fd] = {0, 0, 0x20};
  SerialPort port;
  port.write_line("hi");
  EXPECT_EQ(text_written_to(ports, 0x3f8), "hi\r\n");
}

TEST(SerialPort, ThatNeverHasRoomIsWrittenToAllTheSame) {
  FakePorts ports;
  ports.answers[0x3fd] = {0};
  SerialPort port;
  port.write_line("");
  EXPECT_EQ(text_written_to(ports, 0x3f8), "\r\n");
}

TEST(IntervalTimer, ReadsTheHeldValueLowByteFirst) {
  FakePorts ports;
  ports.answers[0x61] = {0x32};
  ports.answers[0x42] = {0x34, 0x12};
  IntervalTimer::start();
  EXPECT_EQ(ports.writes.front(), FakePorts::Write(0x61, 0x31, 1));  // gate open, speaker off
  EXPECT_EQ(IntervalTimer::read(), 0x1234);
  EXPECT_EQ(ports.writes.back(), FakePorts::Write(0x43, 0x80, 1));
}

}  // namespace
}  // namespace ingot::os
