#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# A trace of examples/service that is small enough for a viewer: some hundred
# requests by three clients at once.
#
#   tests/viewer/write_service_trace.sh SERVICE WEFT OUT.json

set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
service=$1 weft=$2 out=$3
# shellcheck source=examples/service/driver.sh
source "$root/examples/service/driver.sh"

# shellcheck disable=SC2154 # work_folder, service_port: by the driver
start_service "$service" --trace "$work_folder/service.weft"
python3 - "$service_port" <<'PYTHON'
import http.client
import sys
import threading


def client(first):
    server = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]))
    for item in range(first, first + 60):
        method = "PUT" if item % 5 == 0 else "GET"
        server.request(method, f"/items/{item}", "new" if method == "PUT" else None)
        server.getresponse().read()
    server.request("GET", "/search?word=heron")
    server.getresponse().read()


clients = [threading.Thread(target=client, args=(n,)) for n in (1, 400, 9000)]
for thread in clients:
    thread.start()
for thread in clients:
    thread.join()
PYTHON
stop_service
"$weft" convert "$work_folder/service.weft" -o "$out" --force
