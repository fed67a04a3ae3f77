; The functions that machine code of numba expects: memory with counted references, and some of numba's own.
; They are linked into each object. Neither numba nor Python is needed, only the C library.

; As in numba's nrt.h, whose machine code reads the references and the data:
; references, destructor(data, size, info), info, data, size, allocator
%Owner = type { i64, ptr, ptr, ptr, i64, ptr }

declare ptr @malloc(i64)
declare ptr @realloc(ptr, i64)
declare void @free(ptr)
declare double @frexp(double, ptr)
declare double @ldexp(double, i32)
declare double @llvm.fabs.f64(double)

define ptr @NRT_Allocate(i64 %size) {
  %place = call ptr @malloc(i64 %size)
  ret ptr %place
}

define void @NRT_Free(ptr %place) {
  call void @free(ptr %place)
  ret void
}

define ptr @NRT_MemInfo_alloc_aligned(i64 %size, i32 %alignment) {
  %step = zext i32 %alignment to i64
  %head = add i64 %step, 48
  %whole = add i64 %head, %size
  %wraps = icmp ult i64 %whole, %size
  br i1 %wraps, label %none, label %ask
ask:
  %owner = call ptr @malloc(i64 %whole)
  %missing = icmp eq ptr %owner, null
  br i1 %missing, label %none, label %made
made:
  %after = getelementptr i8, ptr %owner, i64 48
  %address = ptrtoint ptr %after to i64
  %aligns = icmp ugt i64 %step, 1
  %unit = select i1 %aligns, i64 %step, i64 1
  %rest = urem i64 %address, %unit
  %none_left = icmp eq i64 %rest, 0
  %missing_bytes = sub i64 %unit, %rest
  %gap = select i1 %none_left, i64 0, i64 %missing_bytes
  %data = getelementptr i8, ptr %after, i64 %gap
  store i64 1, ptr %owner
  %destroy_at = getelementptr %Owner, ptr %owner, i32 0, i32 1
  store ptr null, ptr %destroy_at
  %info_at = getelementptr %Owner, ptr %owner, i32 0, i32 2
  store ptr null, ptr %info_at
  %data_at = getelementptr %Owner, ptr %owner, i32 0, i32 3
  store ptr %data, ptr %data_at
  %size_at = getelementptr %Owner, ptr %owner, i32 0, i32 4
  store i64 %size, ptr %size_at
  %allocator_at = getelementptr %Owner, ptr %owner, i32 0, i32 5
  store ptr null, ptr %allocator_at
  ret ptr %owner
none:
  ret ptr null
}

define ptr @NRT_MemInfo_alloc_safe_aligned(i64 %size, i32 %alignment) {
  %owner = call ptr @NRT_MemInfo_alloc_aligned(i64 %size, i32 %alignment)
  ret ptr %owner
}

define ptr @NRT_MemInfo_alloc(i64 %size) {
  %owner = call ptr @NRT_MemInfo_alloc_aligned(i64 %size, i32 0)
  ret ptr %owner
}

define void @NRT_MemInfo_call_dtor(ptr %owner) {
  %destroy_at = getelementptr %Owner, ptr %owner, i32 0, i32 1
  %destroy = load ptr, ptr %destroy_at
  %plain = icmp eq ptr %destroy, null
  br i1 %plain, label %end, label %call
call:
  %info_at = getelementptr %Owner, ptr %owner, i32 0, i32 2
  %info = load ptr, ptr %info_at
  %data_at = getelementptr %Owner, ptr %owner, i32 0, i32 3
  %data = load ptr, ptr %data_at
  %size_at = getelementptr %Owner, ptr %owner, i32 0, i32 4
  %size = load i64, ptr %size_at
  call void %destroy(ptr %data, i64 %size, ptr %info)
  br label %end
end:
  call void @free(ptr %owner)
  ret void
}

; Lists: their data is in a block of its own, which can get longer.
define void @holdfast_free_list(ptr %data, i64 %size, ptr %destroy) {
  %plain = icmp eq ptr %destroy, null
  br i1 %plain, label %end, label %call
call:
  call void %destroy(ptr %data, i64 %size, ptr null)
  br label %end
end:
  call void @free(ptr %data)
  ret void
}

define ptr @NRT_MemInfo_new_varsize_dtor(i64 %size, ptr %destroy) {
  %owner = call ptr @NRT_MemInfo_alloc_aligned(i64 0, i32 0)
  %empty = icmp eq i64 %size, 0
  %wanted = select i1 %empty, i64 1, i64 %size
  %data = call ptr @malloc(i64 %wanted)
  %no_owner = icmp eq ptr %owner, null
  %no_data = icmp eq ptr %data, null
  %failed = or i1 %no_owner, %no_data
  br i1 %failed, label %none, label %made
made:
  %destroy_at = getelementptr %Owner, ptr %owner, i32 0, i32 1
  store ptr @holdfast_free_list, ptr %destroy_at
  %info_at = getelementptr %Owner, ptr %owner, i32 0, i32 2
  store ptr %destroy, ptr %info_at
  %data_at = getelementptr %Owner, ptr %owner, i32 0, i32 3
  store ptr %data, ptr %data_at
  %size_at = getelementptr %Owner, ptr %owner, i32 0, i32 4
  store i64 %size, ptr %size_at
  ret ptr %owner
none:
  call void @free(ptr %owner)
  call void @free(ptr %data)
  ret ptr null
}

define ptr @NRT_MemInfo_varsize_realloc(ptr %owner, i64 %size) {
  %empty = icmp eq i64 %size, 0
  %wanted = select i1 %empty, i64 1, i64 %size
  %data_at = getelementptr %Owner, ptr %owner, i32 0, i32 3
  %old = load ptr, ptr %data_at
  %data = call ptr @realloc(ptr %old, i64 %wanted)
  %failed = icmp eq ptr %data, null
  br i1 %failed, label %none, label %moved
moved:
  store ptr %data, ptr %data_at
  %size_at = getelementptr %Owner, ptr %owner, i32 0, i32 4
  store i64 %size, ptr %size_at
  ret ptr %data
none:
  ret ptr null
}

; For `holdfast._compiled.programs`: Python has copied an array.
define void @holdfast_release(ptr %owner) {
  %before = atomicrmw sub ptr %owner, i64 1 acq_rel
  %last = icmp eq i64 %before, 1
  br i1 %last, label %destroy, label %end
destroy:
  call void @NRT_MemInfo_call_dtor(ptr %owner)
  br label %end
end:
  ret void
}

define double @numba_frexp(double %x, ptr %exponent) {
  store i32 0, ptr %exponent
  %size = call double @llvm.fabs.f64(double %x)
  %positive = fcmp one double %size, 0.0
  %finite = fcmp one double %size, 0x7FF0000000000000
  %usual = and i1 %positive, %finite
  br i1 %usual, label %split, label %same
split:
  %share = call double @frexp(double %x, ptr %exponent)
  ret double %share
same:
  ret double %x
}

define double @numba_ldexp(double %x, i32 %exponent) {
  %size = call double @llvm.fabs.f64(double %x)
  %positive = fcmp one double %size, 0.0
  %finite = fcmp one double %size, 0x7FF0000000000000
  %moves = icmp ne i32 %exponent, 0
  %usual = and i1 %positive, %finite
  %both = and i1 %usual, %moves
  br i1 %both, label %scale, label %same
scale:
  %scaled = call double @ldexp(double %x, i32 %exponent)
  ret double %scaled
same:
  ret double %x
}

; Only an array in C order is given another shape; for all else the answer is 0: a copy is needed.
define i32 @numba_attempt_nocopy_reshape(i64 %ndim, ptr %shape, ptr %strides, i64 %new_ndim, ptr %new_shape,
                                         ptr %new_strides, i64 %bytes, i32 %fortran) {
  %in_order = icmp eq i32 %fortran, 0
  br i1 %in_order, label %check, label %no
check:
  %i = phi i64 [ %ndim, %0 ], [ %next, %more ]
  %step = phi i64 [ %bytes, %0 ], [ %larger, %more ]
  %count = phi i64 [ 1, %0 ], [ %product, %more ]
  %checked = icmp eq i64 %i, 0
  br i1 %checked, label %multiply, label %one
one:
  %next = sub i64 %i, 1
  %length_at = getelementptr i64, ptr %shape, i64 %next
  %length = load i64, ptr %length_at
  %stride_at = getelementptr i64, ptr %strides, i64 %next
  %stride = load i64, ptr %stride_at
  %long = icmp ne i64 %length, 1
  %other = icmp ne i64 %stride, %step
  %wrong = and i1 %long, %other
  br i1 %wrong, label %no, label %more
more:
  %larger = mul i64 %step, %length
  %product = mul i64 %count, %length
  br label %check
multiply:
  %j = phi i64 [ 0, %check ], [ %j_next, %multiply_one ]
  %wanted = phi i64 [ 1, %check ], [ %wanted_next, %multiply_one ]
  %multiplied = icmp eq i64 %j, %new_ndim
  br i1 %multiplied, label %compare, label %multiply_one
multiply_one:
  %new_length_at = getelementptr i64, ptr %new_shape, i64 %j
  %new_length = load i64, ptr %new_length_at
  %wanted_next = mul i64 %wanted, %new_length
  %j_next = add i64 %j, 1
  br label %multiply
compare:
  %fits = icmp eq i64 %wanted, %count
  br i1 %fits, label %write, label %no
write:
  %k = phi i64 [ %new_ndim, %compare ], [ %k_next, %write_one ]
  %wide = phi i64 [ %bytes, %compare ], [ %wide_next, %write_one ]
  %written = icmp eq i64 %k, 0
  br i1 %written, label %yes, label %write_one
write_one:
  %k_next = sub i64 %k, 1
  %new_stride_at = getelementptr i64, ptr %new_strides, i64 %k_next
  store i64 %wide, ptr %new_stride_at
  %last_length_at = getelementptr i64, ptr %new_shape, i64 %k_next
  %last_length = load i64, ptr %last_length_at
  %wide_next = mul i64 %wide, %last_length
  br label %write
yes:
  ret i32 1
no:
  ret i32 0
}

; Machine code returns a status after it, and `holdfast._compiled.programs` raises an error.
define void @PyErr_SetString(ptr %kind, ptr %text) {
  ret void
}
@PyExc_RuntimeError = global ptr null
