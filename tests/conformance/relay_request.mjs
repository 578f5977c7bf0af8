// What Relay's compiler makes of an operation, as far as the tests need it: fields, arguments
// written out, and fragments on object types. The operations ask for `id` themselves.

import {
  getNamedType,
  getNullableType,
  getOperationAST,
  isLeafType,
  isListType,
  isObjectType,
  print,
  typeFromAST,
  valueFromASTUntyped,
} from "graphql";

/** The request that Relay's runtime executes for the one operation of `document`. */
export function requestOf(document, schema) {
  const operation = getOperationAST(document);
  const root = schema.getRootType(operation.operation);
  const selections = selectionsOf(operation.selectionSet, root, schema);
  const name = operation.name?.value ?? "Asked";
  const text = print(document);
  return {
    kind: "Request",
    fragment: {
      kind: "Fragment",
      name,
      type: root.name,
      metadata: null,
      abstractKey: null,
      argumentDefinitions: [],
      selections,
    },
    operation: { kind: "Operation", name, argumentDefinitions: [], selections },
    params: {
      id: null,
      cacheID: text,
      metadata: {},
      name,
      operationKind: operation.operation,
      text,
    },
  };
}

function selectionsOf(set, parent, schema) {
  return set.selections.map((node) =>
    node.kind === "Field" ? fieldOf(node, parent, schema) : fragmentOf(node, schema),
  );
}

function fieldOf(node, parent, schema) {
  const common = {
    alias: node.alias?.value ?? null,
    name: node.name.value,
    args: node.arguments.length ? node.arguments.map(argumentOf).sort(byName) : null,
    storageKey: null,
  };
  if (node.name.value === "__typename") return { kind: "ScalarField", ...common };
  const type = parent.getFields()[node.name.value].type;
  const named = getNamedType(type);
  if (isLeafType(named)) return { kind: "ScalarField", ...common };
  return {
    kind: "LinkedField",
    ...common,
    concreteType: isObjectType(named) ? named.name : null,
    plural: isListType(getNullableType(type)),
    selections: selectionsOf(node.selectionSet, named, schema),
  };
}

function fragmentOf(node, schema) {
  const type = typeFromAST(schema, node.typeCondition);
  const selections = selectionsOf(node.selectionSet, type, schema);
  return { kind: "InlineFragment", type: type.name, abstractKey: null, selections };
}

const argumentOf = (node) => ({
  kind: "Literal",
  name: node.name.value,
  value: valueFromASTUntyped(node.value),
});
const byName = (one, other) => (one.name < other.name ? -1 : 1);
