// How the page of an inspection looks, in light and in dark.
#pragma once

namespace burin {

/// Style sheet; classes of kernels have the names that dialect/kernel_class.h gives them.
const char *inspectionStyle();

} // namespace burin
