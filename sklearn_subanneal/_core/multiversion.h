/* SUBANNEAL_INLINED: a function that each of its callers has a copy of, compiled for the caller's instruction set.
   SUBANNEAL_RESTRICT: nothing else points to what such a pointer points to.
   The macro SUBANNEAL_MULTIVERSION, which compiles a function once for each level of the x86-64 instruction set. The
   level is chosen at load time. With -DSUBANNEAL_BASELINE, other compilers or other machines, the function is compiled
   once. */
#ifndef SUBANNEAL_MULTIVERSION_H
#define SUBANNEAL_MULTIVERSION_H

#if !defined(SUBANNEAL_BASELINE) && defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__) \
    && defined(__GNUC__) && __GNUC__ >= 12
#  define SUBANNEAL_MULTIVERSION __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#  define SUBANNEAL_MULTIVERSION
#endif

#if defined(__GNUC__)
#  define SUBANNEAL_INLINED __attribute__((always_inline)) inline
#  define SUBANNEAL_RESTRICT __restrict__
#else
#  define SUBANNEAL_INLINED
#  define SUBANNEAL_RESTRICT
#endif

#endif
