// The queries a new reader finds in the console: they are in samples.graphql, and run as tests.

/** The samples, as `{name, query}`, in the order of the file. */
export async function samples() {
  const response = await fetch(new URL("samples.graphql", import.meta.url));
  const text = await response.text();
  return text
    .trim()
    .split(/\n\n(?=#)/)
    .map((query) => ({ name: /^(?:query|subscription)\s+(\w+)/m.exec(query)[1], query }));
}
