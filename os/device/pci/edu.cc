#include "os/device/pci/edu.h"

namespace ingot::os {

namespace {

constexpr std::uint64_t edu_buffer = 0x40000;  // as the device calls it itself

Result<void> check_reach(PhysicalAddress memory, std::uint32_t bytes) {
  if (bytes <= Edu::most_bytes && memory.value() < Edu::reach && bytes <= Edu::reach - memory.value()) return {};
  return Error::of(ErrorCode::out_of_range, "expected at most ", Edu::most_bytes, " bytes below ",
                   PhysicalAddress(Edu::reach), ", found ", bytes, " at ", memory);
}

}  // namespace

Result<Edu> Edu::create(Registers& registers) {
  const std::uint32_t found = registers.read(identity);
  if ((found & 0xff) == 0xed) return Edu(registers);
  return Error::of(ErrorCode::corrupt, "expected an edu device, found identity ", found);
}

void Edu::start_factorial(std::uint32_t number) {
  constexpr std::uint32_t interrupt_when_done = 0x80;
  registers_->write(status, interrupt_when_done);
  registers_->write(factorial_at, number);
}

Result<void> Edu::start_copy(std::uint64_t source, std::uint64_t target, std::uint32_t bytes, std::uint32_t command) {
  constexpr std::uint32_t start = 1, interrupt_when_done = 4;
  registers_->write(copy_source, static_cast<std::uint32_t>(source));
  registers_->write(copy_target, static_cast<std::uint32_t>(target));
  registers_->write(copy_bytes, bytes);
  registers_->write(copy_command, command | start | interrupt_when_done);
  return {};
}

Result<void> Edu::start_copy_from(PhysicalAddress memory, std::uint32_t bytes) {
  TRY(check_reach(memory, bytes));
  return start_copy(memory.value(), edu_buffer, bytes, 0);
}

Result<void> Edu::start_copy_to(PhysicalAddress memory, std::uint32_t bytes) {
  TRY(check_reach(memory, bytes));
  constexpr std::uint32_t to_memory = 2;
  return start_copy(edu_buffer, memory.value(), bytes, to_memory);
}

std::uint32_t Edu::acknowledge() {
  const std::uint32_t cause = registers_->read(interrupt_cause);
  if (cause != 0) registers_->write(interrupt_taken, cause);
  return cause;
}

}  // namespace ingot::os
