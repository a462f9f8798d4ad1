# The public CMake functions.
