#include "cli/open_place.h"

#include "kernels/all_operations.h"
#include "kernels/contract/call_arguments.h"

namespace ingot {

Result<std::unique_ptr<AcceleratorDevice>> open_accelerator(const std::string& path) {
  std::unique_ptr<AcceleratorDevice> accelerator = TRY(AcceleratorDevice::open(path));
  const std::uint64_t ours = contracts_digest(all_operations());
  if (accelerator->identity().contracts_digest == ours) return accelerator;
  return Error::of(ErrorCode::unsupported, "expected an accelerator with this program's ", all_operations().size(),
                   " contracts, found ", accelerator->identity().contracts, " of another version in ",
                   std::string_view(accelerator->information().name), ": start it with this program");
}

Result<std::unique_ptr<Device>> open_place(const std::string& name) {
  if (const auto path = accelerator_path(name)) return std::unique_ptr<Device>(TRY(open_accelerator(*path)));
  return open_device(name);
}

}  // namespace ingot
