#include "os/device/devices.h"

#include "os/boot/kernel.h"

namespace ingot::os {

void Devices::start(Kernel& kernel) {
  const auto tell = [&](std::string_view device, const Result<void>& started) {
    if (!started.ok()) kernel.log.warning(device, ": ", started.error());
  };
  tell("screen", start_screen(kernel));
  tell("power", start_power(kernel));
  tell("wall clock", start_wall_clock(kernel));
}

Result<void> Devices::start_power(Kernel& kernel) {
  if (kernel.acpi.tables() == nullptr) return {};  // the log says so already
  return kernel.power.learn(*kernel.acpi.tables(), [&](PhysicalAddress address, std::uint64_t bytes) {
    return kernel.memory->map_device(address, bytes, CacheMode::uncached);
  });
}

Result<void> Devices::start_wall_clock(Kernel& kernel) {
  std::uint8_t century_register = 0;
  if (const AcpiTables* tables = kernel.acpi.tables()) {
    const Result<TableBytes> fadt = tables->find("FACP");
    if (fadt.ok()) century_register = parse_century_register(fadt.value());
  }
  const DateTime date = TRY(read_real_time_clock(century_register));
  wall_clock_.emplace(date, kernel.now());
  kernel.log.information("wall clock: ", date.seconds_since_1970(), " s since 1970");
  return {};
}

Result<void> Devices::start_screen(Kernel& kernel) {
  if (const std::optional<Framebuffer>& found = kernel.boot_info.framebuffer) {
    const std::uint64_t bytes = std::uint64_t{found->pitch} * found->height;
    const VirtualAddress pixels = TRY(kernel.memory->map_device(found->address, bytes, CacheMode::write_combining));
    framebuffer_ = TRY(FramebufferText::create(*found, reinterpret_cast<std::byte*>(pixels.value())));
    screen_.emplace(*framebuffer_);
  } else if (const std::optional<VgaText::Size> size = VgaText::size()) {
    const VirtualAddress cells =
        TRY(kernel.memory->map_device(VgaText::memory, VgaText::memory_bytes, CacheMode::uncached));
    vga_.emplace(*size, reinterpret_cast<std::uint16_t*>(cells.value()));
    screen_.emplace(*vga_);
  } else {
    return {};  // as most servers
  }
  // What was said before there was a screen.
  kernel.log.visit_kept([&](std::string_view line) { screen_->write_line(line); });
  if (!kernel.log.add_sink(*screen_, LogLevel::information)) {
    return Error::of(ErrorCode::out_of_range, "expected room for one more sink of the log, found none");
  }
  kernel.log.information("screen: ", screen_->columns(), " by ", screen_->rows(), " characters, ",
                         framebuffer_ ? "drawn" : "by the card");
  return {};
}

}  // namespace ingot::os
