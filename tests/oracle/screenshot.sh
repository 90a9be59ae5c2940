# SPDX-License-Identifier: MIT
#
# Opens a trace.dat in KernelShark on an X server of its own and takes a picture of the window.
#
#	bash screenshot.sh [-g WIDTHxHEIGHT] [-x ACTIONS] [-p PLUGIN] FILE PICTURE.png [KERNELSHARK-OPTION]...
#
# ACTIONS is what a user does with the mouse before the picture is taken, in xdotool's syntax ("mousemove 10 10 click
# 1"). PLUGIN is copied to where the user of the window can read it.
#
# Waits for KernelShark's progress, never for a time: for a window whose title names the file (set when the file is loaded), made as
# large as the screen, and for two pictures in a row that are the same. Prints the title, the number of colours in the picture and
# KernelShark's stderr. Exits with 1 and one line on stderr if any of it does not happen; with 3 if the X server does
# not start, ends, or refuses KernelShark.
#
# KernelShark stops at a warning when root starts it, so root starts it as the user nobody. Needs: kernelshark xvfb
# xdotool imagemagick.

set -u

die()
{
	echo "screenshot.sh: $*" >&2
	exit 1
}

# Runs in a new bash as the user of the window: HOME is a directory of its own that holds the file. Nothing that is
# started here outlives it: it ends only by exit, while its variables can still be seen by the trap.
window()
{
	set -u
	local name=$1 geometry=$2 actions=$3
	shift 3

	local width=${geometry%x*} height=${geometry#*x}
	local xvfb="" viewer="" number="" id="" title="" shot="" previous="" colours="" code=""

	stop()
	{
		[ -n "$viewer" ] && kill "$viewer" && wait "$viewer"
		[ -n "$xvfb" ] && kill "$xvfb" && wait "$xvfb"
	} 2>/dev/null
	fail()
	{
		if [ -n "$viewer" ] && { grep -q 'could not connect to display' kernelshark.log ||
			! kill -0 "$xvfb" 2>/dev/null; }; then
			code=3
			set -- "KernelShark has no connection to Xvfb"
		fi
		echo "screenshot.sh: $*" >&2
		[ -n "$viewer" ] && echo "windows: $(xdotool search --name '.' getwindowname %@ 2>&1 | tr '\n' ';')" >&2
		cat kernelshark.log xvfb.log >&2
		exit "${code:-1}"
	}
	# until_true SECONDS COMMAND...: polls.
	until_true()
	{
		local end=$((SECONDS + $1))
		shift
		until "$@"; do
			[ "$SECONDS" -lt "$end" ] || return 1
			kill -0 "$viewer" 2>/dev/null || return 1
			sleep 0.05
		done
	}
	window_named()
	{
		id=$(xdotool search --onlyvisible --name "$1" 2>/dev/null | head -n 1)
		[ -n "$id" ]
	}
	# The picture is finished: the window covers the screen, has content, and nothing has moved since the last look.
	settled()
	{
		local corner

		import -window root picture.png 2>>xvfb.log || return 1
		read -r shot colours corner <<<"$(identify -format \
			"%# %k %[fx:p{$((width - 2)),$((height - 2))}.intensity]\n" picture.png)"
		if [ "$corner" = 0 ]; then
			xdotool windowmove "$id" 0 0 windowsize "$id" "$width" "$height"
		elif [ "$shot" = "$previous" ] && [ "$colours" -ge 64 ]; then
			return 0
		fi
		previous=$shot
		return 1
	}
	trap stop EXIT
	trap 'exit 1' INT TERM

	cd "$HOME" || exit 1
	: >kernelshark.log
	mkfifo display
	# A display number of our own: one that Xvfb finds itself may be that of a server which is just about to remove
	# its socket. Without -noreset the server starts anew whenever the last client leaves, and that may be xdotool.
	number=$((100 + $$ % 59000))
	setpriv --pdeathsig KILL Xvfb ":$number" -displayfd 5 -screen 0 "${geometry}x24" -nolisten tcp -noreset \
		5>display >xvfb.log 2>&1 &
	xvfb=$!
	exec 4<display
	# It writes the number when it listens, and the end of the line separately. So this is a single call: one that times
	# out between the two, or just when it has read the end, would leave nothing for the next. If Xvfb ends before that,
	# it fails at once, because nobody else has the pipe open for writing.
	read -r -t 120 -u 4 || code=3 fail "Xvfb does not start"
	export DISPLAY=:$number

	setpriv --pdeathsig KILL kernelshark -i "$HOME/$name" "$@" 4<&- >kernelshark.log 2>&1 &
	viewer=$!

	local pattern
	pattern=$(sed 's/[][\\.*^$+?(){}|]/\\&/g' <<<"$name")
	until_true 120 window_named "^Kernel Shark.*$pattern" || fail "KernelShark's window does not name $name"
	title=$(xdotool getwindowname "$id")
	until_true 60 settled || fail "KernelShark's window of $name stays empty (${colours:-no} colours)"
	if [ -n "$actions" ]; then
		# shellcheck disable=SC2086 # words of xdotool
		xdotool $actions || fail "xdotool does not understand: $actions"
		previous=""
		until_true 60 settled || fail "KernelShark's window of $name does not come to rest"
	fi

	echo "title: $title"
	echo "colours: $colours"
	sed 's/^/kernelshark: /' kernelshark.log
	exit 0
}

usage="usage: screenshot.sh [-g WIDTHxHEIGHT] [-x ACTIONS] [-p PLUGIN] FILE PICTURE.png [KERNELSHARK-OPTION]..."
geometry=1280x800
actions=""
plugin=""
while getopts g:p:x: option; do
	case $option in
	p) plugin=$OPTARG ;;
	g) geometry=$OPTARG ;;
	x) actions=$OPTARG ;;
	*) die "$usage" ;;
	esac
done
shift $((OPTIND - 1))
[ $# -ge 2 ] || die "$usage"
[[ $geometry =~ ^[0-9]+x[0-9]+$ ]] || die "'$geometry' is not WIDTHxHEIGHT"
file=$1
picture=$2
shift 2
for tool in kernelshark Xvfb xdotool import identify setpriv; do
	command -v "$tool" >/dev/null || die "$tool is missing: install kernelshark xvfb xdotool imagemagick"
done

home=$(mktemp -d /tmp/screenshot.XXXXXX) || die "no directory in /tmp"
trap 'rm -rf "$home"' EXIT
trap 'exit 1' HUP INT TERM
cp -- "$file" "$home/" || die "cannot copy $file"
if [ -n "$plugin" ]; then
	cp -L -- "$plugin" "$home/" || die "cannot copy $plugin"
	set -- "$@" -p "$home/${plugin##*/}"
fi
as_user=(setpriv --pdeathsig TERM)
if [ "$(id -u)" -eq 0 ]; then
	as_user+=(--reuid=65534 --regid=65534 --clear-groups)
	chown -R 65534:65534 "$home" || die "cannot give $home to nobody"
fi
"${as_user[@]}" env -i PATH="$PATH" LC_ALL=C.UTF-8 HOME="$home" XDG_RUNTIME_DIR="$home" QT_QPA_PLATFORM=xcb \
	LIBGL_ALWAYS_SOFTWARE=1 bash -c "$(declare -f window); window \"\$@\"" window "$(basename -- "$file")" "$geometry" \
	"$actions" "$@" ||
	exit
cp -- "$home/picture.png" "$picture" || die "cannot write $picture"
