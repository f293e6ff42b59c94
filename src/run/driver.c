/* Drivers: one thread each, started and joined by the operator that owns it. No locks here. */
#include "run/driver.h"

#include "base/alloc.h"
#include "base/error.h"
#include "run/thread.h"

struct leati_driver {
    leati_thread thread;
};

leati_driver *leati_driver_start(const char *name, void (*main)(void *context), void *context,
                                 leat_error *err) {
    leati_driver *driver = leati_alloc_zero(1, sizeof *driver);
    if (driver == NULL) {
        (void)leati_no_memory(err);
        return NULL;
    }
    if (leati_thread_start(&driver->thread, name, main, context, err) != LEAT_OK) {
        leati_free(driver);
        return NULL;
    }
    return driver;
}

void leati_driver_join(leati_driver *driver) {
    if (driver == NULL)
        return;
    pthread_join(driver->thread.handle, NULL);
    leati_free(driver);
}
