// GraphQL over HTTP, as its own working group audits a server. Usage: node audit.mjs URL

import { serverAudits } from "graphql-http";

const found = [];
for (const audit of serverAudits({ url: process.argv[2], fetchFn: fetch })) {
  const { id, name, status, reason } = await audit.fn();
  found.push({ id, name, status, reason: reason ?? "" });
}
console.log(JSON.stringify(found));
