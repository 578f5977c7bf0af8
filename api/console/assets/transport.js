// How the console reaches the API: operations are posted, subscriptions go over a socket that
// speaks graphql-transport-ws. Both stay on the origin this file came from.

export const endpoint = new URL("../graphql", import.meta.url);

/** The answer to a query or mutation, with what travelled. */
export async function post(operation, headers = {}, signal = undefined) {
  const started = performance.now();
  const response = await fetch(endpoint, {
    method: "POST",
    headers: {
      ...headers,
      "Content-Type": "application/json",
      Accept: "application/graphql-response+json, application/json;q=0.9",
    },
    body: JSON.stringify(operation),
    credentials: "omit",
    signal,
  });
  const text = await response.text();
  return {
    status: response.status,
    bytes: text.length,
    milliseconds: performance.now() - started,
    answer: readAnswer(text, response.status),
  };
}

function readAnswer(text, status) {
  try {
    return JSON.parse(text);
  } catch {
    return { errors: [{ message: `the server answered ${status} without JSON: ${text}` }] };
  }
}

/** The events of a subscription. Leaving the loop, or calling `return`, closes the socket at once. */
export function subscribe(operation, headers = {}) {
  const steps = [];
  let wake = () => {};
  const tell = (...arrived) => {
    steps.push(...arrived);
    wake();
  };
  const socket = open(operation, headers, tell);
  return {
    async next() {
      while (steps.length === 0) await new Promise((resolve) => (wake = resolve));
      return steps[0].done ? steps[0] : steps.shift();
    },
    async return() {
      steps.length = 0;
      tell(END);
      socket.close(1000, "the reader has seen enough");
      return END;
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

const END = { done: true, value: undefined };
const failed = (errors) => ({ done: false, value: { errors } });

/** A socket on which `operation` runs; `tell` gets the steps of an iterator. */
function open(operation, headers, tell) {
  const address = new URL(endpoint);
  address.protocol = address.protocol.replace("http", "ws");
  const socket = new WebSocket(address, "graphql-transport-ws");
  const send = (message) => socket.send(JSON.stringify(message));
  const finish = (...steps) => {
    tell(...steps, END);
    socket.close(1000);
  };
  const hear = {
    connection_ack: () => send({ id: "1", type: "subscribe", payload: operation }),
    ping: () => send({ type: "pong" }),
    next: ({ payload }) => tell({ done: false, value: payload }),
    error: ({ payload }) => finish(failed(payload)),
    complete: () => finish(),
  };
  socket.onopen = () => send({ type: "connection_init", payload: credentials(headers) });
  socket.onmessage = ({ data }) => {
    const message = JSON.parse(data);
    hear[message.type]?.(message);
  };
  socket.onclose = ({ code, reason }) =>
    tell(failed([{ message: `the socket was closed: ${reason || code}` }]), END);
  return socket;
}

/** A browser's socket carries no headers, so the token goes with the first message. */
function credentials(headers) {
  const name = Object.keys(headers).find((each) => each.toLowerCase() === "authorization");
  return name === undefined ? {} : { authorization: headers[name] };
}
