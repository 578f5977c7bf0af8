// GraphiQL over our own transport. React and GraphiQL are globals made by their own files.

import { samples } from "./samples.js";
import { post, subscribe } from "./transport.js";

/* global React, ReactDOM, GraphiQL */

function isSubscription(operation, documentAST) {
  const found = documentAST?.definitions.find(
    (each) =>
      each.kind === "OperationDefinition" &&
      (!operation.operationName || each.name?.value === operation.operationName),
  );
  return found?.operation === "subscription";
}

async function fetcher(operation, { headers, documentAST } = {}) {
  if (isSubscription(operation, documentAST)) return subscribe(operation, headers ?? {});
  return (await post(operation, headers ?? {})).answer;
}

const logo = React.createElement(GraphiQL.Logo, {}, "Trellis");

const page = React.createElement(
  GraphiQL,
  { fetcher, defaultTabs: await samples(), shouldPersistHeaders: false },
  logo,
);

ReactDOM.createRoot(document.getElementById("console")).render(page);
