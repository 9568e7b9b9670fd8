#include "os/device/devices.h"

#include "os/boot/kernel.h"
#include "os/device/emulator_settings.h"

namespace ingot::os {

void Devices::start(Kernel& kernel) {
  const auto tell = [&](std::string_view device, const Result<void>& started) {
    if (!started.ok()) kernel.log.warning(device, ": ", started.error());
  };
  tell("emulator's settings", read_emulator_settings(kernel));
  tell("screen", start_screen(kernel));
  tell("power", start_power(kernel));
  tell("power button", start_power_button(kernel));
  tell("wall clock", start_wall_clock(kernel));
  tell("keyboard", start_keyboard(kernel));
}

// Behind the words of the loader: what the emulator was told, the program's arguments for one. By PVH it is the loader.
Result<void> Devices::read_emulator_settings(Kernel& kernel) {
  if (kernel.boot_info.loader == LoaderProtocol::pvh) return {};
  auto& line = kernel.boot_info.command_line;
  char room[BootInfo::command_line_capacity];
  const std::size_t free = BootInfo::command_line_capacity - line.view().size();
  const auto words =
      TRY(EmulatorSettings::read("opt/ingot/command-line", std::span(room).first(free > 0 ? free - 1 : 0)));
  if (!words) return {};
  kernel.log.information("boot: the emulator adds \"", *words, "\"");
  line.append(" ");
  line.append(*words);
  return {};
}

Result<void> Devices::start_power(Kernel& kernel) {
  if (kernel.acpi.tables() == nullptr) return {};  // the log says so already
  return kernel.power.learn(*kernel.acpi.tables(), [&](PhysicalAddress address, std::uint64_t bytes) {
    return kernel.memory->map_device(address, bytes, CacheMode::uncached);
  });
}

Result<void> Devices::start_power_button(Kernel& kernel) {
  const ButtonPlace& place = kernel.power.button();
  InterruptController& controller = kernel.controller();
  InterruptLine line;
  if (place.fixed) {
    kernel.power.enable_acpi();
    line = place.fixed->line(kernel.acpi.interrupts(), controller);
    power_button_.start({kernel.log, controller, line.number}, *place.fixed);
  } else if (place.event_device) {
    line = place.event_device->line;
    power_events_ =
        MappedRegisters(TRY(kernel.memory->map_device(place.event_device->selector, 4, CacheMode::uncached)));
    power_button_.start({kernel.log, controller, line.number}, power_events_);
  } else {
    return Error::of(ErrorCode::unsupported, "expected fixed registers or QEMU's event device, found neither");
  }
  TRY(controller.connect(kernel.interrupts, line, {PowerButton::on_interrupt, &power_button_}, 0));
  power_button_.look();  // a press before raises no edge any more
  kernel.log.information("power button: ready");
  return {};
}

Result<void> Devices::start_wall_clock(Kernel& kernel) {
  const DateTime date = TRY(read_real_time_clock(parse_century_register(kernel.acpi.table_or_nothing("FACP"))));
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
  kernel.log.visit_kept([&](std::string_view line) {
    if (!line.starts_with(Log::prefix_of(LogLevel::debug))) screen_->write_line(line);
  });
  if (!kernel.log.add_sink(*screen_, LogLevel::information)) {
    return Error::of(ErrorCode::out_of_range, "expected room for one more sink of the log, found none");
  }
  kernel.log.information("screen: ", screen_->columns(), " by ", screen_->rows(), " characters, ",
                         framebuffer_ ? "drawn" : "by the card");
  return {};
}

Result<void> Devices::start_keyboard(Kernel& kernel) {
  if (!has_keyboard_controller(kernel.acpi.table_or_nothing("FACP"))) return {};
  Keyboard& keyboard = keyboard_.emplace();
  if (const Result<void> done = keyboard.initialise(); !done.ok()) {
    keyboard_.reset();
    return done.error();
  }
  TRY(Task<void>::spawn(executor_, keyboard.decode(kernel.memory->heap())));
  executor_thread_.emplace(
      TRY(spawn(kernel, "drivers", [](Executor& executor) { executor.run_until([] { return false; }); }, executor_)));
  InterruptController& controller = kernel.controller();
  TRY(controller.connect(kernel.interrupts, controller.isa_line(Keyboard::isa_interrupt),
                         {Keyboard::on_interrupt, &keyboard}, 0));
  TRY(keyboard.enable_interrupt());
  kernel.log.information("keyboard: ready");
  return {};
}

}  // namespace ingot::os
