/* The macro SUBANNEAL_MULTIVERSION, which compiles a function once for each level of the x86-64 instruction set. The
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

#endif
