# cmake --install and CPack. Programs find each other by where they are, so that the tree can be
# moved: lib/hone/bin and lib/hone/lib/cudasim as in the build tree, bin/hone a link to the former.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(programs ${CMAKE_INSTALL_LIBDIR}/hone/bin)
set(config ${CMAKE_INSTALL_LIBDIR}/cmake/Hone)
set(HONE_INSTALL_DATA ${CMAKE_INSTALL_DATADIR}/hone)

install(TARGETS hone hone_candidate hone_confine hone_canary EXPORT HoneTargets
        RUNTIME DESTINATION ${programs})
install(TARGETS cudasim EXPORT HoneTargets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/hone/lib/cudasim)
install(TARGETS hone_oracle hone_oracle_verify hone_oracle_bench hone_storage hone_process
                hone_diagnostic EXPORT HoneTargets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}/hone
        INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/hone)
# cmake --install --strip leaves archives alone, whose debug information names the build tree.
install(CODE "
  if(CMAKE_INSTALL_DO_STRIP)
    file(GLOB archives \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/hone/*.a\")
    execute_process(COMMAND ${CMAKE_STRIP} --strip-debug \${archives} COMMAND_ERROR_IS_FATAL ANY)
  endif()")
install(EXPORT HoneTargets NAMESPACE Hone:: DESTINATION ${config})
install(CODE "
  set(bin \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}\")
  file(MAKE_DIRECTORY \"\${bin}\")
  file(RELATIVE_PATH target \"/${CMAKE_INSTALL_BINDIR}\" \"/${programs}/hone\")
  file(CREATE_LINK \"\${target}\" \"\${bin}/hone\" SYMBOLIC)")

foreach(part diagnostic storage process oracle)
  install(DIRECTORY framework/${part} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/hone
          FILES_MATCHING PATTERN "*.hpp" PATTERN host_candidate.hpp EXCLUDE)
endforeach()
install(FILES framework/cudasim/cudasim.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/hone/cudasim)

get_property(suites GLOBAL PROPERTY HONE_suites_NAMES)
foreach(suite IN LISTS suites)
  install(TARGETS ${suite}_verify ${suite}_bench EXPORT HoneTargets
          RUNTIME DESTINATION ${programs})
  install(FILES suites/${suite}/op.h DESTINATION ${HONE_INSTALL_DATA}/suites/${suite})
  install(DIRECTORY suites/${suite}/cases DESTINATION ${HONE_INSTALL_DATA}/suites/${suite})
endforeach()
install(FILES suites/null.cuh DESTINATION ${HONE_INSTALL_DATA}/suites)

configure_package_config_file(cmake/HoneConfig.cmake.in ${PROJECT_BINARY_DIR}/HoneConfig.cmake
                              INSTALL_DESTINATION ${config})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/HoneConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/HoneConfig.cmake ${PROJECT_BINARY_DIR}/HoneConfigVersion.cmake
              cmake/HoneManifest.cmake cmake/HoneSkills.cmake cmake/HoneSuites.cmake
              cmake/HoneToolkit.cmake
        DESTINATION ${config})

set(CPACK_PACKAGE_NAME hone)
set(CPACK_PACKAGE_CONTACT "The Hone authors <hone@example.org>")
set(CPACK_GENERATOR DEB TGZ)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/lib/cudasim)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "bubblewrap")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS
    "cmake (>= 3.25), g++, libfmt-dev, nlohmann-json3-dev, libssl-dev, libcli11-dev, libgtest-dev, libbenchmark-dev, libtbb-dev")
include(CPack)
