// The two clients people use, behind one face: iterate a request, or kill the connection under it.

import { createClient as createSse } from "graphql-sse";
import { createClient as createWs } from "graphql-ws";
import WebSocket from "ws";

/** A client of `url` by `transport`, which is `ws` or `sse`. It never tries again by itself. */
export function connect(transport, url) {
  return transport === "ws" ? overSocket(url) : overStream(url);
}

function overSocket(url) {
  let socket = null;
  const client = createWs({
    url: url.replace(/^http/, "ws"),
    webSocketImpl: WebSocket,
    retryAttempts: 0,
    on: { opened: (opened) => (socket = opened) },
  });
  return {
    iterate: (request) => client.iterate(request),
    kill: () => socket.terminate(), // no closing handshake: the peer just finds it gone
    dispose: () => client.dispose(),
  };
}

function overStream(url) {
  let cut = new AbortController();
  const client = createSse({
    url,
    retryAttempts: 0,
    fetchFn: (to, options) => {
      cut = new AbortController();
      return fetch(to, { ...options, signal: AbortSignal.any([options.signal, cut.signal]) });
    },
  });
  return {
    iterate: (request) => client.iterate(request),
    kill: () => cut.abort(),
    dispose: () => client.dispose(),
  };
}
