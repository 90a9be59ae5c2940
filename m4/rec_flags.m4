# SPDX-License-Identifier: MIT

# REC_CHECK_CFLAGS(VARIABLE, FLAGS)
# Substitutes VARIABLE with those of FLAGS that the compiler takes, each tried by itself: without the user's flags, because
# clang warns of options for the linker.
AC_DEFUN([REC_CHECK_CFLAGS], [
	$1=
	for rec_flag in m4_normalize([$2]); do
		AC_MSG_CHECKING([whether $CC takes $rec_flag])
		rec_saved_CFLAGS=$CFLAGS
		CFLAGS="-Werror $rec_flag"
		AC_COMPILE_IFELSE([AC_LANG_SOURCE([[int rec_variable;]])],
			[$1="${$1}${$1:+ }$rec_flag"
			 AC_MSG_RESULT([yes])],
			[AC_MSG_RESULT([no])])
		CFLAGS=$rec_saved_CFLAGS
	done
	AC_SUBST([$1])
])

# REC_CHECK_LINK(FLAGS, IF-LINKS, IF-NOT)
AC_DEFUN([REC_CHECK_LINK], [
	AC_MSG_CHECKING([whether $CC links with $1])
	rec_saved_CFLAGS=$CFLAGS
	CFLAGS="$CFLAGS $1"
	AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])],
		[AC_MSG_RESULT([yes])
		 CFLAGS=$rec_saved_CFLAGS
		 $2],
		[AC_MSG_RESULT([no])
		 CFLAGS=$rec_saved_CFLAGS
		 $3])
])
