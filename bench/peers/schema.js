// The part of the schema the benchmark asks, in the words of Trellis's own.

import { buildSchema } from "graphql";

const SDL = /* GraphQL */ `
  type Query {
    fleet: Fleet!
  }
  type Fleet {
    clusters(where: SelectorInput, first: Int): ClusterConnection!
    tree(root: String!, depth: Int!, where: SelectorInput): [TreeRow!]!
  }
  input SelectorInput {
    text: String!
  }
  type ClusterConnection {
    totalCount: Int!
    nodes: [Cluster!]!
  }
  type Cluster {
    name: String!
    title: String!
    kind: ClusterKind!
    reconciler: Reconciler!
    timeZone: String!
    changed: Int!
  }
  enum ClusterKind {
    KUBERNETES
    HOST
  }
  enum Reconciler {
    FLUX
    ARGOCD
    ANSIBLE
  }
  type TreeRow {
    path: String!
    depth: Int!
    count: Int!
    share: Float!
  }
`;

// Rows are plain objects read by the default resolver: the fastest a peer can be asked to do.
export function makeSchema(fleet) {
  const schema = buildSchema(SDL);
  const resolve = (type, field, resolver) => {
    schema.getType(type).getFields()[field].resolve = resolver;
  };
  resolve("Query", "fleet", () => ({}));
  resolve("Fleet", "clusters", (_, { where, first }) => ({ text: where.text, first }));
  resolve("Fleet", "tree", (_, { where, depth }) => fleet.tree(where.text, depth));
  resolve("ClusterConnection", "totalCount", ({ text }) => fleet.count(text));
  resolve("ClusterConnection", "nodes", ({ text, first }) => fleet.page(text, first));
  return schema;
}
