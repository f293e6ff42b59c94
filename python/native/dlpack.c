/* DLPack: tensors out to and in from other libraries without a copy.
 *
 * A capsule named "dltensor" or "dltensor_versioned" holds a struct of DLPack's whose deleter is
 * called once by whoever consumes it; a capsule that nobody consumed calls it itself. What comes in
 * must lie in the host's memory, row by row without gaps. The structs are those of DLPack 1.0, both
 * the older form and the one with a version and flags. */
#include "native.h"

enum { DEVICE_CPU = 1, DEVICE_CUDA_HOST = 3 };
enum {
    CODE_INT = 0,
    CODE_UINT = 1,
    CODE_FLOAT = 2,
    CODE_BFLOAT = 4,
    CODE_COMPLEX = 5,
    CODE_BOOL = 6
};
enum { FLAG_READ_ONLY = 1 };

typedef struct dl_device {
    int32_t type;
    int32_t id;
} dl_device;

typedef struct dl_dtype {
    uint8_t code;
    uint8_t bits;
    uint16_t lanes;
} dl_dtype;

typedef struct dl_tensor {
    void *data;
    dl_device device;
    int32_t ndim;
    dl_dtype dtype;
    int64_t *shape;
    int64_t *strides; /* in values; NULL: row by row */
    uint64_t byte_offset;
} dl_tensor;

typedef struct dl_managed {
    dl_tensor tensor;
    void *context;
    void (*deleter)(struct dl_managed *self);
} dl_managed;

typedef struct dl_versioned {
    uint32_t major, minor;
    void *context;
    void (*deleter)(struct dl_versioned *self);
    uint64_t flags;
    dl_tensor tensor;
} dl_versioned;

static const char *const old_name = "dltensor";
static const char *const new_name = "dltensor_versioned";

/* ---- dtypes ---- */

/* The form of a dtype in DLPack; false: it has none. */
static bool dtype_out(leat_dtype dtype, dl_dtype *out) {
    *out = (dl_dtype){.bits = (uint8_t)(8 * leat_dtype_size(dtype)), .lanes = 1};
    switch (dtype) {
    case LEAT_BOOL: out->code = CODE_BOOL; return true;
    case LEAT_INT8:
    case LEAT_INT16:
    case LEAT_INT32:
    case LEAT_INT64: out->code = CODE_INT; return true;
    case LEAT_UINT8:
    case LEAT_UINT16:
    case LEAT_UINT32:
    case LEAT_UINT64: out->code = CODE_UINT; return true;
    case LEAT_FLOAT16:
    case LEAT_FLOAT32:
    case LEAT_FLOAT64: out->code = CODE_FLOAT; return true;
    case LEAT_BFLOAT16: out->code = CODE_BFLOAT; return true;
    case LEAT_COMPLEX64:
    case LEAT_COMPLEX128: out->code = CODE_COMPLEX; return true;
    default: return false;
    }
}

static int dtype_in(dl_dtype dtype, leat_dtype *out) {
    for (int number = 0; dtype.lanes == 1 && number < LEAT_NUM_DTYPES; number++) {
        dl_dtype known;
        if (dtype_out((leat_dtype)number, &known) && known.code == dtype.code &&
            known.bits == dtype.bits) {
            *out = (leat_dtype)number;
            return 0;
        }
    }
    PyErr_Format(PyExc_TypeError,
                 "DLPack dtype code %d with %d bits and %d lanes has no dtype here", dtype.code,
                 dtype.bits, dtype.lanes);
    return -1;
}

/* ---- out ---- */

/* What a consumer gets: one of the two structs, and the shape. */
typedef struct exported {
    PyObject *owner;
    int64_t dims[2 * LEAT_MAX_RANK];
    union {
        dl_managed old;
        dl_versioned versioned;
    } form;
} exported;

static void release_exported(void *context) {
    exported *out = context;
    Py_XDECREF(out->owner);
    free(out);
}

static void delete_old(dl_managed *self) {
    native_release_later(release_exported, self->context);
}

static void delete_versioned(dl_versioned *self) {
    native_release_later(release_exported, self->context);
}

static void drop_capsule(PyObject *capsule) {
    if (PyCapsule_IsValid(capsule, old_name)) {
        dl_managed *managed = PyCapsule_GetPointer(capsule, old_name);
        managed->deleter(managed);
    } else if (PyCapsule_IsValid(capsule, new_name)) {
        dl_versioned *managed = PyCapsule_GetPointer(capsule, new_name);
        managed->deleter(managed);
    }
}

static void describe(exported *out, const leat_tensor *tensor, dl_dtype dtype, dl_tensor *view) {
    int64_t stride = 1;
    for (int32_t d = tensor->rank - 1; d >= 0; d--) {
        out->dims[d] = tensor->dims[d];
        out->dims[LEAT_MAX_RANK + d] = stride;
        stride *= tensor->dims[d];
    }
    *view = (dl_tensor){
        .data = tensor->data,
        .device = {.type = DEVICE_CPU},
        .ndim = tensor->rank,
        .dtype = dtype,
        .shape = out->dims,
        .strides = out->dims + LEAT_MAX_RANK,
    };
}

PyObject *native_to_dlpack(PyObject *module, PyObject *args) {
    (void)module;
    PyObject *object = NULL;
    int versioned = 0;
    dl_dtype dtype;
    if (!PyArg_ParseTuple(args, "Op", &object, &versioned))
        return NULL;
    const leat_tensor *tensor = native_tensor_of(object);
    if (tensor == NULL)
        return NULL;
    if (!dtype_out(tensor->dtype, &dtype)) {
        PyErr_Format(PyExc_TypeError, "tensors of %s have no form in DLPack",
                     leat_dtype_name(tensor->dtype));
        return NULL;
    }
    exported *out = calloc(1, sizeof(*out));
    if (out == NULL)
        return PyErr_NoMemory();
    out->owner = Py_NewRef(object);
    void *form = &out->form.old;
    if (versioned) {
        out->form.versioned = (dl_versioned){
            .major = 1, .context = out, .deleter = delete_versioned, .flags = FLAG_READ_ONLY};
        describe(out, tensor, dtype, &out->form.versioned.tensor);
        form = &out->form.versioned;
    } else {
        out->form.old = (dl_managed){.context = out, .deleter = delete_old};
        describe(out, tensor, dtype, &out->form.old.tensor);
    }
    PyObject *capsule = PyCapsule_New(form, versioned ? new_name : old_name, drop_capsule);
    if (capsule == NULL)
        release_exported(out);
    return capsule;
}

/* ---- in ---- */

static void release_old(void *context) {
    dl_managed *managed = context;
    if (managed->deleter != NULL)
        managed->deleter(managed);
}

static void release_versioned(void *context) {
    dl_versioned *managed = context;
    if (managed->deleter != NULL)
        managed->deleter(managed);
}

static void old_deleter(void *context, void *data, size_t size) {
    (void)data;
    (void)size;
    native_release_later(release_old, context);
}

static void versioned_deleter(void *context, void *data, size_t size) {
    (void)data;
    (void)size;
    native_release_later(release_versioned, context);
}

/* Dtype, shape and place of a foreign tensor; `owner` is left out. */
static int view_of(const dl_tensor *foreign, leat_tensor *out) {
    if (foreign->device.type != DEVICE_CPU && foreign->device.type != DEVICE_CUDA_HOST) {
        PyErr_Format(PyExc_BufferError,
                     "the tensor lies on a device of DLPack's type %d; copy it to the host first",
                     (int)foreign->device.type);
        return -1;
    }
    if (foreign->ndim < 0 || foreign->ndim > LEAT_MAX_RANK) {
        PyErr_Format(PyExc_ValueError, "an array of %d dimensions; a tensor has at most %d",
                     (int)foreign->ndim, LEAT_MAX_RANK);
        return -1;
    }
    if (dtype_in(foreign->dtype, &out->dtype) != 0)
        return -1;
    out->rank = foreign->ndim;
    int64_t stride = 1;
    bool dense = true;
    for (int32_t d = out->rank - 1; d >= 0; d--) {
        out->dims[d] = foreign->shape[d];
        dense = dense && (foreign->strides == NULL || foreign->shape[d] <= 1 ||
                          foreign->strides[d] == stride);
        stride *= foreign->shape[d];
    }
    out->data = (char *)foreign->data + foreign->byte_offset;
    if (!dense && leat_tensor_count(out) > 0) {
        PyErr_SetString(PyExc_BufferError,
                        "the tensor has gaps or another order of its dimensions; make it "
                        "contiguous first");
        return -1;
    }
    return 0;
}

PyObject *native_from_dlpack(PyObject *module, PyObject *capsule) {
    (void)module;
    leat_tensor tensor = {0};
    leat_error err = {0};
    bool versioned = PyCapsule_IsValid(capsule, new_name) != 0;
    if (!versioned && !PyCapsule_IsValid(capsule, old_name)) {
        PyErr_SetString(PyExc_ValueError, "expected a DLPack capsule that was not consumed before");
        return NULL;
    }
    void *managed = PyCapsule_GetPointer(capsule, versioned ? new_name : old_name);
    if (versioned && ((dl_versioned *)managed)->major > 1) {
        PyErr_Format(PyExc_BufferError, "DLPack version %u; expected at most 1",
                     (unsigned)((dl_versioned *)managed)->major);
        return NULL;
    }
    const dl_tensor *foreign =
        versioned ? &((dl_versioned *)managed)->tensor : &((dl_managed *)managed)->tensor;
    if (view_of(foreign, &tensor) != 0)
        return NULL;
    tensor.owner = leat_buffer_adopt(tensor.data, leat_tensor_bytes(&tensor),
                                     versioned ? versioned_deleter : old_deleter, managed, &err);
    /* On failure the deleter has been called already: the capsule is used up either way. */
    PyCapsule_SetName(capsule, versioned ? "used_dltensor_versioned" : "used_dltensor");
    return tensor.owner == NULL ? native_raise(&err) : native_tensor_new(&tensor);
}

PyObject *native_give(PyObject *module, PyObject *tensor) {
    (void)module;
    if (native_tensor_of(tensor) == NULL)
        return NULL;
    ((native_tensor *)tensor)->is_given = true;
    return Py_NewRef(tensor);
}
