/* Drivers: one thread each, started and joined by the operator that owns it. No locks here. */
#include "run/driver.h"

#include "base/alloc.h"
#include "base/error.h"
#include "run/thread.h"

struct leati_driver {
    leati_thread thread;
    void (*main)(void *context);
    void *context;
    bool is_local; /* whoever started it works for a stranger's plan, and so does it */
};

static void run_driver(void *context) {
    leati_driver *driver = context;
    if (driver->is_local)
        (void)leati_stop_enter_local();
    driver->main(driver->context);
}

leati_driver *leati_driver_start(const char *name, void (*main)(void *context), void *context,
                                 leat_error *err) {
    leati_driver *driver = leati_alloc_zero(1, sizeof *driver);
    if (driver == NULL) {
        (void)leati_no_memory(err);
        return NULL;
    }
    *driver = (leati_driver){.main = main, .context = context, .is_local = leati_stop_is_local()};
    if (leati_thread_start(&driver->thread, name, run_driver, driver, err) != LEAT_OK) {
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
