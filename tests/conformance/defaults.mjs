// Clients as they come: what each sends, and what comes of it. Usage: node defaults.mjs URL
// Prints for every client the results of a query, the same query by a second client of its kind, and
// a mutation, and all requests that it sent for them.

import { createHash } from "node:crypto";

import { ApolloClient, ApolloLink, HttpLink, InMemoryCache, gql } from "@apollo/client";
import { PersistedQueryLink } from "@apollo/client/link/persisted-queries";
import { Client, cacheExchange, fetchExchange } from "@urql/core";
import { persistedExchange } from "@urql/exchange-persisted";

const [url] = process.argv.slice(2);
const sha256 = (text) => createHash("sha256").update(text).digest("hex");

// each client has documents of its own: what another sent by its hash is known here from then on
const query = (at) => `query Asked${at}($where: SelectorInput) {
  fleet { revision clusters(where: $where, first: 1) { totalCount nodes { id name } } }
}`;
const mutation = (at) => `mutation Declared${at} {
  declareLabel(input: {name: "by-a-client", type: TEXT}, reason: "a client writes") {
    __typename
  }
}`;
const VARIABLES = { where: { text: "/geo/us and size = large" } };

const clients = {
  urql: (fetching) => urql(fetching, []),
  "urql persisted": (fetching) => urql(fetching, [persistedExchange({ enableForMutation: true })]),
  apollo: (fetching) => apollo(fetching, []),
  "apollo persisted": (fetching) => apollo(fetching, [new PersistedQueryLink({ sha256 })]),
  "apollo persisted by GET": (fetching) =>
    apollo(fetching, [new PersistedQueryLink({ sha256, useGETForHashedQueries: true })]),
};

function urql(fetching, exchanges) {
  const client = new Client({
    url,
    fetch: fetching,
    exchanges: [cacheExchange, ...exchanges, fetchExchange],
  });
  return {
    query: (text) => client.query(text, VARIABLES).toPromise(),
    mutate: (text) => client.mutation(text, {}).toPromise(),
  };
}

function apollo(fetching, links) {
  const client = new ApolloClient({
    link: ApolloLink.from([...links, new HttpLink({ uri: url, fetch: fetching })]),
    cache: new InMemoryCache(),
    clientAwareness: { name: "conformance", version: "1.0" },
  });
  return {
    query: (text) => client.query({ query: gql(text), variables: VARIABLES }),
    mutate: (text) => client.mutate({ mutation: gql(text) }),
  };
}

const found = {};
for (const [at, [name, make]] of Object.entries(clients).entries()) {
  const requests = [];
  const recording = async (to, options) => {
    const response = await fetch(to, options);
    const method = options.method ?? "GET";
    const inUrl = () => Object.fromEntries(new URL(to).searchParams);
    const sent = method === "GET" ? inUrl() : JSON.parse(options.body);
    requests.push({
      method,
      query: sent.query ? "sent" : "",
      status: response.status,
      error: (await response.clone().json()).errors?.[0].message ?? "",
    });
    return response;
  };
  const results = [];
  for (const run of [
    () => make(recording).query(query(at)),
    () => make(recording).query(query(at)),
    () => make(recording).mutate(mutation(at)),
  ]) {
    const { data, error } = await run().catch((error) => ({ error }));
    results.push(error ? { error: error.message } : data);
  }
  found[name] = { results, requests };
}
console.log(JSON.stringify(found));
process.exit(0);
