#!/usr/bin/env bash
# Creates a database, dumps it in every way that the installed pg_dump supports, and writes the rows as psql reports them.
# Usage: dumps.sh FOLDER. The server is in a temporary folder, listens on no port, and is removed at the end.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
out=$(cd "$1" && pwd)

# The newest version of a program that `pg_config` or the usual folders have.
folder() {
    command -v pg_config >/dev/null && [ -x "$(pg_config --bindir)/initdb" ] && pg_config --bindir && return
    ls -d /usr/lib/postgresql/*/bin /usr/pgsql-*/bin 2>/dev/null | sort -V | tail -1
}
bin=$(folder)
[ -x "$bin/initdb" ] || { echo "no PostgreSQL server is installed" >&2; exit 1; }

# A server refuses to run as root.
run=()
if [ "$(id -u)" = 0 ]; then run=(setpriv --reuid=nobody --regid=nogroup --clear-groups --); fi
work=$(mktemp -d)
trap '"${run[@]}" "$bin/pg_ctl" -D "$work/data" -m immediate stop >/dev/null 2>&1 || true; rm -rf "$work"' EXIT
[ ${#run[@]} = 0 ] || chown nobody:nogroup "$work"
export PGHOST=$work PGUSER=postgres PGDATABASE=chat PGTZ=UTC TZ=UTC LC_ALL=C

"${run[@]}" "$bin/initdb" -D "$work/data" -U postgres -A trust -E UTF8 --no-sync >/dev/null
"${run[@]}" "$bin/pg_ctl" -D "$work/data" -w -l "$work/log" -o "-c listen_addresses='' -c fsync=off -k $work" start >/dev/null
"$bin/psql" -qX -d postgres -c 'CREATE DATABASE chat' -c "ALTER DATABASE chat SET timezone = 'UTC'"
"$bin/psql" -qX -v ON_ERROR_STOP=1 -f "$here/dumps.sql" >/dev/null

dump() { "$bin/pg_dump" "$@"; }
dump -Fc -f "$out/custom.dump"
dump -Fc > "$out/custom-redirected.dump"
dump -Fc | cat > "$out/custom-piped.dump"
dump -Fc -Z0 -f "$out/custom-stored.dump"
dump -Fc -Z0 | cat > "$out/custom-stored-piped.dump"
dump -Fc --inserts -f "$out/custom-inserts.dump"
dump -Fc --column-inserts --rows-per-insert=2 -f "$out/custom-column-inserts.dump"
dump -Ft -f "$out/dump.tar"
dump -Ft | cat > "$out/dump-piped.tar"
dump -Fd -f "$out/folder"
dump -Fd -Z0 -j 2 -f "$out/folder-stored"
dump -f "$out/plain.sql"
for method in lz4 zstd; do
    if dump -Fc --compress=$method -f "$out/custom-$method.dump" 2>/dev/null; then
        dump -Fd --compress=$method -f "$out/folder-$method"
    else
        rm -rf "$out/custom-$method.dump"
    fi
done
for archive in "$out"/*.dump "$out"/*.tar "$out"/folder*; do
    "$bin/pg_restore" -f "$out/restored-$(basename "$archive").sql" "$archive"
done

# One JSON object per row; every cell is the text that a dump contains.
"$bin/psql" -qXAt > "$out/messages.jsonl" <<'SQL'
SELECT 'SELECT json_build_object(' || string_agg(format('%L, CASE WHEN %I IS NOT NULL THEN format(''%%s'', %I) END', attname, attname, attname),
    ', ' ORDER BY attnum) || ') FROM messages ORDER BY ctid'
FROM pg_attribute WHERE attrelid = 'messages'::regclass AND attnum > 0 AND attgenerated = '' \gexec
SQL
"$bin/psql" -qXAt -c "SELECT count(*) FROM messages" > "$out/messages.count"
