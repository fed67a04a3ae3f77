/* The functions that machine code of numba expects: memory with counted references, and some of numba's own.
   Neither numba nor Python is needed. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#define LOCAL __attribute__((visibility("hidden")))
typedef void (*destructor)(void *data, size_t size, void *info);

/* As in numba's nrt.h: machine code reads the first and the fourth field. */
typedef struct {
    size_t references;
    destructor destroy;
    void *info;
    void *data;
    size_t size;
    void *allocator;
} Owner;

LOCAL void *NRT_Allocate(size_t size) { return malloc(size); }
LOCAL void NRT_Free(void *place) { free(place); }

LOCAL Owner *NRT_MemInfo_alloc_aligned(size_t size, unsigned alignment) {
    size_t most = sizeof(Owner) + (size_t)alignment;
    if (size > SIZE_MAX - most) return NULL;
    Owner *owner = malloc(most + size);
    if (owner == NULL) return NULL;
    uintptr_t place = (uintptr_t)(owner + 1);
    if (alignment > 1) place = (place + alignment - 1) / alignment * alignment;
    owner->references = 1;
    owner->destroy = NULL;
    owner->info = owner->allocator = NULL;
    owner->data = (void *)place;
    owner->size = size;
    return owner;
}

LOCAL Owner *NRT_MemInfo_alloc(size_t size) { return NRT_MemInfo_alloc_aligned(size, 0); }
LOCAL Owner *NRT_MemInfo_alloc_safe_aligned(size_t size, unsigned alignment) {
    return NRT_MemInfo_alloc_aligned(size, alignment);
}

LOCAL void NRT_MemInfo_call_dtor(Owner *owner) {
    if (owner->destroy) owner->destroy(owner->data, owner->size, owner->info);
    free(owner);
}

static void free_list(void *data, size_t size, void *info) {
    if (info) ((destructor)info)(data, size, NULL);
    free(data);
}

LOCAL Owner *NRT_MemInfo_new_varsize_dtor(size_t size, destructor destroy) {
    Owner *owner = NRT_MemInfo_alloc(0);
    void *data = malloc(size ? size : 1);
    if (owner == NULL || data == NULL) {
        free(owner);
        free(data);
        return NULL;
    }
    owner->destroy = free_list;
    owner->info = (void *)destroy;
    owner->data = data;
    owner->size = size;
    return owner;
}

LOCAL void *NRT_MemInfo_varsize_realloc(Owner *owner, size_t size) {
    void *data = realloc(owner->data, size ? size : 1);
    if (data == NULL) return NULL;
    owner->data = data;
    owner->size = size;
    return data;
}

/* For holdfast: Python has copied an array. */
void holdfast_release(Owner *owner) {
    if (__atomic_sub_fetch(&owner->references, 1, __ATOMIC_ACQ_REL) == 0) NRT_MemInfo_call_dtor(owner);
}

LOCAL double numba_frexp(double x, int *exponent) {
    if (isfinite(x) && x != 0.0) return frexp(x, exponent);
    *exponent = 0;
    return x;
}
LOCAL double numba_ldexp(double x, int exponent) { return isfinite(x) && x != 0.0 && exponent ? ldexp(x, exponent) : x; }

/* Only an array in C order is given another shape; for all else the answer is "a copy is needed". */
LOCAL int numba_attempt_nocopy_reshape(intptr_t ndim, const intptr_t *shape, const intptr_t *strides, intptr_t new_ndim,
                                       const intptr_t *new_shape, intptr_t *new_strides, intptr_t bytes, int fortran) {
    intptr_t step = bytes, count = 1, wanted = 1;
    if (fortran) return 0;
    for (intptr_t i = ndim - 1; i >= 0; i--) {
        if (shape[i] != 1 && strides[i] != step) return 0;
        step *= shape[i];
        count *= shape[i];
    }
    for (intptr_t i = 0; i < new_ndim; i++) wanted *= new_shape[i];
    if (wanted != count) return 0;
    step = bytes;
    for (intptr_t i = new_ndim - 1; i >= 0; i--) {
        new_strides[i] = step;
        step *= new_shape[i];
    }
    return 1;
}

/* Machine code returns a status after it: `PrebuiltState` raises the error. */
LOCAL void PyErr_SetString(void *kind, const char *text) { (void)kind, (void)text; }
LOCAL void *PyExc_RuntimeError;
