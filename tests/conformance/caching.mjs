// Runs operations one after the other through a client with a normalised cache, then says what the
// cache has for each query. Usage: node caching.mjs apollo|urql|relay URL
// Each line of standard input is a JSON list of operations, for a client of their own. It is answered
// by a line with one {received, cached} for each operation; `cached` is null for a mutation.

import { createInterface } from "node:readline";

import { ApolloClient, HttpLink, InMemoryCache } from "@apollo/client";
import { Client, fetchExchange } from "@urql/core";
import { cacheExchange } from "@urql/exchange-graphcache";
import { buildClientSchema, getIntrospectionQuery, getOperationAST, parse } from "graphql";
import relay from "relay-runtime";

import { requestOf } from "./relay_request.mjs";

const [kind, url] = process.argv.slice(2);

let received = [];
/** Fetches as the client asks for it, and keeps the data as it was sent. */
async function recording(to, options) {
  const response = await fetch(to, options);
  const answer = await response.clone().json();
  if (answer.errors) throw new Error(JSON.stringify(answer.errors));
  received.push(answer.data);
  return response;
}

const isQuery = (document) => getOperationAST(document).operation === "query";

/** Every client as two functions: run an operation over the network, and read one from the cache. */
const clients = { apollo, urql, relay: overRelay };

function apollo() {
  const link = new HttpLink({ uri: url, fetch: recording });
  const client = new ApolloClient({ link, cache: new InMemoryCache() });
  return {
    run: (document) =>
      isQuery(document)
        ? client.query({ query: document, fetchPolicy: "network-only" })
        : client.mutate({ mutation: document }),
    read: (document) => client.readQuery({ query: document }),
  };
}

function urql() {
  const client = new Client({ url, fetch: recording, exchanges: [cacheExchange({}), fetchExchange] });
  const checked = ({ data, error }) => {
    if (error) throw error;
    return data;
  };
  return {
    run: async (document) =>
      checked(
        isQuery(document)
          ? await client.query(document, {}, { requestPolicy: "network-only" }).toPromise()
          : await client.mutation(document, {}).toPromise(),
      ),
    read: async (document) =>
      checked(await client.query(document, {}, { requestPolicy: "cache-only" }).toPromise()),
  };
}

const post = async (fetching, query) => {
  const headers = { "content-type": "application/json" };
  return (await fetching(url, { method: "POST", headers, body: JSON.stringify({ query }) })).json();
};
const schema = buildClientSchema((await post(fetch, getIntrospectionQuery())).data);

function overRelay() {
  const environment = new relay.Environment({
    network: relay.Network.create((params) => post(recording, params.text)),
    store: new relay.Store(new relay.RecordSource()),
  });
  const described = (document) =>
    relay.createOperationDescriptor(requestOf(document, schema), {}, { force: true });
  return {
    run: async (document) => {
      const operation = described(document);
      environment.retain(operation); // else the store forgets what nobody looks at
      const started = isQuery(document)
        ? environment.execute({ operation })
        : environment.executeMutation({ operation });
      await started.toPromise();
    },
    read: (document) => environment.lookup(described(document).fragment).data,
  };
}

/** What a new client receives for some operations, and what its cache has in the end. */
async function cached(operations) {
  received = [];
  const { run, read } = clients[kind]();
  const documents = operations.map((each) => parse(each));
  for (const document of documents) await run(document);
  const found = [];
  for (const [at, document] of documents.entries()) {
    found.push({ received: received[at], cached: isQuery(document) ? await read(document) : null });
  }
  return found;
}

for await (const line of createInterface({ input: process.stdin })) {
  const found = await cached(JSON.parse(line)).catch((error) => ({ failed: String(error) }));
  console.log(JSON.stringify(found));
}
process.exit(0);
