/* What leat_service_security said, as an object that a dataset's arguments keep. It is written
 * nowhere: a plan that is read from JSON has what the environment says. */
#ifndef LEATI_SERVICE_CLIENT_CREDENTIALS_H
#define LEATI_SERVICE_CLIENT_CREDENTIALS_H

#include "core/object.h"
#include <leat/service.h>

/* A copy, owned: leati_object_unref. *out is NULL where nothing is said. */
LEAT_WARN_UNUSED leat_status leati_client_credentials_new(const leat_service_security *security,
                                                          leat_object **out, leat_error *err);
/* Borrowed from the object; NULL of NULL. */
const leat_service_security *leati_client_credentials(const leat_object *credentials);

#endif
