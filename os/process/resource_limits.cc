#include "os/process/resource_limits.h"

namespace ingot::os {

Answer<void> ResourceLimits::change(Resource resource, ResourceLimit wanted) {
  if (wanted.current > wanted.most) return Errno::einval;
  if (wanted.most > of(resource).most) return Errno::eperm;
  start(resource, wanted);
  return {};
}

}  // namespace ingot::os
