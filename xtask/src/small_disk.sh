# A run in a disk of `$1` KiB, then once more after the disk has grown.
mount -t tmpfs -o size="$1"k none "$2" || exit 99
"$3" run "$4" --out "$2/out" --threads 2 --quiet >/dev/null
echo "$?"
test -e "$2/out" && echo there || echo absent
mount -o remount,size=1g "$2" || exit 99
"$3" run "$4" --out "$2/out" --threads 2 --quiet >/dev/null
echo "$?"
cp -r "$2"/. "$5"
