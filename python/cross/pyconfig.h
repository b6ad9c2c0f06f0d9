/* SPDX-License-Identifier: MIT
 *
 * pyconfig.h: what Python's own headers ask about a system, for systems whose Python is not here (script/wheels --platform). A module of
 * the limited API needs the sizes of types, which the compiler knows, and the names that Python gives to Windows. Others need no more
 * on 64-bit systems; that Python has no GIL is said by the build (Py_GIL_DISABLED).
 */
#ifndef Py_PYCONFIG_H
#define Py_PYCONFIG_H

#define SIZEOF_SHORT __SIZEOF_SHORT__
#define SIZEOF_INT __SIZEOF_INT__
#define SIZEOF_LONG __SIZEOF_LONG__
#define SIZEOF_LONG_LONG __SIZEOF_LONG_LONG__
#define SIZEOF_FLOAT __SIZEOF_FLOAT__
#define SIZEOF_DOUBLE __SIZEOF_DOUBLE__
#define SIZEOF_SIZE_T __SIZEOF_SIZE_T__
#define SIZEOF_VOID_P __SIZEOF_POINTER__
#define SIZEOF_UINTPTR_T __SIZEOF_POINTER__
#define SIZEOF_WCHAR_T __SIZEOF_WCHAR_T__
#define SIZEOF_TIME_T 8
#define SIZEOF_PID_T 4
#define ALIGNOF_SIZE_T __SIZEOF_SIZE_T__
#define ALIGNOF_LONG __SIZEOF_LONG__
#define ALIGNOF_MAX_ALIGN_T 16

#define HAVE_STDDEF_H 1
#define HAVE_WCHAR_H 1
#define HAVE_SYS_STAT_H 1
#define WITH_THREAD 1
#define WITH_DOC_STRINGS 1

#ifdef _WIN32
#define MS_WIN32
#define MS_WIN64
#define MS_WINDOWS
#define NT_THREADS
#define HAVE_DECLSPEC_DLL
#define Py_ENABLE_SHARED 1 /* Python is in a DLL */
#define COMPILER "[GCC]"
#else
#define HAVE_SSIZE_T 1
#define HAVE_UNISTD_H 1
#define HAVE_SYS_TIME_H 1
#define HAVE_SYS_SELECT_H 1
#define SIZEOF_PTHREAD_T 8
#define HAVE_PTHREAD_H 1
#endif

#endif
