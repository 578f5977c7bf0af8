// node serve.js <peer> <fleet file>: one peer on a free port of 127.0.0.1, each as its own
// documentation sets it up, without the parts that only help development.

import { createServer } from "node:http";
import { ApolloServer } from "@apollo/server";
import { startStandaloneServer } from "@apollo/server/standalone";
import fastify from "fastify";
import { createYoga } from "graphql-yoga";
import mercurius from "mercurius";

import { readFleet } from "./fleet.js";
import { makeSchema } from "./schema.js";

const HOST = "127.0.0.1";

const PEERS = {
  mercurius: (schema) => serveMercurius(schema, 0),
  "mercurius-jit": (schema) => serveMercurius(schema, 1),
  yoga: serveYoga,
  apollo: serveApollo,
};

async function serveMercurius(schema, jit) {
  const app = fastify({ logger: false });
  app.register(mercurius, { schema, jit, graphiql: false });
  return app.listen({ host: HOST, port: 0 });
}

async function serveYoga(schema) {
  const yoga = createYoga({ schema, graphiql: false, landingPage: false, logging: false });
  const server = createServer(yoga);
  await new Promise((ready) => server.listen(0, HOST, ready));
  return `http://${HOST}:${server.address().port}`;
}

async function serveApollo(schema) {
  const server = new ApolloServer({ schema, introspection: false });
  const { url } = await startStandaloneServer(server, { listen: { host: HOST, port: 0 } });
  return url;
}

const [peer, path] = process.argv.slice(2);
const url = await PEERS[peer](makeSchema(readFleet(path)));
console.log(`listening on ${url}`);
