# Benchmarks: `ninja bench` builds them, `make bench` builds and runs them. bench/limit*.c are the bare
# work without leat, compiled for the very machine they run on; bench/leat_<case>.c are leat's side, linked
# to the shared library as a user's program would be; bench/make_data.c makes the corpora.

file(GLOB programs CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/bench/*.c)
if(NOT LEAT_HAVE_ONEDNN)
    list(FILTER programs EXCLUDE REGEX "/limit_(cnn|resnet50)\\.c$")
endif()
if(LEAT_HAVE_GLOO)
    file(GLOB foreign CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/bench/*.cc)
    list(APPEND programs ${foreign})
endif()
add_custom_target(bench)
foreach(source IN LISTS programs)
    get_filename_component(name ${source} NAME_WE)
    add_executable(bench_${name} EXCLUDE_FROM_ALL ${source})
    set_target_properties(bench_${name} PROPERTIES OUTPUT_NAME ${name}
        RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
    if(name MATCHES "^leat_(operators|origins|allreduce|service_transport)$")
        # They use operators of their own, or collectives, which only the library's own headers show.
        target_sources(bench_${name} PRIVATE ${LEAT_OBJECTS})
        target_link_libraries(bench_${name} PRIVATE leati_build)
    elseif(name MATCHES "^leat_")
        target_compile_definitions(bench_${name} PRIVATE _GNU_SOURCE=)
        target_link_libraries(bench_${name} PRIVATE leat Threads::Threads m)
    else()
        target_link_libraries(bench_${name} PRIVATE leati_build)
    endif()
    if(name MATCHES "^limit")
        target_compile_options(bench_${name} PRIVATE -O3 -march=native)
    endif()
    target_compile_options(bench_${name} PRIVATE ${LEAT_OVERRIDING})
    add_dependencies(bench bench_${name})
endforeach()
