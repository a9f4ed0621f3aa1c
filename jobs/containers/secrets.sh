#!/bin/sh
# Make each secret of compose.yaml once: secrets.sh GIVEN MADE
# MADE has a volume for each kind of process. A file of GIVEN with the name of a secret goes before a made one.
set -eu
given=$1 made=$2

# Standard input is the secret, where there is none yet.
keep() {
  name=${1##*/} file=$made/$1
  if [ -s "$file" ]; then return; fi
  if [ -s "$given/$name" ]; then cat "$given/$name"; else cat; fi >"$file.new"
  # Volumes are root's; a process reads its own under another user.
  chmod 644 "$file.new"
  mv "$file.new" "$file"
  echo "secrets: $name is kept"
}

random() {
  head -c 32 /dev/urandom | od -An -v -tx1 | tr -d ' \n'
}

random | keep database/database_password
echo "postgresql://formrevenue:$(cat "$made/database/database_password")@database/formrevenue" |
  keep warehouse/warehouse_url
random | keep own/hash_secret
head -c 32 /dev/urandom | base64 | keep own/credentials_key
# `collector_role.sh` makes this one, once there is a database.
if [ -s "$given/collector_url" ]; then keep collector/collector_url </dev/null; fi
