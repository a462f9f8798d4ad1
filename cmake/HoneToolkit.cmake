# The CUDA toolkit: HONE_CUDA_ROOT, else CUDA_HOME, else /usr/local/cuda, else the wheels that
# bootstrap.sh unpacked into the build tree.
# Sets HONE_CUDA_ROOT, HONE_NVCC, HONE_CUDA_INCLUDE (list), HONE_CUDART (libcudart.so), HONE_CUDART_DIR.
set(HONE_CUDA_ROOT "" CACHE PATH "Root of a CUDA 13 toolkit (empty: search)")

function(_hone_find_toolkit)
  foreach(root "${HONE_CUDA_ROOT}" "$ENV{CUDA_HOME}" /usr/local/cuda
               ${CMAKE_BINARY_DIR}/deps/cuda ${CMAKE_SOURCE_DIR}/build/deps/cuda)
    if(root AND EXISTS ${root}/bin/nvcc)
      set(HONE_CUDA_ROOT ${root} CACHE PATH "" FORCE)
      break()
    endif()
  endforeach()
endfunction()
_hone_find_toolkit()

if(NOT EXISTS "${HONE_CUDA_ROOT}/bin/nvcc")
  message(FATAL_ERROR "No CUDA toolkit found: set HONE_CUDA_ROOT, or run ./bootstrap.sh, which "
                      "brings one into build/deps/cuda.")
endif()
set(HONE_NVCC ${HONE_CUDA_ROOT}/bin/nvcc CACHE INTERNAL "")
set(include ${HONE_CUDA_ROOT}/include)
if(EXISTS ${HONE_CUDA_ROOT}/include/cccl)
  list(APPEND include ${HONE_CUDA_ROOT}/include/cccl)
endif()
set(HONE_CUDA_INCLUDE ${include} CACHE INTERNAL "")
# A fresh name for each toolkit, so that a changed HONE_CUDA_ROOT is noticed.
unset(HONE_CUDART CACHE)
find_library(HONE_CUDART NAMES cudart libcudart.so.13 NO_DEFAULT_PATH
             PATHS ${HONE_CUDA_ROOT}/lib64 ${HONE_CUDA_ROOT}/lib)
get_filename_component(dir ${HONE_CUDART} DIRECTORY)
set(HONE_CUDART_DIR ${dir} CACHE INTERNAL "")
