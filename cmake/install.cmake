# What `make install` puts where: headers, both libraries with printers for gdb, the tool with its manual page
# and completion, the CMake package (leat::leat and leat::leat_static) and leat.pc.

include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/leat)

install(DIRECTORY include/leat DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(TARGETS leat leat_static EXPORT leat_targets)
# In a folder beside the library, which loads them; the tool finds them in ../lib/leat.
if(LEAT_MODULES)
    install(TARGETS ${LEAT_MODULES} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/leat)
endif()
# gdb reads it with the library, where the folder is in its auto-load safe-path.
install(FILES tools/gdb/leat.py DESTINATION ${CMAKE_INSTALL_LIBDIR}
    RENAME libleat.so.${PROJECT_VERSION}-gdb.py)
if(TARGET leat_tool)
    install(TARGETS leat_tool)
    # What `leat demo` trains on.
    install(FILES data/digits/digits-train.tfrecord data/digits/digits-test.tfrecord data/digits/README.md
        DESTINATION ${CMAKE_INSTALL_DATADIR}/leat/digits)
    # The tool prints its own manual page and completion. Built for another processor, without an
    # emulator, it cannot.
    if(NOT CMAKE_CROSSCOMPILING OR CMAKE_CROSSCOMPILING_EMULATOR)
        set(shared ${PROJECT_BINARY_DIR}/share)
        add_custom_command(OUTPUT ${shared}/leat.1 ${shared}/leat.bash
            COMMAND ${CMAKE_COMMAND} -E make_directory ${shared}
            COMMAND leat_tool help --man > ${shared}/leat.1
            COMMAND leat_tool completion bash > ${shared}/leat.bash
            DEPENDS leat_tool VERBATIM)
        add_custom_target(leat_manual ALL DEPENDS ${shared}/leat.1 ${shared}/leat.bash)
        install(FILES ${shared}/leat.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
        install(FILES ${shared}/leat.bash
            DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME leat)
    endif()
endif()
install(EXPORT leat_targets FILE leat-targets.cmake NAMESPACE leat:: DESTINATION ${package_dir})

configure_package_config_file(cmake/leat-config.cmake.in ${PROJECT_BINARY_DIR}/leat-config.cmake
    INSTALL_DESTINATION ${package_dir} NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/leat-config-version.cmake
    COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/leat-config.cmake ${PROJECT_BINARY_DIR}/leat-config-version.cmake
    DESTINATION ${package_dir})

list(TRANSFORM LEAT_LINK_NAMES PREPEND "-l" OUTPUT_VARIABLE private_libs)
list(JOIN private_libs " " LEAT_PRIVATE_LIBS)
# The prefix is found from the place of the file itself, so an installed tree can be moved.
file(RELATIVE_PATH LEAT_PC_TO_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/leat.pc.in ${PROJECT_BINARY_DIR}/leat.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/leat.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
