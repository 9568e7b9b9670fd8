// An object of its own: an image that defines its list does not link this one.
#include "os/boot/subsystem.h"

namespace ingot::os {

constinit const Subsystem* const linked_subsystems[] = {nullptr};

}  // namespace ingot::os
