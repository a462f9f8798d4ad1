# Declares Hone's own libraries and their tests, one line each.
include(GoogleTest)

# hone_add_part(<dir>): add_subdirectory, unless HONE_PARTS is set and does not name its last folder.
function(hone_add_part dir)
  get_filename_component(name ${dir} NAME)
  if(HONE_PARTS AND NOT name IN_LIST HONE_PARTS)
    return()
  endif()
  add_subdirectory(${dir})
endfunction()

# hone_library(<name> SOURCES … [TESTS …] [DEPENDS <hone part> …] [LIBRARIES <target> …]
#              [TEST_LIBRARIES <target> …])
# Makes hone_<name> and, with TESTS, hone_<name>_test, discovered by CTest under label unit.
function(hone_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;TESTS;DEPENDS;LIBRARIES;TEST_LIBRARIES" ${ARGN})
  add_library(hone_${name} STATIC ${ARG_SOURCES})
  target_include_directories(hone_${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/framework>)
  list(TRANSFORM ARG_DEPENDS PREPEND hone_)
  target_link_libraries(hone_${name} PUBLIC ${ARG_DEPENDS} ${ARG_LIBRARIES}
                        PRIVATE $<BUILD_INTERFACE:hone_warnings>)
  if(ARG_TESTS)
    hone_test(hone_${name}_test SOURCES ${ARG_TESTS} LIBRARIES hone_${name} ${ARG_TEST_LIBRARIES})
  endif()
endfunction()

# hone_test(<target> SOURCES … [LIBRARIES …]): a GoogleTest program, discovered under label unit.
function(hone_test target)
  if(NOT HONE_BUILD_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBRARIES" ${ARGN})
  find_package(GTest REQUIRED)
  add_executable(${target} ${ARG_SOURCES})
  target_link_libraries(${target} PRIVATE ${ARG_LIBRARIES} GTest::gmock GTest::gtest_main hone_warnings)
  gtest_discover_tests(${target} DISCOVERY_MODE PRE_TEST
                       PROPERTIES LABELS unit TIMEOUT 120 ENVIRONMENT "HONE_CUDA_ROOT=${HONE_CUDA_ROOT}")
endfunction()

# hone_bench(<target> SOURCES … [LIBRARIES …]): a Google Benchmark program, with HONE_BUILD_BENCHMARKS.
function(hone_bench target)
  if(NOT HONE_BUILD_BENCHMARKS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBRARIES" ${ARGN})
  find_package(benchmark REQUIRED)
  add_executable(${target} ${ARG_SOURCES})
  target_link_libraries(${target} PRIVATE ${ARG_LIBRARIES} benchmark::benchmark hone_warnings)
endfunction()
